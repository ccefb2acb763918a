"""What is shown of what was filed."""

from typing import Literal

from participants.filing_models import DesignationView, FiledView, NewBeneficiary
from participants.filings import FiledLine
from retiro.ledger.lines import LineKind


def filed(one: FiledLine) -> FiledView:
    """What was filed, and whether it was approved."""
    return FiledView(
        participant_id=one.line.passbook,
        sequence=one.line.sequence,
        status="approved" if one.approved else "filed",
        filed={name: value for name, value in one.body.items() if name != "person"},
        filed_by=one.line.principal,
        approved_by=one.approved.principal if one.approved else None,
        determination=str(one.line.determination),
    )


def designation(one: FiledLine) -> DesignationView:
    """A designation, and whether it counts."""
    return DesignationView(
        participant_id=one.line.passbook,
        sequence=one.line.sequence,
        status=_status(one),
        reference=one.body["reference"],
        filed_on=one.body["filed_on"],
        beneficiaries=[NewBeneficiary.model_validate(each) for each in one.body["beneficiaries"]],
        filed_by=one.line.principal,
        recognized_by=one.approved.principal if one.approved else None,
        ended_by=one.ended.sequence if one.ended else None,
    )


def _status(one: FiledLine) -> Literal["filed", "recognized", "superseded", "void"]:
    if one.approved is None:
        return "filed"
    if one.ended is None:
        return "recognized"
    return "superseded" if one.ended.kind is LineKind.DESIGNATION else "void"
