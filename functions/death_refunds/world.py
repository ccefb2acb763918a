"""What the doors of deaths work with, built once an execution environment, at the first request."""

from dataclasses import dataclass
from datetime import date
from typing import Any

from retiro.ledger.board import BoardBook
from retiro.ledger.evidence import Evidence
from retiro.ledger.keys import BusinessKey
from retiro.ledger.lines import Line
from retiro.ledger.passbooks import Appended, Decide, Passbooks
from retiro.ledger.store import LedgerStore
from retiro.portal import Principal, Problem, refused
from retiro.portal.reach import reached
from retiro.registry import aws, clock
from retiro.registry.environment import Environment
from retiro.registry.participants import Profile
from retiro.registry.table import Table
from retiro.rules.calendar import puerto_rico_date
from retiro.rules.judiciary_hybrid import SECTION, SYSTEM


class ApiEnvironment(Environment):
    """What this handler reads from its environment."""

    ledger_table: str
    registry_table: str


@dataclass(frozen=True)
class Tables:
    """The ledger and the registry."""

    passbooks: Passbooks
    registry: Table
    board: BoardBook

    @classmethod
    def of(cls, environment: ApiEnvironment) -> "Tables":
        """Those that the environment names."""
        store = LedgerStore(aws.dynamodb(), environment.ledger_table)
        registry = Table(aws.dynamodb(), environment.registry_table)
        return cls(Passbooks(store, clock.utc_now), registry, BoardBook(store))

    @property
    def today(self) -> date:
        """Today in Puerto Rico."""
        return puerto_rico_date(self.passbooks.clock())

    def evidence_of(self, line: Line) -> Evidence:
        """What a line rests on."""
        found = None
        if line.determination is not None:
            found = self.passbooks.store.get_evidence(*line.determination.split("/", 1))
        if found is None:
            raise LookupError(f"{line.determination} isn't there")
        return found

    def append(self, participant_id: str, decide: Decide, key: BusinessKey, content: Any) -> Appended:
        """Append what is decided, once for the key. Raises as `Passbooks.append` does.

        The same request, sent twice at once, may have been posted since the key was looked for. Then what stands in its
        way is its own line, and that is its answer.
        """
        try:
            return self.passbooks.append(participant_id, decide, key=key, content=content)
        except Problem:
            if self.passbooks.store.get_key(key) is None:
                raise
            return self.passbooks.append(participant_id, decide, key=key, content=content)

    def profile(self, participant_id: str, principal: Principal) -> Profile:
        """The participant, where the principal may reach it. Raises 404, 403."""
        return reached(self.registry, participant_id, principal)

    def judge(self, participant_id: str, principal: Principal) -> Profile:
        """The participant of the Hybrid Program. Raises 404, 403, and 422 for one of another program."""
        profile = self.profile(participant_id, principal)
        if profile.fund != SYSTEM:
            raise refused(
                "not_in_program",
                en=f"{participant_id} isn't in the Judiciary Hybrid Program.",
                es=f"{participant_id} no está en el Programa Híbrido de la Judicatura.",
                citation=SECTION,
                field="participant_id",
            )
        return profile
