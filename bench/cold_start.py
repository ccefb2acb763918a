"""A cold start of each function from what was built, beside the least that a function with the same libraries costs."""

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median
from typing import Any

from bench.measures import ROUNDS, Measure, at_most, exactly
from cli.cloud import BUILT_TEMPLATE, ROOT

EVENTS = {
    "ParticipantsApi": "participants/read_unknown",
    "ParticipantsWorker": "participants/fail",
    "PayrollDeductionsApi": "payroll_deductions/ageing",
    "PayrollDeductionsWorker": "payroll_deductions/fail",
    "PayrollDeductionsOrdersWorker": "payment_plans/orders_begin",
    "PayrollDeductionsSchedule": "payment_plans/plans_daily",
    "DeathRefundsApi": "death_refunds/read_unknown",
    "AnnuitiesApi": "annuities/read_payroll",
    "AnnuitiesWorker": "annuities/begin",
    "AnnuitiesSchedule": "annuities/monthly",
    "BoardResolutionsApi": "board_resolutions/list_settings",
    "SemesterYieldsApi": "semester_yields/read",
    "SemesterYieldsWorker": "semester_yields/begin",
    "SemesterYieldsSchedule": "semester_yields/daily",
    "LedgerGuardStream": "ledger_guard/lines_inserted",
    "LedgerGuardWorker": "ledger_guard/audit_fails",
    "LedgerGuardSchedule": "ledger_guard/night",
}
"""The first event of each function, of `events/`: one that it answers on empty tables."""

_ZIP_TIME = (1980, 1, 1, 0, 0, 0)
_CHILD = Path(__file__).with_name("cold_child.py")


@dataclass(frozen=True)
class Artifact:
    """A function as it was built: its handler's module, its variables, and where its zip is laid."""

    name: str
    module: str
    variables: Mapping[str, str]
    task: Path
    layer: Path


@dataclass(frozen=True)
class Started:
    """What a cold start came to."""

    seconds: float
    compiled: int
    answer: str
    clients: list[str]
    calls: list[Any]
    libraries: list[str]


def measure(names: tuple[str, ...] = tuple(EVENTS), rounds: int = ROUNDS) -> list[Measure]:
    """The ratio for each function, and how many modules were compiled at the start of any: none."""
    measures: list[Measure] = []
    compiled = 0
    with tempfile.TemporaryDirectory() as folder, answering() as endpoint:
        for artifact in laid(Path(folder), names):
            ours = start(artifact, endpoint, "record")
            if '"own_fault"' in ours.answer:
                raise RuntimeError(f"{artifact.name} doesn't answer its first event: {ours.answer}")
            plan = json.dumps({"libraries": ours.libraries, "clients": ours.clients, "calls": ours.calls})
            compiled += ours.compiled
            ratios, seconds = [], []
            for _ in range(rounds):
                here = start(artifact, endpoint, "time")
                least = start(artifact, endpoint, "least", plan)
                ratios.append(here.seconds / least.seconds)
                seconds.append(here.seconds)
            measures += [
                Measure(
                    f"cold_start.{artifact.name}_vs_least",
                    median(ratios),
                    "ratio",
                    f"the same {len(ours.libraries)} modules of libraries, clients and requests alone",
                    at_most(1.15),
                ),
                Measure(f"cold_start.{artifact.name}", 1000 * median(seconds), "ms", "processor time on this machine"),
            ]
        written = [one for one in Path(folder).rglob("*.pyc") if one.stat().st_mtime > _LONG_AGO]
    return [
        *measures,
        Measure("cold_start.compiled", compiled + len(written), "modules", "compiled at the start of any", exactly(0)),
    ]


_LONG_AGO = 400_000_000  # seconds after 1970: every file of a laid zip is older


def laid(folder: Path, names: tuple[str, ...]) -> Iterator[Artifact]:
    """Each function zipped and laid as Lambda lays it: times of 1980, nothing writable."""
    layer = lay(BUILT_TEMPLATE.parent / "SharedLayer", folder / "layer")
    for name, handler in handlers(BUILT_TEMPLATE.read_text()).items():
        if name in names:
            task = lay(BUILT_TEMPLATE.parent / name, folder / name)
            yield Artifact(name, handler.removesuffix(".handler"), _variables(name), task, layer)


def handlers(template: str) -> dict[str, str]:
    """The functions of a built template, and the handler of each."""
    return dict(
        re.findall(
            r"^  (\w+):\n    Type: AWS::Serverless::Function\n(?: {4}.*\n)*? {6}Handler: (\S+)", template, re.MULTILINE
        )
    )


