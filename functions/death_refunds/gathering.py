"""From a passbook to what the determinations of § 242b(e), (f) take, and their results. It writes nothing.

The program finds the route: an annuity in force is a pensioner's death, and within the thirty days a death as in active
service; everything else is a death in active service. It gathers the balance, the return of the semester under way,
the payments made, the debts, and the designation that counts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from death_refunds.claims import Claim
from death_refunds.designations import designation_given
from retiro.ledger import exits, hybrid
from retiro.ledger.annuities import ANNUITY_RUN
from retiro.ledger.lines import SAVINGS, Line, LineKind
from retiro.ledger.savings import CONTRIBUTIONS, TRANSFERS, YIELDS
from retiro.rules import judiciary_hybrid as rules
from retiro.rules.calendar import Semester, format_month
from retiro.rules.money import format_cents

if TYPE_CHECKING:
    from retiro.ledger.figures import Figures
    from retiro.rules.judiciary_hybrid import (
        ActiveDeathRefund,
        AnnuityPayments,
        PensionerDeathBenefit,
        ProvisionalYield,
    )

CLAIM_SETTINGS = ("predeceased_share", "lump_sum_with_transfer_annuity", "pensioner_debts")


@dataclass(frozen=True)
class Outcome:
    """What the determinations found. `benefit` is the refund, or the death benefit; the others lead to it.

    `received_cents` is the gross of all annuity payments; `unpaid_cents` what was due through the month of death and
    wasn't received.
    """

    death_date: date
    benefit: "ActiveDeathRefund | PensionerDeathBenefit"
    given: Mapping[str, Any]
    provisional: "ProvisionalYield | None" = None
    payments: "AnnuityPayments | None" = None
    received_cents: int = 0
    unpaid_cents: int = 0

    @property
    def name(self) -> str:
        """The determination of the benefit."""
        return self.benefit.receipt.determination

    @property
    def results(self) -> dict[str, Any]:
        """Every result with its receipt, by determination, as plain JSON."""
        found = {"provisional_yield": self.provisional, "annuity_payments": self.payments, self.name: self.benefit}
        return {name: one.model_dump(mode="json") for name, one in found.items() if one is not None}

    @property
    def route(self) -> str:
        """`active_service`, or `pensioner`."""
        return self.benefit.route if isinstance(self.benefit, rules.PensionerDeathBenefit) else "active_service"

    @property
    def is_void(self) -> bool:
        """Whether the death has made an annuity void."""
        return isinstance(self.benefit, rules.PensionerDeathBenefit) and self.benefit.annuity_void

    @property
    def gross_cents(self) -> int:
        """Before the debts."""
        benefit = self.benefit
        return benefit.gross_benefit if isinstance(benefit, rules.PensionerDeathBenefit) else benefit.gross_refund

    @property
    def net_cents(self) -> int:
        """After the debts."""
        benefit = self.benefit
        return benefit.net_benefit if isinstance(benefit, rules.PensionerDeathBenefit) else benefit.net_refund

    @property
    def overpaid_cents(self) -> int:
        """Gross received for months after that of the death. A void annuity's payments are a debt instead."""
        return 0 if self.payments is None or self.is_void else max(0, self.received_cents - self.payments.total_payable)


