"""Who participates: each membership's profile, its place on the roster, and the keyed hash that links a person's.

All of it stands in the ledger too, in the evidence of the enrolment.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Annotated

from pydantic import Field, StringConstraints

from retiro.registry.batches import items_of
from retiro.registry.roster import Holder, roster_item
from retiro.registry.table import Item, Table

PARTICIPANT_ID_PATTERN = r"^P-[0-9]{6,9}$"
EMPLOYER_ID_PATTERN = r"^E-[0-9]{3,6}$"
ParticipantId = Annotated[str, StringConstraints(pattern=PARTICIPANT_ID_PATTERN), Field(examples=["P-000001"])]
EmployerId = Annotated[str, StringConstraints(pattern=EMPLOYER_ID_PATTERN), Field(examples=["E-001"])]
# A reference that a client gives: it becomes part of ids, paths and names of executions.
Reference = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9-]{1,40}$"), Field(examples=["2025-014"])]


@dataclass(frozen=True)
class Profile:
    """A membership: one person in one program of one system. `person_key` is a keyed hash, never the identifier."""

    participant_id: str
    fund: str
    birth_date: date
    employer_id: str
    enrolled_on: date
    person_key: str | None = None


def opening_items(profile: Profile) -> Iterator[Item]:
    """What the registry gets in the transaction that opens the passbook: roster, profile, and the person's link."""
    yield roster_item(profile.participant_id, profile.fund, Holder.PARTICIPANT)
    yield _item(profile)
    if profile.person_key is not None:
        yield {"pk": f"person#{profile.person_key}", "sk": profile.participant_id}


def profile_of(table: Table, participant_id: str) -> Profile | None:
    """The participant's profile, read consistently; `None` where nobody is enrolled under this id."""
    item = table.get(*_key(participant_id))
    return None if item is None else _profile(item)


def profiles_of(table: Table, participant_ids: Iterable[str]) -> Mapping[str, Profile]:
    """The profiles of those that are enrolled, by id, read consistently in batches. Raises `ItemsUnreadError`."""
    profiles = map(_profile, items_of(table, map(_key, participant_ids)))
    return {profile.participant_id: profile for profile in profiles}


def _key(participant_id: str) -> tuple[str, str]:
    return f"participant#{participant_id}", "profile"


def _item(profile: Profile) -> Item:
    pk, sk = _key(profile.participant_id)
    return {
        "pk": pk,
        "sk": sk,
        "participant_id": profile.participant_id,
        "fund": profile.fund,
        "birth_date": profile.birth_date.isoformat(),
        "employer_id": profile.employer_id,
        "enrolled_on": profile.enrolled_on.isoformat(),
        **({"person_key": profile.person_key} if profile.person_key is not None else {}),
    }


def _profile(item: Item) -> Profile:
    return Profile(
        item["participant_id"],
        item["fund"],
        date.fromisoformat(item["birth_date"]),
        item["employer_id"],
        date.fromisoformat(item["enrolled_on"]),
        item.get("person_key"),
    )
