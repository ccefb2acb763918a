"""A history that is posted to the ledger while everything else goes on: two persons, two processes at once, killed.

Meanwhile somebody else enrols one of its participants, and changes another's selection; the semester after it is posted
on passbooks that are at their end. At the end each passbook has the history's lines, all or, where it was moved or
taken, those before; the statements that the lines give are those calculated offline, byte for byte; the yields of the
semesters after it are the model's.
"""

import csv
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from botocore.exceptions import ClientError
from rich.progress import Progress

from cli.rebuild import posting
from cli.rebuild.command import Rebuilt, rebuild_folder
from cli.rebuild.posting import Ledger, PostTo
from cli.rebuild.readback import PostedStatements
from participants.selections import Selections
from retiro.ledger.credits import known
from retiro.ledger.lines import REBUILD_RUN, Line
from retiro.registry.participants import Profile
from retiro.registry.runs import RunBook, RunId, RunStatus
from retiro.rules.money import format_cents, parse_cents
from tests.simulation import figures
from tests.simulation.asking import expect_done
from tests.simulation.invariants import Operation
from tests.simulation.model import SEMESTERS, Member
from tests.simulation.scheduler import all_ended
from tests.simulation.wire import DeadError
from tests.simulation.world import NO_FAULT, Host, InTurn, World

WHOLE, MOVED, TAKEN = "P-000401", "P-000402", "P-000403"
"""Whose passbook nobody else touches; whose selection somebody changes; whom somebody enrols."""

PEOPLE = (WHOLE, MOVED, TAKEN)
PREPARER, APPROVER = "u-eva", "u-luis"
TRANSACTION_ITEMS = 6
"""Three open a passbook: so most take several transactions, and a death of the process falls between them."""

_MONTHS = [f"2023-{month:02d}" for month in range(7, 13)] + [f"2024-{month:02d}" for month in range(1, 7)]
_FILES: Mapping[str, str] = {
    "participants.csv": "participant_id,birth_date,employer_id,enrolled_on",
    "transfers.csv": "participant_id,credited_on,amount",
    "contributions.csv": "participant_id,remitted_on,amount,employer_id,pay_period",
    "selections.csv": "participant_id,requested_on,fixed_income,system_portfolio",
    "yields.csv": "option,period,figure,value",
    "settings.csv": "setting,value,in_force_from",
}


@dataclass
class History:
    """What was made up, and where it lies: a folder for each process, the same files in each."""

    folders: list[Path]
    selections: dict[str, dict[str, int]]


def rebuilding(world: World) -> None:
    """Prepared by one, posted by two at once, and by the first too once it is approved."""
    with tempfile.TemporaryDirectory() as place:
        history = _made_up(world, Path(place))
        for _ in range(2):
            prepared = _rebuilt(world, history.folders[0], PREPARER)
            if prepared.waiting is None or prepared.lines is not None:
                world.fail("two_persons", f"who prepared a history posted {prepared.lines} lines of it")
        scheduler = world.scheduler
        tasks = [
            scheduler.spawn(f"rebuild by {person}", lambda folder=folder, one=person: _rebuilt(world, folder, one))
            for folder, person in zip(history.folders, (APPROVER, "u-ana"), strict=True)
        ]
        tasks.append(scheduler.spawn("somebody enrols", lambda: _enrolled_elsewhere(world)))
        tasks.append(scheduler.spawn("somebody selects", lambda: _selected_elsewhere(world)))
        scheduler.join(all_ended(tasks))
        last = _rebuilt(world, history.folders[0], PREPARER)
        _check(world, history, last)


def check_rebuilt(world: World) -> None:
    """At the very end: the semesters after the history are posted on what it left, as the model has it."""
    for participant_id, (selection, closing_cents) in world.model.rebuilt.items():
        brought = Member("E-001", selection, [(date(2024, 6, 30), closing_cents, "history")] if closing_cents else [])
        expected = closing_cents + sum(brought.yields(SEMESTERS[-1], {}).values())
        last = world.hosts[0].ledger.last_line(participant_id)
        found = last.balances.get("savings", 0) if last else None
        if found != expected:
            world.fail("totals", f"{participant_id} has {found} after its rebuild, and the model {expected}")


def _rebuilt(world: World, folder: Path, person: str) -> Rebuilt:
    """The command, given again until it comes to its end."""
    operation = Operation(f"rebuild by {person}")
    world.scheduler.current.operation = operation
    world.operations += 1
    while True:
        try:
            return world.invoke_on(operation.name, 3_600.0, lambda host: _commanded(host, folder, person))
        except (DeadError, ClientError, *NO_FAULT):
            world.scheduler.sleep(1 + world.scheduler.rng.random() * 60)


def _commanded(host: Host, folder: Path, person: str) -> Rebuilt:
    ledger = Ledger(host.ledger, host.registry, host.clock)
    return rebuild_folder(folder, Progress(disable=True, auto_refresh=False), PostTo(ledger, person))


def _enrolled_elsewhere(world: World) -> None:
    """Before the history comes to it, or too late: then it is refused."""
    from tests.simulation.workloads import _enrolled, enrolment_body  # noqa: PLC0415  # which has this workload's row

    _wait(world)
    body = enrolment_body(world, TAKEN, 0)
    world.ask(f"enrol {TAKEN} elsewhere", lambda host: _enrolled(host, body))


