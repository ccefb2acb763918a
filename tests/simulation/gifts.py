"""A second kind of run beside the yields: a gift for everybody, on accounts of its own, withheld from the dead."""

from dataclasses import dataclass
from datetime import date

from retiro.ledger.lines import Draft, Line, LineKind, Posting
from retiro.registry.runs import Run
from retiro.rules.forms import Sentence
from retiro.runs.kinds import ParticipantException, Passbook, Prepared
from tests.runs import gifts as tale


@dataclass(frozen=True)
class Gifts(tale.Gifts):
    """The gifts of `tests/runs`, but for their accounts: they are no savings, and no contributions."""

    def prepare(self, passbook: Passbook, run: Run) -> Prepared | ParticipantException:
        if passbook.last is None:  # an eventual read, right after the enrolment
            return ParticipantException("has_nothing", Sentence("There is nothing.", "No hay nada."))
        self._check(passbook.last, run)
        return Prepared(self._draft(run), {"gift": run.context["cents"]}, run.context["cents"])

    def is_late(self, line: Line, run: Run) -> bool:
        del line, run
        return False

    def _draft(self, run: Run) -> Draft:
        cents = run.context["cents"]
        return Draft(
            LineKind.CONTRIBUTION,
            date.fromisoformat(run.context["on"]),
            run.requested_by,
            postings=(Posting("gifts", cents), Posting("gifts_given", -cents)),
            run=(self.name, run.id.period, run.id.attempt),
            determination=str(run.id),
        )
