"""§ 830q(g): whether the section was disclosed as it orders. ORHELA's part in it has nothing to compute."""

from collections import Counter
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from retiro.rules.calendar import Date
from retiro.rules.forms import Form, Sentence
from retiro.rules.frame import Given, Result, Worksheet, determination
from retiro.rules.payment_plans.section import SECTION

# (g), unchanged since Act 97-2002: at least three publications in each of at least two newspapers.
PUBLICATIONS_IN_EACH = 3
NEWSPAPERS = 2

Missing = Literal["newspapers", "coordinator_notice", "circular_letter"]


class Publication(Form):
    """The section published in a newspaper of general circulation on a day."""

    newspaper: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    date: Date


class DisclosureComplianceGiven(Given):
    """§ 830q(g): the disclosure register. A notice or letter that is not sent yet is null or left out."""

    publications: list[Publication] = Field(default_factory=list)
    coordinator_notified_on: Date | None = None
    circular_letter_on: Date | None = None


class DisclosureCompliance(Result):
    """§ 830q(g): whether all was done, and what is missing, in the order of the text."""

    compliant: bool
    missing: list[Missing]


@determination("disclosure_compliance", f"{SECTION}(g)", DisclosureComplianceGiven, DisclosureCompliance)
def disclosure_compliance(given: DisclosureComplianceGiven, sheet: Worksheet) -> DisclosureCompliance:
    """(g): newspapers, the notice to the Agency Coordinator, and the Circular Letter. A newspaper counts once a day."""
    days_by_newspaper = Counter(newspaper for newspaper, _ in {(one.newspaper, one.date) for one in given.publications})
    complete = sum(days >= PUBLICATIONS_IN_EACH for days in days_by_newspaper.values())
    sheet.fact(
        f"{SECTION}(g)",
        Sentence("Newspapers with enough publications", "Periódicos con publicaciones suficientes"),
        Sentence(
            f"those with {PUBLICATIONS_IN_EACH} days or more; {NEWSPAPERS} are needed",
            f"los que tienen {PUBLICATIONS_IN_EACH} días o más; se requieren {NEWSPAPERS}",
        ),
        complete,
    )
    missing: list[Missing] = []
    if complete < NEWSPAPERS:
        missing.append("newspapers")
    if given.coordinator_notified_on is None:
        missing.append("coordinator_notice")
    if given.circular_letter_on is None:
        missing.append("circular_letter")
    sheet.fact(
        f"{SECTION}(g)",
        Sentence("Missing", "Falta"),
        Sentence("what the subsection orders and isn't registered", "lo que el inciso ordena y no está registrado"),
        ", ".join(missing) or "–",
    )
    return DisclosureCompliance(compliant=not missing, missing=missing, receipt=sheet.receipt())
