"""The lines of an annuity, 4 L.P.R.A. § 242b(a)-(d), as drafts: issued, corrected, paid month by month, paid out. Pure.

The balance at retirement is `savings`, less the return posted for a semester that wasn't complete by then, plus the
provisional one of its complete months. It moves to `annuity_reserve` in the line that issues the annuity.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from retiro.ledger import hybrid
from retiro.ledger.hybrid import ANNUITY_ARREARS, ANNUITY_RESERVE, CASH, DEBTS, PAYMENTS_RETURNED, Annuity
from retiro.ledger.lines import SAVINGS, Draft, Line, LineKind, Posting, RunMark
from retiro.ledger.savings import YIELDS, Origin, Status, is_late, status_change
from retiro.rules import judiciary_hybrid
from retiro.rules.calendar import add_months, format_month, parse_month
from retiro.rules.judiciary_hybrid import SECTION
from retiro.rules.refusals import Refusal, RefusalCode

ANNUITY_RUN = "annuity"
"""The run kind whose mark says through which month an annuity was paid."""

ANNUITY_REVERSAL_RUN = "annuity_reversal"


@dataclass(frozen=True, slots=True)
class Balance:
    """A judge's account on the day of an exit: what stands in it, and what of the return comes off and is added.

    `posted_after_cents`: return posted for semesters that weren't complete by then. `provisional_cents`: that of the
    complete months of the semester under way.
    """

    savings_cents: int
    posted_after_cents: int = 0
    provisional_cents: int = 0

    @property
    def total_cents(self) -> int:
        """The balance with its return as of the day."""
        return self.savings_cents - self.posted_after_cents + self.provisional_cents

    def moved_to(self, account: str) -> tuple[Posting, ...]:
        """All of it to another account, in balance with the return that it takes."""
        return _postings(
            (SAVINGS, -self.savings_cents),
            (YIELDS, self.posted_after_cents - self.provisional_cents),
            (account, self.total_cents),
        )


@dataclass(frozen=True, slots=True)
class Exit:
    """Whose account leaves, since which day, and by what separation."""

    separated_on: date
    exit_on: date
    recorded_on: date
    balance: Balance


def check_may_exit(last: Line) -> None:
    """Raises `Refusal`: `annuity_exists`; `death_reported`; `status_forbids` for an account that was closed."""
    if (annuity := hybrid.annuity_of(last)) is not None:
        raise Refusal(RefusalCode.ANNUITY_EXISTS, f"{SECTION}(d)", retired_on=annuity.retired_on)
    _check_alive(last)
    if (status := Status(last.state["status"])) is Status.CLOSED:
        raise Refusal(RefusalCode.STATUS_FORBIDS, SECTION, status=status)


def issue(last: Line, leaving: Exit, monthly_cents: int, first_payment_days: str, origin: Origin) -> list[Draft]:
    """(b)-(d): the separation, if it isn't recorded, and the annuity: the balance moves to its reserve in one line."""
    drafts = _separation(last, leaving, origin)
    contract = last.sequence + len(drafts) + 1
    annuity = Annuity(contract, leaving.exit_on, monthly_cents, first_payment_days)
    retirement = Draft(
        LineKind.RETIREMENT,
        leaving.exit_on,
        origin.principal,
        postings=leaving.balance.moved_to(ANNUITY_RESERVE),
        state={"status": Status.RETIRED.value, "annuity": annuity.state},
        determination=origin.determination,
        facts={
            **origin.facts,
            "balance": leaving.balance.total_cents,
            "return": leaving.balance.provisional_cents,
        },
    )
    return [*drafts, _on_its_day(last, retirement, leaving.recorded_on)]


def refund(last: Line, leaving: Exit, origin: Origin) -> list[Draft]:
    """(a): the separation, if it isn't recorded, and the balance paid out; the account closes."""
    paid = Draft(
        LineKind.SEPARATION_REFUND,
        leaving.exit_on,
        origin.principal,
        postings=leaving.balance.moved_to(CASH),
        state={"status": Status.CLOSED.value},
        determination=origin.determination,
        facts={**origin.facts, "return": leaving.balance.provisional_cents},
    )
    return [*_separation(last, leaving, origin), _on_its_day(last, paid, leaving.recorded_on)]


