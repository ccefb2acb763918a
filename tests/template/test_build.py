"""What `make build` makes: bytecode that a function's read-only folder can use as it is."""

import os
import py_compile
import shutil
import subprocess
import sys
import zipfile
from importlib.util import MAGIC_NUMBER
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
BUILT = ROOT / ".aws-sam" / "build"
UNCHECKED_HASH = 0b01  # of a .pyc's flags: by hash, and the hash isn't looked at (PEP 552)


@pytest.fixture(scope="module")
def unzipped(tmp_path_factory) -> Path:
    """The layer and a function, zipped and unzipped again with the times that a zip of Lambda's has."""
    folder = tmp_path_factory.mktemp("unzipped")
    for part in ("SharedLayer", "SemesterYieldsWorker"):
        archive = shutil.make_archive(str(folder / part), "zip", BUILT / part)
        with zipfile.ZipFile(archive) as zipped:
            zipped.extractall(folder / part)
        for file in (folder / part).rglob("*"):
            os.utime(file, (315532800, 315532800))  # 1980-01-01
    return folder


def test_every_module_has_bytecode_that_is_never_checked_against_its_source(unzipped):
    sources = [one for one in unzipped.rglob("*.py") if "dist-info" not in one.parts]
    assert len(sources) > 100
    for source in sources:
        compiled = Path(py_compile.importlib.util.cache_from_source(str(source))).read_bytes()
        assert compiled[:4] == MAGIC_NUMBER, source
        assert int.from_bytes(compiled[4:8], "little") == UNCHECKED_HASH, source


def test_nothing_is_compiled_anew_when_a_function_starts(unzipped):
    path = os.pathsep.join([str(unzipped / "SemesterYieldsWorker"), str(unzipped / "SharedLayer" / "python")])
    told = subprocess.run(
        [sys.executable, "-v", "-c", "import retiro.rules.savings_accounts, retiro.ledger.lines, pydantic"],
        env={"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    ours = [line for line in told.stderr.splitlines() if str(unzipped) in line]
    assert any("matches" in line or "code object from" in line for line in ours)
    assert not [line for line in ours if line.startswith("# code object from") and line.rstrip("'").endswith(".py")]
