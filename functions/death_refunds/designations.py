"""The designation that counts for a death, § 242b(e), as the determinations take it, and the deaths of those named."""

from collections.abc import Collection, Mapping
from datetime import date
from typing import Any

from death_refunds.claims import BeneficiaryDeath, Claim
from retiro.portal import refused
from retiro.rules.judiciary_hybrid import SECTION
from retiro.rules.refusals import invalid_input


def designation_given(designation: Mapping[str, Any] | None, claim: Claim) -> dict[str, Any] | None:
    """The designation as the determinations take it, with the deaths of those designated."""
    if designation is None:
        return None
    died = {one.name: one.died_on.isoformat() for one in claim.beneficiary_deaths}
    people = [
        {**one, **({"died_on": died[one["name"]]} if one["name"] in died else {})}
        for one in designation["beneficiaries"]
    ]
    return {"filed_on": designation["filed_on"], "recognized": True, "beneficiaries": people}


def check_beneficiary_deaths(claim: Claim, designated: Collection[str], today: date) -> None:
    """The deaths of beneficiaries that a claim begins with: of those designated, and not to come.

    Raises 422 `unknown_beneficiary`, and `Refusal` `invalid_input`.
    """
    for place, death in enumerate(claim.beneficiary_deaths):
        check_beneficiary_death(death, designated, today, within=f"beneficiary_deaths.{place}.")


def check_beneficiary_death(
    death: BeneficiaryDeath, designated: Collection[str], today: date, *, within: str = ""
) -> None:
    """The death of somebody designated, by today: any other would be passed over. `within`: where its fields stand.

    Raises as `check_beneficiary_deaths` does.
    """
    if death.name not in designated:
        raise refused(
            "unknown_beneficiary",
            en=f"The designation that counts doesn't name {death.name}.",
            es=f"La designación que cuenta no nombra a {death.name}.",
            citation=f"{SECTION}(e)",
            field=f"{within}name",
        )
    if death.died_on > today:
        raise invalid_input(f"{SECTION}(e)", f"{within}died_on", "in_the_future")
