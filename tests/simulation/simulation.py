"""A seed from its beginning to its end, and what it found."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from retiro.ledger.lines import REBUILD_RUN, Line, LineKind
from retiro.ledger.plans import ORDER_RUN
from retiro.registry.runs import RunBook, RunId
from retiro.registry.table import from_attributes
from retiro.rules.calendar import Semester
from tests.simulation import offices, ordering, plan_lives, rebuilding, remitting, workloads
from tests.simulation.invariants import REGISTRY
from tests.simulation.model import SEMESTERS
from tests.simulation.scheduler import AbortedError, ViolationError, all_ended
from tests.simulation.workloads import Workload
from tests.simulation.world import World, installed

STORM_SECONDS = 3_000.0
"""After so long nothing goes wrong any more, so that every seed has an end."""


@dataclass(frozen=True)
class Report:
    """What a seed found: nothing, or which invariant was broken, at which step, and how."""

    seed: int
    steps: int
    operations: int
    invocations: int
    lines: int
    seconds: float
    invariant: str | None = None
    detail: str = ""

    def __str__(self) -> str:
        if self.invariant is None:
            return f"seed {self.seed}: {self.steps} steps, {self.operations} operations, {self.lines} lines, sound"
        return f"seed {self.seed}, step {self.steps}: {self.invariant}\n  {self.detail}"


def simulate(
    seed: int, trace: Callable[[str], None] | None = None, table: Mapping[str, Workload] | None = None
) -> Report:
    """Run a seed. The same seed does the same, call by call."""
    table = table or workloads.of_seed(seed)
    begun = time.perf_counter()
    with installed(rebuilding.PATCHES):
        world = World(seed, trace)
        scheduler = world.scheduler
        try:
            _live(world, table)
        except (ViolationError, AbortedError):
            pass
        finally:
            steps = scheduler.steps
            scheduler.close()
        if scheduler.crash is not None:
            raise RuntimeError(f"seed {seed} crashed") from scheduler.crash
    return Report(
        seed,
        steps,
        world.operations,
        world.invocations,
        world.invariants.lines,
        time.perf_counter() - begun,
        scheduler.violation and scheduler.violation.invariant,
        scheduler.violation.detail if scheduler.violation else "",
    )


def _live(world: World, table: Mapping[str, Workload]) -> None:
    """Some are enrolled in peace; then everything at once; then peace again, one more attempt of all, and the sum."""
    has_plans = "payers" in table
    if has_plans:
        plan_lives.settle_in(world)
    else:
        for number in range(1, 6):
            workloads.enrol(world, f"P-{number:06d}", [0, 1_000_000, 100_001, 33_333, 0][number - 1])
    world.storm()
    scheduler = world.scheduler
    guard = scheduler.spawn("guard", world.guard)
    tasks = [scheduler.spawn(name, lambda task=task: task(world)) for name, task in table.items()]
    scheduler.spawn("weather", lambda: _calm_at_last(world))
    scheduler.join(all_ended(tasks))
    world.calm()
    world.guarding = False
    scheduler.settle()
    assert guard.ended
    for name, latest in _finishers(world, table):
        finished = latest()
        world.check_accounted(finished)
        scheduler.current.name = f"main, after {name}"
    scheduler.settle()
    if has_plans:
        _check_plans(world)
    _check_runs(world)
    _check_members(world, has_gifts="gifts" in table)
    rebuilding.check_rebuilt(world)
    _check_employers(world)
    _check_audits(world)


def _calm_at_last(world: World) -> None:
    world.scheduler.sleep(STORM_SECONDS)
    world.calm()


def _finishers(world: World, table: Mapping[str, Workload]) -> list[tuple[str, Callable[[], Any]]]:
    """One more attempt of everything: it must finish what is left."""
    found: list[tuple[str, Callable[[], Any]]] = []
    for month in ordering.MONTHS if "orders" in table else ():
        after = _attempts(world, ORDER_RUN, month)
        found.append((month, lambda m=month, n=after: ordering.drive_orders(world, m, n)))
    for semester in SEMESTERS if "yields" in table else ():
        after = _attempts(world, "yield", semester)
        found.append((semester, lambda s=semester, n=after: offices.drive_yield(world, s, n)))
    for period in workloads.GIFT_PERIODS if "gifts" in table else ():
        after = _attempts(world, "gift", period)
        found.append((period, lambda p=period, n=after: offices.drive_gift(world, p, n)))
    return found


def _check_plans(world: World) -> None:
    """What is late has lapsed, orders are where payers read them, and in the end every debt is paid, to the cent."""
    plan_lives.check_lapsed(world)
    ordering.check_orders(world)
    remitting.settle_up(world)
    remitting.check_clearing(world)


def _attempts(world: World, kind: str, period: str) -> int:
    return max((attempt for name, one, attempt in world.invariants.runs if (name, one) == (kind, period)), default=0)


def _check_runs(world: World) -> None:
    """Every run has ended, and says rightly what it posted."""
    book = RunBook(world.hosts[0].registry)
    for kind, period, attempt in world.invariants.runs:
        run = book.get(RunId(kind, period, attempt))
        if run.status not in {"posted", "reversed", "superseded", "failed"}:
            world.fail("is_finished", f"{run.id} stays {run.status}")
        if kind != REBUILD_RUN:  # which has no chunks: `rebuilding` looks at it
            world.check_accounted(run)


def _check_members(world: World, *, has_gifts: bool) -> None:
    """Each passbook has what the model has, to the cent."""
    ledger = world.hosts[0].ledger
    for participant_id, member in sorted(world.model.members.items()):
        history = list(ledger.lines(participant_id))
        standing = _standing_yields(history)
        through = max(standing, default=None)
        if not member.is_dead and member.first_semester and through != SEMESTERS[-1]:
            world.fail("is_finished", f"{participant_id} is posted through {through} only")
        gifts = {
            period
            for (kind, period, _), passbooks in world.invariants.written.items()
            if kind == "gift" and participant_id in passbooks
        }
        if has_gifts and not member.is_dead and workloads.GIFT_PERIODS[-1] not in gifts:
            world.fail("is_finished", f"{participant_id} has the gifts {gifts} only")
        member.gifts_cents = 100 * len(gifts)
        left = {semester: _left_to_a_person(world, history, line) for semester, line in standing.items()}
        expected = member.balances(through, left)
        if dict(history[-1].balances) != expected:
            found = dict(history[-1].balances)
            world.fail("totals", f"{participant_id} has {found}, and the model {expected}")


def _standing_yields(history: list[Line]) -> dict[str, Line]:
    """The yield lines that weren't reversed, by semester."""
    reversed_lines = {line.reverses for line in history if line.kind is LineKind.REVERSAL}
    return {
        line.runs["yield"].period: line
        for line in history
        if line.kind is LineKind.SEMESTER_YIELD and line.sequence not in reversed_lines
    }


