"""The exceptions of a run, each named: left out of the lines, withheld, not done, something late, or to be known."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from retiro.registry.runs import Chunk, PartReference
from retiro.rules.forms import Sentence
from retiro.runs.objects import Row, RunObjects
from retiro.runs.posting import WITHHELD
from retiro.runs.preparing import EXCEPTION, NOTICE, THROTTLED

LATE = "late_line"


class FaultyCursorError(Exception):
    """A cursor that no page has given."""


@dataclass(frozen=True)
class Found:
    """One exception. `late` are the lines that came late, `settled_by` the one that settled them, if one did."""

    passbook: str
    code: str
    sentence: Sentence
    late: tuple[int, ...] = ()
    settled_by: int | None = None


_THROTTLED = Sentence(
    "Not done for want of capacity; resuming the run does it.",
    "No se hizo por falta de capacidad; se hace al reanudar la corrida.",
)
_LATE = Sentence(
    "Recorded after the run was prepared, with a date in its period.",
    "Se registró después de prepararse la corrida, con fecha dentro de su período.",
)


def exceptions_page(
    objects: RunObjects, chunks: Sequence[Chunk], after: str | None, limit: int
) -> tuple[list[Found], str | None]:
    """A page of exceptions, and the cursor after it: an object and a place in it. Raises `FaultyCursorError`."""
    source, offset = _place(after) if after else (0, 0)
    found: list[Found] = []
    sources = list(_sources(chunks))
    for index in range(source, len(sources)):
        rows = [one for row in objects.read(sources[index]) for one in _found(row)]
        taken = rows[offset : offset + limit - len(found)]
        found += taken
        if offset + len(taken) < len(rows):
            return found, f"{index}.{offset + len(taken)}"
        offset = 0
        if len(found) == limit and index + 1 < len(sources):
            return found, f"{index + 1}.0"
    return found, None


def _place(after: str) -> tuple[int, int]:
    source, _, offset = after.partition(".")
    if not (source.isdecimal() and offset.isdecimal()):
        raise FaultyCursorError(after)
    return int(source), int(offset)


def _sources(chunks: Sequence[Chunk]) -> Iterator[PartReference]:
    """The objects that hold exceptions, in the order in which they were prepared, then posted, then given up."""
    for chunk in chunks:
        yield from (part for part in chunk.parts if any(name.startswith((EXCEPTION, NOTICE)) for name in part.counts))
    for chunk in chunks:
        for result in chunk.results:
            if result.counts["late"] or any(name.startswith(WITHHELD) for name in result.counts):
                yield result
    yield from (chunk.stuck for chunk in chunks if chunk.stuck is not None)


def _found(row: Row) -> Iterator[Found]:
    match row:
        case {"passbook": str(passbook), "notice": {"code": str(code), "en": str(en), "es": str(es)}}:
            yield Found(passbook, code, Sentence(en, es))
        case {"passbook": str(passbook), "code": str(code), "en": str(en), "es": str(es)}:
            yield Found(passbook, code, Sentence(en, es))
        case {"passbook": str(passbook), "code": code} if code == THROTTLED:
            yield Found(passbook, THROTTLED, _THROTTLED)
        case {"passbook": str(passbook), "late": list(late)}:
            settled_by: Any = row.get("settled_by")
            yield Found(passbook, LATE, _LATE, tuple(late), settled_by)
