"""A second, tiny kind of run, which proves that the engine knows nothing of yields: a dollar for everybody."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from retiro.ledger.evidence import Evidence
from retiro.ledger.lines import Draft, Line, LineKind, Posting
from retiro.registry.roster import Holder
from retiro.registry.runs import Run
from retiro.rules.forms import Sentence
from retiro.rules.refusals import Refusal, RefusalCode
from retiro.runs.kinds import ParticipantException, Passbook, Prepared

CITATION = "a tale"


@dataclass(frozen=True)
class Gifts:
    """A dollar to everybody who has something; those who have nothing are exceptions, the dead are withheld."""

    name: str = "gift"
    holder: Holder = Holder.PARTICIPANT
    fund: str | None = "ERS"

    def evidence(self, run: Run) -> Sequence[Evidence]:
        return [Evidence("gift", f"{run.id.period}/{run.id.attempt}", dict(run.context))]

    def prepare(self, passbook: Passbook, run: Run) -> Prepared | ParticipantException:
        last = passbook.last
        assert last is not None
        if last.state.get("refused"):
            raise Refusal(RefusalCode.NO_SELECTION, CITATION, semester=run.id.period)
        self._check(last, run)
        if not last.balances:
            return ParticipantException("has_nothing", Sentence("There is nothing.", "No hay nada."))
        return Prepared(self._draft(run), {"gift": "1.00"}, run.context["cents"])

    def remake(self, passbook: Passbook, draft: Draft, run: Run) -> Draft:
        assert passbook.last is not None
        self._check(passbook.last, run)
        return draft

    def is_late(self, line: Line, run: Run) -> bool:
        return bool(line.savings_cents) and line.effective_on <= date.fromisoformat(run.context["on"])

    def settle_late(self, passbook: Passbook, posted: Line, late: Sequence[Line], run: Run) -> Line | None:
        del passbook, posted, late, run

    def _check(self, last: Line, run: Run) -> None:
        if last.state["status"] == "death_reported":
            raise Refusal(RefusalCode.STATUS_FORBIDS, CITATION, status="death_reported")
        mark = last.runs.get(self.name)
        if mark is not None and mark.period >= run.id.period:
            raise Refusal(RefusalCode.ALREADY_POSTED, CITATION, semester=run.id.period)

    def _draft(self, run: Run) -> Draft:
        cents = run.context["cents"]
        return Draft(
            LineKind.CONTRIBUTION,
            date.fromisoformat(run.context["on"]),
            run.requested_by,
            postings=(Posting("savings", cents), Posting("contributions", -cents)),
            run=(self.name, run.id.period, run.id.attempt),
            determination=str(run.id),
        )


CONTEXT: Mapping[str, Any] = {"on": "2025-03-31", "cents": 100}
