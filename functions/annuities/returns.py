"""A payment that came back, and its reissue: each a line, once for the fund's reference."""

from dataclasses import dataclass
from datetime import date

from annuities.payroll_answers import PaymentMoved, PaymentReissued, PaymentReturned
from annuities.world import World
from retiro.ledger import annuities, hybrid
from retiro.ledger.hybrid import CASH
from retiro.ledger.keys import BusinessKey, KeyKind
from retiro.ledger.lines import Draft, Line, LineKind
from retiro.ledger.passbooks import Decide
from retiro.ledger.savings import Origin
from retiro.portal import Principal
from retiro.rules.calendar import format_month
from retiro.rules.judiciary_hybrid import SECTION
from retiro.rules.refusals import Refusal, RefusalCode, invalid_input


@dataclass(frozen=True)
class Returns:
    """The payments that come back, for one request."""

    world: World

    def note(self, month: date, body: PaymentReturned, principal: Principal) -> PaymentMoved:
        """Note that the month's payment to a pensioner came back. Raises `Refusal`."""

        def decide(last: Line | None) -> Draft:
            history = self._history(body.participant_id, last)
            paid = _paid(history, month)
            self._check_day(body.returned_on, paid.effective_on, "returned_on")
            origin = Origin(principal.label, facts={"reference": body.reference})
            return annuities.returned(history, paid.sequence, body.returned_on, origin)

        content = {
            "participant_id": body.participant_id,
            "period": format_month(month),
            "on": body.returned_on.isoformat(),
        }
        return self._append(decide, BusinessKey(KeyKind.PAYMENT_RETURN, body.reference), content, month)

    def reissue(self, month: date, body: PaymentReissued, principal: Principal) -> PaymentMoved:
        """Make a payment that came back again. Another person than who noted the return. Raises `Refusal`, 403."""

        def decide(last: Line | None) -> Draft:
            history = self._history(body.participant_id, last)
            paid = _paid(history, month)
            back = [one for one in history if one.kind is LineKind.PAYMENT_RETURNED and one.reverses == paid.sequence]
            if back:
                principal.must_not_be(
                    back[-1].principal.split()[0],
                    en="Who noted the return can't make the payment again, by whatever client.",
                    es="Quien anotó la devolución no puede repetir el pago, por ningún cliente.",
                )
                self._check_day(body.paid_on, back[-1].effective_on, "paid_on")
            origin = Origin(principal.label, facts={"reference": body.reference})
            return annuities.reissued(history, paid.sequence, body.paid_on, origin)

        content = {
            "participant_id": body.participant_id,
            "period": format_month(month),
            "on": body.paid_on.isoformat(),
        }
        return self._append(decide, BusinessKey(KeyKind.PAYMENT_REISSUE, body.reference), content, month)

    def _append(self, decide: Decide, key: BusinessKey, content: dict[str, str], month: date) -> PaymentMoved:
        (line,) = self.world.passbooks.append(content["participant_id"], decide, key=key, content=content).lines
        moved = sum(posting.amount_cents for posting in line.postings if posting.account == CASH)
        return PaymentMoved(
            participant_id=line.passbook,
            sequence=line.sequence,
            kind="payment_returned" if line.kind is LineKind.PAYMENT_RETURNED else "payment_reissued",
            payment=line.reverses or 0,
            period=month,
            amount=abs(moved),
            effective_on=line.effective_on,
        )

    def _history(self, participant_id: str, last: Line | None) -> list[Line]:
        return self.world.facts(participant_id, last).history

    def _check_day(self, day: date, first: date, field: str) -> None:
        if day > self.world.today:
            raise invalid_input(f"{SECTION}(d)", field, "in_the_future")
        if day < first:
            raise invalid_input(f"{SECTION}(d)", field, "before_payment")


def _paid(history: list[Line], month: date) -> Line:
    """The line that paid a month. Raises `Refusal` `not_paid`."""
    for payment in reversed(hybrid.payments(history)):
        of_line = annuities.payment_of(payment.line)
        if of_line.since <= month <= of_line.through:
            return payment.line
    raise Refusal(RefusalCode.NOT_PAID, f"{SECTION}(d)", month=format_month(month))
