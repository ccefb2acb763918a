"""The one place that reads the clock. Everything else is handed a `Clock`.

Handlers build their world with `clock.utc_now`, looked up when the world is built, so that a test can stop time.
"""

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """The present moment, aware, in UTC."""
    return datetime.now(UTC)
