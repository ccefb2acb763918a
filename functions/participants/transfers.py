"""The initial transfer balance of a participant who is enrolled already, 3 L.P.R.A. § 786-7(a)(1): once."""

from dataclasses import dataclass

from participants.enrolment import InitialTransfer, check_transfer
from retiro.ledger.board import BoardBook
from retiro.ledger.credits import Credits, PostedFigures
from retiro.ledger.keys import BusinessKey, KeyKind
from retiro.ledger.lines import Line
from retiro.ledger.passbooks import Decision, Passbooks
from retiro.ledger.savings import Origin
from retiro.registry.participants import Profile
from retiro.rules.calendar import puerto_rico_date
from retiro.rules.money import format_cents


@dataclass(frozen=True)
class Transfers:
    """Credits initial transfers. One that belongs to a posted semester becomes a late credit."""

    passbooks: Passbooks
    board: BoardBook

    def credit(self, profile: Profile, transfer: InitialTransfer, by: str) -> Line:
        """The transfer's line. The same reference with the same content is the first answer.

        Raises `Refusal`: `invalid_input`, and what `Credits.transfer` refuses; `KeyConflictError` for another content.
        """
        participant_id = profile.participant_id
        today = puerto_rico_date(self.passbooks.clock())
        check_transfer(transfer, profile.enrolled_on, today)
        credits_ = Credits(self.passbooks.store, PostedFigures(self.passbooks.store, self.board), today)
        origin = Origin(by, facts={"reference": transfer.reference})

        def decide(last: Line | None) -> Decision:
            return credits_.transfer(last, participant_id, transfer.amount, transfer.credited_on, origin)

        return self.passbooks.append(
            participant_id,
            decide,
            key=BusinessKey(KeyKind.INITIAL_TRANSFER, f"{participant_id} {transfer.reference}"),
            content={"amount": format_cents(transfer.amount), "credited_on": transfer.credited_on.isoformat()},
        ).lines[0]