@dataclass(frozen=True, slots=True)
class Corrected:
    """A correction: the day, the monthly amount and the balance that hold instead.

    `return_cents` is what of that balance is credited provisionally. `return_added_cents` is what it has of return
    beyond the balance before and what `savings` has received since; below zero: that much of return comes off.
    """

    retired_on: date
    monthly_cents: int
    first_payment_days: str
    balance_cents: int
    return_cents: int
    return_added_cents: int = 0


def difference_cents(last: Line, annuity: Annuity, corrected: Corrected) -> int:
    """What the months paid so far come to by the corrected annuity, less what they came to by the one in force."""
    mark = last.runs.get(ANNUITY_RUN)
    if mark is None:
        return 0
    through = parse_month(mark.period)
    return judiciary_hybrid.payments_through_cents(
        corrected.monthly_cents, corrected.retired_on, through, corrected.first_payment_days
    ) - judiciary_hybrid.payments_through_cents(
        annuity.monthly_cents, annuity.retired_on, through, annuity.first_payment_days
    )


def correction(last: Line, corrected: Corrected, corrected_on: date, origin: Origin) -> Draft:
    """(d): another contract in the place of the first; the difference of the months paid is settled by the next ones.

    What is owed to the pensioner, or by, stands in `annuity_arrears`. What has come into `savings` since the retirement
    goes to the reserve, and so does the return by which the balance of another day differs. Raises `Refusal`:
    `death_reported`, `no_annuity`.
    """
    annuity = annuity_in_force(last)
    owed_cents = difference_cents(last, annuity, corrected)
    received_cents = last.balance_cents(SAVINGS)
    added_cents = received_cents + corrected.return_added_cents
    replaced = Annuity(last.sequence + 1, corrected.retired_on, corrected.monthly_cents, corrected.first_payment_days)
    draft = Draft(
        LineKind.ANNUITY_CORRECTION,
        corrected_on,
        origin.principal,
        postings=_postings(
            (SAVINGS, -received_cents),
            (YIELDS, -corrected.return_added_cents),
            (ANNUITY_RESERVE, added_cents - owed_cents),
            (ANNUITY_ARREARS, owed_cents),
        ),
        state={"annuity": replaced.state},
        determination=origin.determination,
        facts={**origin.facts, "balance": corrected.balance_cents, "return": corrected.return_cents},
    )
    return _on_its_day(last, draft, corrected_on)


# The payroll


@dataclass(frozen=True, slots=True)
class Payment:
    """What a payroll pays one pensioner: the months from `since` through `through`, in cents.

    `base` is the annuity of those months, `correction` what a correction still owes (below zero: is owed), `deductions`
    goes to debts to the System.
    """

    since: date
    through: date
    base_cents: int
    correction_cents: int
    deductions_cents: int

    @property
    def gross_cents(self) -> int:
        """The payment before deductions."""
        return self.base_cents + self.correction_cents

    @property
    def net_cents(self) -> int:
        """What goes out. Never below zero."""
        return self.gross_cents - self.deductions_cents


def is_annuitant(last: Line | None) -> bool:
    """Whether an annuity is in force, or withheld."""
    return last is not None and "annuity" in last.state and last.state["status"] != Status.CLOSED


