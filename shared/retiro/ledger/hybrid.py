"""The lines of a judge's passbook, 4 L.P.R.A. § 242b (fund JRS, the Hybrid Program), beyond those of savings. Pure.

`savings` is the contributions account, carried as § 786-7's is: one selection, `hybrid_return`, stands from the
enrolment on, so that month-ends, yields and late credits work alike. An annuity moves it to `annuity_reserve`. What is
owed to the System is a debit on `debts`; what a death leaves to somebody, a credit on `payable:N` or `held:N`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from retiro.ledger import savings
from retiro.ledger.lines import Draft, Line, LineError, LineKind, Posting
from retiro.ledger.savings import Origin, Status
from retiro.rules.judiciary_hybrid import HYBRID_RETURN, SECTION, SYSTEM
from retiro.rules.refusals import Refusal, RefusalCode
from retiro.rules.service_lengths import ServiceLength

ANNUITY_RESERVE = "annuity_reserve"
"""The balance at retirement, less the gross of the payments. What a life outlives or leaves of it is the fund's."""

CASH = "cash"
PAYMENTS_RETURNED = "payments_returned"
"""Net of annuity payments that came back and weren't made again yet."""

ANNUITY_ARREARS = "annuity_arrears"
"""What a correction owes the pensioner until the next payment, or is owed by the pensioner."""

ANNUITY_RECEIVABLE = "receivable:annuity"
"""Gross annuity payments that weren't due, to be got back: a debit."""

DEBTS = "debts"
"""What is owed to the System, all debts together: a debit. What is collected goes to them in the order of entry."""

DEBTS_STATED = "debts_stated"
"""The other side of the debts: facts from outside, entered by one person and approved by another."""

_PAYABLE = "payable:"
_HELD = "held:"

PAYEES_MAX = 24
"""Payees of a settlement, with those of later allocations: their accounts are in its line, which has a limit."""

STATE_KEYS: Mapping[LineKind, frozenset[str]] = {
    LineKind.DESIGNATION: frozenset({"designation"}),
    LineKind.SYSTEM_CHANGE: frozenset({"designation"}),
    LineKind.SERVICE_CREDIT: frozenset({"service"}),
    LineKind.DEBT: frozenset({"installment"}),
    LineKind.DEATH_REPORT: frozenset({"status", "death", "report"}),
    LineKind.DEATH_CONFIRMED: frozenset({"confirmed"}),
    LineKind.DEATH_WITHDRAWN: frozenset({"status", "death", "report", "confirmed", "case"}),
    LineKind.REFUND_ENTERED: frozenset({"case"}),
    LineKind.SETTLEMENT: frozenset({"status", "case"}),
    LineKind.SETTLEMENT_REVERSED: frozenset({"status", "case"}),
    LineKind.ALLOCATION: frozenset({"case"}),
    LineKind.RETIREMENT: frozenset({"status", "annuity"}),
    LineKind.ANNUITY_CORRECTION: frozenset({"annuity"}),
}
"""Which keys of the state a kind of line may change, for who checks a passbook. Kinds that aren't here change none."""


@dataclass(frozen=True, slots=True)
class Annuity:
    """The annuity in force, as the state carries it. `contract` is the line that issued or corrected it.

    `first_payment_days` is the setting's value. That line's facts have `balance` and `return`: the cents at retirement,
    and how much of them was credited then, provisionally.
    """

    contract: int
    retired_on: date
    monthly_cents: int
    first_payment_days: str

    @property
    def state(self) -> dict[str, str | int]:
        """The state's `annuity`. It is short: every line of the payroll carries it."""
        return {
            "contract": self.contract,
            "from": self.retired_on.isoformat(),
            "monthly": self.monthly_cents,
            "days": self.first_payment_days,
        }


