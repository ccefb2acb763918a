"""Where runs stand: one item a run, one a chunk, one a lease. Each is changed on condition only.

All of it can be rebuilt: what was posted is in the ledger, what was prepared is in the bucket.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from typing import Any

from retiro.registry.table import AlreadyThereError, ChangedError, Item, OneOf, Table


class RunStatus(StrEnum):
    """Where a run stands."""

    PREPARING = "preparing"
    PREPARED = "prepared"
    APPROVED = "approved"
    POSTING = "posting"
    POSTED = "posted"
    PAUSING = "pausing"
    PAUSED = "paused"
    FAILED = "failed"
    REVERSING = "reversing"
    REVERSED = "reversed"
    SUPERSEDED = "superseded"


class Phase(StrEnum):
    """The passes over the chunks that an execution makes."""

    PREPARE = "prepare"
    POST = "post"
    CLOSE = "close"


@dataclass(frozen=True, order=True)
class RunId:
    """A run: kind, period, and which attempt at that period."""

    kind: str
    period: str
    attempt: int

    def __str__(self) -> str:
        return f"{self.kind}/{self.period}/{self.attempt}"

    @property
    def key(self) -> tuple[str, str]:
        """The key of the run's item."""
        return runs_partition(self.kind, self.period), f"attempt#{self.attempt:04d}"

    @property
    def partition(self) -> str:
        """The partition of the run's chunks and leases."""
        return f"{runs_partition(self.kind, self.period)}#{self.attempt:04d}"

    @property
    def prefix(self) -> str:
        """Where the run's objects lie in the bucket."""
        return f"runs/{self.kind}/{self.period}/{self.attempt:04d}"

    def execution_name(self, number: int) -> str:
        """The name of the run's execution of this number."""
        return f"{self.kind}-{self.period}-{self.attempt:04d}-{number:04d}"


def runs_partition(kind: str, period: str) -> str:
    """The partition of all attempts at a period."""
    return f"run#{kind}#{period}"


@dataclass(frozen=True)
class Run:
    """A run as its item has it. `number` is that of the execution that may work on it: it fences older ones."""

    id: RunId
    status: RunStatus
    number: int
    phase: Phase
    requested_by: str
    requested_at: datetime
    started_at: datetime
    context_text: str
    details: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def context(self) -> Mapping[str, Any]:
        """What the kind computes from: figures, settings, rules version. Fixed when the run is requested."""
        facts: Mapping[str, Any] = json.loads(self.context_text)
        return facts
