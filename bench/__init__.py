"""`make bench`: what a posting, a cold start, the rule, a rebuild and a whole run cost, measured. See docs/bench.md.

A module a part. Each has `measure() -> list[Measure]`, and nothing else is asked of it.
"""