@dataclass(frozen=True, slots=True)
class Payment:
    """An annuity payment made: gross and net, and what of the net came back and wasn't paid again."""

    gross_cents: int
    net_cents: int
    returned_cents: int
    line: Line

    @property
    def received_cents(self) -> int:
        """The gross that the pensioner received, what was deducted included."""
        return self.gross_cents - self.returned_cents


def enrolment(last: Line | None, enrolled_on: date, origin: Origin) -> Draft:
    """The first line of a judge's passbook. Raises `Refusal` `already_enrolled`."""
    return savings.enrolment(last, enrolled_on, {HYBRID_RETURN: 100}, origin)


def annuity_of(last: Line) -> Annuity | None:
    """The annuity in force, or that was when a death was reported."""
    held = last.state.get("annuity")
    if held is None:
        return None
    return Annuity(held["contract"], date.fromisoformat(held["from"]), held["monthly"], held["days"])


@dataclass(frozen=True, slots=True)
class Service:
    """Credited service, and that as a judge, through a day."""

    credited: ServiceLength
    as_judge: ServiceLength
    through: date


def service_of(history: Sequence[Line]) -> Service | None:
    """The service as approved last; `None` where none is."""
    sequence = history[-1].state.get("service")
    if sequence is None:
        return None
    line = history[sequence - 1]
    return Service(_length(line.facts["credited"]), _length(line.facts["as_judge"]), line.effective_on)


def death_of(last: Line) -> date | None:
    """The day of death that is reported, if one is."""
    held = last.state.get("death")
    return None if held is None else date.fromisoformat(held)


def separated_on(history: Sequence[Line]) -> date | None:
    """The day of the last separation; `None` where there was none."""
    days = [line.effective_on for line in history if line.kind is LineKind.SEPARATION]
    return days[-1] if days else None


@dataclass(frozen=True, slots=True)
class Debt:
    """A debt, by its reference: what of it is open. To the System, unless another is named."""

    reference: str
    amount_cents: int
    system: str = SYSTEM


def owed_cents(last: Line) -> int:
    """What is owed to the System, all debts together."""
    return -last.balance_cents(DEBTS)


def debts(history: Sequence[Line]) -> list[Debt]:
    """The open debts in the order of their entry. What was collected has gone to them in that order."""
    stated = [line for line in history if line.kind is LineKind.DEBT]
    total_cents = sum(-_total(line, DEBTS) for line in stated)
    collected_cents = total_cents - owed_cents(history[-1])
    left = []
    for line in stated:
        amount_cents = -_total(line, DEBTS)
        taken_cents = min(amount_cents, collected_cents)
        collected_cents -= taken_cents
        if amount_cents > taken_cents:
            left.append(Debt(str(line.facts["reference"]), amount_cents - taken_cents))
    return left


def debts_elsewhere(history: Sequence[Line]) -> list[Debt]:
    """The debts to other systems that were told of. They are in no account here: whether they count is for a person."""
    return [
        Debt(str(line.facts["reference"]), int(line.facts["cents"]), str(line.facts["system"]))
        for line in history
        if line.kind is LineKind.DEBT and "system" in line.facts
    ]


def payee_account(number: int, *, held: bool) -> str:
    """The account of a payee of a settlement: what may be paid out, or what is held."""
    return f"{_HELD if held else _PAYABLE}{number}"


def is_payee_account(account: str) -> bool:
    """Whether money stands there for a payee."""
    return account.startswith((_PAYABLE, _HELD))


def payments(history: Sequence[Line]) -> list[Payment]:
    """The annuity payments made, in order, with what came back of each and wasn't paid again.

    One that a run took back was never made.
    """
    taken_back = {line.reverses for line in history if line.kind is LineKind.PAYMENT_REVERSED}
    returned: dict[int, int] = {}
    for line in history:
        if line.kind in (LineKind.PAYMENT_RETURNED, LineKind.PAYMENT_REISSUED) and line.reverses is not None:
            back_cents = _total(line, PAYMENTS_RETURNED)
            returned[line.reverses] = returned.get(line.reverses, 0) + back_cents
    return [
        Payment(int(line.facts["gross"]), _total(line, CASH), returned.get(line.sequence, 0), line)
        for line in history
        if line.kind is LineKind.ANNUITY_PAYMENT and line.sequence not in taken_back
    ]


