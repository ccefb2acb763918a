"""A remittance file of 20,000 lines and one of 200,000: read, checked, taken and credited by the worker's own code.

Nine lines in ten are contributions, one is an installment of a plan that was ordered; each pays what is due. The tables
and the bucket are in another process, and each part of the work in one of its own, as it may be on Lambda.
"""

import json
import os
import resource
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from bench.away import Address, Bucket, clients, stores
from bench.measures import Measure, at_most
from payroll_deductions import worker
from payroll_deductions.crediting import KIND
from payroll_deductions.models import NewDeposit, NewUpload
from payroll_deductions.receiving import Uploads
from payroll_deductions.remittances import Remittances
from payroll_deductions.standing import Standing
from payroll_deductions.uploads import KIND as FILE_KIND
from payroll_deductions.worker import WorkerEnvironment
from payroll_deductions.world import Tables
from retiro.ledger import plans, savings
from retiro.ledger.lines import Draft, Line, next_line, to_item
from retiro.ledger.plans import Terms
from retiro.ledger.savings import Origin
from retiro.portal import Principal
from retiro.registry import aws
from retiro.registry.clients import Party
from retiro.registry.deduction_orders import Order, order_item
from retiro.registry.employers import Employer, register
from retiro.registry.participants import Profile, opening_items
from retiro.registry.table import Table, to_attributes
from retiro.rules.money import format_cents
from retiro.runs.jobs import JobStarter
from tests.simulation.dynamodb import DynamoDB

SIZES = (20_000, 200_000)
LEDGER, REGISTRY, BUCKET = "bench-ledger", "bench-registry", "bench-files"
LAMBDA_SECONDS = 900
EMPLOYER = Employer("E-001", "ERS")
ENROLLED, PERIOD = date(2025, 1, 1), "2025-01"
PLACE = f"{EMPLOYER.employer_id}_{PERIOD}"
CONTRIBUTION_CENTS, INSTALLMENT_CENTS = 214_29, 89_23
TERMS = Terms(5_354_30, INSTALLMENT_CENTS, 60, date(2025, 1, 31))
RECORDED_AT = datetime(2025, 1, 2, 16, tzinfo=UTC)
_ORIGIN = Origin("bench")
_STATUS = Path("/proc/self/status")


@dataclass(frozen=True)
class Part:
    """What a part of the work took, in one process: its processor's seconds, its calls, its memory at the most."""

    cpu_seconds: float
    seconds: float
    calls: dict[str, int]
    memory_mb: float
    invocations: int


def measure() -> list[Measure]:
    """Both sizes, and by how much a line of the large file costs more than one of the small file."""
    small, large = (parts_of(lines) for lines in SIZES)
    found = []
    for name, part in large.items():
        before = small[name]
        growth = (part.cpu_seconds / SIZES[1]) / (before.cpu_seconds / SIZES[0])
        calls, calls_before = sum(part.calls.values()) / SIZES[1], sum(before.calls.values()) / SIZES[0]
        found += [
            Measure(f"remittance.{name}.cpu", part.cpu_seconds / SIZES[1] * 1_000_000, "µs a line", "200,000 lines"),
            Measure(f"remittance.{name}.cpu_growth", growth, "ratio", "a line of 20,000", at_most(1.25)),
            Measure(f"remittance.{name}.calls", calls, "calls a line", f"{calls_before:.4f} at 20,000"),
            Measure(f"remittance.{name}.memory", part.memory_mb, "MB", f"{before.memory_mb:,.0f} MB at 20,000"),
        ]
    return found


def parts_of(lines: int) -> dict[str, Part]:
    """What each part takes of a file of so many lines."""
    with stores([LEDGER, REGISTRY], _fill, lines) as address:
        _in_its_own_process(_upload, address, 0)
        parts = {
            "reading": _in_its_own_process(_begin, address, lines, FILE_KIND),
            "checking": _in_its_own_process(_work, address, lines, FILE_KIND),
            "taking": _in_its_own_process(_end, address, lines, FILE_KIND),
        }
        _in_its_own_process(_deposit, address, lines)
        _in_its_own_process(_begin, address, lines, KIND)
        parts["crediting"] = _in_its_own_process(_work, address, lines, KIND)
        _in_its_own_process(_end, address, lines, KIND)
        _in_its_own_process(_check_closed, address, lines)
        return parts