def lay(built: Path, place: Path) -> Path:
    """Zip a folder, and unpack it with the times that a zip of `sam` has."""
    archive = place.with_suffix(".zip")
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as zipped:
        for one in sorted(path for path in built.rglob("*") if path.is_file()):
            zipped.writestr(zipfile.ZipInfo(str(one.relative_to(built)), _ZIP_TIME), one.read_bytes())
    with zipfile.ZipFile(archive) as zipped:
        zipped.extractall(place)
    moment = 315_532_800  # 1980-01-01
    for one in place.rglob("*"):
        os.utime(one, (moment, moment))
        one.chmod(0o555 if one.is_dir() else 0o444)
    return place


def _variables(name: str) -> dict[str, str]:
    tables = {
        "LEDGER_TABLE": "bench-ledger",
        "REGISTRY_TABLE": "bench-registry",
        "IDEMPOTENCY_TABLE": "bench-idempotency",
        "FILES_BUCKET": "bench-files",
        "RUNS_STATE_MACHINE_ARN": "arn:aws:states:us-east-1:000000000000:stateMachine:bench",
        "CHUNK_ACCOUNTS": "5000",
        "INVOCATION_ACCOUNTS": "0",
        "AUDIT_CHUNKS": "16",
    }
    arns = re.findall(r"\b([A-Z_]+_ARN|[A-Z_]+_FUNCTION|[A-Z_]+_KEY_ID)\b", BUILT_TEMPLATE.read_text())
    return {
        **{one: f"arn:aws:lambda:us-east-1:000000000000:function:{one.lower()}" for one in arns},
        **tables,
        "POWERTOOLS_SERVICE_NAME": name,
        "POWERTOOLS_METRICS_NAMESPACE": "Retiro",
        "AWS_LAMBDA_FUNCTION_NAME": name,
        "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "bench",
        "AWS_SECRET_ACCESS_KEY": "bench",
    }


def start(artifact: Artifact, endpoint: str, mode: str, plan: str = "{}") -> Started:
    """Start a function in a process of its own, with its first event; or the least one, by a plan of what it loads.

    Raises `RuntimeError` where it fails.
    """
    event = (ROOT / "events" / f"{EVENTS[artifact.name]}.json").read_text()
    ran = subprocess.run(  # noqa: S603  # this interpreter
        [sys.executable, _CHILD, mode, artifact.module, event, plan],
        env={
            **artifact.variables,
            "PATH": os.environ["PATH"],
            "PYTHONPATH": f"{artifact.task}:{artifact.layer / 'python'}",
            "AWS_ENDPOINT_URL": endpoint,
            "LAMBDA_TASK_ROOT": str(artifact.task),
            "LAYER_ROOT": str(artifact.layer),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode:
        raise RuntimeError(f"{artifact.name} doesn't start: {ran.stdout[-3000:]}{ran.stderr[-3000:]}")
    return Started(**json.loads(ran.stdout.splitlines()[-1]))


class _Empty(BaseHTTPRequestHandler):
    """AWS with nothing in it but the clients' bindings, and a run that a newer execution has."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        operation = self.headers["X-Amz-Target"].split(".")[1]
        body = json.dumps(_answer(operation, asked)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/x-amz-json-1.0")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        return


def _answer(operation: str, asked: Mapping[str, Any]) -> Mapping[str, Any]:
    match operation:
        case "GetItem":
            item = _item(asked["Key"]["pk"]["S"], asked["Key"]["sk"]["S"])
            return {"Item": item} if item else {}
        case "Query":
            return {"Items": [], "Count": 0, "ScannedCount": 0}
        case "StartExecution":
            return {"executionArn": "arn:aws:states:us-east-1:000000000000:execution:bench:1", "startDate": 0}
        case "UpdateItem":
            return {"Attributes": {}}
    return {}


def _item(pk: str, sk: str) -> Mapping[str, Any] | None:
    words = pk.split("#")
    if words[0] == "client":
        party = words[1].split("-")[0]
        of_party = {"employer": {"employer_id": "E-001"}, "fund": {"fund": "ERS"}}.get(party, {})
        return {name: {"S": text} for name, text in {"party": party, **of_party}.items()}
    if words[0] == "run" and sk.startswith("attempt#"):
        texts = {
            "kind": words[1],
            "period": words[2],
            "status": "posting",
            "phase": "post",
            "context": "{}",
            "requested_by": "u-ana",
            "requested_at": _REQUESTED_AT,
            "started_at": _REQUESTED_AT,
        }
        return {"attempt": {"N": "1"}, "number": {"N": "9"}, **{name: {"S": text} for name, text in texts.items()}}
    return None


_REQUESTED_AT = "2025-07-10T16:00:00+00:00"


@contextmanager
def answering() -> Iterator[str]:
    """The address of an empty AWS."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Empty)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
