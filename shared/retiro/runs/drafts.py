"""A draft in plain values, as a prepared row keeps it."""

from collections.abc import Mapping
from datetime import date
from typing import Any

from retiro.ledger.lines import Draft, LineKind, Posting, RunMark
from retiro.ledger.month_ends import MonthEnds


def document_of(draft: Draft) -> dict[str, Any]:
    """The draft in plain values; what is absent is left out. The mark of a rebuild is on no prepared draft."""
    document: dict[str, Any] = {
        "kind": str(draft.kind),
        "effective_on": draft.effective_on.isoformat(),
        "principal": draft.principal,
        "postings": [[posting.account, posting.amount_cents] for posting in draft.postings],
        "state": dict(draft.state),
        "run": draft.run and list(draft.run),
        "determination": draft.determination,
        "reverses": draft.reverses,
        "belongs_on": draft.belongs_on and draft.belongs_on.isoformat(),
        "differences": dict(draft.differences),
        "facts": dict(draft.facts),
    }
    if draft.restores is not None:
        kind, mark = draft.restores
        document["restores"] = [kind, mark and [mark.period, mark.attempt, mark.sequence]]
    if (month_ends := draft.month_ends) is not None:
        document["month_ends"] = [month_ends.since, list(month_ends.savings), month_ends.complete]
    return {name: value for name, value in document.items() if value is not None}


def from_document(document: Mapping[str, Any]) -> Draft:
    """The draft of a row."""
    run = document.get("run")
    belongs_on = document.get("belongs_on")
    restores = document.get("restores")
    month_ends = document.get("month_ends")
    return Draft(
        kind=LineKind(document["kind"]),
        effective_on=date.fromisoformat(document["effective_on"]),
        principal=document["principal"],
        postings=tuple(Posting(account, cents) for account, cents in document["postings"]),
        state=document["state"],
        run=None if run is None else (run[0], run[1], run[2]),
        restores=None if restores is None else (restores[0], None if restores[1] is None else RunMark(*restores[1])),
        determination=document.get("determination"),
        reverses=document.get("reverses"),
        belongs_on=None if belongs_on is None else date.fromisoformat(belongs_on),
        differences=document["differences"],
        facts=document["facts"],
        month_ends=None
        if month_ends is None
        else MonthEnds(month_ends[0], tuple(month_ends[1]), complete=month_ends[2]),
    )
