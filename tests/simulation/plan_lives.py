"""Lives of participants with payment plans: applied for, granted, paid, lapsed; a pension, a death, the survivors."""

import json
from collections.abc import Callable, Collection
from datetime import date, timedelta
from functools import partial
from itertools import pairwise
from typing import Any

from pydantic import TypeAdapter

from participants.enrolment import Enrolment, Enrolments
from payroll_deductions.decision_models import DECISION, DecisionApproval
from payroll_deductions.pension_facts import FactAdoption, NewPensionFact
from payroll_deductions.plan_models import NewPlan, Paid, PlanApproval
from retiro.ledger.resolutions import RESOLUTION
from retiro.portal import Language
from retiro.registry import open_plans
from retiro.registry.employers import Employer, register
from retiro.rules.money import format_cents
from retiro.rules.settings import SETTINGS
from tests.simulation.asking import at_once, expect_done, expect_refused
from tests.simulation.figures import ACT
from tests.simulation.plan_model import PENSIONS, Debt, Debtor, Payment, Plan
from tests.simulation.plan_watch import APPROVED_ON, PlanWatch
from tests.simulation.world import BEGINNING, Host, Refused, World, principal

PAYERS = ("E-021", "E-022")
PAYS, RETIRES, DIES_RETIRED, DIES_EARLY, PAYS_OFF, LATE = (f"P-{number:06d}" for number in range(401, 407))
DEBTORS = {
    PAYS: PAYERS[0],
    RETIRES: PAYERS[0],
    DIES_RETIRED: PAYERS[1],
    DIES_EARLY: PAYERS[1],
    PAYS_OFF: PAYERS[1],
    LATE: PAYERS[0],
}
LOOKS = (date(2009, 8, 20), date(2009, 9, 28), *(date(2009, 10, day) for day in range(12, 16)))
"""Within sixty days of the deadlines, within fifteen, and after them."""

_SETTINGS = ("plan_interest_base", "day_count", "installments_start")
_FACT: TypeAdapter[Any] = TypeAdapter(NewPensionFact)
_TRIES_MAX = 60


def settle_in(world: World) -> None:
    """In peace: who pays is known, the Board has settled what the statute leaves, and the participants are enrolled."""
    world.invariants.watch = PlanWatch(world.model.plans, world.fail, lambda: world.scheduler.now)
    for number, name in enumerate(_SETTINGS):
        setting = {"name": name, "value": SETTINGS[name].default, "in_force_from": "2005-12-30", "kind": "setting"}
        common = {"fund": "ERS", "act": ACT | {"date": "2005-12-01"}, "source": "Junta", "vintage": "2005-12-01"}
        resolution = RESOLUTION.validate_json(json.dumps(common | setting))
        world.hosts[0].board.adopt(f"RB-P{number}", resolution, proposed_by="u-eva", adopted_by="u-leo", now=BEGINNING)
    for payer_id in (*PAYERS, PENSIONS):
        register(world.hosts[0].registry, Employer(payer_id, "ERS"))
    for participant_id, employer_id in DEBTORS.items():
        world.model.plans.debtors[participant_id] = Debtor(employer_id)
        expect_done(world, f"enrol {participant_id}", partial(_enrolled, participant_id, employer_id))


def _enrolled(participant_id: str, employer_id: str, host: Host) -> Any:
    enrolment = Enrolment.model_validate(
        {
            "participant_id": participant_id,
            "fund": "ERS",
            "birth_date": "1955-04-04",
            "employer_id": employer_id,
            "enrolled_on": "2000-01-01",
        }
    )
    return Enrolments(host.passbooks, host.registry, host.board).enrol(enrolment, "u-ana via office")


# -- plans


def plan_of(participant_id: str) -> Callable[[World], None]:
    """The workload of one participant: a plan from its application until its principal is paid, or is late."""

    def live(world: World) -> None:
        rng = world.scheduler.rng
        world.scheduler.sleep(rng.random() * 200)
        plan_id = _granted(world, participant_id, "A")
        world.scheduler.sleep(rng.random() * 100)
        _pay_principal(world, participant_id, plan_id)
        if participant_id == PAYS_OFF:
            world.scheduler.sleep(rng.random() * 1_500)
            _pay_off(world, participant_id, plan_id)

    return live


