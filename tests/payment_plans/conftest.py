"""The doors of plans over moto, with a machine that runs when a test says so."""

from collections.abc import Callable
from functools import cache

import pytest

from retiro.registry import aws
from tests.conftest import Called, Stack, StoppedClock
from tests.payment_plans.office import Executions, PlansOffice
from tests.runs.conftest import few_shards

__all__ = ["few_shards"]


@pytest.fixture
def office(
    stack: Stack, clock: StoppedClock, call: Callable[..., Called], few_shards: None, monkeypatch: pytest.MonkeyPatch
) -> PlansOffice:
    """P-000001 of E-001, the settings adopted, on 2008-10-20."""
    executions = Executions()
    monkeypatch.setattr(aws, "stepfunctions", cache(lambda: executions))
    for name in ("RUNS_STATE_MACHINE_ARN", "ORDER_WORKER_ARN"):
        monkeypatch.setenv(name, "arn:machine")
    office = PlansOffice(stack, clock, call, executions)
    office.on("2008-10-20")
    office.adopt_settings()
    office.enrol()
    return office