def due(last: Line, month: date) -> Payment | None:
    """What is due through a month: the months not yet paid, and what a correction has left. `None`: it hasn't begun.

    The month of death, and all after it, wait for the report to be resolved; what came before is due in spite of it.
    Raises `Refusal`: `no_annuity`, `already_paid`, `death_reported`.
    """
    annuity = hybrid.annuity_of(last)
    if annuity is None:
        raise Refusal(RefusalCode.NO_ANNUITY, f"{SECTION}(d)")
    death = hybrid.death_of(last)
    if death is not None and month >= death.replace(day=1):
        raise Refusal(RefusalCode.DEATH_REPORTED, f"{SECTION}(d)", death_date=death)
    if last.state["status"] == Status.CLOSED:
        raise Refusal(RefusalCode.STATUS_FORBIDS, f"{SECTION}(d)", status=Status.CLOSED)
    mark = last.runs.get(ANNUITY_RUN)
    if mark is not None and format_month(month) <= mark.period:
        raise Refusal(RefusalCode.ALREADY_PAID, f"{SECTION}(d)", month=mark.period)
    since = add_months(parse_month(mark.period), 1) if mark else annuity.retired_on.replace(day=1)
    if month < since:
        return None
    months = [since]
    while months[-1] < month:
        months.append(add_months(months[-1], 1))
    base_cents = sum(
        judiciary_hybrid.payment_cents(annuity.monthly_cents, annuity.retired_on, one, annuity.first_payment_days)
        for one in months
    )
    correction_cents = max(last.balance_cents(ANNUITY_ARREARS), -base_cents)
    owed_cents = max(hybrid.owed_cents(last), 0)
    installment: int | None = last.state.get("installment")
    bearable_cents = owed_cents if installment is None else min(owed_cents, installment * len(months))
    return Payment(since, month, base_cents, correction_cents, min(bearable_cents, base_cents + correction_cents))


def payment(paid: Payment, paid_on: date, attempt: int, origin: Origin) -> Draft:
    """The line of a payment: from the reserve and the arrears, to the debts and out."""
    through = format_month(paid.through)
    since = {} if paid.since == paid.through else {"since": format_month(paid.since)}
    return Draft(
        LineKind.ANNUITY_PAYMENT,
        paid_on,
        origin.principal,
        postings=_postings(
            (ANNUITY_RESERVE, -paid.base_cents),
            (ANNUITY_ARREARS, -paid.correction_cents),
            (DEBTS, paid.deductions_cents),
            (CASH, paid.net_cents),
        ),
        run=(ANNUITY_RUN, through, attempt),
        determination=origin.determination,
        facts={**origin.facts, "gross": paid.gross_cents, **since},
    )


def payment_of(line: Line) -> Payment:
    """What a payment's line paid."""
    moved = {posting.account: posting.amount_cents for posting in line.postings}
    through = line.runs[ANNUITY_RUN].period
    return Payment(
        parse_month(str(line.facts.get("since", through))),
        parse_month(through),
        -moved.get(ANNUITY_RESERVE, 0),
        -moved.get(ANNUITY_ARREARS, 0),
        moved.get(DEBTS, 0),
    )


def payment_reversal(history: Sequence[Line], period: str, mark: tuple[str, str, int], origin: Origin) -> Draft:
    """A payment that never went out, taken back on its own day: its month is due again.

    Raises `Refusal`: `not_paid`, `later_payment_stands`, `already_returned`, `death_reported`, `status_forbids`, and
    `needs_decision` where the annuity was corrected since: the payment is in the correction's difference.
    """
    last = history[-1]
    paid = last.runs.get(ANNUITY_RUN)
    if paid is None or paid.period < period:
        raise Refusal(RefusalCode.NOT_PAID, f"{SECTION}(d)", month=period)
    if paid.period > period:
        raise Refusal(RefusalCode.LATER_PAYMENT_STANDS, f"{SECTION}(d)", month=period, later=paid.period)
    _check_alive(last)
    if (status := Status(last.state["status"])) is not Status.RETIRED:
        raise Refusal(RefusalCode.STATUS_FORBIDS, f"{SECTION}(d)", status=status)
    line = history[paid.sequence - 1]
    if any(one.reverses == line.sequence for one in history[paid.sequence :]):
        raise Refusal(RefusalCode.ALREADY_RETURNED, f"{SECTION}(d)")
    if any(one.kind is LineKind.ANNUITY_CORRECTION for one in history[paid.sequence :]):
        raise Refusal(
            RefusalCode.NEEDS_DECISION,
            f"{SECTION}(d)",
            reason_en="the annuity was corrected since this payment, which is in the correction's difference",
            reason_es="la anualidad se corrigió después de este pago, que está en la diferencia de la corrección",
        )
    before: RunMark | None = history[paid.sequence - 2].runs.get(ANNUITY_RUN)
    return Draft(
        LineKind.PAYMENT_REVERSED,
        line.effective_on,
        origin.principal,
        postings=tuple(Posting(one.account, -one.amount_cents) for one in line.postings),
        run=mark,
        restores=(ANNUITY_RUN, before),
        determination=origin.determination,
        reverses=line.sequence,
        facts={**origin.facts, "gross": -int(line.facts["gross"])},
    )


