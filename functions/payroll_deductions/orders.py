"""The monthly deduction orders, § 830q(e), (f), as a kind of run: who withholds what, for each open plan.

The line in the participant's passbook is the order; the payer reads it by the registry's index. What is due and on
nobody's order is an exception, which raises an alarm.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from payroll_deductions.plan_records import APPROVAL
from retiro.ledger import plans
from retiro.ledger.evidence import Evidence
from retiro.ledger.lines import Draft, Line
from retiro.ledger.plans import ORDER_REVERSAL_RUN, ORDER_RUN, Plan, PlanStatus
from retiro.ledger.savings import Origin
from retiro.registry.deduction_orders import Order, note_month, put_order, withdraw_order
from retiro.registry.participants import profile_of
from retiro.registry.roster import Holder
from retiro.registry.runs import Chunk, Run, RunBook, RunId
from retiro.registry.table import Table
from retiro.rules.calendar import parse_month
from retiro.rules.forms import Sentence
from retiro.rules.money import format_cents
from retiro.rules.payment_plans import SECTION
from retiro.rules.refusals import Refusal, RefusalCode
from retiro.runs.kinds import ParticipantException, Passbook, Prepared
from retiro.runs.objects import RunObjects

FUND = "ERS"

WITHOUT_PAYER = "installment_without_payer"
STOPPED = "deduction_stopped"
NO_SURVIVORS = "no_survivors_pension"
NO_PENSION = "no_pension"
UNDECIDED = "plan_for_a_person"
PAST_DEADLINE = "plan_past_deadline"

_SENTENCES = {
    WITHOUT_PAYER: Sentence(
        "An installment is due and nobody withholds it: service has ended, and no pension has started.",
        "Vence un plazo y nadie lo descuenta: terminó el servicio y no ha comenzado una pensión.",
    ),
    STOPPED: Sentence(
        "A deduction that was ordered before has stopped: service has ended, and no pension has started.",
        "Cesó un descuento que se ordenaba antes: terminó el servicio y no ha comenzado una pensión.",
    ),
    NO_SURVIVORS: Sentence(
        "The pensioner died owing, and no survivors' pension is on record to bear the rest.",
        "El pensionado murió adeudando y no consta pensión de sobrevivientes que cubra el resto.",
    ),
    NO_PENSION: Sentence(
        "The plan's last day has come, and its installments still wait for a pension, which isn't on record.",
        "Llegó el último día del plan y sus plazos todavía esperan por una pensión, que no consta.",
    ),
    UNDECIDED: Sentence(
        "The participant died before any pension, with a plan open: a person decides.",
        "El participante murió antes de pensionarse, con un plan pendiente: lo decide una persona.",
    ),
    PAST_DEADLINE: Sentence(
        "The principal is open after its deadline, and the plan has not lapsed on the record.",
        "El principal sigue pendiente después de su fecha límite y no consta que el plan caducara.",
    ),
}

_WITHOUT_SCHEDULE = ParticipantException(
    UNDECIDED,
    Sentence(
        "Installments start with the pension, and have no schedule: service ended, or the pension began, before the "
        "principal was paid. A person decides.",
        "Los plazos comienzan con la pensión y no tienen fechas: el servicio terminó, o la pensión comenzó, antes de "
        "pagarse el principal. Lo decide una persona.",
    ),
)

WITHOUT_ORDER = (WITHOUT_PAYER, STOPPED, NO_SURVIVORS, NO_PENSION)
"""The exceptions that raise an alarm: something is due, and nobody takes it."""


@dataclass(frozen=True)
class OrderKind:
    """A month's orders, one line a participant with something due."""

    registry: Table
    name: str = ORDER_RUN
    holder: Holder = Holder.PARTICIPANT
    fund: str = FUND

    def evidence(self, run: Run) -> Sequence[Evidence]:
        """What was approved, under the name that the lines give as their determination."""
        return [_evidence_of(run)]

    def prepare(self, passbook: Passbook, run: Run) -> Prepared | ParticipantException | None:
        """The order of a participant who has something due; nothing for everybody else."""
        last = passbook.last
        plan = None if last is None else plans.plan_of(last)
        if last is None or plan is None or not plan.is_open:
            return None
        month = parse_month(run.id.period)
        if (code := _for_a_person(plan, month)) is not None:
            return _exception(code)
        if plan.status is PlanStatus.PAYING and plan.terms is None:
            return _waiting(passbook, last, plan, month)
        installment_cents, arrears_cents = plan.order_cents(month)
        if not installment_cents + arrears_cents or _is_ordered(last, run.id.period):
            return None
        payer_id = self._payer(last, month)
        if payer_id is None:
            return _exception(STOPPED if ORDER_RUN in last.runs else WITHOUT_PAYER)
        shown = {
            "payer": payer_id,
            "installment": format_cents(installment_cents),
            "arrears": format_cents(arrears_cents),
        }
        draft = plans.ordered(last, month, payer_id, run.id.attempt, _origin(run))
        return Prepared(draft, shown, installment_cents + arrears_cents)

    def remake(self, passbook: Passbook, draft: Draft, run: Run) -> Draft:
        """The same order on a passbook that has moved. What is due has changed: it is withheld."""
        last = passbook.last
        month = parse_month(run.id.period)
        changed = Refusal(RefusalCode.ORDER_CHANGED, f"{SECTION}(e)", month=run.id.period)
        if last is None or _is_ordered(last, run.id.period):
            raise changed
        payer_id = self._payer(last, month)
        if payer_id is None:
            raise changed
        again = plans.ordered(last, month, payer_id, run.id.attempt, _origin(run))
        if again.facts != draft.facts:
            raise changed
        return again

    def is_late(self, line: Line, run: Run) -> bool:
        """Nothing is late for an order: the next one asks for what is due then."""
        del line, run
        return False

    def settle_late(self, passbook: Passbook, posted: Line, late: Sequence[Line], run: Run) -> Line | None:
        """Nothing to settle."""
        del passbook, posted, late, run
        return None

    def _payer(self, last: Line, month: date) -> str | None:
        profile = profile_of(self.registry, last.passbook)
        return None if profile is None else plans.payer_on(last, profile.employer_id, plans.month_end(month))


