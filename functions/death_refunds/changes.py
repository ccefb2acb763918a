"""What an event makes of a case's claim. Each is checked against the case as it stands."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from death_refunds.claims import BeneficiaryDeath, Claim, Hold, Release, put
from death_refunds.designations import check_beneficiary_death
from death_refunds.models import BeneficiaryDied, DecisionMade, HeirsDeclared, Held, Released
from death_refunds.steps import Standing
from retiro.portal import conflict, refused
from retiro.rules.judiciary_hybrid import HEIRS, SECTION, PersonsDecision

OfPayee = TypeVar("OfPayee", Hold, Release)

Event = DecisionMade | HeirsDeclared | BeneficiaryDied | Held | Released


def changed_by(event: Event, person: str) -> Callable[[Standing], Claim]:
    """The claim after the event. `person` is who enters it."""

    def changed(standing: Standing) -> Claim:
        claim = standing.entered.claim
        match event:
            case DecisionMade():
                return _decided(standing, claim, event, person)
            case HeirsDeclared():
                return claim.with_changes(heirs=event.heirs)
            case BeneficiaryDied():
                return _died(standing, claim, event)
            case Held():
                _check_payee(standing, event.payee)
                hold = Hold(payee=event.payee, reason=event.reason, note=event.note)
                holds = put(claim.holds, hold, lambda one: one.payee)
                return claim.with_changes(holds=holds, releases=_without(claim.releases, event.payee))
            case Released():
                _check_payee(standing, event.payee)
                release = Release(payee=event.payee, note=event.note)
                releases = put(claim.releases, release, lambda one: one.payee)
                return claim.with_changes(holds=_without(claim.holds, event.payee), releases=releases)

    return changed


def _decided(standing: Standing, claim: Claim, event: DecisionMade, person: str) -> Claim:
    if standing.approved is not None:
        raise conflict(
            "already_settled",
            en="This death is settled: what a person decides comes before.",
            es="Esta muerte está liquidada: lo que decide una persona va antes.",
            citation=SECTION,
        )
    decision = PersonsDecision(about=event.about, choice=event.choice, reason=event.reason, decided_by=person)
    return claim.with_changes(decisions=put(claim.decisions, decision, lambda one: one.about))


def _died(standing: Standing, claim: Claim, event: BeneficiaryDied) -> Claim:
    death = BeneficiaryDeath(name=event.name, died_on=event.died_on)
    check_beneficiary_death(death, standing.designated, standing.today)
    return claim.with_changes(beneficiary_deaths=put(claim.beneficiary_deaths, death, lambda one: one.name))


def _check_payee(standing: Standing, number: int) -> None:
    """The payee is there, and isn't the row that waits for heirs to be declared."""
    row = next((one for one in standing.entered.payees if one.number == number), None)
    if row is None:
        raise refused(
            "unknown_payee",
            en=f"The case has no payee {number}.",
            es=f"El caso no tiene un beneficiario {number}.",
            citation=f"{SECTION}(e), (f)",
            field="payee",
        )
    if row.name == HEIRS and row.reason == "heirs_not_declared":
        raise refused(
            "heirs_not_declared",
            en="What is held for heirs is released by their declaration.",
            es="Lo retenido para herederos se libera con su declaración.",
            citation=f"{SECTION}(e)",
            field="payee",
        )


def _without(told: Sequence[OfPayee], number: int) -> list[OfPayee]:
    """What was told of the other payees."""
    return [one for one in told if one.payee != number]