def returned(history: Sequence[Line], sequence: int, returned_on: date, origin: Origin) -> Draft:
    """A payment that came back: its net is held until it is made again.

    Raises `Refusal`: `not_paid`, `already_returned`.
    """
    paid = _payment_at(history, sequence)
    left_cents = paid.net_cents - paid.returned_cents
    if left_cents <= 0:
        raise Refusal(RefusalCode.ALREADY_RETURNED, f"{SECTION}(d)")
    return _back_and_forth(LineKind.PAYMENT_RETURNED, paid, -left_cents, returned_on, origin)


def reissued(history: Sequence[Line], sequence: int, paid_on: date, origin: Origin) -> Draft:
    """A payment that came back, made again.

    Raises `Refusal`: `death_reported`, `status_forbids` (payments have stopped), `not_paid`, `not_returned`.
    """
    last = history[-1]
    _check_alive(last)
    if (status := Status(last.state["status"])) is not Status.RETIRED:
        raise Refusal(RefusalCode.STATUS_FORBIDS, f"{SECTION}(d)", status=status)
    paid = _payment_at(history, sequence)
    if paid.returned_cents <= 0:
        raise Refusal(RefusalCode.NOT_RETURNED, f"{SECTION}(d)")
    return _back_and_forth(LineKind.PAYMENT_REISSUED, paid, paid.returned_cents, paid_on, origin)


def annuity_in_force(last: Line) -> Annuity:
    """The annuity in force. Raises `Refusal`: `death_reported`, `no_annuity`."""
    _check_alive(last)
    annuity = hybrid.annuity_of(last)
    if annuity is None or last.state["status"] != Status.RETIRED:
        raise Refusal(RefusalCode.NO_ANNUITY, f"{SECTION}(d)")
    return annuity


def _payment_at(history: Sequence[Line], sequence: int) -> hybrid.Payment:
    for paid in hybrid.payments(history):
        if paid.line.sequence == sequence:
            return paid
    month = history[sequence - 1].facts.get("month", "?") if 0 < sequence <= len(history) else "?"
    raise Refusal(RefusalCode.NOT_PAID, f"{SECTION}(d)", month=month)


def _back_and_forth(kind: LineKind, paid: hybrid.Payment, cents: int, on: date, origin: Origin) -> Draft:
    return Draft(
        kind,
        on,
        origin.principal,
        postings=_postings((CASH, cents), (PAYMENTS_RETURNED, -cents)),
        determination=origin.determination,
        reverses=paid.line.sequence,
        facts=origin.facts,
    )


def _separation(last: Line, leaving: Exit, origin: Origin) -> list[Draft]:
    if last.state["status"] == Status.SEPARATED:
        return []
    return [status_change(LineKind.SEPARATION, leaving.separated_on, origin)]


def _on_its_day(last: Line, draft: Draft, recorded_on: date) -> Draft:
    """The draft, recorded today for its day where that lies in a semester that is posted."""
    if not is_late(last, draft.effective_on):
        return draft
    return replace(draft, effective_on=recorded_on, belongs_on=draft.effective_on)


def _check_alive(last: Line) -> None:
    death = hybrid.death_of(last)
    if death is not None:
        raise Refusal(RefusalCode.DEATH_REPORTED, f"{SECTION}(d)", death_date=death)


def _postings(*movements: tuple[str, int]) -> tuple[Posting, ...]:
    return tuple(Posting(account, cents) for account, cents in movements if cents)


STATE_KEYS: Mapping[LineKind, frozenset[str]] = {LineKind.SEPARATION_REFUND: frozenset({"status"})}
"""Which keys of the state a kind of line may change, beside those of `hybrid`."""