def late_plans(world: World) -> None:
    """Half of the principal is paid, and the plan lapses; another one is granted in its place, and lapses too."""
    world.scheduler.sleep(world.scheduler.rng.random() * 200)
    for series in ("A", "B"):
        plan_id = _granted(world, LATE, series)
        _pay(world, LATE, plan_id, "C-1", _debtor_plan(world, LATE).balance_cents // 2)
        for _ in range(1_000):
            if _debtor_plan(world, LATE).status == "lapsed":
                break
            world.scheduler.sleep(2.0)
        else:
            return
        if world.model.plans.held[plan_id]:
            _decide(world, plan_id, {"choice": "place_held"})


def _granted(world: World, participant_id: str, series: str) -> str:
    """Applied for, perhaps twice at once, or in place of another application; granted by another person."""
    rng = world.scheduler.rng
    first = None
    for number in range(1 + (rng.random() < 0.3)):
        debts = [_debt(world) for _ in range(rng.randrange(1, 4))]
        views = at_once(
            world, f"apply for {participant_id}", *[apply(world, participant_id, f"{series}-{number}", debts)] * 2
        )
        if len({getattr(view, "plan_id", str(view)) for view in views}) != 1:
            world.fail("done", f"{participant_id} applied twice at once: {views}")
        if first is not None:
            expect_refused(world, f"approve {first.plan_id}", {"plan_not_open"}, partial(approved, first, "u-luis"))
        first = views[0]
    expect_refused(world, f"approve {first.plan_id} oneself", {"same_person"}, partial(approved, first, "u-ana"))
    for answer in at_once(world, f"approve {first.plan_id}", *[partial(approved, first, "u-luis")] * 2):
        if isinstance(answer, Refused):
            world.fail("done", f"an approval of {first.plan_id} was refused: {answer.error!r}")
    plan_id: str = first.plan_id
    return plan_id


def apply(world: World, participant_id: str, reference: str, debts: list[Debt]) -> Callable[[Host], Any]:
    """The asking for a plan of these debts, which the model is told of."""
    world.model.plans.applications[f"{participant_id} {reference}"] = debts
    body = NewPlan.model_validate(_application(participant_id, reference, debts))
    return lambda host: host.deductions.plans.apply(body, principal("u-ana"))


def _debt(world: World) -> Debt:
    rng = world.scheduler.rng
    kind = rng.choice(["unaccounted_service", "withdrawn_contributions"])
    return Debt(kind, rng.randrange(1, 200_000), date(1986, 6, 30) + timedelta(days=rng.randrange(3_000)))


def _application(participant_id: str, reference: str, debts: list[Debt]) -> dict[str, Any]:
    return {
        "participant_id": participant_id,
        "reference": reference,
        "applied_on": "2008-09-01",
        "status": "active_service",
        "first_joined_on": "1986-06-30",
        "time_to_merit_pension": {"years": 5},
        "debts": [
            {
                "kind": debt.kind,
                "principal": format_cents(debt.principal_cents),
                "owed_from": debt.owed_from.isoformat(),
            }
            for debt in debts
        ],
        "cost_notified_on": "2008-10-01",
    }


def approved(applied: Any, person: str, host: Host) -> Any:
    """What was applied for, granted by a person."""
    approval = PlanApproval(approved_on=APPROVED_ON, content_hash=applied.content_hash)
    return host.deductions.plans.approve(applied.plan_id, approval, principal(person))


def _pay_principal(world: World, participant_id: str, plan_id: str) -> None:
    """In one to three payments, at once; a cent more than all of it is refused."""
    rng = world.scheduler.rng
    open_cents = _debtor_plan(world, participant_id).balance_cents
    over = pay(world, plan_id, "C-0", Payment(open_cents + 1, APPROVED_ON))
    _expect(world, participant_id, f"overpay {plan_id}", over, {"principal_overpaid"})
    cuts = sorted({0, open_cents, *(rng.randrange(open_cents + 1) for _ in range(rng.randrange(3)))})
    parts = [until - first for first, until in pairwise(cuts)]
    tasks = [
        world.scheduler.spawn(
            f"pay {plan_id} {number}",
            partial(_pay, world, participant_id, plan_id, f"C-{number}", cents),
        )
        for number, cents in enumerate(parts, 1)
    ]
    world.scheduler.join(lambda: all(task.ended for task in tasks))


def _pay(world: World, participant_id: str, plan_id: str, reference: str, cents: int) -> None:
    """A payment to the principal, sent twice at once now and then. A plan that lapsed in between takes none."""
    if not cents:
        return
    rng = world.scheduler.rng
    payment = pay(world, plan_id, reference, Payment(cents, APPROVED_ON + timedelta(days=rng.randrange(20))))
    for answer in at_once(world, f"pay {reference} of {plan_id}", *[payment] * rng.choice([2, 2, 3])):
        _check_answer(world, participant_id, f"pay {reference} of {plan_id}", answer)


def _pay_off(world: World, participant_id: str, plan_id: str) -> None:
    """All that is open at once: the exact figure of the day, and not a cent off it."""
    plan = _debtor_plan(world, participant_id)
    on = date(2008, 11, 5)
    for number in range(_TRIES_MAX):
        view = world.ask(
            f"look at {plan_id}", lambda host: host.deductions.plans.read(plan_id, None, principal("u-ana"))
        )
        if plan.status != "paying" or isinstance(view, Refused) or view.payoff is None:
            return
        off = pay_off(world, plan_id, f"Y-{number}", Payment(view.payoff + 1, on))
        _expect(world, participant_id, f"pay off {plan_id}, a cent over", off, {"payoff_differs", "plan_not_open"})
        exact = pay_off(world, plan_id, f"X-{number}", Payment(view.payoff, on))
        answer = world.ask(f"pay off {plan_id}", exact)
        if not isinstance(answer, Refused):
            return
        # An installment came in between.
        if answer.code not in {"payoff_differs", "plan_not_open"}:
            world.fail("done", f"the payoff of {plan_id} was refused: {answer.error!r}")


def pay(world: World, plan_id: str, reference: str, payment: Payment) -> Callable[[Host], Any]:
    """A payment to the principal, which the model is told of."""
    body = _paid(world, plan_id, reference, payment)
    return lambda host: host.deductions.plans.pay_principal(plan_id, body, principal("u-ana"))


def pay_off(world: World, plan_id: str, reference: str, payment: Payment) -> Callable[[Host], Any]:
    """A payment of all that is open, which the model is told of."""
    body = _paid(world, plan_id, reference, payment)
    return lambda host: host.deductions.plans.pay_off(plan_id, body, principal("u-ana"))


def _paid(world: World, plan_id: str, reference: str, payment: Payment) -> Paid:
    world.model.plans.payments[f"{plan_id} {reference}"] = payment
    amount = format_cents(payment.cents)
    return Paid.model_validate({"reference": reference, "paid_on": payment.on.isoformat(), "amount": amount})


def _expect(world: World, participant_id: str, name: str, do: Callable[[Host], Any], codes: set[str]) -> None:
    lapsed = {"plan_lapsed"} if _debtor_plan(world, participant_id).status == "lapsed" else set()
    expect_refused(world, name, codes | lapsed | {"plan_lapsed"}, do)


def _check_answer(world: World, participant_id: str, name: str, answer: Any) -> None:
    """It was done, or the plan has lapsed by now."""
    if isinstance(answer, Refused) and _debtor_plan(world, participant_id).status != "lapsed":
        world.fail("done", f"{name} was refused: {answer.error!r}")


def _debtor_plan(world: World, participant_id: str) -> Plan:
    plan = world.model.plans.debtors[participant_id].plan
    assert plan is not None
    return plan


# -- the daily look


def looks(world: World) -> None:
    """The schedule's looks: warnings, the lapse of what is late, and the month's orders prepared."""
    rng = world.scheduler.rng
    world.scheduler.sleep(200 + rng.random() * 500)
    for day in LOOKS:
        # Those after the deadline come close upon each other, while another plan is granted to who was late.
        world.scheduler.sleep(rng.random() * (300 if day <= LOOKS[2] else 4))
        world.model.plans.looked_on = day
        at_once(world, f"look at the plans on {day}", *[partial(looked, day)] * rng.choice([1, 2]))


def looked(day: date, host: Host) -> Any:
    """What the schedule does, `payroll_deductions.schedule` but for its log and the orders of its month."""
    return host.deductions.lapses.look(day)


def check_lapsed(world: World) -> None:
    """After one more look, no principal is open past its deadline: the look goes to everybody whose principal is."""
    world.model.plans.looked_on = LOOKS[-1]
    expect_done(world, "look at the plans once more", partial(looked, LOOKS[-1]))
    indexed = set(open_plans.plans(world.hosts[0].registry))
    for participant_id, debtor in world.model.plans.debtors.items():
        if debtor.plan is not None and debtor.plan.status == "principal":
            world.fail("plan_lapses", f"{participant_id} is open after {LOOKS[-1]}, and the look goes to {indexed}")


# -- facts


def pensions(world: World) -> None:
    """Two are pensioned within the months that are ordered; one of them dies owing, and the survivors pay on."""
    rng = world.scheduler.rng
    for participant_id in (RETIRES, DIES_RETIRED):
        if not _until_paying(world, participant_id):
            continue
        world.scheduler.sleep(rng.random() * 400)
        left = date(2008, 11, 1) + timedelta(days=rng.randrange(60))
        starts = left + timedelta(days=rng.choice([0, 1, 1, 20, 40]))
        facts(
            world,
            {"kind": "service_end", "participant_id": participant_id, "ended_on": left.isoformat()},
            {
                "kind": "pension",
                "participant_id": participant_id,
                "starts_on": starts.isoformat(),
                "monthly_amount": "1200.00",
            },
        )
    world.scheduler.sleep(rng.random() * 400)
    _die(world, DIES_RETIRED, date(2009, 1, 5) + timedelta(days=rng.randrange(60)))
    plan = world.model.plans.debtors[DIES_RETIRED].plan
    if plan is None or plan.status != "paying":
        return
    world.scheduler.sleep(rng.random() * 300)
    monthly = max(1, plan.installment_cents * rng.choice([1, 2, 4]) // 2)
    facts(
        world,
        {
            "kind": "survivors_pension",
            "participant_id": DIES_RETIRED,
            "starts_on": "2009-01-15",
            "monthly_amount": format_cents(monthly),
        },
        may_refuse={"plan_not_open"},
    )


def early_death(world: World) -> None:
    """One dies before any pension: it is for a person, and no order is made."""
    rng = world.scheduler.rng
    world.scheduler.sleep(rng.random() * 1_500)
    if _until_paying(world, DIES_EARLY):
        _die(world, DIES_EARLY, date(2008, 12, 1))
        plan = world.model.plans.debtors[DIES_EARLY].plan
        if plan is not None and plan.status == "undecided" and rng.random() < 0.5:
            world.scheduler.sleep(rng.random() * 500)
            _decide(world, f"{DIES_EARLY}_{plan.line}", {"choice": "release"})


def _decide(world: World, plan_id: str, choice: dict[str, str]) -> None:
    """Proposed by one person, approved by another, twice at once, while somebody proposes it for other reasons."""
    rng, model = world.scheduler.rng, world.model.plans
    asked = model.decisions.setdefault((plan_id, choice["choice"]), set())

    def propose(reason: str) -> Callable[[Host], Any]:
        body = DECISION.validate_python(choice | {"reason": reason})

        def do(host: Host) -> Any:
            proposed = host.deductions.decisions.propose(plan_id, body, principal("u-ana"), Language.EN)
            asked.add(proposed.content_hash)
            return proposed

        return do

    proposed = expect_done(world, f"propose for {plan_id}", propose("As the legal opinion says"))
    approval = DecisionApproval(content_hash=proposed.content_hash)

    def approve(host: Host) -> Any:
        return host.deductions.decisions.approve(plan_id, approval, principal("u-luis"), Language.EN)

    beside = [propose("As another opinion says")] * rng.choice([0, 1])
    for answer in at_once(world, f"decide on {plan_id}", approve, approve, *beside):
        if isinstance(answer, Refused) and answer.code not in {"stale_hash", "already_decided", "plan_not_open"}:
            world.fail("done", f"a decision on {plan_id} was refused: {answer.error!r}")
    if not beside and (plan_id, choice["choice"]) not in model.decided:
        world.fail("done", f"what was approved for {plan_id} isn't done")


def _die(world: World, participant_id: str, died_on: date) -> None:
    plan = world.model.plans.debtors[participant_id].plan
    balance = plan.balance_cents if plan else 0
    cents = world.scheduler.rng.choice([0, balance // 3, balance // 2, balance, balance + 100_000])
    fact = {
        "kind": "death_benefit",
        "participant_id": participant_id,
        "death_date": died_on.isoformat(),
        "amount": format_cents(cents),
    }
    facts(world, fact, may_refuse={"plan_not_open", "plan_lapsed"})


def _until_paying(world: World, participant_id: str) -> bool:
    """Wait until the principal is paid; false where it won't be any more."""
    for _ in range(_TRIES_MAX):
        plan = world.model.plans.debtors[participant_id].plan
        if plan is not None and plan.status == "paying":
            return True
        if plan is not None and plan.status not in {"applied", "principal"}:
            return False
        world.scheduler.sleep(30.0)
    return False


def facts(world: World, *bodies: dict[str, str], may_refuse: Collection[str] = ()) -> None:
    """Facts entered by one person, and adopted by another, at once with each other and each of them twice."""
    adoptions = []
    for body in bodies:
        fact = _FACT.validate_python(body | {"source": "Sistema de Retiro"})
        entered = expect_done(
            world,
            f"enter a {body['kind']}",
            lambda host, fact=fact: host.deductions.facts.enter(fact, principal("u-ana")),
        )
        world.model.plans.facts[entered.fact_id] = body
        expect_refused(world, f"adopt {entered.fact_id} oneself", {"same_person"}, partial(_adopted, entered, "u-ana"))
        adoptions += [partial(_adopted, entered, "u-luis")] * 2
    for answer in at_once(world, f"adopt {bodies[0]['kind']}", *adoptions):
        if isinstance(answer, Refused) and answer.code not in may_refuse:
            world.fail("done", f"a fact was refused: {answer.error!r}")


def _adopted(entered: Any, person: str, host: Host) -> Any:
    adoption = FactAdoption(content_hash=entered.content_hash)
    return host.deductions.facts.adopt(entered.fact_id, adoption, principal(person))
