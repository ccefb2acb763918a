"""Where a report or a case stands: its id is the passbook and the line that opened it, like `P-000001-12`."""

from typing import Annotated

from pydantic import Field, StringConstraints

CaseId = Annotated[str, StringConstraints(pattern=r"^P-[0-9]{6,9}-[0-9]{1,8}$"), Field(examples=["P-000001-12"])]


def case_id(participant_id: str, sequence: int) -> str:
    """The id of what the line opened."""
    return f"{participant_id}-{sequence}"


def place_of(identifier: str) -> tuple[str, int]:
    """The participant and the sequence of an id."""
    participant_id, _, sequence = identifier.rpartition("-")
    return participant_id, int(sequence)


def evidence_id(participant_id: str, sequence: int) -> str:
    """The id of the evidence that a line rests on."""
    return f"{participant_id}/{sequence:08d}"
