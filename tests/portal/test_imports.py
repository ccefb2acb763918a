"""What a function loads when it starts: a worker has no doors, and nobody makes a client or reads the environment."""

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOORS = (
    "retiro.portal",
    "aws_lambda_powertools.event_handler",
    "aws_lambda_powertools.utilities.idempotency",
    "aws_lambda_powertools.utilities.parser",
    "aws_lambda_powertools.utilities.validation",
)
"""The resolver, the idempotency layer, the validation layers, and our own frame around them."""
NOT_FOR_LAMBDA = ("click", "yaml", "rich", "moto", "pytest")
MODULES = sorted(f"{one.parent.name}.{one.stem}" for one in (ROOT / "functions").glob("*/*.py"))
WITH_DOORS = [one for one in MODULES if one.endswith(".api")]
WITHOUT_DOORS = [one for one in MODULES if one.endswith(("worker", ".schedule", ".stream"))]
"""By the names that a function's modules have: what the state machine, the scheduler and the stream call."""


def loaded(module):
    """The modules that are loaded once this one is, in a process that has no environment to read."""
    script = f"import sys; import {module}; print('\\n'.join(sys.modules))"
    paths = f"{ROOT / 'functions'}:{ROOT / 'shared'}"
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env={"PYTHONPATH": paths}
    )
    return ran.stdout.split()


def test_the_handlers_that_are_looked_at_are_those_of_the_template():
    handlers = re.findall(r"Handler: (\S+)\.handler", (ROOT / "template.yaml").read_text("utf-8"))
    assert set(handlers) <= {*WITH_DOORS, *WITHOUT_DOORS}


@pytest.mark.parametrize("module", WITHOUT_DOORS)
def test_a_function_without_doors_does_not_load_them(module):
    assert [name for name in loaded(module) if name.startswith(DOORS)] == []


@pytest.mark.parametrize("module", WITH_DOORS)
def test_a_handler_loads_neither_the_descriptions_maker_nor_a_tool_of_the_desk(module):
    names = loaded(module)
    assert [name for name in names if name.split(".")[0] in NOT_FOR_LAMBDA] == []
    assert "retiro.portal.openapi" not in names
    assert "aws_lambda_powertools.event_handler.openapi.models" not in names


@pytest.mark.parametrize("function", ["annuities", "payroll_deductions"])
def test_doors_are_loaded_when_somebody_comes_and_are_those_behind_the_first_word_of_their_paths(function):
    names = loaded(f"{function}.api")
    assert [name for name in names if name.startswith(f"{function}.") and name.endswith("_doors")] == []
    portal = importlib.import_module(f"{function}.portal").portal
    behind = {(route.path.split("/")[1], route.function.__module__) for route in portal.routes}
    assert behind == set(portal.doors.items())
