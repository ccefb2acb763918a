"""Which designation counts for a death, § 242b(e), and the deaths of those whom it names."""

from collections.abc import Collection, Mapping, Sequence
from datetime import date
from typing import Any

from death_refunds.claims import BeneficiaryDeath, Claim
from retiro.ledger.lines import Line, LineKind
from retiro.portal import refused
from retiro.rules.judiciary_hybrid import SECTION
from retiro.rules.refusals import invalid_input


def counting(history: Sequence[Line], death_date: date) -> Line | None:
    """The line that recognized the last written order filed by the day of the death; `None` where none counts.

    The last by the day on which it was filed, and of one day by the passbook: an older paper that was found and
    recognized later replaces nothing, nor does one filed after the death. Those from before a change of system fell.
    """
    changed = max(
        (line.sequence for line in history if line.kind is LineKind.SYSTEM_CHANGE and line.effective_on <= death_date),
        default=0,
    )
    filed = [
        line for line in history[changed:] if line.kind is LineKind.DESIGNATION and line.effective_on <= death_date
    ]
    return max(filed, key=lambda line: (line.effective_on, line.sequence), default=None)


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
