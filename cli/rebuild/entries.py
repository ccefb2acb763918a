"""What a participant's history writes into the passbook, entry by entry: by the same functions as everything else.

A credit and a selection stand on their days, and a semester's yield after all that is dated in it. Before the first
credit there is nothing that could earn: the ledger knows no such yield (`no_credit_yet`), and the entry writes no line.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache, partial
from operator import itemgetter

from cli.rebuild.figures import Figures, Selection
from cli.rebuild.history import InForce, Participant, Transfer
from cli.rebuild.movements import Contribution, Movements
from retiro.ledger import savings
from retiro.ledger.lines import Draft, Line
from retiro.ledger.savings import Origin, YieldPosting
from retiro.rules.calendar import Semester, yield_date
from retiro.rules.refusals import Refusal
from retiro.rules.savings_accounts import average_monthly_balance_cents, yield_cents

EVIDENCE = "rebuild"
ATTEMPT = 1
"""The attempt that a rebuilt yield's mark names: there is one."""

Entry = Callable[[Line | None], Draft | None]
"""From the passbook's last line to what the entry writes; `None` where it writes nothing."""


@dataclass(frozen=True, slots=True)
class Entries:
    """Makes the entries of each participant. `history` is the history's hash, `principal` who posts it."""

    history: str
    principal: str
    figures: Figures
    transfers: Mapping[int, Transfer]
    movements: Movements

    def of(self, number: int, participant: Participant, semesters: Sequence[Semester]) -> list[Entry]:
        """A participant's, in order. `semesters` are those that have a yield."""
        dated = [*self._selections(participant), *self._credits(number)]
        # A day's entries in this order; the sort keeps it. A yield is after all that is dated in its semester.
        dated += [(semester.ends_on, partial(self._yield, semester)) for semester in semesters]
        dated.sort(key=itemgetter(0))
        return [partial(self._enrolment, participant), *(entry for _, entry in dated)]

    def _selections(self, participant: Participant) -> Iterator[tuple[date, Entry]]:
        """Those that were asked for after the enrolment, or beside the first one."""
        later = participant.selections[1:] if _initial(participant) else participant.selections
        return ((one.requested_on, partial(self._selection, one)) for one in later)

    def _credits(self, number: int) -> Iterator[tuple[date, Entry]]:
        transfer = self.transfers.get(number)
        if transfer is not None:
            yield transfer.credited_on, partial(self._transfer, transfer)
        for contribution in self.movements.of(number):
            yield contribution.remitted_on, partial(self._contribution, contribution)

    # Each of these takes the last line last.

    def _enrolment(self, participant: Participant, last: Line | None) -> Draft:
        initial = _initial(participant)
        origin = Origin(self.principal, f"enrolment/{participant.participant_id}")
        return savings.enrolment(last, participant.enrolled_on, dict(initial.selection) if initial else None, origin)

    def _selection(self, one: InForce, last: Line | None) -> Draft:
        return savings.selection(
            _there(last),
            dict(one.selection),
            requested_on=one.requested_on,
            effective_on=one.effective_on,
            origin=self._origin(),
        )

    def _transfer(self, transfer: Transfer, last: Line | None) -> Draft:
        return savings.initial_transfer(_there(last), transfer.amount_cents, transfer.credited_on, self._origin())

    def _contribution(self, one: Contribution, last: Line | None) -> Draft:
        origin = self._origin(employer=one.employer_id, pay_period=one.pay_period)
        return savings.rebuilt_contribution(_there(last), one.amount_cents, one.remitted_on, origin)

    def _yield(self, semester: Semester, last: Line | None) -> Draft | None:
        last = _there(last)
        if last.month_ends is None:
            return None
        figures = self.figures.of(semester)
        selected: Selection | None = tuple(savings.selection_in_force(last.state, semester.ends_on).items()) or None
        selection = figures.selection(selected)
        percent = selection if isinstance(selection, Refusal) else figures.percent(selection)
        if isinstance(percent, Refusal):
            raise percent
        month_ends = savings.semester_figures(last, semester)
        average_cents = average_monthly_balance_cents(month_ends, figures.setting("average_balance_method"))
        amount_cents = yield_cents(average_cents, percent.exact, figures.setting("negative_yield"))
        posting = YieldPosting(semester, ATTEMPT, amount_cents, dated_on(semester), last.sequence)
        return savings.semester_yield(last, posting, Origin(self.principal, f"{EVIDENCE}/{self.history}/{semester}"))

    def _origin(self, **facts: str) -> Origin:
        return Origin(self.principal, f"{EVIDENCE}/{self.history}", facts)


@cache
def dated_on(semester: Semester) -> date:
    """The day of a semester's yield: its last business day, by the calendar alone."""
    return yield_date(semester)


def _initial(participant: Participant) -> InForce | None:
    """The selection that is made with the enrolment, if one is."""
    first = next(iter(participant.selections), None)
    return first if first and first.effective_on == participant.enrolled_on else None


def _there(last: Line | None) -> Line:
    if last is None:
        raise LookupError("nothing comes before the enrolment")
    return last
