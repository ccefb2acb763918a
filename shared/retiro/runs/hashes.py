"""The hash of a prepared run: what a person approves, and nothing else is posted under it."""

from collections.abc import Iterable, Mapping

from retiro.ledger.encoding import content_hash
from retiro.registry.runs import Chunk, Run


def run_hash(run: Run, chunks: Iterable[Chunk], totals: Mapping[str, int]) -> str:
    """SHA-256 (hex) over the run, the hashes of its parts in order, its totals, and its context.

    The context holds the figures, the settings and the rules' version.
    """
    return content_hash(
        {
            "kind": run.id.kind,
            "period": run.id.period,
            "attempt": run.id.attempt,
            "parts": [part.sha256 for chunk in chunks for part in chunk.parts],
            "totals": dict(totals),
            "context": dict(run.context),
        }
    ).hex()
