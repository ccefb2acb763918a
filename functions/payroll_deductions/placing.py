"""Money that has no place: what one person proposes for a line that couldn't be credited, and another approves.

It is credited to a participant, or given back to the payer; until then it stays in the payer's clearing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import Any

from payroll_deductions.crediting import PAGE_ROWS, credits_of, through_of
from payroll_deductions.models import NewPlacement, PlacementApproval, Placements, PlacementView
from payroll_deductions.remittances import Remittances
from retiro.ledger import employers, plans
from retiro.ledger.board import BoardBook
from retiro.ledger.credits import known
from retiro.ledger.employers import ClearingError
from retiro.ledger.encoding import content_hash
from retiro.ledger.evidence import Evidence
from retiro.ledger.keys import BusinessKey, KeyKind
from retiro.ledger.lines import Line
from retiro.ledger.passbooks import Decision, Part
from retiro.ledger.savings import Origin
from retiro.portal import PageQuery, Principal, conflict, cursor, not_found, refused
from retiro.portal.approvals import stale_hash
from retiro.registry.clients import Party
from retiro.registry.participants import profile_of
from retiro.registry.remittances import (
    CREDITING,
    INSTALLMENT,
    Deposit,
    Remittance,
    deposit_of,
    placements,
    return_of,
)
from retiro.registry.table import AlreadyThereError, ChangedError, Item
from retiro.rules.calendar import puerto_rico_date
from retiro.rules.money import parse_cents
from retiro.rules.savings_accounts import check_on_calendar

EVIDENCE = "placement"
_CITATION = "3 L.P.R.A. § 786-7(a)(2)"


@dataclass(frozen=True)
class Placing:
    """Proposes, shows and approves placements."""

    remittances: Remittances
    board: BoardBook

    def propose(self, remittance_id: str, body: NewPlacement, principal: Principal) -> PlacementView:
        """Propose a place for a line's money; a new proposal takes the place of one that isn't approved.

        Raises 403, 404 where the line has a place or was never there, 409 where the deposit was taken back.
        """
        remittance = self._reached(remittance_id, principal)
        if return_of(self.remittances.passbooks.store, remittance_id) is not None:
            raise _deposit_returned()
        note = self._unplaced(remittance, body.line)
        self._check(remittance, body)
        if self._placed(remittance_id, body.line) is not None:
            raise _no_such_line(body.line)
        proposal = body.model_dump(mode="json") | {"amount": note["amount"], "remittance_id": remittance_id}
        item: Item = {
            **_key(remittance_id, body.line),
            "line": body.line,
            "status": "proposed",
            "proposal": {name: value for name, value in proposal.items() if value is not None},
            "proposed_by": principal.person,
        }
        self._put_proposed(item)
        return _view(item)

    def approve(self, remittance_id: str, line: int, body: PlacementApproval, principal: Principal) -> PlacementView:
        """Do what was proposed, by another person; again it is the first answer.

        Raises 403 `same_person`, 404, 409 `stale_hash` or `deposit_returned`, 422 where the account can't take it.
        """
        remittance = self._reached(remittance_id, principal)
        registry = self.remittances.registry
        item = self._placed(remittance_id, line) or registry.get(*_key(remittance_id, line).values())
        if item is None:
            raise _no_such_line(line)
        principal.must_not_be(
            item["proposed_by"],
            en="Who proposed a placement can't approve it.",
            es="Quien propuso la ubicación no puede aprobarla.",
        )
        if body.content_hash != _hash(item):
            raise stale_hash()
        if item["status"] != "placed":
            self._post(remittance, item, principal)
            item = self._placed(remittance_id, line) or item
        return _view(item)

    def listed(self, remittance_id: str, query: PageQuery, principal: Principal) -> Placements:
        """The placements of a remittance, proposed and done."""
        principal.must_be(Party.FUND, Party.OFFICE)
        self.remittances.reached(remittance_id, principal)
        page = self.remittances.registry.page(placements(remittance_id), after=query.after, limit=query.limit)
        return Placements(items=[_view(item) for item in page.items], next_cursor=cursor(page.after))

    def _reached(self, remittance_id: str, principal: Principal) -> Remittance:
        """The remittance. Raises 403, 404."""
        principal.must_be(Party.FUND, Party.OFFICE)
        return self.remittances.reached(remittance_id, principal)

    def _placed(self, remittance_id: str, line: int) -> Item | None:
        """What the ledger has placed of a line: the registry is told, whatever it says of it."""
        identifier = f"{remittance_id}/{line}"
        evidence = self.remittances.passbooks.store.get_evidence(EVIDENCE, identifier)
        if evidence is None:
            return None
        item: Item = {**_key(remittance_id, line), "line": line, "status": "placed", **evidence.body}
        self.remittances.registry.put(item)
        return item

    def _put_proposed(self, item: Item) -> None:
        """Keep a proposal, unless the line has been placed since it was looked at. Raises 404."""
        registry = self.remittances.registry
        try:
            registry.insert(item)
        except AlreadyThereError:
            key = item["pk"], item["sk"]
            changes = {name: item[name] for name in ("proposal", "proposed_by")}
            try:
                registry.update(key, changes, where={"status": "proposed"})
            except ChangedError:
                raise _no_such_line(item["line"]) from None

    def _check(self, remittance: Remittance, body: NewPlacement) -> None:
        """A credit names a participant of the fund and a kind; what is given back names neither. Raises 422.

        A month is named as a remittance names it: through the one that we are in.
        """
        self.check_month(body.period)
        if (body.action == "credit") != (body.participant_id is not None and body.kind is not None):
            raise refused(
                "placement_incomplete",
                en="A credit names a participant and a kind, and a return neither.",
                es="Un crédito nombra participante y tipo; una devolución, ninguno.",
                citation=_CITATION,
                field="participant_id",
            )
        if body.participant_id is None:
            return
        profile = profile_of(self.remittances.registry, body.participant_id)
        if profile is None or profile.fund != remittance.fund:
            raise refused(
                "unknown_participant",
                en=f"{body.participant_id} isn't a participant of {remittance.fund}.",
                es=f"{body.participant_id} no es participante de {remittance.fund}.",
                citation=_CITATION,
                field="participant_id",
            )

    def check_month(self, period: str | None) -> None:
        """Raises 422 for a month ahead: its installments aren't due. None is the remittance's own."""
        if period is not None:
            today = puerto_rico_date(self.remittances.passbooks.clock())
            check_on_calendar(date.fromisoformat(f"{period}-01"), today=today, field="period")

    def _unplaced(self, remittance: Remittance, line: int) -> Mapping[str, Any]:
        page = (line - remittance.first_line) // PAGE_ROWS
        evidence = self.remittances.passbooks.store.get_evidence(CREDITING, f"{remittance.remittance_id}/{page:04d}")
        for note in evidence.body["unplaced"] if evidence else []:
            if note["line"] == line:
                found: Mapping[str, Any] = note
                return found
        raise _no_such_line(line)

    def _post(self, remittance: Remittance, item: Item, principal: Principal) -> None:
        """The lines of what was proposed: the payer's, and the participant's where it is a credit."""
        deposit = deposit_of(self.remittances.passbooks.store, remittance.remittance_id)
        if deposit is None:
            raise _no_such_line(item["line"])
        identifier = f"{remittance.remittance_id}/{item['line']}"
        origin = Origin(principal.label, f"{EVIDENCE}/{identifier}", {"remittance": remittance.remittance_id})
        act = _Act(remittance, deposit, item["proposal"], origin, self)
        decided = {name: item[name] for name in ("proposal", "proposed_by")} | {"approved_by": principal.person}
        try:
            self.remittances.passbooks.append_together(
                act.parts(),
                key=BusinessKey(KeyKind.PLACEMENT, identifier),
                content=item["proposal"],
                evidence=[Evidence(EVIDENCE, identifier, decided)],
            )
        except ClearingError:
            raise _deposit_returned() from None


@dataclass(frozen=True)
class _Act:
    """The decisions of a placement."""

    remittance: Remittance
    deposit: Deposit
    proposal: Mapping[str, Any]
    origin: Origin
    placing: Placing

    def parts(self) -> list[Part]:
        fund = self.remittance.fund
        if self.proposal["action"] == "return":
            return [Part(self.remittance.employer_id, self._give_back, fund)]
        return [
            Part(self.proposal["participant_id"], self._credit, fund),
            Part(self.remittance.employer_id, self._pass_on, fund),
        ]

    @property
    def _cents(self) -> int:
        return parse_cents(self.proposal["amount"])

    def _credit(self, last: Line | None) -> Decision:
        self.placing.check_month(self.proposal.get("period"))
        participant_id = self.proposal["participant_id"]
        passbooks = self.placing.remittances.passbooks
        value_date = self.deposit.value_date
        if self.proposal["kind"] == INSTALLMENT:
            today = puerto_rico_date(passbooks.clock())
            through = through_of(self.proposal.get("period", self.remittance.period), today)
            draft = plans.installment_credit(
                known(last, participant_id), self._cents, value_date, self.origin, through=through
            )
            return Decision([draft])
        credits_today = credits_of(passbooks, self.placing.board)
        return credits_today.contribution(last, participant_id, self._cents, value_date, self.origin)

    def _pass_on(self, last: Line | None) -> Decision:
        of_plan = self.proposal["kind"] == INSTALLMENT
        draft = partial(employers.passing_on, _there(last), self.remittance.remittance_id)
        cents = (0, self._cents) if of_plan else (self._cents, 0)
        return Decision([draft(cents[0], self.deposit.value_date, self.origin, installments_cents=cents[1])])

    def _give_back(self, last: Line | None) -> Decision:
        today = puerto_rico_date(self.placing.remittances.passbooks.clock())
        there = _there(last)
        return Decision(
            [employers.deposit_returned(there, self.remittance.remittance_id, self._cents, today, self.origin)]
        )


def _there(last: Line | None) -> Line:
    if last is None:
        raise ValueError("a payer whose deposit is confirmed has a passbook")
    return last


def _deposit_returned() -> Exception:
    return conflict(
        "deposit_returned",
        en="The bank has taken this remittance's deposit back.",
        es="El banco retiró el depósito de esta remesa.",
        citation=_CITATION,
    )


def _no_such_line(line: int) -> Exception:
    return not_found(
        "no_money_to_place",
        en=f"No money of line {line} waits for a place.",
        es=f"Ningún dinero de la línea {line} espera ubicación.",
        field="line",
    )


def _key(remittance_id: str, line: int) -> dict[str, str]:
    return {"pk": placements(remittance_id), "sk": f"{line:07d}"}


def _hash(item: Item) -> str:
    return content_hash(item["proposal"]).hex()


def _view(item: Item) -> PlacementView:
    proposal = item["proposal"]
    return PlacementView(
        remittance_id=proposal["remittance_id"],
        line=item["line"],
        amount=parse_cents(proposal["amount"]),
        action=proposal["action"],
        participant_id=proposal.get("participant_id"),
        kind=proposal.get("kind"),
        period=proposal.get("period"),
        reason=proposal["reason"],
        status=item["status"],
        content_hash=_hash(item),
        proposed_by=item["proposed_by"],
        approved_by=item.get("approved_by"),
    )
