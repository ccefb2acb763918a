"""The template on the local cloud, started once: chunks of seven, three accounts an invocation.

All tests share one stack. Each has participants and, where it posts, a semester of its own, so that they run in any
order. The semesters are years old: what the daily schedule would prepare today is none of theirs.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.cloud import ROOT, Cloud
from tests.cloud.backstage import SCHEDULE, Backstage
from tests.cloud.office import Office

PARAMETERS = {"ChunkAccounts": "7", "InvocationAccounts": "3", "AuditChunks": "3"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of this folder: `-m "not cloud"` leaves them out."""
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.cloud)


@pytest.fixture(scope="session")
def office() -> Iterator[Office]:
    """A local cloud of this test run with the template on it. It is taken away whatever happens."""
    _stop_those_of_ended_runs()
    cloud = Cloud(f"test-{os.getpid()}")
    try:
        cloud.start()
        cloud.deploy(PARAMETERS)
        office = Office(Backstage(cloud))
        # Every adoption calls this function. One that is awake already takes them one after the other.
        office.behind.invoke(SCHEDULE, {"scheduled_time": "2018-12-31T18:00:00-04:00"})
        office.adopt_all()
        yield office
    finally:
        cloud.stop()


@pytest.fixture(scope="session")
def behind(office: Office) -> Backstage:
    """What lies behind the doors of that cloud: its tables, its functions, its logs."""
    return office.behind


def _stop_those_of_ended_runs() -> None:
    """A test run that was killed could not stop its cloud."""
    for folder in (ROOT / ".local").glob("test-*"):
        pid = re.fullmatch(r"test-(\d+)", folder.name)
        if pid is not None and not _runs(int(pid[1])):
            Cloud(folder.name).stop()


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
