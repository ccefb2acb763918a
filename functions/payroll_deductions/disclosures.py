"""The disclosure register, § 830q(g): what was published, and what the subsection orders and is missing.

Entries are evidence; the registry lists them by the act whose plan they disclose.
"""

from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from retiro.ledger.encoding import content_hash
from retiro.ledger.evidence import Evidence
from retiro.ledger.passbooks import Passbooks
from retiro.portal import Answer, Body, Principal, Query
from retiro.registry.table import AlreadyThereError, Item, Table
from retiro.rules.calendar import Date, puerto_rico_date
from retiro.rules.payment_plans import SECTION, DisclosureCompliance, disclosure_compliance
from retiro.rules.refusals import invalid_input

DISCLOSURE = "disclosure"

FUND = "ERS"
"""Whose plans the section is about."""

ActName = Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]{0,2}-[0-9]{4}$"), Field(examples=["216-2008"])]
Newspaper = Annotated[str, StringConstraints(min_length=1, max_length=200, strip_whitespace=True)]
Hash = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$"), Field(examples=["0123456789abcdef" * 4])]


class _Disclosed(Body):
    """The act whose plan is disclosed, the day, and the document."""

    act: ActName
    date: Date
    document_sha256: Hash


class Published(_Disclosed):
    """A publication in a newspaper, and whether that is of general circulation: only those count."""

    kind: Literal["publication"]
    newspaper: Newspaper
    general_circulation: bool


class CoordinatorNotified(_Disclosed):
    """The notice to the Agency Coordinator."""

    kind: Literal["coordinator_notice"]


class CircularLetter(_Disclosed):
    """The Circular Letter to agencies and municipalities."""

    kind: Literal["circular_letter"]


NewDisclosure = Annotated[Published | CoordinatorNotified | CircularLetter, Field(discriminator="kind")]


class DisclosureQuery(Query):
    """The act whose plan is disclosed."""

    act: ActName


class Disclosed(Answer):
    """An entry of the register."""

    disclosure_id: str
    kind: Literal["publication", "coordinator_notice", "circular_letter"]
    date: Date
    newspaper: str | None
    general_circulation: bool | None
    document_sha256: Hash
    entered_by: str


class DisclosureRegister(Answer):
    """All entries for an act, and the report: whether all was done, and what is missing."""

    act: ActName
    items: list[Disclosed]
    report: DisclosureCompliance


@dataclass(frozen=True)
class Disclosures:
    """The register."""

    passbooks: Passbooks
    registry: Table

    def enter(self, body: Published | CoordinatorNotified | CircularLetter, principal: Principal) -> Disclosed:
        """Enter what was disclosed. The same again is the entry that is there. Raises 403 for another fund's client."""
        principal.must_reach_fund(FUND)
        if body.date > puerto_rico_date(self.passbooks.clock()):
            raise invalid_input(f"{SECTION}(g)", "date", "in_the_future")
        content = body.model_dump(mode="json")
        identifier = f"{body.date}-{content_hash(content).hex()[:16]}"
        item: Item = {
            "pk": f"disclosures#{body.act}",
            "sk": identifier,
            **{name: value for name, value in content.items() if name != "act"},
            "entered_by": principal.person,
        }
        try:
            self.registry.insert(item)
        except AlreadyThereError as there:
            item = there.existing
        # What the registry lists is what the evidence says, whoever entered it first.
        self.passbooks.store.put_evidence(
            Evidence(DISCLOSURE, f"{body.act}/{identifier}", content | {"entered_by": item["entered_by"]})
        )
        return _shown(item)

    def register(self, act: str) -> DisclosureRegister:
        """The entries for an act by day, and what is missing of what (g) orders."""
        items = list(self.registry.items(f"disclosures#{act}"))
        return DisclosureRegister(act=act, items=[_shown(item) for item in items], report=_report(items))


def _report(items: list[Item]) -> DisclosureCompliance:
    given: dict[str, Any] = {
        "publications": [
            {"newspaper": item["newspaper"], "date": item["date"]}
            for item in items
            if item["kind"] == "publication" and item["general_circulation"]
        ]
    }
    for kind, field in (("coordinator_notice", "coordinator_notified_on"), ("circular_letter", "circular_letter_on")):
        days = [item["date"] for item in items if item["kind"] == kind]
        if days:
            given[field] = min(days)
    return disclosure_compliance(disclosure_compliance.parse(given))


def _shown(item: Item) -> Disclosed:
    return Disclosed(
        disclosure_id=item["sk"],
        kind=item["kind"],
        date=date.fromisoformat(item["date"]),
        newspaper=item.get("newspaper"),
        general_circulation=item.get("general_circulation"),
        document_sha256=item["document_sha256"],
        entered_by=item["entered_by"],
    )
