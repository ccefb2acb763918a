"""The same formula on OpenFisca-core, as its users write one: variables by month, floats, rounded by numpy."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from openfisca_core.entities import build_entity
from openfisca_core.periods import MONTH
from openfisca_core.simulations import SimulationBuilder
from openfisca_core.taxbenefitsystems import TaxBenefitSystem
from openfisca_core.variables import Variable

from bench.accounts import PERCENTS, SEMESTER, Account
from retiro.rules.savings_accounts import semester_percent

PARTICIPANT = build_entity(key="participant", plural="participants", label="A participant", is_person=True)
LAST_MONTH = SEMESTER.months[-1]
CENTS_IN_DOLLAR = 100


class balance(Variable):  # noqa: N801  # OpenFisca takes the variable's name from the class
    value_type = float
    entity = PARTICIPANT
    definition_period = MONTH
    label = "Balance at the end of the month"


class semester_percent_of_selection(Variable):  # noqa: N801
    value_type = float
    entity = PARTICIPANT
    definition_period = MONTH
    label = "Percent of the semester that ends with this month"


class semester_yield(Variable):  # noqa: N801
    value_type = float
    entity = PARTICIPANT
    definition_period = MONTH
    label = "Yield of the semester that ends with this month"

    def formula(person: Any, period: Any) -> Any:  # noqa: N805  # OpenFisca's form
        total = sum(person("balance", period.offset(-back)) for back in range(6))
        return np.round(total / 6 * person("semester_percent_of_selection", period) / 100, 2)


SYSTEM = TaxBenefitSystem([PARTICIPANT])
SYSTEM.add_variables(balance, semester_percent_of_selection, semester_yield)


class Inputs:
    """Accounts as OpenFisca takes them: an array of dollars a month, and one of percents."""

    def __init__(self, accounts: Sequence[Account]) -> None:
        ends = np.array([account.month_ends_cents[1:] for account in accounts])
        self.balances = {month: ends[:, place] / CENTS_IN_DOLLAR for place, month in enumerate(SEMESTER.months)}
        self.percents = np.array([float(semester_percent(account.selection, PERCENTS)) for account in accounts])

    def yields(self, first: int = 0, count: int | None = None) -> NDArray[np.float32]:
        """The yields, in dollars, of `count` accounts from `first` on, in one simulation; of all of them by default."""
        chosen = slice(first, None if count is None else first + count)
        percents = self.percents[chosen]
        simulation = SimulationBuilder().build_default_simulation(SYSTEM, count=len(percents))
        for month, dollars in self.balances.items():
            simulation.set_input("balance", month, dollars[chosen])
        simulation.set_input("semester_percent_of_selection", LAST_MONTH, percents)
        found: NDArray[np.float32] = simulation.calculate("semester_yield", LAST_MONTH)
        return found


def cents(dollars: NDArray[np.float32]) -> NDArray[np.int64]:
    """Whole cents of what OpenFisca finds, in double precision, so that nothing is lost here."""
    return np.rint(dollars.astype(np.float64) * CENTS_IN_DOLLAR).astype(np.int64)
