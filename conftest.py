"""How tests are shared out where several processes run them."""

from typing import TYPE_CHECKING

import pytest
from xdist.scheduler import LoadScopeScheduling

if TYPE_CHECKING:
    from xdist.remote import Producer

CLOUD = "tests/cloud/"


class CloudInOneProcess(LoadScopeScheduling):
    """All end-to-end tests go to one process, first, so that one local cloud serves them; the others anywhere.

    The groups of xdist (`--dist loadgroup`) go unheeded under pytest 9.2: they are written into ids that it has fixed.
    """

    def _split_scope(self, nodeid: str) -> str:
        return CLOUD if nodeid.startswith(CLOUD) else nodeid


def pytest_xdist_make_scheduler(config: pytest.Config, log: "Producer") -> CloudInOneProcess:
    """The hook of xdist that chooses who shares the tests out."""
    return CloudInOneProcess(config, log)
