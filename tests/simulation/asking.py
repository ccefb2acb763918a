"""How people ask in the simulation: for what must be done, for what must be refused, and at once."""

from collections.abc import Callable
from typing import Any

from tests.simulation.scheduler import ViolationError, all_ended
from tests.simulation.world import Host, Refused, World

Do = Callable[[Host], Any]


def expect_done(world: World, name: str, do: Do) -> Any:
    """Ask for what must be done."""
    answer = world.ask(name, do)
    if isinstance(answer, Refused):
        world.scheduler.fail(ViolationError("done", f"{name} was refused: {answer.error!r}"))
    return answer


def expect_refused(world: World, name: str, codes: set[str], do: Do) -> None:
    """Ask for what must be refused, with one of these codes."""
    answer = world.ask(name, do)
    if not isinstance(answer, Refused):
        world.scheduler.fail(ViolationError("refused", f"{name} was taken: {answer}"))
    elif answer.code not in codes:
        world.scheduler.fail(ViolationError("refused", f"{name} was refused as {answer.code}: {answer.error}"))


def at_once(world: World, name: str, *asked: Do) -> list[Any]:
    """The answers to requests that are made at the same time; to one request, made twice."""
    answers: list[Any] = []
    both = asked if len(asked) > 1 else asked * 2
    tasks = [
        world.scheduler.spawn(f"{name} {number}", lambda do=do: answers.append(world.ask(name, do)))
        for number, do in enumerate(both)
    ]
    world.scheduler.join(all_ended(tasks))
    return answers
