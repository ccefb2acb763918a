"""A participant's statement of a posted semester, recomputed from the passbook and the figures that it was posted on.

It is the semester as it stands now, with the late credits that came since and their differences in it; or, where that
is asked for, as it was posted.
"""

from dataclasses import dataclass

from participants.models import CreditView, Statement
from retiro.ledger.board import BoardBook
from retiro.ledger.credits import PostedFigures
from retiro.ledger.late_credits import as_posted, posted_semesters
from retiro.ledger.passbooks import Passbooks
from retiro.portal import not_found
from retiro.rules.calendar import Semester
from retiro.rules.judiciary_hybrid import SECTION as SECTION_242B
from retiro.rules.judiciary_hybrid import SYSTEM
from retiro.rules.savings_accounts import SECTION, semester_yield

_CITATIONS = [f"{SECTION}(a)(1)–(3)", f"{SECTION}(b)(2)", f"{SECTION}(b)(3)", f"{SECTION}(c)"]
_CITATIONS_HYBRID = [SECTION_242B]
"""The Hybrid Program's own return is the Board's percent: § 786-7 doesn't govern it."""


@dataclass(frozen=True)
class Statements:
    """Makes statements."""

    passbooks: Passbooks
    board: BoardBook

    def of(self, participant_id: str, semester: Semester, *, originally: bool) -> Statement:
        """The statement of a semester. Raises 404 where the semester isn't posted for this participant."""
        history = self.passbooks.history(participant_id)
        posted = next((one for one in posted_semesters(history, semester.starts_on) if one.semester == semester), None)
        if posted is None or posted.line is None:
            raise not_found(
                "semester_not_posted",
                en=f"The yield of {semester} isn't posted for this participant.",
                es=f"El rendimiento de {semester} no está acreditado a este participante.",
                field="semester",
            )
        if originally:
            history = history[: posted.line.sequence]
        figures = PostedFigures(self.passbooks.store, self.board).of(history, semester.starts_on)[str(semester)]
        given = as_posted(history, posted, figures)
        found = semester_yield(given, acts=figures.acts)
        return Statement(
            participant_id=participant_id,
            semester=semester,
            opening_balance=given.opening_balance,
            credits=[CreditView(date=one.date, amount=one.amount) for one in given.movements],
            average_monthly_balance=found.average_monthly_balance,
            option_percents=found.option_percents,
            semester_percent=found.semester_percent,
            yield_amount=found.yield_amount,
            closing_balance=found.closing_balance,
            yield_date=found.yield_date,
            sequence=posted.line.sequence,
            changed_by=[line.sequence for line in history if str(semester) in line.differences],
            determination=str(posted.determination),
            citations=_CITATIONS_HYBRID if posted.line.fund == SYSTEM else _CITATIONS,
            receipt=found.receipt.model_dump(mode="json"),
        )
