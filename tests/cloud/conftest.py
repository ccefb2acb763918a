"""The template on the local cloud, started once: chunks of seven, three accounts an invocation.

Each module has a stack of its own on it, so that no test meets another's participants.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cli.cloud import Cloud
from tests.cloud.office import Office

PARAMETERS = {"ChunkAccounts": "7", "InvocationAccounts": "3", "AuditChunks": "3"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All tests of this folder run in one process, so that the cloud is started once."""
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.cloud)
            item.add_marker(pytest.mark.xdist_group("cloud"))


@pytest.fixture(scope="session")
def cloud() -> Iterator[Cloud]:
    """A local cloud of this test run."""
    cloud = Cloud(f"test-{os.getpid()}")
    cloud.start()
    yield cloud
    cloud.stop()


@pytest.fixture(scope="session")
def open_office(cloud: Cloud) -> Callable[[str], Office]:
    """Deploys a stack and opens an office in it."""

    def opened(name: str) -> Office:
        cloud.deploy(PARAMETERS, stack=name)
        return Office(cloud.stack_named(name))

    return opened
