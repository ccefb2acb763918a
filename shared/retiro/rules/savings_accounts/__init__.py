"""3 L.P.R.A. § 786-7: the savings accounts of System 2000.

| clause | module |
| --- | --- |
| (a)(1), (2) credits | `credits`: late_credit |
| (a)(3) investment yield | `yields`: semester_calendar, semester_yield; `arithmetic` |
| (b)(1), (2) selection and change | `selections`: investment_selection |
| (b)(3) investment options | `options`: option_percents; `arithmetic` |
| (c) vesting | nothing to compute: no function takes from a balance anything but a loss of the option chosen |
"""

from typing import TYPE_CHECKING

from retiro.on_demand import names_of

if TYPE_CHECKING:
    from retiro.rules.savings_accounts.arithmetic import *
    from retiro.rules.savings_accounts.credits import *
    from retiro.rules.savings_accounts.options import *
    from retiro.rules.savings_accounts.section import *
    from retiro.rules.savings_accounts.selections import *
    from retiro.rules.savings_accounts.yields import *
else:
    __getattr__ = names_of(
        __name__,
        {
            "arithmetic": "average_monthly_balance_cents fixed_income_percent month_balances_cents semester_percent "
            "system_portfolio_percent yield_cents",
            "credits": "PROGRAM_STARTS_ON LateCredit LateCreditGiven SemesterDifference check_on_calendar late_credit",
            "options": "FIXED_INCOME SYSTEM_PORTFOLIO OptionCode OptionYield check_figures option_percents",
            "section": "SECTION",
            "selections": "InvestmentSelection InvestmentSelectionGiven Selection investment_selection",
            "yields": "Movement SemesterCalendar SemesterCalendarGiven SemesterYield SemesterYieldGiven "
            "semester_calendar semester_yield",
        },
    )
