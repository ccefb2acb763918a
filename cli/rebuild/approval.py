"""The two persons of a rebuild that is posted: who prepared it, and who approves the history as it stands."""

from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from cli.files import FileError
from cli.rebuild.evidence import PostedHistory
from retiro.ledger.encoding import canonical
from retiro.ledger.evidence import Evidence
from retiro.ledger.lines import REBUILD_RUN
from retiro.registry.clock import Clock
from retiro.registry.runs import Phase, Run, RunBook, RunChangedError, RunId, RunStatus
from retiro.registry.table import AlreadyThereError
from retiro.rules.version import RULES_VERSION


def run_of(book: RunBook, history: PostedHistory, person: str, clock: Clock) -> Run:
    """The run of a history, as this person's word leaves it: prepared by the first, approved by any other.

    What is approved is the history by its hash, under the rules that prepared it: under others it is prepared anew, as
    long as nothing is posted. Where it is approved it stays so, whoever asks.

    Raises:
        FileError: it is posted in part, by other rules than these.
    """
    now = clock()
    context = canonical({**history.evidence[0].body, "rules_version": RULES_VERSION}).decode()
    run_id = RunId(REBUILD_RUN, history.hash, 1)
    details = {"hash": history.hash}
    with suppress(AlreadyThereError):  # by whomever and whenever: how it stands is what counts
        book.insert(Run(run_id, RunStatus.PREPARED, 1, Phase.PREPARE, person, now, now, context, details))
    run = book.get(run_id)
    if run.context_text != context and run.status is not RunStatus.POSTED:
        return _prepared_anew(book, run, person, now, context)
    if run.status is not RunStatus.PREPARED or run.requested_by == person:
        return run
    approved = {"status": RunStatus.APPROVED, "approved_by": person, "approved_at": now}
    try:
        return book.change(run, RunStatus.PREPARED, phase=Phase.POST, **approved)
    except RunChangedError:
        return book.get(run_id)


def _prepared_anew(book: RunBook, run: Run, person: str, now: datetime, context: str) -> Run:
    """What other rules prepared, or had approved: nothing of it is posted under these until two persons say so."""
    prepared = {"status": RunStatus.PREPARED, "phase": Phase.PREPARE, "requested_by": person, "requested_at": now}
    try:
        return book.change(run, RunStatus.PREPARED, RunStatus.APPROVED, context=context, approved_by=None, **prepared)
    except RunChangedError as changed:
        posted_by = run.context["rules_version"]
        raise FileError(
            f"the history {run.id.period} is posted in part by the rules {posted_by}; these are {RULES_VERSION}. "
            "Go on with those"
        ) from changed


def approved_evidence(history: PostedHistory, run: Run) -> tuple[Evidence, ...]:
    """The evidence of a history, its own with both persons on the record."""
    own, *of_semesters = history.evidence
    persons = {"prepared_by": run.requested_by, "approved_by": run.details["approved_by"]}
    return replace(own, body={**own.body, **persons}), *of_semesters
