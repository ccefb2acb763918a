"""What a case's approval would post, worked out from the passbook: the settlement, or who takes since it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from death_refunds.claims import Claim
from death_refunds.gathering import Case, Outcome
from death_refunds.settling import Numbers, PayeeRow, allocation_postings, merged, payees_of, settlement_postings
from death_refunds.steps import Standing, Step
from death_refunds.world import Tables
from retiro.ledger import hybrid
from retiro.ledger.designations import counting
from retiro.ledger.lines import Line, LineKind, Posting
from retiro.portal import refused
from retiro.rules.judiciary_hybrid import SECTION
from retiro.rules.money import format_cents, parse_cents
from retiro.rules.refusals import Refusal, RefusalCode

_OF_THE_SETTLEMENT = ("provisional_yield", "overpaid")
"""The amounts that only a settlement determines: what is allocated since leaves them as they are."""


@dataclass(frozen=True)
class Plans:
    """Works out what a case comes to."""

    tables: Tables

    def case(self, history: Sequence[Line], death_date: date, claim: Claim) -> Case:
        """The passbook with what else a death's determinations take."""
        recognized = counting(history, death_date)
        designation = None if recognized is None else self.tables.evidence_of(recognized).body
        return Case(history, self.tables.board.adopted(history[-1].fund), death_date, designation, claim)

    def plan(self, history: Sequence[Line], standing: Standing | None, claim: Claim) -> dict[str, Any]:
        """What the approval would post; before the settlement, it may be the question that a person has to decide.

        What was decided for the settlement holds for what is allocated since. Raises `Refusal`.
        """
        settled = standing.approved if standing else None
        before = standing.entered.body if standing else {"numbered": [], "payees": []}
        if settled:
            claim = claim.with_changes(decisions=settled.claim.decisions)
        case = self._of(history, settled, claim)
        try:
            outcome = self._outcome(case, settled)
        except Refusal as refusal:
            if settled or refusal.code is not RefusalCode.NEEDS_DECISION:
                raise
            return _question(refusal, case, before)
        numbers = Numbers(before["numbered"])
        payees = payees_of(outcome, claim, numbers)
        amounts = amounts_of(outcome)
        if standing and standing.settlement:
            amounts |= {name: standing.settlement.body["amounts"][name] for name in _OF_THE_SETTLEMENT}
        return {
            "step": "allocation" if settled else "settlement",
            "death_date": outcome.death_date.isoformat(),
            "route": outcome.route,
            "given": dict(outcome.given),
            "results": outcome.results,
            "amounts": amounts,
            "payees": [row.model_dump(mode="json") for row in payees],
            "numbered": numbers.given,
            "postings": merged(_postings(history[-1], settled, outcome, payees)),
        }

    def _of(self, history: Sequence[Line], settled: Step | None, claim: Claim) -> Case:
        """The case on the passbook; after the settlement, on the lines that it was made of."""
        if settled is not None:
            before = history[: _before_settlement(history)]
            return self.case(before, date.fromisoformat(settled.body["death_date"]), claim)
        death_date = hybrid.death_of(history[-1])
        if death_date is None:
            raise no_death()
        return self.case(history, death_date, claim)

    def _outcome(self, case: Case, settled: Step | None) -> Outcome:
        """The outcome; after the settlement, on the facts that it was made of."""
        if settled is None:
            return case.determined(posts=True)
        return case.determined_again(settled.body["given"], parse_cents(settled.body["amounts"]["unpaid"]))


def is_same(plan: Mapping[str, Any], entered: Step) -> bool:
    """Whether what would be posted is what was entered."""
    return all(plan[name] == entered.body[name] for name in ("step", "amounts", "payees", "postings"))


def amounts_of(outcome: Outcome) -> dict[str, Any]:
    """The amounts of an outcome, as plain JSON."""
    benefit = outcome.benefit
    provisional_cents = outcome.provisional.yield_amount if outcome.provisional else 0
    return {
        "provisional_yield": format_cents(provisional_cents),
        "gross": format_cents(outcome.gross_cents),
        "debts": [one.model_dump(mode="json") for one in benefit.debts],
        "debts_collected": format_cents(benefit.debts_collected),
        "uncollected_debt": format_cents(benefit.uncollected_debt),
        "net": format_cents(outcome.net_cents),
        "overpaid": format_cents(outcome.overpaid_cents),
        "unpaid": format_cents(outcome.unpaid_cents),
        "basis": benefit.basis,
    }


def no_death() -> Exception:
    """422: there is nothing to settle."""
    return refused(
        "no_death_reported",
        en="No death of this participant is reported.",
        es="No consta informe de la muerte de este participante.",
        citation=f"{SECTION}(e), (f)",
        field="participant_id",
    )


def _before_settlement(history: Sequence[Line]) -> int:
    """How many lines stood before the settlement that stands."""
    return next(line.sequence for line in reversed(history) if line.kind is LineKind.SETTLEMENT) - 1


def _postings(last: Line, settled: Step | None, outcome: Outcome, payees: Sequence[PayeeRow]) -> list[Posting]:
    if settled is None:
        return settlement_postings(last, outcome, payees)
    return allocation_postings(settled.payees, payees)


def _question(refusal: Refusal, case: Case, before: Mapping[str, Any]) -> dict[str, Any]:
    """What the rules leave to a person, as it is entered: why, by what law, and how far the determination came.

    The payees and their numbers stay those of the step before, so that holds and releases fall on the same persons.
    """
    return {
        "step": "question",
        "death_date": case.death_date.isoformat(),
        "route": None,
        "question": {
            "code": str(refusal.code),
            "en": refusal.sentence.en,
            "es": refusal.sentence.es,
            "citation": refusal.citation,
            "field": refusal.field,
            "receipt": None if refusal.receipt is None else refusal.receipt.model_dump(mode="json"),
        },
        "given": {"designation": case.designation_given},
        "results": {},
        "amounts": None,
        "payees": before["payees"],
        "numbered": before["numbered"],
        "postings": {},
    }
