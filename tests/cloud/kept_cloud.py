"""A local cloud that is stopped and started again with what it holds. It writes that down when it is stopped in order.

What MiniStack doesn't keep: an execution under way, of which its record says `RUNNING` for ever, and invocations.
"""

import os
import signal
import time
from pathlib import Path

from cli.cloud import Cloud, _is_ministack
from tests.cloud.waiting import until

_LAST_WRITTEN = "stepfunctions.json"
"""MiniStack writes a file a service, in an order of its own; of those that the stack uses this one is the last."""

_FILE_CLOCK_SECONDS = 1
"""How much a file's time may lie behind the clock. A stop before this one is much longer ago."""


class KeptCloud(Cloud):
    """A cloud whose state outlives its process."""

    def _environment(self, port: int, temporary: Path) -> dict[str, str]:
        return {**super()._environment(port, temporary), "PERSIST_STATE": "1", "S3_PERSIST": "1"}

    def restart(self) -> None:
        """Stop it in order, its functions with it, and start it at the same place with what it kept."""
        running = self.running
        assert running is not None
        written = Path(running.temporary) / "state" / _LAST_WRITTEN
        asked_at = time.time() - _FILE_CLOCK_SECONDS
        os.killpg(running.pid, signal.SIGTERM)
        # It writes its state, and would then wait for threads of executions that don't end.
        until(lambda: written.exists() and written.stat().st_mtime > asked_at, "the cloud's state on disk")
        os.killpg(running.pid, signal.SIGKILL)
        until(lambda: self._is_over(running.pid), "the cloud's end")
        self._launch(running.port, running.temporary)

    def _is_over(self, pid: int) -> bool:
        if self._child is not None:
            self._child.poll()
        return not _is_ministack(pid)
