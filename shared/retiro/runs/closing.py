"""The close pass: prove that prepared = posted + withheld, each named, from the ledger itself. It trusts no counter.

Each line is read back by passbook and sequence, and must be the run's own, with the postings that were prepared. What
was withheld must not be there. A result that says withheld where the line stands comes of a worker that its successor
has overtaken: the ledger is right, and the line counts as posted.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from retiro.ledger.lines import Line
from retiro.registry.runs import Chunk, Run
from retiro.runs import drafts
from retiro.runs.kinds import RunKind
from retiro.runs.objects import Row
from retiro.runs.posting import WITHHELD, is_own, own_line
from retiro.runs.workshop import Watch, Workshop

_PROBLEMS_NAMED_MAX = 20


def work(shop: Workshop, kind: RunKind, chunk_index: int, watch: Watch) -> bool:
    """Check the chunk's parts, anew for each execution. True: done, or stopped; false: there is more, and no time."""
    chunk = shop.book.chunk(watch.run_id, chunk_index)
    while not is_checked(chunk, watch.number):
        run = watch.may_work()
        if run is None:
            return True
        if not watch.has_time():
            return False
        check = _check_part(shop, kind, run, chunk, watch)
        if not (moved := shop.book.move(watch.run_id, chunk, check=check)):
            return False
        chunk = moved
    return True


def is_checked(chunk: Chunk, number: int) -> bool:
    """Whether the execution of this number has checked all parts of the chunk."""
    return chunk.check is not None and chunk.check["number"] == number and chunk.check["parts"] == len(chunk.parts)


def _check_part(shop: Workshop, kind: RunKind, run: Run, chunk: Chunk, watch: Watch) -> Mapping[str, Any]:
    """The chunk's check with another part in it."""
    before: Mapping[str, Any] = chunk.check or {}
    if before.get("number") != watch.number:
        before = {"parts": 0, "counts": {}, "problems": []}
    part = before["parts"]
    if part == len(chunk.parts):  # a chunk without a part
        return {**before, "number": watch.number}
    rows = [row for row in shop.objects.read(chunk.parts[part]) if "line" in row]
    watch.accounts += len(rows)
    outcomes = {row["passbook"]: row for row in shop.objects.read(chunk.results[part])}
    counts: Counter[str] = Counter(before["counts"])
    problems: list[str] = list(before["problems"])
    for passbook, finding, cents in _findings(shop, kind, run, rows, outcomes):
        counts[finding] += 1
        counts["cents" if finding == "posted" else "cents_not_posted"] += cents
        if finding in {"missing", "differs"}:
            problems.append(f"{passbook} {finding}")
    return {
        "number": watch.number,
        "parts": part + 1,
        "counts": dict(counts),
        "problems": problems[:_PROBLEMS_NAMED_MAX],
    }


def _findings(
    shop: Workshop, kind: RunKind, run: Run, rows: list[Row], outcomes: Mapping[str, Row]
) -> Iterator[tuple[str, str, int]]:
    """For each prepared line: passbook, `posted`, `withheld:<code>`, `missing` or `differs`, and its cents.

    A line never changes, so that an eventual read which finds it proves it. Who isn't found is looked for consistently.
    """
    places = {
        row["passbook"]: outcomes.get(row["passbook"], {}).get("sequence", row["head"]["sequence"] + 1) for row in rows
    }
    found = shop.ledger.get_lines(places.items(), consistent=False)
    for row in rows:
        passbook = row["passbook"]
        line = found.get((passbook, places[passbook]))
        if line is None or not is_own(line, kind, run):
            line = own_line(list(shop.ledger.lines(passbook, first=row["head"]["sequence"] + 1)), kind, run)
        yield passbook, _finding(line, row, outcomes.get(passbook)), row["cents"]


def _finding(line: Line | None, row: Row, outcome: Row | None) -> str:
    if line is not None:
        return "posted" if line.postings == drafts.from_document(row["draft"]).postings else "differs"
    if outcome is not None and outcome["outcome"] == "withheld":
        return f"{WITHHELD}{outcome['code']}"
    return "missing"
