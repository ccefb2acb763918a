"""The demonstration's participants: 300 made-up accounts, the same ones each time, from one seed.

Nobody here exists. P-000001 is fixed, so that its figures can be worked by hand: 10,000.00 brought on 2025-01-01 and
200.00 credited in each month, all in fixed income.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from random import Random
from typing import Any

from retiro.rules.calendar import Semester, add_years
from retiro.rules.money import format_cents

FUND = "ERS"
SEMESTER = Semester.parse("FY2025-S2")
PARTICIPANTS = 300
EMPLOYERS = ("E-001", "E-002", "E-003")
BEGAN_ON = SEMESTER.starts_on
EARLIER_ON = date(2024, 9, 16)
"""When a few accounts had their first credit: a semester earlier, which is still open for them."""

_SEED = 786_7
_OPEN_EARLIER = frozenset({57, 133, 211})
_WITHOUT_SELECTION = frozenset({23, 98, 176, 254})


@dataclass(frozen=True)
class Member:
    """A made-up participant: what the enrolment says, and the contribution of each month."""

    participant_id: str
    employer_id: str
    birth_date: date
    enrolled_on: date
    transfer_cents: int
    selection: Mapping[str, int] | None
    contribution_cents: int

    @property
    def enrolment(self) -> dict[str, Any]:
        """The row of the file of participants."""
        row: dict[str, Any] = {
            "participant_id": self.participant_id,
            "fund": FUND,
            "birth_date": self.birth_date.isoformat(),
            "employer_id": self.employer_id,
            "enrolled_on": self.enrolled_on.isoformat(),
            "person_identifier": f"demo-{self.participant_id}",
            "initial_transfer": {
                "amount": format_cents(self.transfer_cents),
                "credited_on": self.enrolled_on.isoformat(),
                "reference": f"DEMO-{self.participant_id}",
            },
        }
        return row if self.selection is None else row | {"selection": dict(self.selection)}


def members() -> list[Member]:
    """The 300, in the order of their ids."""
    chance = Random(_SEED)  # noqa: S311  the same people each time is the point
    made = [_member(chance, number) for number in range(2, PARTICIPANTS + 1)]
    first = Member("P-000001", EMPLOYERS[0], date(1978, 4, 12), BEGAN_ON, 10_000_00, {"fixed_income": 100}, 200_00)
    return [first, *made]


def participant_file(population: Sequence[Member]) -> dict[str, Any]:
    """The file of enrolments, with its control totals."""
    total_cents = sum(member.transfer_cents for member in population)
    return {
        "reference": "DEMO-PARTICIPANTS",
        "control": {"count": len(population), "transfers_total": format_cents(total_cents)},
        "participants": [member.enrolment for member in population],
    }


def remittances(population: Iterable[Member]) -> list[dict[str, Any]]:
    """Each employer's remittance of each month of the semester, in the order of the months."""
    everybody = list(population)
    return [
        _remittance(employer_id, month, [one for one in everybody if one.employer_id == employer_id])
        for month in SEMESTER.months
        for employer_id in EMPLOYERS
    ]


def deposit(remittance: Mapping[str, Any]) -> dict[str, Any]:
    """The fund's word that the remittance's money came, on the 28th of its month."""
    return {
        "reference": f"BANK-{remittance['reference']}",
        "amount": remittance["control"]["total"],
        "value_date": f"{remittance['period']}-28",
    }


def _remittance(employer_id: str, month: str, staff: Sequence[Member]) -> dict[str, Any]:
    lines = [
        {
            "participant_id": one.participant_id,
            "amount": format_cents(one.contribution_cents),
            "kind": "contribution",
        }
        for one in staff
    ]
    total_cents = sum(one.contribution_cents for one in staff)
    return {
        "reference": f"DEMO-{employer_id}-{month}",
        "employer_id": employer_id,
        "period": month,
        "control": {"count": len(lines), "total": format_cents(total_cents)},
        "lines": lines,
    }


def _member(chance: Random, number: int) -> Member:
    fixed_percent = 10 * chance.randint(0, 10)
    selection = {"fixed_income": fixed_percent, "system_portfolio": 100 - fixed_percent}
    return Member(
        participant_id=f"P-{number:06d}",
        employer_id=EMPLOYERS[number % len(EMPLOYERS)],
        birth_date=add_years(date(1955, 1, 1), chance.randint(0, 40)).replace(day=chance.randint(1, 28)),
        enrolled_on=EARLIER_ON if number in _OPEN_EARLIER else BEGAN_ON,
        transfer_cents=chance.randint(500_00, 60_000_00),
        selection=None if number in _WITHOUT_SELECTION else selection,
        contribution_cents=chance.randint(60_00, 450_00),
    )