# --- what there is


def _fill(tables: DynamoDB, bucket: Bucket, lines: int) -> None:
    """Participants, plans, orders, and the file."""
    register(Table(tables, REGISTRY), EMPLOYER)  # type: ignore[arg-type]  # what stands for the client
    rows = []
    for number, has_plan in _participants(lines):
        participant_id = f"P-{number:06d}"
        profile = Profile(participant_id, "ERS", date(1970, 4, 4), EMPLOYER.employer_id, ENROLLED)
        items = list(opening_items(profile))
        rows.append(f"{participant_id},contribution,{format_cents(CONTRIBUTION_CENTS)},,")
        if has_plan:
            items.append(order_item(EMPLOYER.employer_id, PERIOD, Order(participant_id, INSTALLMENT_CENTS, 0, 5)))
            rows.append(f"{participant_id},installment,{format_cents(INSTALLMENT_CENTS)},,")
        for item in items:
            tables.put_item(TableName=REGISTRY, Item=to_attributes(item))
        for line in _passbook(participant_id, has_plan=has_plan):
            tables.put_item(TableName=LEDGER, Item=to_item(line))
    total = format_cents(_total_cents(lines))
    text = "\n".join(["participant_id,kind,amount,salary,name", *rows, f"total,{len(rows)},{total},,"])
    bucket.objects[f"files/remittances/{PLACE}/file"] = text.encode()


def _participants(lines: int) -> Iterator[tuple[int, bool]]:
    """Numbers, and whether each has a plan too: every ninth, as long as there are lines."""
    number = 0
    while lines:
        number += 1
        has_plan = number % 9 == 0 and lines > 1
        lines -= 2 if has_plan else 1
        yield number, has_plan


def _total_cents(lines: int) -> int:
    return sum(CONTRIBUTION_CENTS + INSTALLMENT_CENTS * has_plan for _, has_plan in _participants(lines))


def _passbook(participant_id: str, *, has_plan: bool) -> list[Line]:
    """An enrolment, and where there is a plan its lines until the first installment is due."""
    lines: list[Line] = []

    def add(draft: Draft) -> None:
        last = lines[-1] if lines else None
        lines.append(next_line(last, draft, passbook=participant_id, fund="ERS", recorded_at=RECORDED_AT))

    add(savings.enrolment(None, ENROLLED, {"fixed_income": 100}, _ORIGIN))
    if has_plan:
        add(plans.applied(lines[-1], ENROLLED, _ORIGIN))
        add(plans.approved(lines[-1], [400_000], ENROLLED, date(2026, 1, 1), _ORIGIN))
        add(plans.principal_payment(lines[-1], 400_000, ENROLLED, _ORIGIN))
        add(plans.scheduled(lines[-1], [TERMS.total_cents], TERMS, ENROLLED, _ORIGIN))
    return lines


# --- the work, each part in a process of its own


class Started(Exception):  # noqa: N818  # nothing went wrong
    """What the state machine was started with."""


class Machine:
    """The state machine, so far as it is asked to start something."""

    class exceptions:  # noqa: N801  # as botocore names it
        """The classes that a client names."""

        ExecutionAlreadyExists = Started

    def start_execution(self, **request: Any) -> None:
        """Do nothing: the parts are asked for one by one."""


class Context:
    """A Lambda's, whose time runs from its making."""

    aws_request_id = "bench"

    def __init__(self) -> None:
        self._until = time.monotonic() + LAMBDA_SECONDS

    def get_remaining_time_in_millis(self) -> int:
        """What is left."""
        return int((self._until - time.monotonic()) * 1000)


def _in_its_own_process(part: Any, address: Address, lines: int, *more: str) -> Part:
    spawning = get_context("spawn")
    telling, told = spawning.Pipe()
    process = spawning.Process(target=_told, args=(told, part, address, lines, more))
    process.start()
    answer = telling.recv()
    process.join()
    if isinstance(answer, Exception):
        raise answer
    found: Part = answer
    return found


