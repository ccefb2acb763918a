"""A plan as its passbook and its evidence tell it: what was applied for, granted and paid; and its determination."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Any

from retiro.ledger import plans
from retiro.ledger.employers import CASH
from retiro.ledger.evidence import Evidence
from retiro.ledger.exits import adopted, check_adopted
from retiro.ledger.lines import Draft, Line, LineKind
from retiro.ledger.plans import Plan, Terms
from retiro.ledger.savings import Origin, Status
from retiro.ledger.store import LedgerStore
from retiro.rules.money import format_cents, parse_cents
from retiro.rules.payment_plans import PaymentPlan, payment_plan

if TYPE_CHECKING:
    from retiro.ledger.figures import Figures

APPLICATION = "plan_application"
APPROVAL = "plan_approval"
DETERMINED = "payment_plan"

SETTINGS = ("plan_interest_base", "day_count", "installments_start")
"""The settings that a plan rests on."""

FACTS = (
    "applied_on",
    "status",
    "first_joined_on",
    "time_to_merit_pension",
    "debts",
    "act_305",
    "board_rate_percent",
    "cost_notified_on",
)
"""What of an application `payment_plan` takes."""

_CHANGES_A_PLAN = frozenset(kind for kind, keys in plans.STATE_KEYS.items() if "plan" in keys)
_OF_A_PLAN = _CHANGES_A_PLAN | {LineKind.HELD_PLACED}


class EvidenceMissingError(Exception):
    """A line rests on evidence that isn't there: the ledger is damaged."""


@dataclass(frozen=True)
class Record:
    """A plan: the passbook's lines through its last one, its own lines, the application, and the approval if any."""

    plan_id: str
    line: int
    history: Sequence[Line]
    application: Evidence
    approval: Evidence | None

    @property
    def last(self) -> Line:
        """The passbook's last line."""
        return self.history[-1]

    @property
    def lines(self) -> list[Line]:
        """The plan's own lines. What a lapsed one held may be placed when a later plan is open: the line says whose."""
        of_plan = [line for line in self.history[self.line - 1 :] if line.kind in _OF_A_PLAN]
        return [line for line in of_plan if line.facts.get("plan", line.state["plan"]["line"]) == self.line]

    @property
    def plan(self) -> Plan:
        """The plan as its last line left it, or as the passbook has it now, where it is still the latest."""
        latest = plans.plan_of(self.last)
        if latest is not None and latest.line == self.line:
            return latest
        return self.plan_on(date.max)

    def plan_on(self, day: date) -> Plan:
        """The plan as its last line effective on or before a day left it; before its first one, as applied for."""
        changes = [line for line in self.lines if _changes_a_plan(line)]
        then = [line for line in changes if line.effective_on <= day] or changes[:1]
        plan = plans.plan_of(then[-1])
        if plan is None:
            raise EvidenceMissingError(self.plan_id)
        return plan

    @property
    def principals_cents(self) -> list[int]:
        """The principal of each debt, in the order listed."""
        return [parse_cents(debt["principal"]) for debt in self.application.body["debts"]]

    @property
    def has_died(self) -> bool:
        """Whether a death is on the passbook, whichever plan it was told of."""
        told = any(line.kind is LineKind.PLAN_DEATH for line in self.history)
        return told or self.last.state["status"] == Status.DEATH_REPORTED

    @property
    def held_cents(self) -> int:
        """What is held of a plan that lapsed, until a person places it."""
        return sum(cents_on(line, plans.PLAN_HELD) for line in self.lines)

    def payments(self) -> list[dict[str, str]]:
        """The payments to the principal."""
        return [
            {"date": line.effective_on.isoformat(), "amount": format_cents(-cents_on(line, CASH))}
            for line in self.lines
            if line.kind is LineKind.PRINCIPAL_PAYMENT
        ]

    def interest_cents(self) -> list[int]:
        """The interest stated so far, by debt."""
        stated = [line for line in self.lines if line.kind is LineKind.PLAN_SCHEDULED]
        numbers = range(1, len(self.application.body["debts"]) + 1)
        return [-sum(cents_on(line, plans.debt_account(number)) for line in stated) for number in numbers]

    def given(self, approved_on: date, **facts: Any) -> dict[str, Any]:
        """What `payment_plan` takes: the application, the approval, what is known of pension and service, the rest."""
        given = {name: self.application.body[name] for name in FACTS if name in self.application.body}
        pension, left = plans.pension_of(self.last), plans.left_on(self.last)
        return (
            given
            | {"approved_on": approved_on.isoformat(), "principal_payments": self.payments()}
            | ({} if pension is None else {"pension_starts_on": pension.starts_on.isoformat()})
            | ({} if left is None else {"separated_on": left.isoformat()})
            | facts
        )

    @property
    def approved_on(self) -> date | None:
        """The day of the approval."""
        return None if self.approval is None else date.fromisoformat(self.approval.body["approved_on"])


