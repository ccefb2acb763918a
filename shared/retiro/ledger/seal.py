"""The seal of an audit: one hash over the heads of all passbooks, so that none can be changed, added or lost unseen.

The tree is that of Certificate Transparency (RFC 9162 § 2.1): a leaf and a node are hashed under marks of their own, so
that neither is taken for the other, and an odd last one moves up as it is, so that nothing is counted twice. The seal
covers the count as well as the root. Who has a seal from elsewhere (printed, published) can hold a passbook against it
with `docs/verify_proof.py` and nothing of ours.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from retiro.ledger.lines import Line

EVIDENCE = "seal"

_LEAF, _NODE, _SEAL = b"\x00", b"\x01", b"\x02"
_COUNT_BYTES = 8


@dataclass(frozen=True, slots=True)
class Seal:
    """How many heads are sealed, and the root of their tree."""

    count: int
    root: bytes

    @property
    def hash(self) -> bytes:
        """The seal itself: SHA-256 of its mark, the count (eight bytes, big-endian) and the root."""
        return hashlib.sha256(_SEAL + self.count.to_bytes(_COUNT_BYTES, "big") + self.root).digest()


def head(last: Line) -> str:
    """A passbook's head as its leaf says it: `P-000001 9 b22c…`, the passbook, its last sequence, that line's hash."""
    return f"{last.passbook} {last.sequence} {last.hash.hex()}"


def seal(heads: Sequence[str]) -> Seal:
    """The seal of these heads, in this order. The root of none is the hash of nothing."""
    if not heads:
        return Seal(0, hashlib.sha256().digest())
    return Seal(len(heads), _levels(heads)[-1][0])


def path(heads: Sequence[str], index: int) -> list[bytes]:
    """The hashes beside the way from a head up to the root, lowest first: what proves that it was sealed."""
    beside = []
    for level in _levels(heads)[:-1]:
        if index ^ 1 < len(level):
            beside.append(level[index ^ 1])
        index //= 2
    return beside


def _levels(heads: Sequence[str]) -> list[list[bytes]]:
    """The tree level by level: the leaves, then their nodes, up to the root alone."""
    levels = [[hashlib.sha256(_LEAF + head.encode()).digest() for head in heads]]
    while len(level := levels[-1]) > 1:
        nodes = [_node(*level[start : start + 2]) for start in range(0, len(level) - 1, 2)]
        levels.append(nodes + level[len(nodes) * 2 :])
    return levels


def _node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(_NODE + left + right).digest()
