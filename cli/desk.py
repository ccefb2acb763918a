"""The determinations of the desk, by name: those of the rules, and the Board's factor, which never leaves the desk."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from cli.annuity_factor import annuity_factor
from retiro.rules.determinations import DETERMINATIONS
from retiro.rules.frame import Determination

DESK: Mapping[str, Determination[Any, Any]] = MappingProxyType({**DETERMINATIONS, annuity_factor.name: annuity_factor})