def _selected_elsewhere(world: World) -> None:
    """At any time: before the passbook is there, in its midst, or after its end."""
    _wait(world)
    profile = Profile(MOVED, "ERS", date(1970, 4, 4), "E-001", date(2023, 7, 1))
    wanted = {"fixed_income": 50, "system_portfolio": 50}

    def select(host: Host) -> Any:
        known(host.ledger.last_line(MOVED), MOVED)  # as a door looks first who it is
        return Selections(host.passbooks, host.board).select(profile, date(2025, 7, 2), wanted, "u-leo")

    world.ask(f"select for {MOVED} elsewhere", select)


def _wait(world: World) -> None:
    """For a moment, or longer than a rebuild takes."""
    rng = world.scheduler.rng
    world.scheduler.sleep(rng.random() * rng.choice([0.5, 2.0, 30.0]))


def _check(world: World, history: History, last: Rebuilt) -> None:
    """All is there once, or is named; and what is left tells what it was calculated to tell."""
    folder = history.folders[0]
    offline = _rows(folder / "statements.csv")
    named = {row["participant_id"]: row["code"] for row in _rows(folder / "exceptions.csv")}
    if not named.items() <= {(TAKEN, "passbook_not_empty"), (MOVED, "passbook_moved")} or last.lines:
        world.fail("rebuilt", f"{named}, and {last.lines} lines by whom nothing was left to")
    lines = {
        one: expect_done(world, f"read {one}", lambda host, one=one: list(host.ledger.lines(one))) for one in PEOPLE
    }
    _check_run(world, lines[WHOLE], named)
    of_ledger = PostedStatements(world.hosts[0].ledger)
    for participant_id in PEOPLE:
        if participant_id in named:
            continue
        of_rebuild = lines[participant_id][-1].runs[REBUILD_RUN].sequence
        told = expect_done(
            world,
            f"statements of {participant_id}",
            lambda _, one=participant_id, last=of_rebuild: list(of_ledger.of(lines[one][:last])),
        )
        calculated = [row for row in offline if row["participant_id"] == participant_id]
        if [line.strip() for line in told] != [",".join(row.values()) for row in calculated]:
            world.fail("rebuilt", f"{participant_id}: the ledger tells {told}, and offline it is {calculated}")
        closing_cents = parse_cents(calculated[-1]["closing_balance"])
        world.model.rebuilt[participant_id] = history.selections[participant_id], closing_cents


def _check_run(world: World, lines: list[Line], named: Mapping[str, str]) -> None:
    """The run has both persons, is posted, and counts what it didn't take."""
    run_id = RunId(REBUILD_RUN, lines[0].runs[REBUILD_RUN].period, 1)
    run = expect_done(world, "read the rebuild", lambda host: RunBook(host.registry).get(run_id))
    persons = run.requested_by, run.details["approved_by"]
    if persons[0] != PREPARER or persons[1] == PREPARER:
        world.fail("two_persons", f"{run_id} was prepared and approved by {persons}")
    not_taken = run.details["result"]["not_taken"]
    if run.status is not RunStatus.POSTED or sum(not_taken.values()) != len(named):
        world.fail("accounted", f"{run_id} is {run.status} and says {not_taken}, where {named} weren't taken")


def _made_up(world: World, place: Path) -> History:
    """Two semesters of three people: some bring a balance, some have a change of selection, some months are bare."""
    rng = world.scheduler.rng
    selections: dict[str, dict[str, int]] = {}
    rows: dict[str, list[str]] = {name: [header] for name, header in _FILES.items()}
    for one in PEOPLE:
        percents = [rng.choice([0, 50, 100])]
        rows["participants.csv"].append(f"{one},1970-04-04,E-001,2023-07-01")
        rows["selections.csv"].append(f"{one},2023-07-01,{percents[0]},{100 - percents[0]}")
        if rng.random() < 0.5:
            rows["transfers.csv"].append(f"{one},2023-08-01,{format_cents(rng.randrange(1, 2_000_000))}")
        if rng.random() < 0.3:
            percents.append(rng.choice([0, 30, 100]))
            rows["selections.csv"].append(f"{one},2024-03-01,{percents[1]},{100 - percents[1]}")
        selections[one] = _held(percents[-1])
        rows["contributions.csv"] += [
            f"{one},{month}-15,{format_cents(rng.randrange(1, 90_000))},E-001,{month}"
            for month in _MONTHS
            if rng.random() < 0.7
        ]
    rows["yields.csv"] += _yields()
    rows["settings.csv"] += [f"{name},{value},2000-01-01" for name, value in figures.SETTINGS.items()]
    folders = [place / "one", place / "two"]
    for folder in folders:
        folder.mkdir()
        for name, lines in rows.items():
            (folder / name).write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return History(folders, selections)


def _held(percent: int) -> dict[str, int]:
    held = {"fixed_income": percent, "system_portfolio": 100 - percent}
    return {option: share for option, share in held.items() if share}


def _yields() -> Iterator[str]:
    for month in _MONTHS:
        yield f"fixed_income,{month},percent,4.73"
    for semester, percent in (("FY2024-S1", "5.25"), ("FY2024-S2", "-2.10")):
        yield f"system_portfolio,{semester},return_percent,{percent}"
        yield f"system_portfolio,{semester},management_fees_percent,0.35"


def _rows(place: Path) -> list[dict[str, str]]:
    with place.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


PATCHES = ((posting, "ThreadPoolExecutor", InTurn), (posting, "TRANSACTION_ITEMS", TRANSACTION_ITEMS))
"""What of the rebuild is otherwise here: where, which name, what for it."""
