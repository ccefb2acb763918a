"""Environment variables as a model: each handler names in one class what it needs, and fails at start without it."""

import os
from typing import Self

from pydantic import BaseModel, ConfigDict


class Environment(BaseModel):
    """What a function reads from its environment. A field `ledger_table` is the variable `LEDGER_TABLE`."""

    model_config = ConfigDict(frozen=True, extra="ignore", alias_generator=str.upper, hide_input_in_errors=True)

    @classmethod
    def read(cls) -> Self:
        """The environment of this process. Raises pydantic's `ValidationError` naming what is missing."""
        return cls.model_validate(os.environ)
