"""What is shown of a case and of a quote."""

from collections.abc import Mapping, Sequence
from typing import Any

from death_refunds.gathering import Outcome
from death_refunds.models import DeathFigures, DeathQuote, DeathRefund, DebtCollected, PayeeView, QuestionView
from death_refunds.plans import amounts_of
from death_refunds.settling import PayeeRow
from death_refunds.steps import EVIDENCE, Standing, Step
from retiro.portal import Language, spoken
from retiro.rules.forms import Sentence


def quote(participant_id: str, outcome: Outcome, payees: Sequence[PayeeRow]) -> DeathQuote:
    """A quote."""
    return DeathQuote(
        participant_id=participant_id,
        death_date=outcome.death_date,
        route=outcome.route,
        figures=_figures(amounts_of(outcome)),
        payees=_payees(payees),
        receipts=_receipts(outcome.results),
    )


def refund(standing: Standing, language: Language) -> DeathRefund:
    """A case as it stands: what was approved last, else what was entered last."""
    entered, approved = standing.entered, standing.approved
    shown = approved or entered
    allocates = standing.is_pending and approved is not None
    body = shown.body
    question = entered.body.get("question") if approved is None else None
    settled: Mapping[str, Any] = standing.settlement.body["results"] if standing.settlement else {}
    results = {**settled, **body["results"]}  # an allocation has only the benefit again
    return DeathRefund(
        refund_id=standing.refund_id,
        participant_id=body["participant_id"],
        death_date=body["death_date"],
        status=_status(standing, question is not None),
        route=body["route"],
        determination=_determination(shown),
        content_hash=entered.hash if _waits(standing) else None,
        entered_by=entered.body["entered_by"],
        approved_by=body.get("approved_by"),
        figures=None if body["amounts"] is None else _figures(body["amounts"]),
        payees=[] if question else _payees(shown.payees),
        pending_payees=_payees(entered.payees) if allocates else None,
        question=None if question is None else _question(question, language),
        open_questions=[
            spoken(Sentence(one["en"], one["es"]), language)
            for result in results.values()
            for one in result["receipt"]["open_questions"]
        ],
        receipts=_receipts(results),
    )


def _waits(standing: Standing) -> bool:
    return standing.is_pending and not standing.is_withdrawn and standing.entered.body["step"] != "question"


def _status(standing: Standing, asks: bool) -> Any:  # noqa: FBT001  # one of four words
    if standing.is_withdrawn:
        return "withdrawn"
    if standing.approved is not None:
        return "settled"
    return "needs_decision" if asks else "entered"


def _determination(step: Step) -> str:
    return step.line.determination or f"{EVIDENCE}/{step.evidence.id}"


def _question(question: Mapping[str, Any], language: Language) -> QuestionView:
    return QuestionView(
        code=question["code"],
        detail=spoken(Sentence(question["en"], question["es"]), language),
        citation=question["citation"],
        field=question["field"],
        receipt=question["receipt"],
    )


def _figures(amounts: Mapping[str, Any]) -> DeathFigures:
    debts = [DebtCollected(**one) for one in amounts["debts"]]
    return DeathFigures(**{**amounts, "debts": debts})


def _payees(rows: Sequence[PayeeRow]) -> list[PayeeView]:
    return [PayeeView(**row.model_dump()) for row in rows]


def _receipts(results: Mapping[str, Any]) -> dict[str, Any]:
    return {name: result["receipt"] for name, result in results.items()}
