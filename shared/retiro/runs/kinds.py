"""What a kind of run has to say for itself. The engine does the rest, and knows none of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from retiro.ledger.encoding import UnreadableError
from retiro.ledger.evidence import Evidence
from retiro.ledger.lines import Draft, Line, LineError
from retiro.ledger.month_ends import MonthEndsError
from retiro.ledger.passbooks import LineTooLargeError
from retiro.ledger.store import LedgerStore
from retiro.registry.roster import Holder
from retiro.registry.runs import Run
from retiro.rules.forms import Sentence
from retiro.rules.refusals import Refusal


@dataclass(frozen=True)
class ParticipantException:
    """Why nothing is posted to a passbook: a code, and the sentence that a person reads, without personal data."""

    code: str
    sentence: Sentence

    def to_row(self) -> dict[str, Any]:
        """The exception as a part of a row."""
        return {"code": self.code, "en": self.sentence.en, "es": self.sentence.es}


def exception_of(error: Refusal | LineError | MonthEndsError | UnreadableError) -> ParticipantException:
    """What a participant's error says in the list of exceptions."""
    match error:
        case Refusal():
            return ParticipantException(str(error.code), error.sentence)
        case UnreadableError():
            return ParticipantException("passbook_unreadable", _UNREADABLE)
        case LineTooLargeError():
            return ParticipantException(
                "line_too_large", _TOO_LARGE.with_facts(size=error.size_bytes, size_max=error.size_bytes_max)
            )
        case _:
            return ParticipantException("line_not_possible", _NOT_POSSIBLE.with_facts(reason=error))


PARTICIPANT_ERRORS = (Refusal, LineError, MonthEndsError, UnreadableError)
"""What may be wrong with one participant. It never fails a chunk."""

_TOO_LARGE = Sentence(
    "The line would have {size} bytes, {size_max} at most: the passbook carries too much.",
    "La línea tendría {size} bytes, de un máximo de {size_max}: la libreta arrastra demasiado.",
)
_NOT_POSSIBLE = Sentence("The line can't be made: {reason}.", "La línea no se puede hacer: {reason}.")
_UNREADABLE = Sentence(
    "A line of the passbook isn't as it was written.", "Una línea de la libreta no está como se escribió."
)


@dataclass(frozen=True)
class Prepared:
    """The line that is to be written, the figures it rests on, and the cents that the run's total counts.

    `notice`: what a person has to know of this passbook although its line is written.
    """

    draft: Draft
    figures: Mapping[str, Any]
    amount_cents: int
    notice: ParticipantException | None = None


@dataclass(frozen=True)
class Passbook:
    """A passbook as a kind sees it: its last line, and the others where it asks for them."""

    id: str
    fund: str
    last: Line | None
    store: LedgerStore

    def lines(self, first: int = 1) -> list[Line]:
        """The lines from the sequence `first` to the last one: read consistently, or some might be missing.

        Where `last` was read eventually, there may be newer ones: they are left out, as what comes of both is one.
        """
        return self.store.through(self.last, first=first) if self.last else []


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

    def prepare(self, passbook: Passbook, run: Run) -> Prepared | ParticipantException | None:
        """What is to be written next in this passbook; `None`: it isn't of the population, and nobody need know.

        A `Refusal` raised here is an exception with its code.
        """
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
