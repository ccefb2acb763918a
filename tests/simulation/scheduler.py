"""One thing at a time, in an order that a seed fixes: tasks that hand over at each call that leaves the process.

A task is a greenlet, since the code under test is plain code: only one ever runs, and who is next is drawn from the
seed's numbers. Time is a number that goes on with each call, and jumps to the next sleeper's when all sleep.
"""

import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from greenlet import getcurrent, greenlet

STEPS_MAX = 60_000
"""More than any seed takes; who gets there goes round in circles."""


class ViolationError(BaseException):
    """An invariant doesn't hold: which one, and what was found."""

    def __init__(self, invariant: str, detail: str) -> None:
        super().__init__(f"{invariant}: {detail}")
        self.invariant = invariant
        self.detail = detail


class AbortedError(BaseException):
    """The simulation is over: the task unwinds."""


class Task:
    """Something that goes on beside others. `place` is what it is doing, for whom it may be asked."""

    def __init__(self, name: str, run: Callable[[], None] | None) -> None:
        self.name = name
        self.run = run
        self.stack = getcurrent()
        self.wakes_at = 0.0
        self.waits_for: Callable[[], bool] | None = None
        self.ended = False
        self.error: BaseException | None = None
        self.invocation: Any = None
        self.operation: Any = None


class Scheduler:
    """The tasks of a simulation, its time, and its chance."""

    def __init__(self, seed: int, *, restless: float = 0.3) -> None:
        self.rng = random.Random(seed)  # noqa: S311  # the seed is to fix everything
        self.restless = restless
        self.now = 0.0
        self.steps = 0
        self.violation: ViolationError | None = None
        self.crash: BaseException | None = None
        self.aborting = False
        self.main = Task("main", None)
        self.current = self.main
        self.tasks = [self.main]

    def spawn(self, name: str, run: Callable[[], None], *, after_seconds: float = 0.0) -> Task:
        """A task that begins in a while, doing its starter's operation."""
        task = Task(name, run)
        task.wakes_at = self.now + after_seconds
        task.operation = self.current.operation
        self.tasks.append(task)
        task.stack = greenlet(lambda *_: self._live(task), self.main.stack)
        return task

    def step(self, latency_seconds: float) -> None:
        """Time goes on by a call; perhaps another task's turn comes."""
        if self.aborting:
            raise AbortedError
        self.steps += 1
        if self.steps > STEPS_MAX:
            self.fail(ViolationError("comes_to_an_end", f"{STEPS_MAX} steps and no end"))
        self.now += latency_seconds
        if self.rng.random() < self.restless:
            self._hand_over()

    def sleep(self, seconds: float) -> None:
        """Let others go on until that much time is over."""
        self.current.wakes_at = self.now + seconds
        self._hand_over()

    def join(self, is_over: Callable[[], bool]) -> None:
        """Let others go on until this is so."""
        self.current.waits_for = is_over
        self._hand_over()

    def settle(self) -> None:
        """Let all other tasks come to their end."""
        self.join(lambda: all(task.ended for task in self.tasks if task is not self.main))

    def fail(self, violation: ViolationError) -> None:
        """End the simulation with what was found first."""
        self.violation = self.violation or violation
        raise self.violation

    def close(self) -> None:
        """Let every task unwind, one after the other. Called by the main one, at the very end."""
        self.aborting = True
        while any(not task.ended for task in self.tasks if task is not self.main):
            with suppress(AbortedError):
                self._hand_over()

    def _live(self, task: Task) -> None:
        try:
            if not self.aborting and task.run is not None:
                task.run()
        except AbortedError:
            pass
        except ViolationError as violation:
            self.violation = self.violation or violation
            self.aborting = True
        except BaseException as error:  # noqa: BLE001  # whatever it is, the main task is to say it
            task.error = self.crash = error
            self.aborting = True
        task.ended = True
        self.tasks.remove(task)
        self.current = self._next()
        task.stack.parent = self.current.stack  # where a greenlet's end leads to

    def _hand_over(self) -> None:
        mine = self.current
        following = self._next()
        if following is not mine:
            self.current = following
            following.stack.switch()
        mine.waits_for = None
        if self.aborting:
            raise AbortedError

    def _next(self) -> Task:
        if self.aborting:
            return next((task for task in self.tasks if task is not self.main), self.main)
        while True:
            ready = [task for task in self.tasks if _is_ready(task, self.now)]
            if ready:
                return ready[0] if len(ready) == 1 else self.rng.choice(ready)
            sleeping = [task.wakes_at for task in self.tasks if task.wakes_at > self.now]
            if not sleeping:
                raise RuntimeError("every task waits for another")
            self.now = min(sleeping)


def _is_ready(task: Task, now: float) -> bool:
    return task.wakes_at <= now and (task.waits_for is None or task.waits_for())


def all_ended(tasks: Sequence[Task]) -> Callable[[], bool]:
    """Whether these tasks are over."""
    return lambda: all(task.ended for task in tasks)
