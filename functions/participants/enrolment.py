"""Enrolling a participant: the passbook's first lines, the roster and the profile, in one transaction.

The doors and the worker of files both come here. Nothing in this module knows HTTP.
"""

from datetime import date
from functools import cache, partial
from typing import Any, Literal

from retiro.ledger import hybrid, savings
from retiro.ledger.board import BoardBook
from retiro.ledger.evidence import Evidence
from retiro.ledger.keys import BusinessKey, KeyKind
from retiro.ledger.lines import Draft, Line
from retiro.ledger.passbooks import Appended, Decision, Passbooks
from retiro.ledger.savings import Origin
from retiro.registry import employers
from retiro.registry.participants import EmployerId, ParticipantId, Profile, Reference, opening_items
from retiro.registry.table import Table
from retiro.rules.calendar import Date, puerto_rico_date
from retiro.rules.forms import Form
from retiro.rules.judiciary_hybrid import SECTION as SECTION_242B
from retiro.rules.judiciary_hybrid import SYSTEM
from retiro.rules.money import Money
from retiro.rules.refusals import Refusal, RefusalCode, invalid_input
from retiro.rules.savings_accounts import (
    SECTION,
    InvestmentSelection,
    InvestmentSelectionGiven,
    Selection,
    check_on_calendar,
    investment_selection,
)

EVIDENCE = "enrolment"


class InitialTransfer(Form):
    """The balance that a participant brings from another plan, § 786-7(a)(1)."""

    amount: Money
    credited_on: Date
    reference: Reference


class EnrolmentFields(Form):
    """What an enrolment says, but for who the person is. `fund`: ERS is a savings account, JRS the Hybrid Program."""

    participant_id: ParticipantId
    fund: Literal["ERS", "JRS"]
    birth_date: Date
    employer_id: EmployerId
    enrolled_on: Date
    selection: Selection | None = None
    initial_transfer: InitialTransfer | None = None


class Enrolment(EnrolmentFields):
    """An enrolment as it is checked, stored and worked off: a keyed hash stands for the person."""

    person_key: str | None = None

    @classmethod
    def of(cls, fields: EnrolmentFields, person_key: str | None) -> "Enrolment":
        """The enrolment with the person's key."""
        return cls(**{name: getattr(fields, name) for name in EnrolmentFields.model_fields}, person_key=person_key)

    @property
    def content(self) -> dict[str, Any]:
        """What the enrolment is the same by."""
        return self.model_dump(mode="json", exclude_none=True)

    @property
    def profile(self) -> Profile:
        """What the registry keeps of it."""
        return Profile(
            self.participant_id, self.fund, self.birth_date, self.employer_id, self.enrolled_on, self.person_key
        )


class Enrolments:
    """Enrols, once an id. Made for a request or a page of rows: what the Board adopted and who employs is read once."""

    def __init__(self, passbooks: Passbooks, registry: Table, board: BoardBook) -> None:
        self._passbooks = passbooks
        self._registry = registry
        self._figures_of = cache(board.adopted)
        self._employer_of = cache(partial(employers.employer_of, registry))
        self._today = puerto_rico_date(passbooks.clock())

    def check(self, enrolment: Enrolment) -> InvestmentSelection | None:
        """What the enrolment's selection is found to be, if it has one.

        Raises `Refusal`: `invalid_input` (a date off the fiscal calendar or before another it follows, another fund),
        `unknown_employer`, and what `investment_selection` refuses.
        """
        check_on_calendar(enrolment.enrolled_on, today=self._today, field="enrolled_on")
        if enrolment.birth_date >= enrolment.enrolled_on:
            raise invalid_input(SECTION, "enrolled_on", "before_birth")
        if enrolment.fund == SYSTEM and enrolment.selection is not None:
            raise invalid_input(SECTION_242B, "selection", "not_of_program")
        employer = self._employer_of(enrolment.employer_id)
        if employer is None:
            raise Refusal(
                RefusalCode.UNKNOWN_EMPLOYER,
                f"{SECTION}(a)(2)",
                field="employer_id",
                employer_id=enrolment.employer_id,
            )
        if employer.fund != enrolment.fund:
            raise invalid_input(SECTION, "fund", "fund_of_employer")
        if enrolment.initial_transfer is not None:
            check_transfer(enrolment.initial_transfer, enrolment.enrolled_on, self._today, "initial_transfer.")
        return None if enrolment.selection is None else self._initial(enrolment, enrolment.selection)

    def enrol(self, enrolment: Enrolment, by: str) -> Appended:
        """Open the passbook. `by` is the principal. The same enrolment again is the first answer.

        Raises what `check` does, and `KeyConflictError` where the id is enrolled with another content.
        """
        found = self.check(enrolment)
        origin = Origin(by, f"{EVIDENCE}/{enrolment.participant_id}")

        def decide(last: Line | None) -> Decision:
            drafts = [_opening(last, enrolment, origin)]
            transfer = enrolment.initial_transfer
            if transfer is not None:
                from_there = Origin(by, origin.determination, {"reference": transfer.reference})
                drafts.append(savings.initial_transfer(None, transfer.amount, transfer.credited_on, from_there))
            return Decision(drafts)

        receipt = None if found is None else found.receipt.model_dump(mode="json")
        return self._passbooks.append(
            enrolment.participant_id,
            decide,
            fund=enrolment.fund,
            key=BusinessKey(KeyKind.ENROLMENT, enrolment.participant_id),
            content=enrolment.content,
            evidence=[Evidence(EVIDENCE, enrolment.participant_id, {**enrolment.content, "receipt": receipt})],
            also=[self._registry.insertion(item) for item in opening_items(enrolment.profile)],
        )

    def _initial(self, enrolment: Enrolment, selection: dict[str, int]) -> InvestmentSelection:
        day = enrolment.enrolled_on
        return investment_selection(
            InvestmentSelectionGiven(
                requested_on=day,
                selection=selection,
                options_in_force=self._figures_of(enrolment.fund).options_in_force(day),
                initial=True,
            )
        )


def _opening(last: Line | None, enrolment: Enrolment, origin: Origin) -> Draft:
    """The first line: of a savings account with its selection, or of a judge's account."""
    if enrolment.fund == SYSTEM:
        return hybrid.enrolment(last, enrolment.enrolled_on, origin)
    return savings.enrolment(last, enrolment.enrolled_on, enrolment.selection, origin)


def check_transfer(transfer: InitialTransfer, enrolled_on: date, today: date, place: str = "") -> None:
    """A balance above zero, credited when the account is opened, or later: never before. § 786-7(a)(1).

    Raises `Refusal` `invalid_input`; `place` is what comes before the fields' names.
    """
    if transfer.amount <= 0:
        raise invalid_input(f"{SECTION}(a)(1)", f"{place}amount", "not_above_zero")
    check_on_calendar(transfer.credited_on, today=today, field=f"{place}credited_on")
    if transfer.credited_on < enrolled_on:
        raise invalid_input(f"{SECTION}(a)(1)", f"{place}credited_on", "before_enrolment")
