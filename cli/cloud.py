"""The local cloud: MiniStack in a process of its own, with the project's template deployed to it.

A cloud has a folder `.local/NAME` with its port and its log, and a temporary folder for all that MiniStack and the
functions leave behind. So two clouds never meet, and `down` takes everything away. Nothing here needs Docker.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any

import boto3
import click
import urllib3

from cli.stacks import DEFAULT_STACK, PARTIES, Stack, client_config

ROOT = Path(__file__).resolve().parent.parent
BUILT_TEMPLATE = ROOT / ".aws-sam" / "build" / "template.yaml"
MINISTACK_PYTHON = ROOT / ".tools" / "ministack" / "bin" / "python"
SAM = ROOT / ".tools" / "sam" / "bin" / "sam"
REGION = "us-east-1"
ACCOUNT = "000000000000"
START_SECONDS_MAX = 60
MEMORY_BYTES_MIN = 4 * 1024**3


class CloudError(click.ClickException):
    """The local cloud could not be started, deployed to, or found."""


@dataclass(frozen=True)
class Running:
    """What is written down of a cloud that was started."""

    port: int
    pid: int
    temporary: str


class Cloud:
    """One local cloud, known by its name."""

    def __init__(self, name: str = "demo") -> None:
        self.name = name
        self.folder = ROOT / ".local" / name
        self._child: subprocess.Popen[bytes] | None = None

    # --- the process ---

    @property
    def running(self) -> Running | None:
        """The process that answers for this cloud; none if it was never started, or has ended."""
        started = self._started
        return started if started is not None and _is_ministack(started.pid) and _answers(started.port) else None

    @property
    def endpoint(self) -> str:
        """The address of this cloud.

        Raises:
            CloudError: it isn't running.
        """
        running = self.running
        if running is None:
            raise CloudError(f"the local cloud {self.name!r} is not running: make up")
        return f"http://127.0.0.1:{running.port}"

    def start(self) -> None:
        """Starts the process, unless it runs already.

        Raises:
            CloudError: it doesn't answer in time; its log says why.
        """
        if self.running is not None:
            return
        self.stop()  # what an earlier one left, that was not stopped in order
        self.folder.mkdir(parents=True)
        self._launch(_free_port(), tempfile.mkdtemp(prefix=f"retiro-{self.name}-", dir=_fast_folder() or self.folder))

    def _launch(self, port: int, temporary: str) -> None:
        """Starts MiniStack at a port, over a folder of its own, and waits until it answers. Raises `CloudError`."""
        with (self.folder / "ministack.log").open("ab") as log:
            self._child = subprocess.Popen(
                [MINISTACK_PYTHON, "-m", "ministack"],
                cwd=self.folder,
                env=self._environment(port, Path(temporary)),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        (self.folder / "cloud.json").write_text(json.dumps(asdict(Running(port, self._child.pid, temporary))))
        deadline = time.monotonic() + START_SECONDS_MAX
        while not _answers(port):
            if self._child.poll() is not None or time.monotonic() > deadline:
                raise CloudError(f"MiniStack did not start; see {self.folder / 'ministack.log'}")
            time.sleep(0.1)

    def _environment(self, port: int, temporary: Path) -> dict[str, str]:
        """What MiniStack is told by its environment."""
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        return {
            **kept,
            "BIND_HOST": "127.0.0.1",
            "GATEWAY_PORT": str(port),
            "EDGE_PORT": str(port),
            "MINISTACK_HOST": "127.0.0.1",
            "MINISTACK_ACCOUNT_ID": ACCOUNT,
            "MINISTACK_REGION": REGION,
            "IOT_MTLS_ENABLED": "0",
            "TMPDIR": str(temporary),
            "S3_DATA_DIR": str(temporary / "s3"),
            "STATE_DIR": str(temporary / "state"),
            "LOG_LEVEL": "INFO",
        }

    def stop(self) -> None:
        """Stops the process, with the functions that it runs, and takes away all that they left."""
        started = self._started
        if started is not None:
            if _is_ministack(started.pid):
                # Nothing is kept, so nothing has to be put in order first.
                os.killpg(started.pid, signal.SIGKILL)
            if self._child is not None:
                self._child.wait()
            while _is_ministack(started.pid):
                time.sleep(0.05)
            shutil.rmtree(started.temporary, ignore_errors=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def _started(self) -> Running | None:
        """The process that was last started for this cloud, whether or not it still runs."""
        try:
            return Running(**json.loads((self.folder / "cloud.json").read_text()))
        except FileNotFoundError:
            return None

    # --- the stack ---

    def deploy(self, parameters: Mapping[str, str] | None = None, *, stack: str = DEFAULT_STACK) -> None:
        """Deploys the built template; a second time, what changed.

        Raises:
            CloudError: SAM refused; its words are in the message.
        """
        if not BUILT_TEMPLATE.exists():
            raise CloudError("nothing is built: make build")
        self.client("s3").create_bucket(Bucket=f"{DEFAULT_STACK}-artifacts")
        overrides = {**_built_for(), "DeployerArn": f"arn:aws:iam::{ACCOUNT}:root", **(parameters or {})}
        finished = subprocess.run(
            [
                *(SAM, "deploy", "--template-file", BUILT_TEMPLATE, "--stack-name", stack, "--region", REGION),
                *("--s3-bucket", f"{DEFAULT_STACK}-artifacts", "--capabilities", "CAPABILITY_IAM"),
                *("--no-confirm-changeset", "--no-fail-on-empty-changeset", "--no-progressbar"),
                *("--parameter-overrides", *(f"{name}={value}" for name, value in overrides.items())),
            ],
            cwd=self.folder,
            env={**_client_environment(self.endpoint), "SAM_CLI_TELEMETRY": "0"},
            capture_output=True,
            text=True,
            check=False,
        )
        (self.folder / "deploy.log").write_text(finished.stdout + finished.stderr)
        if finished.returncode:
            raise CloudError(f"the stack could not be deployed\n{finished.stdout[-2000:]}\n{finished.stderr[-2000:]}")

    @property
    def stack(self) -> Stack:
        """The stack that is deployed here."""
        return self.stack_named(DEFAULT_STACK)

    def stack_named(self, name: str) -> Stack:
        """One of several stacks."""
        return Stack(self.client, name=name, endpoint=self.endpoint)

    def client(self, service: str) -> Any:
        """A boto3 client of this cloud."""
        return boto3.client(
            service,  # type: ignore[call-overload]
            endpoint_url=self.endpoint,
            region_name=REGION,
            aws_access_key_id="test",
            aws_secret_access_key="test",  # noqa: S106  MiniStack takes any
            config=client_config(service),
        )


def _fast_folder() -> Path | None:
    """A folder in memory, where there is one with room: every function's process unpacks the layer of its own."""
    memory = Path("/dev/shm")  # noqa: S108
    if memory.is_dir() and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > MEMORY_BYTES_MIN:
        return memory
    return None


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _answers(port: int) -> bool:
    try:
        answer = urllib3.request("GET", f"http://127.0.0.1:{port}/_ministack/health", timeout=5, retries=False)
    except urllib3.exceptions.HTTPError:
        return False
    return answer.status == HTTPStatus.OK


