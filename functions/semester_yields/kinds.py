"""The two kinds of run of this domain: a semester's yield, and its reversal."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from retiro.ledger.credits import EVIDENCE as LATE_CREDIT
from retiro.ledger.credits import known
from retiro.ledger.evidence import Evidence
from retiro.ledger.keys import BusinessKey, KeyKind
from retiro.ledger.late_credits import AsPosted, late_yield, left_out, reversal_of
from retiro.ledger.lines import YIELD_RUN, Draft, Line, LineKind
from retiro.ledger.month_ends import IncompleteError
from retiro.ledger.passbooks import Decision, Passbooks
from retiro.ledger.savings import (
    SECTION,
    Origin,
    YieldPosting,
    check_yield,
    selection_in_force,
    semester_figures,
    semester_yield,
)
from retiro.registry.clock import Clock
from retiro.registry.roster import Holder
from retiro.registry.runs import Run
from retiro.rules.calendar import Semester, puerto_rico_date
from retiro.rules.money import format_cents, format_percent, round_half_away
from retiro.rules.refusals import Refusal, RefusalCode
from retiro.rules.savings_accounts import average_monthly_balance_cents, semester_percent, yield_cents
from retiro.rules.savings_accounts.options import check_figures
from retiro.runs.kinds import ParticipantException, Passbook, Prepared
from semester_yields.context import SAVINGS, SemesterFigures, figures_of

REVERSAL_RUN = SAVINGS.reversal
"""The mark of a reversal, whatever the fund: a passbook is of one fund."""


@dataclass(frozen=True)
class YieldKind:
    """§ 786-7(a)(3): a semester's yield, one line a participant, in the semesters' order.

    The return of the hybrid accounts (§ 242b) is the same arithmetic with one option, the Board's percent.
    """

    clock: Clock
    name: str = YIELD_RUN
    holder: Holder = Holder.PARTICIPANT
    fund: str = SAVINGS.fund

    def evidence(self, run: Run) -> Sequence[Evidence]:
        """The figures, under the name that the lines give as their determination."""
        return [_evidence_of(run)]

    def prepare(self, passbook: Passbook, run: Run) -> Prepared | ParticipantException:
        """The yield line on the passbook's last one: average monthly balance × the percent of the selection."""
        figures = figures_of(run.context)
        last = passbook.last
        if last is None:
            raise Refusal(RefusalCode.NO_CREDIT_YET, f"{SECTION}(a)(3)", semester=figures.semester)
        history = None
        try:
            month_ends = semester_figures(last, figures.semester)
        except IncompleteError:
            history = passbook.lines()
            month_ends = semester_figures(last, figures.semester, history)
        selection = _selection(last, figures)
        percent = semester_percent(selection, figures.percents)
        average = average_monthly_balance_cents(month_ends, figures.settings["average_balance_method"])
        amount = yield_cents(average, percent, figures.settings["negative_yield"])
        posting = YieldPosting(figures.semester, run.id.attempt, amount, figures.yield_date, last.sequence)
        shown = {
            "average_monthly_balance": format_cents(round_half_away(average)),
            "selection": dict(selection),
            "semester_percent": format_percent(percent),
            "yield": format_cents(amount),
        }
        return Prepared(semester_yield(last, posting, _origin(run), history), shown, amount)

    def remake(self, passbook: Passbook, draft: Draft, run: Run) -> Draft:
        """The same yield on a passbook that has moved, if it may still be posted."""
        figures = figures_of(run.context)
        last = passbook.last
        if last is None:
            raise LookupError(f"{passbook.id} has moved and has no line")
        check_yield(last, figures.semester)
        amount = sum(posting.amount_cents for posting in draft.postings if posting.account == "savings")
        through = int(draft.facts["through"])
        mark = last.runs.get(YIELD_RUN)
        opening_moved = mark is not None and mark.sequence > through
        if opening_moved or _selection_moved(passbook, last, through, figures.semester):
            # The semester before was posted since, perhaps again and otherwise, and its yield is in this one's opening;
            # or another selection is in force at its end. Taken again, the figures must come to the same, or the line
            # is withheld.
            again = self.prepare(passbook, run)
            return again.draft if isinstance(again, Prepared) else draft
        posting = YieldPosting(figures.semester, run.id.attempt, amount, figures.yield_date, through)
        try:
            semester_figures(last, figures.semester)
        except IncompleteError:
            return semester_yield(last, posting, _origin(run), passbook.lines())
        return semester_yield(last, posting, _origin(run))

    def is_late(self, line: Line, run: Run) -> bool:
        """Whether a line moves savings on a day of the semester or before it, and is no yield itself."""
        semester = figures_of(run.context).semester
        is_yield = line.kind in {LineKind.SEMESTER_YIELD, LineKind.REVERSAL}
        return bool(line.savings_cents) and not is_yield and line.legal_date <= semester.ends_on

    def settle_late(self, passbook: Passbook, posted: Line, late: Sequence[Line], run: Run) -> Line | None:
        """Credit the yield of what came late at once, as a late credit of its own, so that nobody waits for it.

        What the rules leave to a person (a credit to an earlier semester, a later semester posted since) stays named,
        and keeps none of the others waiting.
        """
        passbooks = Passbooks(passbook.store, self.clock)
        settled: Line | None = None
        left = False
        for line in late:
            try:
                settled = self._settle(passbooks, posted, line, run)
            except Refusal:
                left = True
        return None if left else settled

    def _settle(self, passbooks: Passbooks, posted: Line, line: Line, run: Run) -> Line:
        name = f"{posted.passbook}/{line.sequence}/{run.id.period}"
        semester = str(figures_of(run.context).semester)

        def decide(last: Line | None) -> Decision:
            history = passbooks.store.through(known(last, posted.passbook))
            if line.sequence not in {one.sequence for one in left_out(history)}:
                raise Refusal(
                    RefusalCode.NEEDS_DECISION,
                    f"{SECTION}(a)(3)",
                    reason_en=f"line {line.sequence} belongs to an earlier semester",
                    reason_es=f"la línea {line.sequence} es de un semestre anterior",
                )
            recorded_on = puerto_rico_date(self.clock())
            origin = Origin(run.requested_by, f"{LATE_CREDIT}/{name}")
            figures = {semester: AsPosted.of_body(run.context)}
            draft, result = late_yield(history, line.sequence, figures, recorded_on, origin)
            return Decision([draft], [Evidence(LATE_CREDIT, name, result.receipt.model_dump(mode="json"))])

        content = {"passbook": posted.passbook, "line": line.sequence, "run": str(run.id)}
        key = BusinessKey(KeyKind.LATE_CREDIT, name)
        return passbooks.append(posted.passbook, decide, key=key, content=content).lines[0]


