"""3 L.P.R.A. § 786-7: the savings accounts of System 2000.

| clause | module |
| --- | --- |
| (a)(1), (2) credits | `credits`: late_credit |
| (a)(3) investment yield | `yields`: semester_calendar, semester_yield; `arithmetic` |
| (b)(1), (2) selection and change | `selections`: investment_selection |
| (b)(3) investment options | `options`: option_percents; `arithmetic` |
| (c) vesting | nothing to compute: no function takes from a balance anything but a loss of the option chosen |
"""

from retiro.rules.savings_accounts.arithmetic import (
    average_monthly_balance_cents,
    fixed_income_percent,
    month_balances_cents,
    semester_percent,
    system_portfolio_percent,
    yield_cents,
)
from retiro.rules.savings_accounts.credits import (
    PROGRAM_STARTS_ON,
    LateCredit,
    LateCreditGiven,
    SemesterDifference,
    check_on_calendar,
    late_credit,
)
from retiro.rules.savings_accounts.options import (
    FIXED_INCOME,
    SYSTEM_PORTFOLIO,
    OptionCode,
    OptionYield,
    check_figures,
    option_percents,
)
from retiro.rules.savings_accounts.section import SECTION
from retiro.rules.savings_accounts.selections import (
    InvestmentSelection,
    InvestmentSelectionGiven,
    Selection,
    investment_selection,
)
from retiro.rules.savings_accounts.yields import (
    Movement,
    SemesterCalendar,
    SemesterCalendarGiven,
    SemesterYield,
    SemesterYieldGiven,
    semester_calendar,
    semester_yield,
)

__all__ = [
    "FIXED_INCOME",
    "PROGRAM_STARTS_ON",
    "SECTION",
    "SYSTEM_PORTFOLIO",
    "InvestmentSelection",
    "InvestmentSelectionGiven",
    "LateCredit",
    "LateCreditGiven",
    "Movement",
    "OptionCode",
    "OptionYield",
    "Selection",
    "SemesterCalendar",
    "SemesterCalendarGiven",
    "SemesterDifference",
    "SemesterYield",
    "SemesterYieldGiven",
    "average_monthly_balance_cents",
    "check_figures",
    "check_on_calendar",
    "fixed_income_percent",
    "investment_selection",
    "late_credit",
    "month_balances_cents",
    "option_percents",
    "semester_calendar",
    "semester_percent",
    "semester_yield",
    "system_portfolio_percent",
    "yield_cents",
]
