"""The people who see a run through, whatever happens to it: prepare, approve, pause, resume, reverse, look again."""

from collections.abc import Callable
from typing import Any

from retiro.registry.jobs import Job, JobStatus
from retiro.registry.runs import Run, RunStatus
from retiro.rules.calendar import Semester
from retiro.runs.desk import RunConflictError
from semester_yields.context import FiguresMissingError
from tests.simulation.scheduler import ViolationError
from tests.simulation.world import Host, Refused, World

ROUNDS_MAX = 400
ANA, LUIS = "u-ana", "u-luis"
SCHEDULE = "(schedule)"

_UNDER_WAY = {RunStatus.PREPARING, RunStatus.APPROVED, RunStatus.POSTING, RunStatus.PAUSING}
_GONE = {RunStatus.SUPERSEDED, RunStatus.REVERSED}


class Hand:
    """How people act on the runs of one kind and period."""

    def __init__(self, world: World, kind: str, period: str, prepare: Callable[[Host, str], Run]) -> None:
        self.world = world
        self.kind = kind
        self.period = period
        self.prepare = prepare
        self.quiet_rounds = 0

    def latest(self) -> Run | None:
        """The latest attempt."""
        found = self.world.ask(
            f"look at {self.kind} {self.period}", lambda host: host.desk.latest(self.kind, self.period)
        )
        if isinstance(found, Refused):
            raise found.error
        return found

    def see_through(self, after_attempt: int = 0) -> Run:
        """Do what a run needs next, until an attempt after this one is posted."""
        world = self.world
        for _ in range(ROUNDS_MAX):
            run = self.latest()
            if run is not None and run.status is RunStatus.POSTED and run.id.attempt > after_attempt:
                return run
            self._next_step(run)
        status = run.status if run else None
        failure = run.details.get("failure") if run else None
        violation = ViolationError("is_finished", f"{self.kind} {self.period} stays {status}: {failure}")
        world.scheduler.fail(violation)
        raise violation

    def _next_step(self, run: Run | None) -> None:
        world, rng = self.world, self.world.scheduler.rng
        if run is None or run.status in _GONE or run.status is RunStatus.POSTED:
            answer = self._ask(f"prepare {self.kind} {self.period}", lambda host: self.prepare(host, ANA))
            if isinstance(answer, Refused):
                world.scheduler.sleep(rng.random() * 30)
        elif run.status is RunStatus.PREPARED:
            self._approve(run)
        elif run.status in {RunStatus.PAUSED, RunStatus.FAILED}:
            world.check_accounted(run)
            self._ask(f"resume {run.id}", lambda host: host.desk.resume(host.book.get(run.id)))
        elif run.status is not RunStatus.PAUSING and rng.random() < world.pausing:
            self._ask(f"pause {run.id}", lambda host: host.desk.pause(host.book.get(run.id)))
        elif self._is_lost(run):
            self._ask(f"resume {run.id}, which is lost", lambda host: host.desk.resume(host.book.get(run.id)))
        else:
            world.scheduler.sleep(rng.random() * 30)

    def _approve(self, run: Run) -> None:
        run_hash = run.details["hash"]
        approver = ANA if run.requested_by == LUIS else LUIS
        if run.requested_by != SCHEDULE:
            answer = self._ask(
                f"approve {run.id} oneself",
                lambda host: host.desk.approve([host.book.get(run.id)], run_hash, run.requested_by),
            )
            if not isinstance(answer, Refused) or answer.code not in {"same_person", "stale_hash"}:
                violation = ViolationError("two_persons", f"{run.id} was approved by its preparer: {answer}")
                self.world.scheduler.fail(violation)
        stale = self._ask(
            f"approve another hash of {run.id}",
            lambda host: host.desk.approve([host.book.get(run.id)], "0" * 64, approver),
        )
        if not isinstance(stale, Refused):
            self.world.scheduler.fail(ViolationError("two_persons", f"{run.id} was approved by another hash"))
        self._ask(f"approve {run.id}", lambda host: host.desk.approve([host.book.get(run.id)], run_hash, approver))
        if self.world.scheduler.rng.random() < 3 * self.world.pausing:
            self.world.scheduler.sleep(self.world.scheduler.rng.random() * 2)  # its workers are at it
            self._ask(f"pause {run.id} as it posts", lambda host: host.desk.pause(host.book.get(run.id)))

    def _is_lost(self, run: Run) -> bool:
        """Whether no execution works on it for a while: it was stopped, or never started."""
        name = run.id.execution_name(run.number)
        there = any(one == name for one in self.world.machines.running)
        self.quiet_rounds = 0 if there else self.quiet_rounds + 1
        return self.quiet_rounds > 3

    def _ask(self, name: str, do: Callable[[Host], Any]) -> Any:
        return self.world.ask(name, do)


def drive_yield(world: World, semester: str, after_attempt: int = 0) -> Run:
    """A semester, until it is posted."""
    parsed = Semester.parse(semester)
    return Hand(world, "yield", semester, lambda host, by: host.yields.prepare(parsed, by)).see_through(after_attempt)


def reverse_yield(world: World, semester: str) -> Run:
    """What is posted of a semester, until it is taken back."""
    parsed = Semester.parse(semester)

    def prepare(host: Host, by: str) -> Run:
        return host.yields.reverse(parsed, "A figure was published wrong.", by)

    done = Hand(world, "yield_reversal", semester, prepare).see_through()
    for _ in range(ROUNDS_MAX):
        reversed_run = Hand(world, "yield", semester, prepare).latest()
        if reversed_run is not None and reversed_run.status in {RunStatus.REVERSED, *_UNDER_WAY, RunStatus.PREPARED}:
            return done
        world.scheduler.sleep(1.0)
    world.scheduler.fail(ViolationError("is_finished", f"{semester} was reversed and doesn't say so"))
    return done


def drive_gift(world: World, period: str, after_attempt: int = 0) -> Run:
    """A gift, until it is posted."""
    context = {"on": f"{period}-28", "cents": 100}
    hand = Hand(world, "gift", period, lambda host, by: host.desk.request("gift", period, context, by))
    return hand.see_through(after_attempt)


def drive_annuities(world: World, period: str, after_attempt: int = 0) -> Run:
    """A month's annuities, until they are posted."""
    context = {"period": period, "paid_on": f"{period}-28", "rules_version": "simulated"}
    hand = Hand(world, "annuity", period, lambda host, by: host.desk.request("annuity", period, context, by))
    return hand.see_through(after_attempt)


def looked(host: Host) -> str | None:
    """What the schedule does, `semester_yields.schedule` but for its logs."""
    try:
        run = host.yields.prepare_if_new(host.yields.due_semester(host.yields.today), host.yields.today, SCHEDULE)
    except (FiguresMissingError, RunConflictError):
        return None
    return str(run.id)


def until_done(
    world: World, name: str, send: Callable[[Host], Any], look: Callable[[Host], Job | None], prefix: str
) -> None:
    """Send a job, and again where it isn't done and nobody works on it."""
    answer = world.ask(name, send)
    if isinstance(answer, Refused):
        world.scheduler.fail(ViolationError("done", f"{name} was refused: {answer.error!r}"))
    for _ in range(ROUNDS_MAX):
        job = world.ask(f"look at {name}", look)
        if isinstance(job, Job) and job.status is JobStatus.DONE:
            return
        if not any(one.startswith(prefix) for one in world.machines.running):
            world.ask(f"{name} again", send)
        world.scheduler.sleep(world.scheduler.rng.random() * 60)
    world.scheduler.fail(ViolationError("is_finished", f"{name} never ends"))
