"""What the functions of annuities are built of, once an execution environment, when the first request comes."""

from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import TYPE_CHECKING

from annuities import office
from annuities.entries import Entries
from annuities.payroll import Payrolls
from retiro.ledger.board import BoardBook
from retiro.ledger.lines import Line
from retiro.ledger.passbooks import Passbooks
from retiro.portal import Principal, refused
from retiro.portal.reach import reached
from retiro.registry import clock
from retiro.registry.participants import Profile
from retiro.registry.table import Table
from retiro.rules.calendar import puerto_rico_date
from retiro.rules.judiciary_hybrid import SECTION, SYSTEM
from retiro.rules.refusals import Refusal, RefusalCode

if TYPE_CHECKING:
    from annuities.determined import Facts


@dataclass(frozen=True)
class World:
    """What the doors work with."""

    passbooks: Passbooks
    registry: Table
    board: BoardBook
    entries: Entries
    payrolls: Payrolls

    @property
    def today(self) -> date:
        """Today in Puerto Rico."""
        return puerto_rico_date(self.passbooks.clock())

    def facts(self, participant_id: str, last: Line | None = None) -> "Facts":
        """What determinations look at; up to `last`, where a decision is guarded by it. Raises `Refusal`."""
        from annuities.determined import Facts  # noqa: PLC0415  # the payrolls' doors determine nothing

        history = self.passbooks.history(participant_id) if last is None else self.passbooks.store.through(last)
        if not history:
            raise Refusal(
                RefusalCode.UNKNOWN_PARTICIPANT, SECTION, field="participant_id", participant_id=participant_id
            )
        return Facts(history, self.board.adopted(SYSTEM), self.today)

    def judge(self, participant_id: str, principal: Principal) -> Profile:
        """The participant of the Hybrid Program, where the principal may reach it. Raises 404, 403, 422."""
        profile = reached(self.registry, participant_id, principal)
        if profile.fund != SYSTEM:
            raise refused(
                "not_in_program",
                en=f"{participant_id} isn't in the Judiciary Hybrid Program.",
                es=f"{participant_id} no está en el Programa Híbrido de la Judicatura.",
                citation=SECTION,
                field="participant_id",
            )
        return profile


@cache
def world() -> World:
    """Everything that the routes act on."""
    payrolls = office.payrolls()
    return World(
        passbooks=Passbooks(payrolls.ledger, clock.utc_now),
        registry=payrolls.book.table,
        board=payrolls.board,
        entries=Entries(payrolls.book.table, clock.utc_now),
        payrolls=payrolls,
    )
