"""What a semester's run computes from: the figures and settings that the Board has adopted, fixed when it is requested.

The context is also the evidence that every line of the run rests on, and what a late credit is determined again from.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from retiro.ledger.encoding import canonical
from retiro.ledger.lines import YIELD_RUN
from retiro.rules.calendar import Semester, yield_date
from retiro.rules.judiciary_hybrid import HYBRID_RETURN
from retiro.rules.judiciary_hybrid import SECTION as SECTION_242B
from retiro.rules.savings_accounts import SECTION, OptionYield, option_percents
from retiro.rules.settings import HYBRID_RETURN_SETTINGS, SAVINGS_SETTINGS
from retiro.rules.version import RULES_VERSION

if TYPE_CHECKING:
    from retiro.ledger.figures import Figures


@dataclass(frozen=True)
class Program:
    """A program whose accounts earn by semesters: its fund, and the names of its runs."""

    fund: str
    run: str
    reversal: str


SAVINGS = Program("ERS", YIELD_RUN, "yield_reversal")
"""The savings accounts of § 786-7: a yield by the participant's selection."""

HYBRID = Program("JRS", "yield_jrs", "yield_reversal_jrs")
"""The hybrid accounts of § 242b: the Board's one percent, on the same average balance."""

PROGRAMS = {program.fund: program for program in (SAVINGS, HYBRID)}


class SemesterNotOverError(Exception):
    """The semester's yield date has not come."""

    def __init__(self, semester: Semester, due_on: date) -> None:
        super().__init__(f"{semester} is posted from {due_on} on")
        self.semester = semester
        self.due_on = due_on


class FiguresMissingError(Exception):
    """Figures or settings of the semester have not been adopted: `missing` names them."""

    def __init__(self, semester: Semester, missing: list[str], citation: str = f"{SECTION}(b)(3)") -> None:
        super().__init__(f"{semester} lacks {', '.join(missing)}")
        self.semester = semester
        self.missing = missing
        self.citation = citation


def semester_context(figures: "Figures", semester: Semester, today: date) -> dict[str, Any]:
    """The context of a semester's run. Raises `SemesterNotOverError`, `FiguresMissingError`."""
    due_on = due_date(figures, semester)
    if today < due_on:
        raise SemesterNotOverError(semester, due_on)
    hybrid = figures.fund == HYBRID.fund
    option_yields = _hybrid_return(figures, semester) if hybrid else _option_yields(figures, semester)
    names = HYBRID_RETURN_SETTINGS if hybrid else SAVINGS_SETTINGS
    return {
        "semester": str(semester),
        "yield_date": due_on.isoformat(),
        "option_yields": {
            code: figure.model_dump(mode="json", exclude_none=True) for code, figure in option_yields.items()
        },
        "settings": figures.settings(semester.ends_on, names),
        "acts": {
            name: {"source": act.source, "in_force_from": act.in_force_from.isoformat()}
            for name, act in figures.acts(semester.ends_on, names).items()
        },
        "closure_days": [day.isoformat() for day in _closure_days(figures, semester)],
        "rules_version": RULES_VERSION,
    }


def _option_yields(figures: "Figures", semester: Semester) -> dict[str, OptionYield]:
    codes = figures.options_in_force(semester.ends_on)
    missing = figures.missing(semester, codes)
    if missing:
        raise FiguresMissingError(semester, missing)
    return figures.option_yields(semester, codes)


def _hybrid_return(figures: "Figures", semester: Semester) -> dict[str, OptionYield]:
    missing = figures.missing_return(semester)
    if missing:
        raise FiguresMissingError(semester, missing, SECTION_242B)
    return figures.option_yields(semester, [HYBRID_RETURN])


def due_date(figures: "Figures", semester: Semester) -> date:
    """The semester's yield date."""
    return yield_date(semester, _closure_days(figures, semester))


def _closure_days(figures: "Figures", semester: Semester) -> list[date]:
    """The closure days that lie in the semester: others change nothing of it."""
    return [day for day in figures.closure_days() if semester.starts_on <= day <= semester.ends_on]


@dataclass(frozen=True)
class SemesterFigures:
    """A run's context, ready to compute from."""

    semester: Semester
    yield_date: date
    percents: Mapping[str, Fraction]
    settings: Mapping[str, str]

    @cached_property
    def without_selection(self) -> Mapping[str, int]:
        """What stands in the place of a selection that was never made; empty: the account waits."""
        option = self.settings.get("no_selection", "hold")
        return {} if option == "hold" else {option: 100}


def figures_of(context: Mapping[str, Any]) -> SemesterFigures:
    """The figures of a context; each option's percent is computed once a process."""
    return _figures(canonical(dict(context)))


@lru_cache(maxsize=8)
def _figures(context_text: bytes) -> SemesterFigures:
    context = json.loads(context_text)
    semester = Semester.parse(context["semester"])
    percents = option_percents(semester, context["option_yields"], context["settings"])
    return SemesterFigures(semester, date.fromisoformat(context["yield_date"]), percents, context["settings"])
