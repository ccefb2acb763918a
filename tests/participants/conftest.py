"""Participants at work: a secret, two employers, a machine that runs when a test says so."""

from collections.abc import Callable
from functools import cache
from typing import Any

import boto3
import pytest

from participants import api, worker
from retiro.registry import aws
from retiro.registry.employers import Employer, register
from tests.participants.machine import Machine

SECRET_NAME = "retiro-person-key"
NEW = {
    "participant_id": "P-000001",
    "fund": "ERS",
    "birth_date": "1970-04-04",
    "employer_id": "E-001",
    "enrolled_on": "2025-01-01",
    "selection": {"fixed_income": 100},
    "initial_transfer": {"amount": "10000.00", "credited_on": "2025-01-01", "reference": "T-1"},
}


@pytest.fixture
def machine(stack: Any, clock: Any, monkeypatch: pytest.MonkeyPatch) -> Machine:
    started = Machine()
    secrets = boto3.client("secretsmanager")
    arn = secrets.create_secret(Name=SECRET_NAME, SecretString="k" * 64)["ARN"]
    monkeypatch.setenv("PERSON_KEY_SECRET_ARN", arn)
    monkeypatch.setenv("RUNS_STATE_MACHINE_ARN", "arn:machine")
    monkeypatch.setenv("FILE_WORKER_ARN", "arn:files")
    monkeypatch.setattr(aws, "stepfunctions", cache(lambda: started))
    for employer_id in ("E-001", "E-002"):
        register(stack.registry, Employer(employer_id, "ERS"))
    return started


@pytest.fixture
def run_files(machine: Machine) -> Callable[..., int]:
    """Let the machine work off what it was given."""
    return lambda **limits: machine.run({"arn:files": worker.handler}, **limits)


@pytest.fixture
def write(call: Callable[..., Any], machine: Machine) -> Callable[..., Any]:
    """A request that writes, by the portal unless another client is named."""

    def written(method: str, path: str, body: Any, **request: Any) -> Any:
        return call(api.handler, method, path, body=body, **{"scopes": "participants.write"} | request)

    return written


@pytest.fixture
def read(call: Callable[..., Any], machine: Machine) -> Callable[..., Any]:
    """A request that reads."""

    def answered(path: str, **request: Any) -> Any:
        return call(api.handler, "GET", path, **{"scopes": "participants.read"} | request)

    return answered


@pytest.fixture
def enrolled(write: Callable[..., Any]) -> dict[str, Any]:
    """P-000001, with 10,000.00 brought in on 2025-01-01, all in fixed income."""
    answer = write("POST", "/participants", NEW)
    assert answer.status == 201, answer.text
    return answer.body
