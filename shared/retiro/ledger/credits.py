"""A credit on its legal date: an ordinary line where its semester is open, a late credit where it is posted.

3 L.P.R.A. § 786-7(a)(1), (2). A late credit rests on a determination, whose receipt is evidence in the same
transaction; the figures of the posted semesters are those of their runs' evidence.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cache, partial
from typing import Any

from retiro.ledger import late_credits, savings
from retiro.ledger.board import BoardBook
from retiro.ledger.evidence import Evidence
from retiro.ledger.late_credits import AsPosted, Late, Posted
from retiro.ledger.lines import Line
from retiro.ledger.passbooks import Decision
from retiro.ledger.savings import CONTRIBUTIONS, TRANSFERS, Origin
from retiro.ledger.store import LedgerStore
from retiro.rules.calendar import Semester
from retiro.rules.refusals import Refusal, RefusalCode

EVIDENCE = "late_credit"


class FiguresMissingError(Exception):
    """A yield line rests on evidence that isn't there: the ledger is damaged."""


class PostedFigures:
    """The figures that semesters were posted on, each read once."""

    def __init__(self, store: LedgerStore, board: BoardBook) -> None:
        self._body_of = cache(partial(_body_of, store))
        self._adopted = cache(board.adopted)

    def of(self, history: Sequence[Line], legal_date: date) -> dict[str, AsPosted]:
        """By semester, for each one posted from that of the legal date on.

        Where the account had no credit then, and so no line, the figures are those that the Board has adopted: raises
        `Refusal` `not_in_force` where they aren't there. Raises `FiguresMissingError`.
        """
        posted = late_credits.posted_semesters(history, legal_date)
        return {str(one.semester): self._figures(history, one) for one in posted}

    def _figures(self, history: Sequence[Line], posted: Posted) -> AsPosted:
        if posted.determination is not None:
            return AsPosted.of_body(self._body_of(posted.determination))
        return self._of_board(history, posted.semester)

    def _of_board(self, history: Sequence[Line], semester: Semester) -> AsPosted:
        adopted = self._adopted(history[-1].fund)
        selected = savings.selection_in_force(savings.all_selections(history), semester.ends_on)
        return AsPosted(
            adopted.option_yields(semester, list(selected)),
            adopted.settings(semester.ends_on),
            [day.isoformat() for day in adopted.closure_days()],
            adopted.acts(semester.ends_on),
        )


@dataclass(frozen=True)
class Credits:
    """Decides what a credit writes. `today` is Puerto Rico's, the day on which a late credit is recorded."""

    store: LedgerStore
    figures: PostedFigures
    today: date

    def transfer(self, last: Line | None, participant_id: str, amount_cents: int, on: date, origin: Origin) -> Decision:
        """(a)(1): the initial transfer balance, once.

        Raises `Refusal`: `unknown_participant`, `initial_transfer_already_credited`, `status_forbids`, and what a late
        credit's determination refuses.
        """
        last = known(last, participant_id)
        draft = savings.initial_transfer(last, amount_cents, on, origin)
        if not savings.is_late(last, on):
            return Decision([draft])
        return self._late(last, Late(amount_cents, on, self.today, TRANSFERS), origin)

    def contribution(
        self, last: Line | None, participant_id: str, amount_cents: int, on: date, origin: Origin
    ) -> Decision:
        """(a)(2): a contribution, on the day on which it was remitted.

        Raises `Refusal`: `unknown_participant`, `status_forbids`, and what a late credit's determination refuses.
        """
        last = known(last, participant_id)
        draft = savings.contribution(last, amount_cents, on, origin)
        if not savings.is_late(last, on):
            return Decision([draft])
        return self._late(last, Late(amount_cents, on, self.today, CONTRIBUTIONS), origin)

    def _late(self, last: Line, late: Late, origin: Origin) -> Decision:
        history = self.store.through(last)
        identifier = f"{last.passbook}/{last.sequence + 1:08d}"
        draft, result = late_credits.late_credit(
            history,
            late,
            self.figures.of(history, late.legal_date),
            replace(origin, determination=f"{EVIDENCE}/{identifier}"),
        )
        return Decision([draft], [Evidence(EVIDENCE, identifier, result.receipt.model_dump(mode="json"))])


def known(last: Line | None, participant_id: str) -> Line:
    """The passbook's last line. Raises `Refusal` `unknown_participant` where there is none."""
    if last is None:
        raise Refusal(
            RefusalCode.UNKNOWN_PARTICIPANT, savings.SECTION, field="participant_id", participant_id=participant_id
        )
    return last


def _body_of(store: LedgerStore, determination: str) -> Mapping[str, Any]:
    evidence = store.get_evidence(*determination.split("/", 1))
    if evidence is None:
        raise FiguresMissingError(determination)
    body: Mapping[str, Any] = evidence.body
    return body
