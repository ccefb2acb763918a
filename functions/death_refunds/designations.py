"""Which designation counts for a death, § 242b(e), and the deaths of those whom it names."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from death_refunds.claims import Claim
from retiro.ledger.lines import Line, LineKind


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
