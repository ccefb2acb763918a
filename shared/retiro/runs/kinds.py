"""What a kind of run has to say for itself. The engine does the rest, and knows none of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from retiro.ledger.evidence import Evidence
from retiro.ledger.lines import Draft, Line
from retiro.ledger.store import LedgerStore
from retiro.registry.roster import Holder
from retiro.registry.runs import Run


@dataclass(frozen=True)
class ParticipantException:
    """Why nothing is posted to a passbook: a code, and what a person needs to know, without personal data."""

    code: str
    detail: str = ""


@dataclass(frozen=True)
class Prepared:
    """The line that is to be written, the figures it rests on, and the cents that the run's total counts."""

    draft: Draft
    figures: Mapping[str, Any]
    amount_cents: int


@dataclass(frozen=True)
class Passbook:
    """A passbook as a kind sees it: its last line, and the others where it asks for them."""

    id: str
    fund: str
    last: Line | None
    store: LedgerStore
    consistent: bool

    def lines(self, first: int = 1) -> list[Line]:
        """The lines from the sequence `first` on."""
        return list(self.store.lines(self.id, first=first, consistent=self.consistent))


class RunKind(Protocol):
    """A kind of run. `run.context` holds what it computes from; everything else is in the passbook."""

    @property
    def name(self) -> str:
        """Its name in keys, and that of its mark in the passbooks' lines."""
        ...

    @property
    def holder(self) -> Holder:
        """Whose passbooks are its population."""
        ...

    @property
    def fund(self) -> str | None:
        """The fund of its population; `None`: all funds."""
        ...

    def evidence(self, run: Run) -> Sequence[Evidence]:
        """What its lines rest on: inserted once the run is approved, before its first line."""
        ...

    def prepare(self, passbook: Passbook, run: Run) -> Prepared | ParticipantException:
        """What is to be written next in this passbook. A `Refusal` raised here is an exception with its code."""
        ...

    def remake(self, passbook: Passbook, draft: Draft, run: Run) -> Draft:
        """The prepared draft for a passbook that has moved: the same figures, or else it is withheld.

        A `Refusal` raised here (its state no longer allows it, it was posted already) withholds it under its code.
        """
        ...

    def is_late(self, line: Line, run: Run) -> bool:
        """Whether a line that was recorded after the run was prepared belongs to its period."""
        ...

    def settle_late(self, passbook: Passbook, posted: Line, late: Sequence[Line], run: Run) -> Line | None:
        """What is done at once about lines that came late: the line that settles them, or `None`: it is for a person.

        May be called again for the same lines, and then finds what it did.
        """
        ...
