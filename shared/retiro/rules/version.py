"""The version of the rules. It is in every receipt and under every run's hash.

Raise it with any change that can change a result: a formula, a parameter, a setting's default, the calendar.
"""

RULES_VERSION = "1.0.0"