def _left_to_a_person(world: World, history: list[Line], posted: Line) -> int:
    """What came between a run's preparation and its posting and belongs to an earlier semester, in cents.

    The figures don't have it, and the rules leave it to a person: it must be named. What belongs to the semester
    itself must have its yield.
    """
    mark = posted.runs["yield"]
    chunks = world.chunks(RunId("yield", mark.period, mark.attempt))
    row = world.rows(result for chunk in chunks for result in chunk.results).get(posted.passbook, {})
    begins, ends = Semester.parse(mark.period).starts_on, Semester.parse(mark.period).ends_on
    between = history[int(posted.facts["through"]) : posted.sequence - 1]
    late = [line for line in between if line.savings_cents and line.legal_date <= ends]
    credits_ = [line.sequence for line in late if line.kind is not LineKind.SEMESTER_YIELD]
    if not set(credits_) <= set(row.get("late", [])):
        world.fail("late_is_named", f"{posted.passbook} lines {credits_}, where {mark.period} names {row}")
    settled = {line.facts["late_line"] for line in history if "late_line" in line.facts}
    waiting = [line for line in late if line.sequence not in settled]
    if any(line.legal_date >= begins for line in waiting):
        world.fail("late_is_settled", f"{posted.passbook}: {[line.sequence for line in waiting]} of {mark.period}")
    return sum(line.savings_cents for line in waiting)


def _check_employers(world: World) -> None:
    """What came is passed on, to the cent; what the bank took back and an account couldn't give back is owed."""
    ledger = world.hosts[0].ledger
    for employer_id, deposits in world.model.deposits.items():
        last = ledger.last_line(employer_id)
        total, owed = sum(deposits.values()), world.model.owed.get(employer_id, {})
        found = dict(last.balances) if last else {}
        expected = {"cash": -total, "contributions": total + sum(owed.values())}
        expected |= {f"clearing:{remittance_id}": -cents for remittance_id, cents in owed.items()}
        if found != {account: cents for account, cents in expected.items() if cents}:
            world.fail("totals", f"{employer_id} has {found}, and the model {expected}")


def _check_audits(world: World) -> None:
    """The audit of the end is clean and has seen everything; those of the storm have found nothing in any passbook."""
    run = RunId("audit", "at-the-end", 1)
    world.ask("the last audit", lambda _: workloads._audit_started(world, run))
    world.scheduler.settle()
    answers = {key: item for key, item in _registry_items(world) if key[0].startswith("run#audit#")}
    last = answers[run.key]
    passbooks = len(world.invariants.books)
    if (last["status"], last["passbooks"], last["lines"]) != ("clean", passbooks, world.invariants.lines):
        world.fail("audit", f"{last}, where {passbooks} passbooks have {world.invariants.lines} lines")
    for key, item in answers.items():
        # Of a fund, with clocks that differ by more than an audit allows for, both sides of a credit may not be seen.
        wrong = [one for one in item.get("named", []) if one["sequence"] or world.invariants.clocks_agree]
        if wrong:
            world.fail("audit", f"{key}: {wrong}")


def _registry_items(world: World) -> list[tuple[tuple[str, str], dict[str, Any]]]:
    from tests.simulation.dynamodb import unpacked  # noqa: PLC0415

    return [(key, from_attributes(unpacked(kept))) for key, kept in world.tables.items(REGISTRY).items()]