# Facts that one person enters and another approves


def filed(on: date, origin: Origin) -> Draft:
    """Something entered that counts only once another person has approved it: a line that changes nothing yet."""
    return Draft(LineKind.FILED, on, origin.principal, determination=origin.determination, facts=origin.facts)


def designation(last: Line, on: date, origin: Origin) -> Draft:
    """A designation recognized. Which one counts, the days of filing say (`designations`), and not what came last."""
    _check_open(last)
    return _state_line(LineKind.DESIGNATION, on, origin, {"designation": last.sequence + 1})


def system_change(last: Line, on: date, origin: Origin) -> Draft:
    """The participant moves to another system: what was designated before falls (3 L.P.R.A. § 803)."""
    _check_open(last)
    return _state_line(LineKind.SYSTEM_CHANGE, on, origin, {"designation": None})


def service_credit(last: Line, service: Service, origin: Origin) -> Draft:
    """The service credited through a day, in whole, in place of what stood."""
    _check_open(last)
    facts = {"credited": _text(service.credited), "as_judge": _text(service.as_judge)}
    draft = _state_line(LineKind.SERVICE_CREDIT, service.through, origin, {"service": last.sequence + 1})
    return replace(draft, facts={**origin.facts, **facts})


def debt(last: Line, owed: Debt, owed_from: date, installment_cents: int | None, origin: Origin) -> Draft:
    """A debt to the System. From now on an annuity bears `installment_cents` a month for all debts; `None`: all it can.

    Raises `Refusal` `status_forbids` where the account is closed.
    """
    _check_open(last)
    draft = _state_line(LineKind.DEBT, owed_from, origin, {"installment": installment_cents})
    if owed.system != SYSTEM:
        facts: dict[str, str | int] = {
            "reference": owed.reference,
            "system": owed.system,
            "cents": owed.amount_cents,
        }
        return replace(draft, facts={**origin.facts, **facts}, state={})
    postings = (Posting(DEBTS, -owed.amount_cents), Posting(DEBTS_STATED, owed.amount_cents))
    return replace(draft, postings=postings, facts={**origin.facts, "reference": owed.reference})


# A death


def death_report(last: Line, death_date: date, reported_on: date, origin: Origin) -> Draft:
    """A death reported: payments stop at once. Raises `Refusal` `status_forbids` (reported already, or closed)."""
    if (status := Status(last.state["status"])) in (Status.DEATH_REPORTED, Status.CLOSED):
        raise Refusal(RefusalCode.STATUS_FORBIDS, SECTION, status=status)
    return _state_line(
        LineKind.DEATH_REPORT,
        reported_on,
        origin,
        {"status": Status.DEATH_REPORTED.value, "death": death_date.isoformat(), "report": last.sequence + 1},
    )


def death_confirmed(last: Line, on: date, origin: Origin) -> Draft:
    """The report, confirmed by another person."""
    return _state_line(LineKind.DEATH_CONFIRMED, on, origin, {"confirmed": last.sequence + 1})


def death_withdrawn(history: Sequence[Line], on: date, origin: Origin) -> list[Draft]:
    """A report made in error, withdrawn: the status is again what it was. A settlement that stands is taken back first.

    Raises `Refusal` `status_forbids` where no report stands.
    """
    last = history[-1]
    if "report" not in last.state:
        raise Refusal(RefusalCode.STATUS_FORBIDS, SECTION, status=last.state["status"])
    before = history[last.state["report"] - 2].state["status"]
    withdrawn = _state_line(
        LineKind.DEATH_WITHDRAWN,
        on,
        origin,
        {"status": before, **dict.fromkeys(("death", "report", "confirmed", "case"))},
    )
    settled = [line for line in history[last.state["report"] :] if line.kind is LineKind.SETTLEMENT]
    return [settlement_reversed(history, settled[-1], on, origin), withdrawn] if settled else [withdrawn]