@dataclass(frozen=True)
class Case:
    """A passbook, its Board's figures, the day of death, the designation that counts, and the claim."""

    history: Sequence[Line]
    figures: "Figures"
    death_date: date
    designation: Mapping[str, Any] | None
    claim: Claim

    @property
    def last(self) -> Line:
        """The passbook's last line."""
        return self.history[-1]

    @property
    def designated(self) -> list[str]:
        """The names of those whom the designation that counts names."""
        return [] if self.designation is None else [one["name"] for one in self.designation["beneficiaries"]]

    @property
    def designation_given(self) -> dict[str, Any] | None:
        """The designation as the determinations take it."""
        return designation_given(self.designation, self.claim)

    def determined(self, *, posts: bool) -> Outcome:
        """Determine. What `posts` rests on adopted settings alone.

        Raises `Refusal`: `period_open`, `not_in_force`, and what the determinations refuse, `needs_decision` among it.
        """
        annuity = hybrid.annuity_of(self.last)
        outcome = self._in_active_service() if annuity is None else self._of_pensioner(annuity)
        if posts:
            for one in (outcome.provisional, outcome.payments, outcome.benefit):
                if one is not None:
                    exits.check_adopted(one.receipt, self.figures)
        return outcome

    def determined_again(self, given: Mapping[str, Any], unpaid_cents: int) -> Outcome:
        """The benefit on the facts that it was settled on, with another claim: the amounts before the split stay.

        Raises `Refusal` as `determined` does.
        """
        names = ("designation", "heirs", "decisions")
        given = {**given, **{name: value for name, value in self._claim_given().items() if name in names}}
        benefit = self._benefit(given)
        exits.check_adopted(benefit.receipt, self.figures)
        return Outcome(self.death_date, benefit, given, unpaid_cents=unpaid_cents)

    def _in_active_service(self) -> Outcome:
        """(e): contributions and their return as of the death; what was posted for later semesters doesn't count."""
        exits.check_periods(self.last, self.death_date)
        provisional = self._provisional(exits.semester_under_way(self.death_date), self.death_date)
        credited_cents = -self.last.balance_cents(CONTRIBUTIONS) - self.last.balance_cents(TRANSFERS)
        later_cents = exits.return_posted_after_cents(self.history, self.death_date)
        separated_on = hybrid.separated_on(self.history)
        given = self._claim_given() | {
            "contributions": format_cents(credited_cents),
            "posted_yield": format_cents(-self.last.balance_cents(YIELDS) - later_cents),
            "provisional_yield": format_cents(provisional.yield_amount),
            "separated_on": None if separated_on is None else separated_on.isoformat(),
        }
        return Outcome(self.death_date, self._benefit(given), given, provisional)

    def _of_pensioner(self, annuity: hybrid.Annuity) -> Outcome:
        """(f): the balance at retirement against the payments: those before death, or all where the annuity is void.

        What has come into savings since the retirement was late, and belongs to that balance.
        """
        made = hybrid.payments(self.history)
        payments = self._payments(annuity, made)
        is_void = payments.last_payable_month is None
        contract = self.history[annuity.contract - 1].facts
        counted_cents = sum(one.received_cents if is_void else self._received_before_death(one) for one in made)
        given = self._claim_given() | {
            "retirement_date": annuity.retired_on.isoformat(),
            "balance_at_retirement": format_cents(int(contract["balance"]) + self.last.balance_cents(SAVINGS)),
            "annuity_payments_total": format_cents(counted_cents),
            "transfer_annuity_due": self.claim.transfer_annuity_due,
        }
        provisional = None
        if is_void:
            # The contract closed the account on the day before: retired on June 30, that semester is still under way.
            semester = exits.semester_under_way(annuity.retired_on - timedelta(days=1))
            provisional = self._provisional(semester, min(self.death_date, semester.ends_on))
            since_cents = provisional.yield_amount - int(contract["return"])
            given |= {"return_since_retirement": format_cents(since_cents)}
        received_cents = sum(one.received_cents for one in made)
        unpaid_cents = 0 if is_void else max(0, payments.total_payable - received_cents)
        benefit = self._benefit(given)
        return Outcome(self.death_date, benefit, given, provisional, payments, received_cents, unpaid_cents)

    def _received_before_death(self, paid: hybrid.Payment) -> int:
        """The gross of a payment that was received before the death, in cents.

        The net of one that came back and was made again was received when it was made again, not at the first try; what
        was deducted from it had gone to the debts at the first.
        """
        if paid.line.effective_on >= self.death_date:
            return 0
        again_on = [
            line.effective_on
            for line in self.history
            if line.kind is LineKind.PAYMENT_REISSUED and line.reverses == paid.line.sequence
        ]
        if again_on and again_on[-1] >= self.death_date and not paid.returned_cents:
            return paid.received_cents - paid.net_cents
        return paid.received_cents

    def _benefit(self, given: Mapping[str, Any]) -> "ActiveDeathRefund | PensionerDeathBenefit":
        acts = self._claim_settings.acts
        if "contributions" in given:
            return rules.active_death_refund(rules.active_death_refund.parse(given), acts=acts)
        return rules.pensioner_death_benefit(rules.pensioner_death_benefit.parse(given), acts=acts)

    def _payments(self, annuity: hybrid.Annuity, made: Sequence[hybrid.Payment]) -> "AnnuityPayments":
        names = ["first_payment_days"]
        mark = self.last.runs.get(ANNUITY_RUN)
        acts = exits.adopted(self.figures, names, annuity.retired_on).acts
        # A correction may have moved the retirement past the months that were paid: then none of its own is paid.
        paid_through = mark.period if mark and made and mark.period >= format_month(annuity.retired_on) else None
        given = {
            "retirement_date": annuity.retired_on.isoformat(),
            "monthly_annuity": format_cents(annuity.monthly_cents),
            "death_date": self.death_date.isoformat(),
            "paid_through": paid_through,
            "settings": {"first_payment_days": annuity.first_payment_days},
        }
        return rules.annuity_payments(rules.annuity_payments.parse(given), acts=acts)

    def _provisional(self, semester: Semester, as_of: date) -> "ProvisionalYield":
        adopted = exits.adopted(self.figures, exits.RETURN_SETTINGS, as_of)
        given = exits.provisional_given(self.history, semester, as_of, self.figures, adopted.settings)
        return rules.provisional_yield(rules.provisional_yield.parse(given), acts=adopted.acts)

    @property
    def _claim_settings(self) -> exits.Adopted:
        return exits.adopted(self.figures, CLAIM_SETTINGS, self.death_date)

    def _claim_given(self) -> dict[str, Any]:
        claim = self.claim
        owed = [
            {"name": one.reference, "amount": format_cents(one.amount_cents), "system": one.system}
            for one in [*hybrid.debts(self.history), *hybrid.debts_elsewhere(self.history)]
        ]
        return {
            "death_date": self.death_date.isoformat(),
            "debts": owed,
            "designation": self.designation_given,
            "heirs": [one.model_dump(mode="json", exclude={"minor"}, exclude_none=True) for one in claim.heirs],
            "decisions": [one.model_dump(mode="json", exclude_none=True) for one in claim.decisions],
            "settings": dict(self._claim_settings.settings),
        }
