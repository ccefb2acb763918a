"""The seal: worked by hand on three leaves, proven with the script of the docs on many, never with a forged leaf."""

import json
import runpy
import subprocess
import sys
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retiro.ledger import seal
from tests.ledger.makers import account_of_readings

SCRIPT = Path(__file__).parents[2] / "docs" / "verify_proof.py"
seal_of = runpy.run_path(str(SCRIPT))["seal_of"]


def digest(text: bytes) -> bytes:
    return sha256(text).digest()


def heads(count: int) -> list[str]:
    return [f"P-{number:06d} 9 {number:064x}" for number in range(1, count + 1)]


def test_a_head_names_the_passbook_its_last_line_and_that_lines_hash() -> None:
    last = account_of_readings()[-1]
    assert seal.head(last) == f"P-000001 {last.sequence} {last.hash.hex()}"


def test_three_leaves_by_hand() -> None:
    one, two, three = (digest(b"\x00" + letter) for letter in (b"A", b"B", b"C"))
    # The odd third moves up as it is: it is hashed with nothing, and never with itself.
    root = digest(b"\x01" + digest(b"\x01" + one + two) + three)
    sealed = seal.seal(["A", "B", "C"])
    assert (sealed.count, sealed.root) == (3, root)
    assert sealed.hash == digest(b"\x02" + (3).to_bytes(8, "big") + root)


def test_the_odd_last_leaf_twice_is_another_root() -> None:
    """LE-11, https://github.com/cbergoon/merkletree/issues/24: [A,B,C] and [A,B,C,C] had one root."""
    assert seal.seal(["A", "B", "C"]).root != seal.seal(["A", "B", "C", "C"]).root


def test_no_heads_and_one_head_have_seals_of_their_own() -> None:
    assert seal.seal([]).root == digest(b"")
    assert seal.seal(["A"]).root == digest(b"\x00A")


def test_two_hashes_of_a_node_are_no_leaf() -> None:
    """LE-11, https://github.com/sipyourdrink-ltd/bernstein/issues/1854: a node passed as a leaf."""
    four = ["A", "B", "C", "D"]
    one, two = (digest(b"\x00" + letter) for letter in (b"A", b"B"))
    beside = seal.path(four, 0)[1:]  # the way up from the node of A and B
    assert digest(b"\x01" + digest(b"\x01" + one + two) + beside[0]) == seal.seal(four).root
    # Of two: the same steps as from the node, were it not for the marks. Of four: the path is too short.
    assert seal_of(one + two, 0, 2, beside) not in (seal.seal(four).hash, seal.Seal(2, seal.seal(four).root).hash)
    with pytest.raises(IndexError):
        seal_of(one + two, 0, 4, beside)


def test_the_count_is_part_of_what_is_sealed() -> None:
    """LE-11: the same root with another count is another seal."""
    root = seal.seal(heads(4)).root
    assert seal.Seal(4, root).hash != seal.Seal(5, root).hash


@pytest.mark.parametrize("count", [1, 2, 3, 64_481, 64_482, 64_483])
def test_a_proof_verifies_with_the_script_alone(count: int) -> None:
    """LE-11: the 64,482 participants of the Plan of Adjustment, one fewer and one more."""
    sealed_heads = heads(count)
    sealed = seal.seal(sealed_heads)
    for index in {0, count // 2, count - 2, count - 1} - {-1}:
        path = seal.path(sealed_heads, index)
        assert seal_of(sealed_heads[index].encode(), index, count, path) == sealed.hash
        assert seal_of(b"P-000001 9 another", index, count, path) != sealed.hash


@given(count=st.integers(1, 40), data=st.data())
def test_every_head_is_proven_at_its_own_place_and_nowhere_else(count: int, data: st.DataObject) -> None:
    sealed_heads = heads(count)
    sealed = seal.seal(sealed_heads).hash
    index, elsewhere = data.draw(st.integers(0, count - 1)), data.draw(st.integers(0, count - 1))
    path = seal.path(sealed_heads, index)
    assert seal_of(sealed_heads[index].encode(), index, count, path) == sealed
    if elsewhere != index:
        with suppress(ValueError, IndexError):  # a path of another length
            assert seal_of(sealed_heads[index].encode(), elsewhere, count, path) != sealed


def test_the_script_takes_a_proof_from_a_file(tmp_path: Path) -> None:
    sealed_heads = heads(5)
    path = [one.hex() for one in seal.path(sealed_heads, 4)]
    proof = tmp_path / "proof.json"
    proof.write_text(json.dumps({"head": sealed_heads[4], "index": 4, "count": 5, "path": path}))

    def ran(sealed: str) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, SCRIPT, proof, sealed], capture_output=True, text=True, check=False, env={}
        )
        return done.returncode, done.stdout

    assert ran(seal.seal(sealed_heads).hash.hex()) == (0, f"{sealed_heads[4]}\n")
    assert ran("0" * 64) == (1, "not under this seal\n")


def test_the_script_imports_the_standard_library_alone_in_thirty_lines() -> None:
    lines = [one for one in SCRIPT.read_text().split('"""', 2)[2].splitlines() if one.strip()]
    assert len(lines) <= 30
    imported = {one.split()[1] for one in lines if one.startswith(("import ", "from "))}
    assert imported <= {"json", "sys", "hashlib", "pathlib"}
