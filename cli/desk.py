"""The determinations of the desk, by name: those of the rules."""

from collections.abc import Mapping
from typing import Any

from retiro.rules.determinations import DETERMINATIONS
from retiro.rules.frame import Determination

DESK: Mapping[str, Determination[Any, Any]] = DETERMINATIONS
