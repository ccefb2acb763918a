"""Hold what `retiro prove` printed against a seal that you have from elsewhere. The standard library is enough.

    python verify_proof.py proof.json 5f0c…

Prints the passbook's head that was sealed, and exits 1 where the proof isn't one of that seal.
"""

import json
import sys
from hashlib import sha256
from pathlib import Path


def seal_of(head: bytes, index: int, count: int, path: list[bytes]) -> bytes:
    """The seal that this head, at this place among so many, is under; the path is used up, neither more nor less."""
    digest, place, width, beside = sha256(b"\x00" + head).digest(), index, count, list(path)
    while width > 1:
        if place ^ 1 < width:
            other = beside.pop(0)
            pair = other + digest if place & 1 else digest + other
            digest = sha256(b"\x01" + pair).digest()
        place, width = place // 2, (width + 1) // 2
    if beside or not 0 <= index < count:
        raise ValueError("not a path to a head of so many")
    return sha256(b"\x02" + count.to_bytes(8, "big") + digest).digest()


if __name__ == "__main__":
    proof = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    beside = [bytes.fromhex(one) for one in proof["path"]]
    proven = seal_of(proof["head"].encode(), proof["index"], proof["count"], beside).hex() == sys.argv[2].lower()
    print(proof["head"] if proven else "not under this seal")
    sys.exit(not proven)
