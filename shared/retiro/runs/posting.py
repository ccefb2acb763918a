"""The post pass: write the prepared lines, and store what came of each before the cursor moves.

A part is done whole or again. A line that is there already is known by the run's own mark, so that doing a part again
finds what was done. Where a passbook has not moved since it was prepared, a line is one conditional put and no read.
"""

from collections import Counter
from functools import partial

from retiro.ledger.lines import Line, next_line
from retiro.ledger.passbooks import RUN_LINE_BYTES_MAX, check_size
from retiro.ledger.retries import BusyError
from retiro.ledger.store import MovedError
from retiro.registry.runs import Chunk, PartReference, Run
from retiro.rules.forms import Sentence
from retiro.runs import drafts
from retiro.runs.kinds import PARTICIPANT_ERRORS, ParticipantException, Passbook, RunKind, exception_of
from retiro.runs.objects import Row
from retiro.runs.preparing import THROTTLED, line_of
from retiro.runs.workshop import Hands, Watch, Workshop

WITHHELD = "withheld:"
"""What comes before the code of a withheld line in a result's counts."""

_OVERTAKEN_MAX = 8


def work(shop: Workshop, kind: RunKind, chunk_index: int, watch: Watch) -> bool:
    """Post the chunk from its cursor on. True: done, or stopped; false: there is more, and no time."""
    chunk = shop.book.chunk(watch.run_id, chunk_index)
    while len(chunk.results) < len(chunk.parts):
        if watch.may_work() is None:
            return True
        if not watch.has_time():
            return False
        posted = _post_part(shop, kind, chunk, watch)
        if posted is None:
            return True
        if not (moved := shop.book.move(watch.run_id, chunk, **posted)):
            return False  # another worker is on this chunk: look again
        if moved.stuck is not None:
            return True
        chunk = moved
    return True


def _post_part(shop: Workshop, kind: RunKind, chunk: Chunk, watch: Watch) -> dict[str, object] | None:
    """What the chunk moves on by: a result, or who is stuck. `None`: stopped in the middle, nothing moves."""
    rows = [row for row in shop.objects.read(chunk.parts[len(chunk.results)]) if "line" in row]
    watch.accounts += len(rows)
    outcomes: list[Row] = []
    page = shop.sizes.page_accounts
    hands = Hands(shop)
    for start in range(0, len(rows), page):
        run = watch.may_work()
        if run is None:
            return None
        outcomes += hands.each(partial(_outcome, hands, kind, run), rows[start : start + page])
        if len(outcomes) < len(rows):  # else the cursor is about to say it
            shop.book.saw(watch.run_id, chunk, sum(one["outcome"] != THROTTLED for one in outcomes))
    stuck = [{"passbook": one["passbook"], "code": THROTTLED} for one in outcomes if one["outcome"] == THROTTLED]
    name = f"part-{len(chunk.results):04d}"
    if stuck:
        listed = shop.objects.store(watch.run_id, chunk.index, f"{name}.stuck", stuck, {THROTTLED: len(stuck)})
        return {"stuck": listed}
    result: PartReference = shop.objects.store(watch.run_id, chunk.index, f"{name}.posted", outcomes, _counts(outcomes))
    return {"results": (*chunk.results, result), "seen": 0}


def _outcome(hands: Hands, kind: RunKind, run: Run, row: Row) -> Row:
    """What came of a prepared line: a row that says posted (where), withheld (why), or throttled."""
    try:
        return post_row(hands.shop, kind, run, row)
    except BusyError:
        hands.hurry()
        return {"passbook": row["passbook"], "outcome": THROTTLED}


def post_row(shop: Workshop, kind: RunKind, run: Run, row: Row) -> Row:
    """Post a prepared line, or find it posted. Raises `BusyError`."""
    line = line_of(row, run.started_at)
    try:
        shop.ledger.put_line(line)
    except MovedError:
        return _post_moved(shop, kind, run, row)
    return {"passbook": line.passbook, "outcome": "posted", "sequence": line.sequence}


def _post_moved(shop: Workshop, kind: RunKind, run: Run, row: Row) -> Row:
    """Post to a passbook that has moved: on its new last line, unless ours is among the new ones already."""
    passbook_id, fund, first = row["passbook"], row["line"]["fund"], row["head"]["sequence"] + 1
    for _ in range(_OVERTAKEN_MAX):
        since = list(shop.ledger.lines(passbook_id, first=first))
        own = own_line(since, kind, run)
        passbook = Passbook(passbook_id, fund, since[-1], shop.ledger)
        if own is None:
            remade = _remade(kind, passbook, row, run)
            if isinstance(remade, ParticipantException):
                return {"passbook": passbook_id, "outcome": "withheld", **remade.to_row()}
            try:
                shop.ledger.put_line(remade)
            except MovedError:
                continue
            own = remade
        return _posted(kind, passbook, own, since, run)
    raise BusyError(f"{passbook_id} moved on each of {_OVERTAKEN_MAX} attempts")


def _remade(kind: RunKind, passbook: Passbook, row: Row, run: Run) -> Line | ParticipantException:
    """The prepared line on the passbook's new last line, with the same postings; or why it is withheld."""
    prepared = drafts.from_document(row["draft"])
    try:
        draft = kind.remake(passbook, prepared, run)
        line = next_line(passbook.last, draft, passbook=passbook.id, fund=passbook.fund, recorded_at=run.started_at)
        check_size(line, RUN_LINE_BYTES_MAX)
    except PARTICIPANT_ERRORS as error:
        return exception_of(error)
    return line if draft.postings == prepared.postings else _FIGURES_CHANGED


_FIGURES_CHANGED = ParticipantException(
    "figures_changed",
    Sentence(
        "What has come since changes the amount that was approved.",
        "Lo recibido después cambia la cantidad que se aprobó.",
    ),
)


def own_line(lines: list[Line], kind: RunKind, run: Run) -> Line | None:
    """The run's line among these, by its mark."""
    return next((line for line in lines if is_own(line, kind, run)), None)


def is_own(line: Line, kind: RunKind, run: Run) -> bool:
    """Whether a line is the one that this run wrote in its passbook."""
    mark = line.runs.get(kind.name)
    return mark is not None and (mark.period, mark.attempt, mark.sequence) == (
        run.id.period,
        run.id.attempt,
        line.sequence,
    )


def _posted(kind: RunKind, passbook: Passbook, own: Line, since: list[Line], run: Run) -> Row:
    row = {"passbook": passbook.id, "outcome": "posted", "sequence": own.sequence}
    late = [line for line in since if line.sequence < own.sequence and kind.is_late(line, run)]
    if not late:
        return row
    settling = kind.settle_late(passbook, own, late, run)
    return row | {"late": [line.sequence for line in late]} | ({"settled_by": settling.sequence} if settling else {})


def _counts(outcomes: list[Row]) -> dict[str, int]:
    """A result in numbers: posted, withheld by code, and passbooks with something late."""
    withheld = Counter(f"{WITHHELD}{one['code']}" for one in outcomes if one["outcome"] == "withheld")
    posted = sum(one["outcome"] == "posted" for one in outcomes)
    return {"posted": posted, "late": sum("late" in one for one in outcomes), **withheld}
