"""The doors of payment plans, of the facts from outside, and of the disclosure register. 3 L.P.R.A. § 830q."""

from dataclasses import dataclass
from functools import cache

from payroll_deductions.decision_models import DecisionApproval, DecisionList, DecisionView, NewDecision
from payroll_deductions.decisions import Decisions
from payroll_deductions.disclosures import Disclosed, DisclosureQuery, DisclosureRegister, Disclosures, NewDisclosure
from payroll_deductions.pension_facts import FactAdoption, FactId, NewPensionFact, PensionFact, PensionFacts
from payroll_deductions.plan_models import NewPlan, Paid, PlanApproval, PlanId, PlanQuery, PlanView, Quote, QuoteAsked
from payroll_deductions.plans import Plans
from payroll_deductions.portal import portal
from payroll_deductions.world import Tables, TablesEnvironment
from retiro.portal import Language, Principal
from retiro.registry.clients import Party

__all__ = ["portal"]

_ENTERS = (Party.OFFICE, Party.FUND, Party.PORTAL)
_DECIDES = (Party.OFFICE, Party.FUND)


@dataclass(frozen=True)
class World:
    """What these doors work with."""

    plans: Plans
    decisions: Decisions
    facts: PensionFacts
    disclosures: Disclosures


@cache
def world() -> World:
    """Built when the first request comes."""
    tables = Tables.of(TablesEnvironment.read())
    plans = Plans(tables.passbooks, tables.registry, tables.board)
    return World(
        plans,
        Decisions(plans),
        PensionFacts(tables.passbooks, tables.registry, tables.board),
        Disclosures(tables.passbooks, tables.registry),
    )


@portal.post("/payment-plans/quotes", scopes="benefits.quote", status=200, stores=False)
def quote_plan(body: QuoteAsked) -> Quote:
    """Quote a plan: the cost of the service, its interest by debt, the deadlines and the schedule."""
    return world().plans.quote(body)


@portal.post("/payment-plans", scopes="plans.write")
def apply_for_plan(body: NewPlan, principal: Principal) -> PlanView:
    """Apply for a payment plan. Another person approves it."""
    principal.must_be(*_ENTERS)
    return world().plans.apply(body, principal)


@portal.get("/payment-plans/{plan_id}", scopes=("plans.write", "plans.approve"))
def read_plan(plan_id: PlanId, query: PlanQuery, principal: Principal) -> PlanView:
    """A plan on a day: debts, balance, arrears, schedule, and what pays all of it."""
    return world().plans.read(plan_id, query.as_of, principal)


@portal.post("/payment-plans/{plan_id}/approval", scopes="plans.approve", status=200)
def approve_plan(plan_id: PlanId, body: PlanApproval, principal: Principal) -> PlanView:
    """Approve a plan, as another person than who entered it: the principal is owed from then on."""
    principal.must_be(*_ENTERS)
    return world().plans.approve(plan_id, body, principal)


@portal.post("/payment-plans/{plan_id}/principal-payments", scopes="plans.write")
def pay_principal(plan_id: PlanId, body: Paid, principal: Principal) -> PlanView:
    """Record a payment to the principal. The last one brings the interest and the schedule."""
    principal.must_be(*_ENTERS)
    return world().plans.pay_principal(plan_id, body, principal)


@portal.post("/payment-plans/{plan_id}/payoff", scopes="plans.write")
def pay_off_plan(plan_id: PlanId, body: Paid, principal: Principal) -> PlanView:
    """Record the payment of all that is open, which is the exact figure of the day."""
    principal.must_be(*_ENTERS)
    return world().plans.pay_off(plan_id, body, principal)


@portal.post("/payment-plans/{plan_id}/decisions", scopes="plans.write")
def propose_decision(plan_id: PlanId, body: NewDecision, principal: Principal, language: Language) -> DecisionView:
    """Propose what only a person can decide: of a death before any pension, or of what a lapsed plan holds."""
    principal.must_be(*_DECIDES)
    return world().decisions.propose(plan_id, body, principal, language)


@portal.get("/payment-plans/{plan_id}/decisions", scopes=("plans.write", "plans.approve"))
def read_decisions(plan_id: PlanId, principal: Principal, language: Language) -> DecisionList:
    """What persons have decided about a plan, and what is proposed."""
    return world().decisions.listed(plan_id, principal, language)


@portal.post("/payment-plans/{plan_id}/decisions/approval", scopes="plans.approve", status=200)
def approve_decision(plan_id: PlanId, body: DecisionApproval, principal: Principal, language: Language) -> DecisionView:
    """Do what another person proposed: all that it said that it posts, and nothing else."""
    principal.must_be(*_DECIDES)
    return world().decisions.approve(plan_id, body, principal, language)


@portal.post("/pension-facts", scopes="plans.write")
def enter_fact(body: NewPensionFact, principal: Principal) -> PensionFact:
    """Enter a pension, an end of service, a death benefit or a survivors' pension. Another person adopts it."""
    principal.must_be(*_ENTERS)
    return world().facts.enter(body, principal)


@portal.get("/pension-facts/{fact_id}", scopes=("plans.write", "plans.approve"))
def read_fact(fact_id: FactId, principal: Principal) -> PensionFact:
    """A fact as it stands."""
    return world().facts.read(fact_id, principal)


@portal.post("/pension-facts/{fact_id}/adoption", scopes="plans.approve", status=200)
def adopt_fact(fact_id: FactId, body: FactAdoption, principal: Principal) -> PensionFact:
    """Adopt a fact, as another person than who entered it. An open plan follows it at once."""
    principal.must_be(*_ENTERS)
    return world().facts.adopt(fact_id, body, principal)


@portal.post("/disclosures", scopes="plans.write")
def enter_disclosure(body: NewDisclosure, principal: Principal) -> Disclosed:
    """Enter a publication, the notice to the Agency Coordinator, or the Circular Letter."""
    principal.must_be(*_ENTERS)
    return world().disclosures.enter(body, principal)


@portal.get("/disclosures", scopes="plans.write")
def read_disclosures(query: DisclosureQuery) -> DisclosureRegister:
    """What was disclosed of an act's plan, and what is missing."""
    return world().disclosures.register(query.act)