def _changes_a_plan(line: Line) -> bool:
    """A death that is only noted, since no plan is open, changes none."""
    noted = line.kind is LineKind.PLAN_DEATH and "death" not in line.state["plan"]
    return line.kind in _CHANGES_A_PLAN and not noted


def record_of(store: LedgerStore, passbook: str, line: int, last: Line | None = None) -> Record | None:
    """The plan that was applied for in this line; `None` where none was.

    `last`: as of this line of the passbook, where something is decided on it. What came after it isn't seen, nor the
    approval that came with that.
    """
    history = list(store.lines(passbook)) if last is None else store.through(last)
    if not 1 <= line <= len(history) or history[line - 1].kind is not LineKind.PLAN_APPLIED:
        return None
    identifier = plans.plan_id(passbook, line)
    application = store.get_evidence(APPLICATION, identifier)
    if application is None:
        raise EvidenceMissingError(identifier)
    record = Record(identifier, line, history, application, approval=None)
    if all(one.kind is not LineKind.PLAN_APPROVED for one in record.lines):
        return record
    approval = store.get_evidence(APPROVAL, identifier)
    if approval is None:
        raise EvidenceMissingError(identifier)
    return replace(record, approval=approval)


def determined(figures: "Figures", given: dict[str, Any], *, posts: bool = True) -> PaymentPlan:
    """The determination, on the settings that the Board has adopted.

    Raises `Refusal`: the rules', and `not_in_force` where something is posted on a default.
    """
    found = adopted(figures, SETTINGS, date.fromisoformat(given["applied_on"]))
    parsed = payment_plan.parse(given | {"settings": dict(found.settings)})
    result = payment_plan(parsed, acts=found.acts)
    if posts:
        check_adopted(result.receipt, figures)
    return result


def evidence_of(last: Line, result: PaymentPlan) -> Evidence:
    """The determination as evidence of the passbook's next line."""
    return Evidence(DETERMINED, f"{last.passbook}/{last.sequence + 1:08d}", result.model_dump(mode="json"))


def determination_of(evidence: Evidence) -> str:
    """How a line names it."""
    return f"{evidence.type}/{evidence.id}"


def schedule_draft(last: Line, result: PaymentPlan, stated_cents: Sequence[int], origin: Origin) -> Draft | None:
    """The line that states the interest and the schedule, where the principal is paid; `None` before."""
    if result.principal_paid_on is None or result.interest is None:
        return None
    interest = [one.amount - stated for one, stated in zip(result.interest, stated_cents, strict=True)]
    return plans.scheduled(last, interest, terms_of(result), result.principal_paid_on, origin)


def terms_of(result: PaymentPlan) -> Terms | None:
    """The schedule of a determination."""
    if result.installments is None or result.total_interest is None:
        return None
    planned = result.installments
    return Terms(result.total_interest, planned.amount, planned.count, planned.first_due_on)


def cents_on(line: Line, account: str) -> int:
    """What a line moves on an account."""
    return sum(posting.amount_cents for posting in line.postings if posting.account == account)