def _is_ministack(pid: int) -> bool:
    """Whether the process still runs and is a MiniStack, not a later process of the same number."""
    asked = ["ps", "-ww", "-o", "command=", "-p", str(pid)]
    listed = subprocess.run(asked, capture_output=True, text=True, check=False)
    return "-m ministack" in listed.stdout


def _client_environment(endpoint: str) -> dict[str, str]:
    """What a tool needs to speak to this cloud and to nothing else: no account of the person's, no profile."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
    return {
        **kept,
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": REGION,
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    }


def _built_for() -> dict[str, str]:
    """The runtime and the architecture that the built template was made for: make's stamp names them."""
    (stamp,) = (ROOT / ".aws-sam").glob(".built-*")
    _, runtime, architecture = stamp.name.split("-")
    return {"PythonRuntime": runtime, "Architecture": architecture}


named = click.option("--name", default="demo", show_default=True, help="Which local cloud.")


@click.group()
def cloud() -> None:
    """The local cloud: start it, deploy to it, stop it."""


@cloud.command()
@named
def up(name: str) -> None:
    """Start the local cloud, deploy the built template to it, and say where it is."""
    here = Cloud(name)
    here.start()
    here.deploy()
    click.echo(f"API    {here.stack.api_url}")
    click.echo(f"Token  .venv/bin/retiro cloud token office   (or {', '.join(PARTIES[:-1])})")
    click.echo("Stop   make down")


@cloud.command()
@named
def down(name: str) -> None:
    """Stop the local cloud and take away all that it left."""
    Cloud(name).stop()


@cloud.command()
@named
def status(name: str) -> None:
    """Say where the local cloud is, and what it made, as JSON."""
    stack = Cloud(name).stack
    click.echo(json.dumps({"endpoint": stack.endpoint, "api": stack.api_url, "outputs": stack.outputs}, indent=2))


@cloud.command()
@click.argument("party", type=click.Choice(PARTIES))
@named
def token(party: str, name: str) -> None:
    """Print an access token of the client of a PARTY, good for an hour."""
    stack = Cloud(name).stack
    click.echo(stack.token(stack.client_id(party)))