def _told(telling: Any, part: Any, address: Address, lines: int, more: tuple[str, ...]) -> None:
    dynamodb, s3, calls = clients(address)
    os.environ |= {"LEDGER_TABLE": LEDGER, "REGISTRY_TABLE": REGISTRY, "FILES_BUCKET": BUCKET}
    setattr(aws, "dynamodb", lambda: dynamodb)  # noqa: B010  # in place of a client
    setattr(aws, "s3", lambda: s3)  # noqa: B010
    _forget_peak()
    before_mb, cpu, start = _memory_mb(), time.process_time(), time.monotonic()
    try:
        invocations = part(lines, *more)
    except Exception as error:
        telling.send(error)
        raise
    telling.send(
        Part(
            time.process_time() - cpu,
            time.monotonic() - start,
            dict(calls),
            _memory_mb() - before_mb,
            invocations or 1,
        )
    )


def _memory_mb() -> float:
    """What this process holds at the most, since the last `_forget_peak`."""
    if _STATUS.exists():
        (line,) = (line for line in _STATUS.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024 / 1_000_000
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_000_000


def _forget_peak() -> None:
    """On Linux a process starts with its parent's peak."""
    if _STATUS.exists():
        _STATUS.with_name("clear_refs").write_text("5")


def _event(kind: str, op: str, **more: int) -> dict[str, Any]:
    job = f"{PLACE}.1" if kind == FILE_KIND else PLACE
    return {"op": op, "kind": kind, "period": job, "attempt": 1, "number": 1, "phase": "work"} | more


def _begin(_: int, kind: str) -> int:
    worker.handler(_event(kind, "begin"), Context())  # type: ignore[arg-type]
    return 1


def _work(lines: int, kind: str) -> int:
    """Every chunk, one after the other, as often as it hands back."""
    chunks = 1 if kind == KIND else -(-lines // worker.FILE_CHUNK_ROWS)
    invocations = 0
    for chunk in range(chunks):
        done = False
        while not done:
            done = worker.handler(_event(kind, "work", chunk=chunk), Context())["done"]  # type: ignore[arg-type]
            invocations += 1
    return invocations


def _end(_: int, kind: str) -> None:
    worker.handler(_event(kind, "end"), Context())  # type: ignore[arg-type]


def _office() -> tuple[Remittances, Principal]:
    tables = Tables.of(WorkerEnvironment.read())

    def starter(kind: str, jobs: Any) -> JobStarter:
        return JobStarter(kind, jobs, Machine(), "arn:machine", "arn:worker")  # type: ignore[arg-type]

    jobs = tables.jobs_of(FILE_KIND)
    standing = Standing(tables.passbooks, tables.registry, tables.jobs)
    uploads = Uploads(tables.files, standing, jobs, starter(FILE_KIND, jobs))
    office = Remittances(
        tables.passbooks, tables.registry, tables.jobs, starter(KIND, tables.jobs), tables.files, uploads
    )
    return office, Principal("fund", Party.FUND, frozenset(), "u-carla")


def _upload(_: int) -> None:
    office, principal = _office()
    asked = {
        "reference": PERIOD,
        "employer_id": EMPLOYER.employer_id,
        "period": PERIOD,
        "format": "csv",
        "upload": True,
    }
    if office.uploads is not None:
        office.receive(NewUpload.model_validate(asked), principal)
        office.uploads.validate(PLACE, principal)


def _deposit(lines: int) -> None:
    office, principal = _office()
    deposited = {"reference": "D-1", "amount": format_cents(_total_cents(lines)), "value_date": "2025-02-10"}
    office.confirm(PLACE, NewDeposit.model_validate_json(json.dumps(deposited)), principal)


def _check_closed(lines: int) -> None:
    office, principal = _office()
    view = office.read(PLACE, principal)
    if (view.status, view.credited, view.clearing) != ("closed", lines, 0):
        msg = f"not all was credited: {view.status}, {view.credited} lines, {view.unplaced[:3]}"
        raise ValueError(msg)
