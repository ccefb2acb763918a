"""The prepare pass: compute the very lines to be written, and store them. It writes nothing to the ledger.

A row of a part is an exception, or a line to be written. Of a line it has all but the moment of its posting and the
hash; the head that it was prepared on (sequence, hash and moment of the passbook's last line); the draft that it was
made from, and is made again from where the passbook has moved; the figures; and the cents of the run's total.
"""

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Any

from retiro.ledger import lines as line_items
from retiro.ledger.encoding import GENESIS
from retiro.ledger.lines import Line, next_line
from retiro.ledger.passbooks import RUN_LINE_BYTES_MAX, check_size
from retiro.ledger.retries import BusyError
from retiro.registry.roster import RosterEntry
from retiro.registry.runs import Chunk, Run
from retiro.runs import drafts, population
from retiro.runs.kinds import PARTICIPANT_ERRORS, Passbook, Prepared, RunKind, exception_of
from retiro.runs.objects import Row
from retiro.runs.workshop import Hands, Watch, Workshop

EXCEPTION = "exception:"
"""What comes before an exception's code in a part's counts."""

NOTICE = "notice:"
"""What comes before the code of what is to be known of a line."""

THROTTLED = "throttled"


def work(shop: Workshop, kind: RunKind, chunk_index: int, watch: Watch) -> bool:
    """Prepare the chunk from its cursor on. True: done, or stopped; false: there is more, and no time."""
    chunk = shop.book.chunk(watch.run_id, chunk_index)
    while not chunk.prepared:
        run = watch.may_work()
        if run is None:
            return True
        if not watch.has_time():
            return False
        if not (moved := _prepare_part(shop, kind, run, chunk, watch)):
            return False  # another worker is on this chunk: look again
        if moved.stuck is not None:
            return True
        chunk = moved
    return True


def _prepare_part(shop: Workshop, kind: RunKind, run: Run, chunk: Chunk, watch: Watch) -> Chunk | None:
    taken = population.walk(shop.roster, kind, chunk, watch.part_accounts())
    watch.accounts += len(taken.entries)
    hands = Hands(shop)
    prepared = hands.each(partial(_prepared, hands, kind, run), taken.entries)
    stuck = [
        {"passbook": entry.passbook_id, "code": THROTTLED}
        for entry, rows in zip(taken.entries, prepared, strict=True)
        if rows is None
    ]
    if stuck:
        name = f"part-{len(chunk.parts):04d}.stuck"
        listed = shop.objects.store(run.id, chunk.index, name, stuck, {THROTTLED: len(stuck)})
        return shop.book.move(run.id, chunk, stuck=listed)
    parts = chunk.parts
    if rows := [row for found in prepared if found is not None for row in found]:
        name = f"part-{len(parts):04d}"
        parts += (shop.objects.store(run.id, chunk.index, name, rows, _counts(rows)),)
    return shop.book.move(run.id, chunk, shard=taken.shard, after=taken.after, prepared=taken.ended, parts=parts)


def _prepared(hands: Hands, kind: RunKind, run: Run, entry: RosterEntry) -> list[Row] | None:
    """The row of a passbook; `None` where the table took no more."""
    try:
        return prepared_rows(hands.shop, kind, run, entry)
    except BusyError:
        hands.hurry()
        return None


def prepared_rows(shop: Workshop, kind: RunKind, run: Run, entry: RosterEntry) -> list[Row]:
    """The row of a passbook: the line to be written, or why there is none. No row where it isn't of the population.

    Raises `BusyError`.
    """
    try:
        last = shop.ledger.last_line(entry.passbook_id, consistent=False)
        passbook = Passbook(entry.passbook_id, entry.fund, last, shop.ledger)
        prepared = kind.prepare(passbook, run)
        if prepared is None:
            return []
        if isinstance(prepared, Prepared):
            return [_line_row(passbook, prepared, run)]
    except PARTICIPANT_ERRORS as error:
        prepared = exception_of(error)
    return [{"passbook": entry.passbook_id, **prepared.to_row()}]


def _line_row(passbook: Passbook, prepared: Prepared, run: Run) -> Row:
    last = passbook.last
    line = next_line(last, prepared.draft, passbook=passbook.id, fund=passbook.fund, recorded_at=run.started_at)
    check_size(line, RUN_LINE_BYTES_MAX)
    document: dict[str, Any] = dict(line_items.document_of(line))
    del document["recorded_at"]
    head: dict[str, Any] = {"sequence": 0, "hash": GENESIS.hex()}
    if last is not None:
        head = {"sequence": last.sequence, "hash": last.hash.hex(), "recorded_at": last.recorded_at.isoformat()}
    return {
        "passbook": passbook.id,
        "head": head,
        "line": document,
        "draft": drafts.document_of(prepared.draft),
        "figures": dict(prepared.figures),
        "cents": prepared.amount_cents,
        **({"notice": prepared.notice.to_row()} if prepared.notice else {}),
    }


def line_of(row: Row, started_at: datetime) -> Line:
    """The line of a row as it is written by an execution that was started then: the rest of it was fixed before."""
    head: Mapping[str, Any] = row["head"]
    recorded_at = started_at
    if "recorded_at" in head:
        recorded_at = max(started_at, datetime.fromisoformat(head["recorded_at"]))
    document = row["line"] | {"recorded_at": recorded_at.isoformat()}
    return line_items.sealed(line_items.from_document(document), bytes.fromhex(head["hash"]))


def _counts(rows: list[Row]) -> dict[str, int]:
    """A part in numbers: its lines, their cents, its exceptions and its notices by code."""
    counts = Counter(f"{EXCEPTION}{row['code']}" for row in rows if "code" in row)
    counts.update(f"{NOTICE}{row['notice']['code']}" for row in rows if "notice" in row)
    lines = [row for row in rows if "code" not in row]
    return {"lines": len(lines), "cents": sum(row["cents"] for row in lines), **counts}
