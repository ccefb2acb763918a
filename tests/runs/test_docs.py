"""The operator's page names every status, every conflict and every failure that there is."""

import re
from pathlib import Path

import pytest

from retiro.registry.runs import RunStatus
from retiro.runs import machine
from retiro.runs.desk import ConflictCode

PAGE = (Path(__file__).parents[2] / "docs" / "runs.md").read_text("utf-8")
FAILURES = re.findall(r'failed\(\s*shop, run, "(\w+)"', Path(machine.__file__).read_text("utf-8"))


@pytest.mark.parametrize("status", RunStatus)
def test_every_status_is_explained(status: RunStatus) -> None:
    assert f"**{status}**" in PAGE or f"| `{status}`" in PAGE


@pytest.mark.parametrize("code", [*ConflictCode, *FAILURES])
def test_every_conflict_and_failure_says_what_to_do(code: str) -> None:
    assert f"{code}`" in PAGE


def test_the_failures_are_found() -> None:
    assert {"throttled", "chunk_unfinished", "not_proved", "execution_failed"} == set(FAILURES)
