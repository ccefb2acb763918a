"""`retiro demo`: a semester, from enrolment to posted yields; three judges; a payment plan. On the local cloud."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

from cli.audit import audited, read_trial_balance
from cli.cloud import ROOT, Cloud
from cli.demo import population, show
from cli.demo.judiciary import Judiciary
from cli.demo.people import People
from cli.demo.plans import PlanScenes
from cli.demo.population import SEMESTER
from cli.demo.scenes import Progress, Scenes

PARAMETERS = {"ChunkAccounts": "150", "AuditChunks": "2"}
"""Two chunks each: as many as a small machine has cores."""

SAMPLE = "P-000001"


@click.command()
@click.option(
    "--lang", type=click.Choice(["en", "es"]), default="en", show_default=True, help="Language of what a member reads."
)
@click.option("--cloud", "cloud_name", default="demo", show_default=True, help="Which local cloud.")
def demo(lang: str, cloud_name: str) -> None:
    """Enrol 300 made-up participants, post a semester's yield, pay and settle three judges, and audit it all.

    Writes build/demo.json.
    """
    started = time.monotonic()
    console = Console()
    cloud = Cloud(cloud_name)
    with console.status("starting the local cloud and deploying"):
        cloud.start()
        cloud.deploy(PARAMETERS)
    people = People(cloud.stack)
    people.introduce()
    scenes = Scenes(people)
    posted_before = scenes.standing()["status"] == "posted"
    lines_before = audited(cloud.stack)["lines"] if posted_before else 0

    standing = _act(console, scenes, posted_before=posted_before)
    with console.status("three judges: annuities, payrolls, deaths"):
        judiciary = Judiciary(people).play()
    with console.status("a payment plan: bought, paid by payroll and by pension, and a death"):
        plan = PlanScenes(people).play()
    with console.status("auditing every passbook"):
        audit = audited(cloud.stack)

    show.run(console, standing)
    show.exceptions(console, scenes.exceptions())
    show.statements(console, [scenes.statement(one) for one in _samples(scenes)], lang)
    show.judiciary(console, judiciary)
    show.plan(console, plan)
    show.trial_balance(console, read_trial_balance(cloud.stack))
    show.audit(console, audit)
    if posted_before:
        show.second_time(console, lines_before, audit["lines"])
    seconds = round(time.monotonic() - started, 1)
    summary = _summary(standing, scenes.statement(SAMPLE), audit, seconds) | {"judiciary": judiciary, "plans": plan}
    _write("demo.json", summary)
    console.print(f"\nbuild/demo.json is written. {seconds} seconds. The cloud runs on: make down stops it.")
    if audit["status"] != "clean" or (posted_before and lines_before != audit["lines"]):
        raise SystemExit(1)


def _act(console: Console, scenes: Scenes, *, posted_before: bool) -> dict[str, Any]:
    """Everything that is done through the API, in order; what was done before is answered and not done again."""
    members = population.members()
    _write("demo-participants.json", population.participant_file(members))
    with _bars(console) as bar:
        scenes.adopt_settings()
        with bar("participants enrolled") as progress:
            scenes.enrol(members, progress)
        with bar("remittances credited") as progress:
            scenes.remit(members, progress)
        scenes.adopt_figures()
        if posted_before:
            return scenes.standing()
        with bar(f"{SEMESTER} prepared") as progress:
            prepared = scenes.prepare(progress)
        with bar(f"{SEMESTER} posted") as progress:
            return scenes.approve(prepared, progress)


@contextmanager
def _bars(console: Console) -> Iterator[Any]:
    """A progress bar a step."""
    columns = (TextColumn("{task.description:24}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Bars(*columns, console=console) as bars:

        @contextmanager
        def bar(name: str) -> Iterator[Progress]:
            task = bars.add_task(name, total=None)
            yield lambda done, of: bars.update(task, completed=done, total=of)
            bars.stop_task(task)

        yield bar


def _samples(scenes: Scenes) -> list[str]:
    """P-000001, and the first two participants with both options whose yield is posted."""
    excepted = {one["participant_id"] for one in scenes.exceptions()}
    both = [one for one in population.members() if one.selection and sum(map(bool, one.selection.values())) > 1]
    return [SAMPLE, *[one.participant_id for one in both if one.participant_id not in excepted][:2]]


def _summary(standing: dict[str, Any], sample: dict[str, Any], audit: dict[str, Any], seconds: float) -> dict[str, Any]:
    run = standing["run"]
    return {
        "run": {
            "semester": standing["semester"],
            "status": standing["status"],
            "participants": run["totals"]["participants"],
            "posted": run["result"]["posted"],
            "withheld": sum(run["result"]["withheld"].values()),
            "exceptions": run["totals"]["participants"] - run["totals"]["lines"],
            "total_yield": run["result"]["total_yield"],
        },
        "sample": {
            name: sample[name] for name in ("participant_id", "average_monthly_balance", "semester_percent", "yield")
        },
        "audit": {name: audit[name] for name in ("status", "passbooks", "lines")},
        "seconds": seconds,
    }


def _write(name: str, document: dict[str, Any]) -> None:
    folder = ROOT / "build"
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
