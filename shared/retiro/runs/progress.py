"""How far a run is, by what the durable chunk items say: it never goes back, and never over the whole."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from retiro.registry.runs import Chunk
from retiro.runs.posting import WITHHELD
from retiro.runs.preparing import EXCEPTION, NOTICE


@dataclass(frozen=True)
class Progress:
    """Accounts: of the population, how many were looked at; of the lines prepared, how many are posted or withheld."""

    population: int
    looked_at: int
    prepared: int
    done: int


def progress(chunks: Iterable[Chunk]) -> Progress:
    """The progress of a run."""
    population = looked_at = prepared = done = 0
    for chunk in chunks:
        looked = _looked_at(chunk)
        lines = total(chunk, "lines")
        looked_at += looked
        population += looked if chunk.prepared else max(chunk.population, looked)
        prepared += lines
        results = Counter[str]()
        for result in chunk.results:
            results.update(result.counts)
        done += min(results["posted"] + sum(_with_prefix(results, WITHHELD).values()) + chunk.seen, lines)
    return Progress(population, looked_at, prepared, done)


def total(chunk: Chunk, name: str) -> int:
    """What the chunk's parts amount to under a name."""
    return sum(part.counts.get(name, 0) for part in chunk.parts)


def exceptions(chunks: Sequence[Chunk]) -> dict[str, int]:
    """The exceptions of a prepared run, by code."""
    return _counted(chunks, EXCEPTION)


def notices(chunks: Sequence[Chunk]) -> dict[str, int]:
    """What is to be known of lines that are written all the same, by code."""
    return _counted(chunks, NOTICE)


def _counted(chunks: Sequence[Chunk], prefix: str) -> dict[str, int]:
    counted = Counter[str]()
    for chunk in chunks:
        for part in chunk.parts:
            counted.update(_with_prefix(part.counts, prefix))
    return dict(sorted(counted.items()))


def _looked_at(chunk: Chunk) -> int:
    return total(chunk, "lines") + sum(exceptions([chunk]).values())


def _with_prefix(counts: Mapping[str, int], prefix: str) -> dict[str, int]:
    return {name.removeprefix(prefix): count for name, count in counts.items() if name.startswith(prefix)}