def refund_entered(last: Line, on: date, case: Mapping[str, Any], origin: Origin) -> Draft:
    """A settlement, or a change of who takes, entered by one person. Another approves what it says, or nothing."""
    if Status(last.state["status"]) not in (Status.DEATH_REPORTED, Status.CLOSED) or "report" not in last.state:
        raise Refusal(RefusalCode.STATUS_FORBIDS, SECTION, status=last.state["status"])
    return _state_line(LineKind.REFUND_ENTERED, on, origin, {"case": case})


def settlement(on: date, postings: Sequence[Posting], case: Mapping[str, Any], origin: Origin) -> Draft:
    """The settlement of a death: balance, debts, payees and what is to be got back, in one line; the account closes."""
    draft = _state_line(LineKind.SETTLEMENT, on, origin, {"status": Status.CLOSED.value, "case": case})
    return replace(draft, postings=_merged(postings))


def allocation(last: Line, postings: Sequence[Posting], on: date, case: Mapping[str, Any], origin: Origin) -> Draft:
    """What a settlement left, held or payable, put to other payees. Raises `LineError` for any other account."""
    if any(not is_payee_account(posting.account) for posting in postings):
        raise LineError("an allocation moves what stands for payees, and nothing else")
    if last.state["status"] != Status.CLOSED:
        raise Refusal(RefusalCode.STATUS_FORBIDS, SECTION, status=last.state["status"])
    return replace(_state_line(LineKind.ALLOCATION, on, origin, {"case": case}), postings=_merged(postings))


def settlement_reversed(history: Sequence[Line], settled: Line, on: date, origin: Origin) -> Draft:
    """The settlement and what was allocated of it since, taken back: each posting with its sign turned.

    It belongs on the settlement's day, so that the month-ends are again as if nothing had been settled.
    """
    since = [line for line in history[settled.sequence - 1 :] if line.kind in _OF_SETTLEMENT]
    postings = [Posting(one.account, -one.amount_cents) for line in since for one in line.postings]
    draft = _state_line(LineKind.SETTLEMENT_REVERSED, on, origin, {"status": Status.DEATH_REPORTED.value, "case": None})
    return replace(draft, postings=_merged(postings), reverses=settled.sequence, belongs_on=settled.effective_on)


_OF_SETTLEMENT = frozenset({LineKind.SETTLEMENT, LineKind.ALLOCATION})


def _check_open(last: Line) -> None:
    if (status := Status(last.state["status"])) is Status.CLOSED:
        raise Refusal(RefusalCode.STATUS_FORBIDS, SECTION, status=status)


def _state_line(kind: LineKind, on: date, origin: Origin, state: Mapping[str, Any]) -> Draft:
    return Draft(kind, on, origin.principal, state=state, determination=origin.determination, facts=origin.facts)


def _merged(postings: Sequence[Posting]) -> tuple[Posting, ...]:
    """One posting an account, in the order of their first; nothing for nothing."""
    totals: dict[str, int] = {}
    for posting in postings:
        totals[posting.account] = totals.get(posting.account, 0) + posting.amount_cents
    return tuple(Posting(account, cents) for account, cents in totals.items() if cents)


def _text(length: ServiceLength) -> str:
    return f"{length.years}-{length.months}-{length.days}"


def _length(text: str | int) -> ServiceLength:
    years, months, days = map(int, str(text).split("-"))
    return ServiceLength(years=years, months=months, days=days)


def _total(line: Line, account: str) -> int:
    return sum(posting.amount_cents for posting in line.postings if posting.account == account)
