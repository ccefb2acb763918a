"""The template as CloudFormation gets it: what no emulator shows is read off its text."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="session")
def both() -> dict[str, Any]:
    translated = subprocess.run(
        [ROOT / ".tools/ministack/bin/python", ROOT / "tools/translate.py", ROOT / "template.yaml"],
        check=True,
        capture_output=True,
    )
    return json.loads(translated.stdout)


@pytest.fixture(scope="session")
def source(both: dict[str, Any]) -> dict[str, Any]:
    """The template as it is written, its tags in their long form."""
    return both["source"]


@pytest.fixture(scope="session")
def resources(both: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Its resources, SAM's translated."""
    return both["translated"]["Resources"]


@pytest.fixture(scope="session")
def functions(resources: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The properties of each Lambda function, by name."""
    return {name: one["Properties"] for name, one in resources.items() if one["Type"] == "AWS::Lambda::Function"}
