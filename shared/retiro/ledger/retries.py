"""Bounded retries with jitter. The pauses are handed in, so that a test never sleeps."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass


class BusyError(Exception):
    """Not done within the attempts allowed: throttled, in conflict, unanswered, or overtaken each time.

    Nothing says that it wasn't done: ask again with the same key, or for a run's line, put it again.
    """


@dataclass(frozen=True, slots=True)
class Retries:
    """How often, and how long to wait between: a random part of a pause that doubles up to a bound."""

    attempts_max: int = 8
    pause_seconds: float = 0.05
    pause_seconds_max: float = 2.0
    sleep: Callable[[float], None] = time.sleep
    jitter: Callable[[], float] = random.random

    def pause(self, attempt: int) -> None:
        """Wait after the failed attempt of this number (from 0)."""
        self.sleep(min(self.pause_seconds * 2**attempt, self.pause_seconds_max) * self.jitter())
