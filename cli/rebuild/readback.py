"""Statements as the ledger has them: of the lines of a rebuilt passbook, and of the evidence that they rest on.

Nothing is taken from the history or from what was calculated offline: the opening and the month-ends are those that the
lines carry, the yield is what was posted, the percent comes from the figures that the line names.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Any

from cli.rebuild.accounts import statement
from cli.rebuild.entries import EVIDENCE
from cli.rebuild.figures import Selection, SemesterFigures
from retiro.ledger import savings
from retiro.ledger.lines import REBUILD_RUN, SAVINGS, Line, LineKind
from retiro.ledger.store import LedgerStore
from retiro.rules.calendar import Semester
from retiro.rules.refusals import Refusal
from retiro.rules.savings_accounts import OptionYield, average_monthly_balance_cents

_MONTH_ENDS_OF_NOTHING = (0,) * 7


class PostedStatements:
    """Makes the statements of passbooks; each piece of evidence is read once."""

    def __init__(self, store: LedgerStore) -> None:
        self._store = store
        self._of_evidence = cache(self._figures)
        self._last_of = cache(self._last_semester)

    def of(self, lines: Sequence[Line]) -> Iterator[str]:
        """A passbook's, each a line of CSV, from the semester of the enrolment on. `lines`: what the rebuild wrote.

        Before the first credit the ledger has no yield, and the statement is of nothing.
        """
        history = lines[-1].runs[REBUILD_RUN].period
        yields = {
            savings.posted_semester(line): (before, line)
            for before, line in pairwise(lines)
            if line.kind is LineKind.SEMESTER_YIELD
        }
        first_credit = min((Semester.containing(day) for day, _ in savings.movements(lines)), default=None)
        selections = savings.all_selections(lines)
        closing_cents = 0
        semester, last = Semester.containing(lines[0].effective_on), self._last_of(history)
        while last is not None and semester <= last:
            posted = yields.get(semester)
            if posted is None and first_credit is not None and semester >= first_credit:
                return  # the account stopped
            figures = self._of_evidence(f"{history}/{semester}")
            percent = _percent(figures, selections) if figures else None
            if figures is None or percent is None:
                return
            month_ends: Sequence[int] = _MONTH_ENDS_OF_NOTHING
            opening_cents, amount_cents = closing_cents, 0
            if posted is not None:
                before, line = posted
                month_ends = savings.semester_figures(before, semester)
                amount_cents, closing_cents = line.savings_cents, line.balance_cents(SAVINGS)
            average_cents = average_monthly_balance_cents(month_ends, figures.setting("average_balance_method"))
            credits_cents = closing_cents - amount_cents - opening_cents
            of_semester = (opening_cents, credits_cents, average_cents, percent, amount_cents, closing_cents)
            yield statement(lines[0].passbook, str(semester), of_semester)
            semester = semester.next()

    def _last_semester(self, history: str) -> Semester | None:
        body = self._body(history)
        return Semester.parse(body["through"]) if body and "through" in body else None

    def _figures(self, identifier: str) -> SemesterFigures | None:
        body = self._body(identifier)
        if body is None:
            return None
        option_yields = {option: OptionYield.model_validate(one) for option, one in body["option_yields"].items()}
        return SemesterFigures(Semester.parse(body["semester"]), body["settings"], option_yields)

    def _body(self, identifier: str) -> Mapping[str, Any] | None:
        evidence = self._store.get_evidence(EVIDENCE, identifier)
        return None if evidence is None else evidence.body


def _percent(figures: SemesterFigures, selections: Mapping[str, Mapping[str, Mapping[str, int]]]) -> str | None:
    """The semester's percent as it is shown; `None` where the account stops."""
    selected: Selection | None = tuple(savings.selection_in_force(selections, figures.semester.ends_on).items()) or None
    selection = figures.selection(selected)
    percent = selection if isinstance(selection, Refusal) else figures.percent(selection)
    return None if isinstance(percent, Refusal) else percent.shown