@dataclass(frozen=True)
class YieldReversalKind:
    """The yields of a semester taken back: whatever was posted for it last, with what late credits added since."""

    name: str = REVERSAL_RUN
    holder: Holder = Holder.PARTICIPANT
    fund: str = SAVINGS.fund

    def evidence(self, run: Run) -> Sequence[Evidence]:
        """The reason, and the attempts that are reversed."""
        return [_evidence_of(run)]

    def prepare(self, passbook: Passbook, run: Run) -> Prepared | ParticipantException:
        """The line that reverses the semester's yield, on the original date."""
        draft = self._draft(passbook, run)
        amount = sum(posting.amount_cents for posting in draft.postings if posting.account == "savings")
        return Prepared(draft, {"reverses": draft.reverses, "amount": format_cents(amount)}, amount)

    def remake(self, passbook: Passbook, draft: Draft, run: Run) -> Draft:
        """The reversal on a passbook that has moved. Where its amount isn't the approved one, it is withheld."""
        del draft  # it is made from the whole passbook each time
        return self._draft(passbook, run)

    def is_late(self, line: Line, run: Run) -> bool:
        """Nothing is late for a reversal: what belongs to the semester is in its figures when it is prepared again."""
        del line, run
        return False

    def settle_late(self, passbook: Passbook, posted: Line, late: Sequence[Line], run: Run) -> Line | None:
        """Nothing to settle."""
        del passbook, posted, late, run
        return None

    def _draft(self, passbook: Passbook, run: Run) -> Draft:
        semester = Semester.parse(run.id.period)
        last = passbook.last
        if last is None or YIELD_RUN not in last.runs:
            raise Refusal(RefusalCode.NOT_POSTED, f"{SECTION}(a)(3)", semester=semester)
        mark = (self.name, run.id.period, run.id.attempt)
        return reversal_of(passbook.lines(), semester, _origin(run), mark)


def _origin(run: Run) -> Origin:
    return Origin(run.requested_by, determination=str(run.id))


def _evidence_of(run: Run) -> Evidence:
    body: dict[str, Any] = {**run.context, "run_hash": run.details["hash"]}
    return Evidence(run.id.kind, f"{run.id.period}/{run.id.attempt}", body)


def _selection_moved(passbook: Passbook, last: Line, through: int, semester: Semester) -> bool:
    """Whether the selection in force on the semester's last day isn't that which the figures rest on."""
    rests_on = passbook.lines(first=through)[0]
    return selection_in_force(rests_on.state, semester.ends_on) != selection_in_force(last.state, semester.ends_on)


def _selection(last: Line, figures: SemesterFigures) -> Mapping[str, int]:
    """(b)(1): the selection in force on the semester's last day, or what the Administrator's order puts there."""
    selection = selection_in_force(last.state, figures.semester.ends_on) or figures.without_selection
    if not selection:
        raise Refusal(RefusalCode.NO_SELECTION, f"{SECTION}(b)(1)", field="selection", semester=figures.semester)
    for option in selection:
        if option not in figures.percents:
            check_figures(figures.semester, option, None)  # refuses it
    return selection
