"""Waiting for what comes in its own time: looked for again and again until a deadline, never slept for."""

import time
from collections.abc import Callable
from typing import TypeVar

WAIT_SECONDS_MAX = 90
"""Long: it is only ever used up where something is broken, or the machine is far too busy."""

LOOK_SECONDS = 0.02

Answer = TypeVar("Answer")


def until(look: Callable[[], Answer | None], what: str) -> Answer:
    """The first answer that is neither nothing nor false. Raises `AssertionError` when none comes."""
    deadline = time.monotonic() + WAIT_SECONDS_MAX
    while time.monotonic() < deadline:
        if answer := look():
            return answer
        time.sleep(LOOK_SECONDS)
    raise AssertionError(f"{what} didn't come in {WAIT_SECONDS_MAX} seconds")
