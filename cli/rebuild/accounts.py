"""Every semester of every account, in order, by the same exact functions as `semester_yield`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from itertools import accumulate

from cli.rebuild.credits import MONTHS_IN_SEMESTER, MonthlyCredits
from cli.rebuild.exceptions import Exceptions
from cli.rebuild.figures import Figures, Selection, SemesterFigures
from cli.rebuild.history import InForce, Participant
from retiro.rules.calendar import Semester
from retiro.rules.money import format_cents, round_half_away
from retiro.rules.refusals import Refusal
from retiro.rules.savings_accounts import average_monthly_balance_cents, yield_cents

HEADER = (
    "participant_id,semester,opening_balance,credits,average_monthly_balance,semester_percent,yield,closing_balance"
)


@dataclass(frozen=True, slots=True)
class _Posting:
    """A semester as every account posts it: its figures and settings, and where its six months stand in the credits."""

    name: str
    ends_on: date
    figures: SemesterFigures
    average_balance_method: str
    negative_yield: str
    months: slice


class Accounts:
    """Posts the semesters of one participant after another, through the last that the figures cover in full."""

    def __init__(self, figures: Figures, credited: MonthlyCredits, exceptions: Exceptions) -> None:
        self._figures = figures
        self._credits = credited
        self._exceptions = exceptions
        self._last = figures.last
        self._postings: list[_Posting] = []
        self._numbers: dict[Semester, int] = {}
        for number, semester in enumerate(figures.semesters()):
            self._postings.append(self._posting(semester, number))
            self._numbers[semester] = number

    def _posting(self, semester: Semester, number: int) -> _Posting:
        figures = self._figures.of(semester)
        return _Posting(
            str(semester),
            semester.ends_on,
            figures,
            figures.setting("average_balance_method"),
            figures.setting("negative_yield"),
            slice(number * MONTHS_IN_SEMESTER, (number + 1) * MONTHS_IN_SEMESTER),
        )

    def statements(self, number: int, participant: Participant) -> Iterator[str]:
        """A participant's statements, each a line of CSV, from the semester of enrolment until the account stops."""
        months_cents = self._credits.of(number)
        opening_cents = 0
        for posting in self._from(Semester.containing(participant.enrolled_on)):
            selection = posting.figures.selection(_in_force(participant.selections, posting.ends_on))
            percent = selection if isinstance(selection, Refusal) else posting.figures.percent(selection)
            if isinstance(percent, Refusal):
                self._exceptions.stops(participant.participant_id, posting.name, percent)
                return
            balances_cents = list(accumulate(months_cents[posting.months], initial=opening_cents))
            average_cents = average_monthly_balance_cents(balances_cents, posting.average_balance_method)
            amount_cents = yield_cents(average_cents, percent.exact, posting.negative_yield)
            credits_cents = balances_cents[-1] - opening_cents
            closing_cents = balances_cents[-1] + amount_cents
            of_semester = (opening_cents, credits_cents, average_cents, percent.shown, amount_cents, closing_cents)
            yield statement(participant.participant_id, posting.name, of_semester)
            opening_cents = closing_cents

    def _from(self, first: Semester) -> Sequence[_Posting]:
        """The semesters from one on. One before all figures stands alone: nothing is yielded there, and it stops."""
        if self._last is None or first > self._last:
            return ()
        number = self._numbers.get(first)
        return self._postings[number:] if number is not None else (self._posting(first, 0),)


def statement(participant_id: str, semester: str, of_semester: tuple[int, int, Fraction, str, int, int]) -> str:
    """A line of statements.csv. Of the semester, in cents: opening, credits, average, percent shown, yield, closing."""
    opening_cents, credits_cents, average_cents, percent_shown, amount_cents, closing_cents = of_semester
    return (
        f"{participant_id},{semester},{format_cents(opening_cents)},{format_cents(credits_cents)},"
        f"{format_cents(round_half_away(average_cents))},{percent_shown},{format_cents(amount_cents)},"
        f"{format_cents(closing_cents)}\n"
    )


def _in_force(selections: Sequence[InForce], day: date) -> Selection | None:
    """The selection in force on a day: the latest that came into force by then."""
    for one in reversed(selections):
        if one.effective_on <= day:
            return one.selection
    return None