def _for_a_person(plan: Plan, month: date) -> str | None:
    """Why a plan has no order that this run could make, where that isn't as it should be."""
    if plan.status is PlanStatus.UNDECIDED:
        return UNDECIDED
    if plan.deadline is not None and plans.month_end(plan.deadline) < month - timedelta(days=1):
        return PAST_DEADLINE  # the month before the order's was over, and the daily look has not lapsed it
    if plan.death is not None and plan.terms is None:
        return NO_SURVIVORS
    return None


def _waiting(passbook: Passbook, last: Line, plan: Plan, month: date) -> ParticipantException | None:
    """Installments wait for the pension. While there is none that is as it should be, until the plan's last day."""
    if plans.pension_of(last) is not None:
        return _WITHOUT_SCHEDULE
    approval = passbook.store.get_evidence(APPROVAL, plans.plan_id(last.passbook, plan.line))
    if approval is not None and approval.body["plan_ends_on"] > plans.month_end(month).isoformat():
        return None
    return _exception(NO_PENSION)


def _is_ordered(last: Line, period: str) -> bool:
    """Whether the month was ordered already, or a later one."""
    mark = last.runs.get(ORDER_RUN)
    return mark is not None and period <= mark.period


def _exception(code: str) -> ParticipantException:
    return ParticipantException(code, _SENTENCES[code])


def _evidence_of(run: Run) -> Evidence:
    body = {**run.context, "run_hash": run.details["hash"]}
    return Evidence(run.id.kind, f"{run.id.period}/{run.id.attempt}", body)


def _origin(run: Run) -> Origin:
    return Origin(run.requested_by, determination=str(run.id))


@dataclass(frozen=True)
class OrderReversalKind:
    """A month's orders taken back: what they asked for is due as if it had never been ordered, and ordered anew."""

    name: str = ORDER_REVERSAL_RUN
    holder: Holder = Holder.PARTICIPANT
    fund: str = FUND

    def evidence(self, run: Run) -> Sequence[Evidence]:
        """The reason, and the attempts that are reversed."""
        return [_evidence_of(run)]

    def prepare(self, passbook: Passbook, run: Run) -> Prepared | ParticipantException | None:
        """The line that takes the order back; nothing for who wasn't ordered in this month."""
        mark = None if passbook.last is None else passbook.last.runs.get(ORDER_RUN)
        if mark is None or mark.period < run.id.period:
            return None
        history = passbook.lines()
        draft = self._draft(history, run)
        order = history[(draft.reverses or 0) - 1].facts
        cents = int(order["installment"]) + int(order["arrears"])
        return Prepared(
            draft, {"reverses": draft.reverses, "payer": order["payer"], "amount": format_cents(cents)}, cents
        )

    def remake(self, passbook: Passbook, draft: Draft, run: Run) -> Draft:
        """The reversal on a passbook that has moved. Where its order was remitted meanwhile, it is withheld."""
        del draft  # it is made from the whole passbook each time
        return self._draft(passbook.lines(), run)

    def is_late(self, line: Line, run: Run) -> bool:
        """Nothing is late for a reversal."""
        del line, run
        return False

    def settle_late(self, passbook: Passbook, posted: Line, late: Sequence[Line], run: Run) -> Line | None:
        """Nothing to settle."""
        del passbook, posted, late, run
        return None

    def _draft(self, history: Sequence[Line], run: Run) -> Draft:
        mark = (self.name, run.id.period, run.id.attempt)
        return plans.order_reversed(history, run.id.period, mark, _origin(run))


@dataclass(frozen=True)
class OrderIndex:
    """Puts the orders of a run where their payers read them, and takes those of a reversal away."""

    book: RunBook
    objects: RunObjects
    registry: Table

    def index(self, run_id: RunId, chunk_index: int) -> None:
        """The posted orders of a chunk, or what a reversal of them took back; again, the same."""
        payers: set[str] = set()
        for passbook, facts, sequence in self._posted(self.book.chunk(run_id, chunk_index)):
            payer_id, month = facts["payer"], run_id.period
            payers.add(payer_id)
            if run_id.kind == ORDER_REVERSAL_RUN:
                withdraw_order(self.registry, payer_id, month, passbook, sequence)
            else:
                order = Order(passbook, facts["installment"], facts["arrears"], sequence)
                put_order(self.registry, payer_id, month, order)
        for payer_id in sorted(payers):
            note_month(self.registry, payer_id, run_id.period, is_reversal=run_id.kind == ORDER_REVERSAL_RUN)

    def _posted(self, chunk: Chunk) -> Iterator[tuple[str, Mapping[str, Any], int]]:
        """Passbook, facts and sequence of each line that a chunk has posted."""
        for part, result in zip(chunk.parts, chunk.results, strict=True):
            drafts = {row["passbook"]: row["draft"] for row in self.objects.read(part) if "line" in row}
            for row in self.objects.read(result):
                if row["outcome"] == "posted":
                    yield row["passbook"], drafts[row["passbook"]]["facts"], row["sequence"]
