"""§ 242b(e), (f): whom a death pays: debts to the System first, then those designated, else the heirs, to the cent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, field_validator

from retiro.rules.calendar import Date
from retiro.rules.forms import Form, Sentence, form_error
from retiro.rules.frame import Given, Result, Worksheet
from retiro.rules.judiciary_hybrid.section import SECTION, SYSTEM
from retiro.rules.money import Amount, NonNegativeMoney, NonNegativePercent, format_decimal, split_exact
from retiro.rules.refusals import Refusal, RefusalCode

Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Basis = Literal["designation", "heirs"]

HEIRS = "heirs"
"""The one payee that stands for heirs who are not declared yet."""

_WHOLE_PERCENT = 100


# What comes in, what goes out


class Debt(Form):
    """A debt of the participant, to this System unless another is named."""

    name: Name
    amount: NonNegativeMoney
    system: Name = SYSTEM


class Beneficiary(Form):
    """Somebody designated. No share given for any is equal shares."""

    name: Name
    share_percent: NonNegativePercent | None = None
    died_on: Date | None = None


class Designation(Form):
    """A written order: it counts only if it was filed by the day of death, and recognized."""

    filed_on: Date
    recognized: bool
    beneficiaries: list[Beneficiary] = Field(default_factory=list)


class Heir(Form):
    """A declared heir. No share given for any is equal shares."""

    name: Name
    share_percent: NonNegativePercent | None = None


Question = Literal[
    "separated_before_death", "debt_to_another_system", "lump_sum_with_transfer_annuity", "pensioner_debts"
]
Choice = Literal["as_in_active_service", "leave_out", "pay", "none", "collect"]

CHOICES: Mapping[Question, tuple[Choice, ...]] = {
    "separated_before_death": ("as_in_active_service",),
    "debt_to_another_system": ("leave_out",),
    "lump_sum_with_transfer_annuity": ("pay", "none"),
    "pensioner_debts": ("collect",),
}
"""What a person may decide where the text, or a setting of the Board, leaves it to a person."""

_REASON_MIN = 10


class PersonsDecision(Form):
    """What a person has decided in this case, why, and with whom as the second."""

    about: Question
    choice: Choice
    reason: Annotated[str, StringConstraints(min_length=_REASON_MIN, max_length=500)]
    decided_by: Name
    seconded_by: Name | None = None


class ClaimGiven(Given):
    """What both deaths take: the day, the debts, the last designation, the heirs, if declared, and what was decided."""

    death_date: Date
    debts: list[Debt] = Field(default_factory=list)
    designation: Designation | None = None
    heirs: list[Heir] = Field(default_factory=list)
    decisions: list[PersonsDecision] = Field(default_factory=list)

    @field_validator("decisions")
    @classmethod
    def _each_choice_answers_its_question(cls, decisions: list[PersonsDecision]) -> list[PersonsDecision]:
        if any(one.choice not in CHOICES[one.about] for one in decisions):
            raise form_error("literal_error")
        return decisions


class CollectedDebt(Form):
    """What was taken for a debt."""

    name: Name
    collected: Amount


class Payee(Form):
    """Who is paid, how much, and whether it may be paid out now."""

    name: Name
    amount: Amount
    status: Literal["payable", "held"]


class ClaimResult(Result):
    """What both deaths give: the debts collected, what they left open, and the payees of the net."""

    debts: list[CollectedDebt]
    debts_collected: Amount
    uncollected_debt: Amount
    basis: Basis
    payees: list[Payee]


# Who takes


@dataclass(frozen=True, slots=True)
class Designee:
    """Somebody who takes by designation, by what share, and whether death came first."""

    name: str
    share: Fraction
    predeceased: bool


@dataclass(frozen=True, slots=True)
class Takers:
    """Who takes a net amount, settled before any amount is known. No heirs are heirs not declared."""

    designees: tuple[Designee, ...]
    heirs: tuple[tuple[str, Fraction], ...]

    @property
    def basis(self) -> Basis:
        """By what they take."""
        return "designation" if self.designees else "heirs"

    def split(self, net_cents: int) -> list[Payee]:
        """The net to the cent: among the designees first, then what fell to the predeceased among the heirs."""
        if net_cents == 0:
            return []
        if not self.designees:
            return self._heirs(net_cents)
        parts = split_exact(net_cents, [designee.share for designee in self.designees])
        shares = list(zip(self.designees, parts, strict=True))
        payees = [
            Payee(name=designee.name, amount=part, status="payable")
            for designee, part in shares
            if not designee.predeceased
        ]
        fallen_cents = sum(part for designee, part in shares if designee.predeceased)
        return payees + (self._heirs(fallen_cents) if fallen_cents else [])

    def _heirs(self, amount_cents: int) -> list[Payee]:
        if not self.heirs:
            return [Payee(name=HEIRS, amount=amount_cents, status="held")]
        parts = split_exact(amount_cents, [share for _, share in self.heirs])
        return [
            Payee(name=name, amount=part, status="payable") for (name, _), part in zip(self.heirs, parts, strict=True)
        ]


def takers_of(given: ClaimGiven, clause: str, sheet: Worksheet) -> Takers:
    """(e): those of a designation that counts; the heirs without one, for the predeceased, or if all died first.

    Under `predeceased_share` `accrue` the predeceased drop out, and the others' shares are scaled up.

    Raises:
        Refusal: `shares_do_not_total_100`, of the designees, or of the heirs where they take.
    """
    designees = _designees(given, clause)
    if any(designee.predeceased for designee in designees):
        in_favor_of = sheet.setting("predeceased_share", given.settings, given.death_date)
        living = tuple(designee for designee in designees if not designee.predeceased)
        if in_favor_of == "accrue" or not living:
            designees = living
    if not sum(designee.share for designee in designees):
        designees = ()  # nobody is left who was to take anything
    heirs_take = not designees or any(designee.predeceased for designee in designees)
    takers = Takers(designees, _heirs(given, clause) if heirs_take else ())
    sheet.fact(
        f"{SECTION}{clause}",
        Sentence("Basis", "Base"),
        Sentence(
            "the last designation filed by the day of death and recognized, else the heirs",
            "la última designación presentada hasta el día de la muerte y reconocida; si no, los herederos",
        ),
        takers.basis,
    )
    return takers


def _designees(given: ClaimGiven, clause: str) -> tuple[Designee, ...]:
    designation = given.designation
    if designation is None or not designation.recognized or designation.filed_on > given.death_date:
        return ()
    people = designation.beneficiaries
    shares = shares_of([each.share_percent for each in people], "designation.beneficiaries", clause)
    return tuple(
        Designee(each.name, share, predeceased=each.died_on is not None and each.died_on <= given.death_date)
        for each, share in zip(people, shares, strict=True)
    )


def _heirs(given: ClaimGiven, clause: str) -> tuple[tuple[str, Fraction], ...]:
    shares = shares_of([heir.share_percent for heir in given.heirs], "heirs", clause)
    return tuple((heir.name, share) for heir, share in zip(given.heirs, shares, strict=True))


def shares_of(percents: Sequence[Fraction | None], field: str, clause: str) -> list[Fraction]:
    """The shares as given, or equal ones where none is."""
    given = [percent for percent in percents if percent is not None]
    if not given:
        return [Fraction(1)] * len(percents)
    total = sum(given, Fraction(0))
    if len(given) < len(percents) or total != _WHOLE_PERCENT:
        raise Refusal(
            RefusalCode.SHARES_DO_NOT_TOTAL_100, f"{SECTION}{clause}", field=field, total=format_decimal(total)
        )
    return given


# What is collected first


def decided(given: ClaimGiven, about: Question, clause: str, sheet: Worksheet) -> Choice | None:
    """What a person has decided about a question, written down with the reason; `None` where nobody has."""
    for one in given.decisions:
        if one.about == about:
            second = one.seconded_by or "-"
            sheet.fact(
                f"{SECTION}{clause}",
                Sentence(f"Decision of a person: {about}", f"Decisión de una persona: {about}"),
                Sentence(
                    f"{one.reason} (decided by {one.decided_by}, seconded by {second})",
                    f"{one.reason} (decidido por {one.decided_by}, secundado por {second})",
                ),
                one.choice,
            )
            return one.choice
    return None


def debts_to_system(given: ClaimGiven, clause: str, sheet: Worksheet) -> list[Debt]:
    """(e): only debts to the System come off. One to another system is left out where a person has decided so.

    Raises:
        Refusal: `needs_decision`, a debt to another system.
    """
    elsewhere = any(debt.system != SYSTEM for debt in given.debts)
    if elsewhere and decided(given, "debt_to_another_system", clause, sheet) is not None:
        return [debt for debt in given.debts if debt.system == SYSTEM]
    for number, debt in enumerate(given.debts):
        if debt.system != SYSTEM:
            raise Refusal(
                RefusalCode.NEEDS_DECISION,
                f"{SECTION}(e); 3 L.P.R.A. § 803",
                field=f"debts.{number}.system",
                reason_en="a debt is to another system",
                reason_es="una deuda es con otro sistema",
            )
    return given.debts


@dataclass(frozen=True, slots=True)
class Settlement:
    """What became of a gross amount: the debts, in their order, what stays open of them, and the net."""

    gross_cents: int
    debts: list[CollectedDebt]
    collected_cents: int
    uncollected_cents: int
    net_cents: int


Owed = tuple[str, int]
"""A debt to this System: its name, and its cents."""


def owed(debts: Sequence[Debt]) -> list[Owed]:
    """The debts to this System, in the order listed."""
    return [(debt.name, debt.amount) for debt in debts]


def collect(gross_cents: int, debts: Sequence[Owed], clause: str, sheet: Worksheet) -> Settlement:
    """Take the debts off a gross amount, in the order listed, before any split, and never below zero."""
    left_cents = gross_cents
    rows: list[CollectedDebt] = []
    for name, owed_cents in debts:
        taken_cents = min(owed_cents, left_cents)
        left_cents -= taken_cents
        rows.append(CollectedDebt(name=name, collected=taken_cents))
        sheet.money(
            f"{SECTION}{clause}",
            Sentence(f"Collected for {name}", f"Cobrado por {name}"),
            Sentence("the debt, or what is left if that is less", "la deuda, o lo que quede si es menos"),
            Fraction(taken_cents),
        )
    collected_cents = gross_cents - left_cents
    sheet.money(
        f"{SECTION}{clause}",
        Sentence("Net", "Neto"),
        Sentence("gross − debts collected", "bruto − deudas cobradas"),
        Fraction(left_cents),
    )
    return Settlement(
        gross_cents, rows, collected_cents, sum(cents for _, cents in debts) - collected_cents, left_cents
    )


def leave_uncollected(gross_cents: int, debts: Sequence[Owed]) -> Settlement:
    """Take nothing: all debts stay open."""
    rows = [CollectedDebt(name=name, collected=0) for name, _ in debts]
    return Settlement(gross_cents, rows, 0, sum(cents for _, cents in debts), gross_cents)


def write_split(payees: Sequence[Payee], clause: str, sheet: Worksheet) -> None:
    """Write down what each payee gets."""
    for payee in payees:
        sheet.money(
            f"{SECTION}{clause}",
            Sentence(f"To {payee.name}", f"A {payee.name}"),
            Sentence("part of the net, by largest remainder", "parte del neto, por el resto mayor"),
            Fraction(payee.amount),
        )
