"""What people do, at once: a table of workloads, each a function of the world that asks for things until it is done.

A later issue adds a function and its row. It asks with `world.ask`, tells the model what was answered, and says with
`expect_refused` what must be refused.
"""

import json
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from typing import Any

from participants.enrolment import Enrolment, Enrolments, InitialTransfer
from participants.models import NewParticipantFile
from participants.person_keys import PersonKeys
from participants.reception import Reception
from participants.selections import Selections
from participants.transfers import Transfers
from payroll_deductions.models import NewDeposit, NewRemittance, NewReturn
from retiro.ledger import savings
from retiro.ledger.keys import BusinessKey, KeyKind
from retiro.ledger.lines import LineKind
from retiro.ledger.savings import Origin
from retiro.portal import Language
from retiro.registry.clients import Party
from retiro.registry.participants import Profile
from retiro.registry.runs import RunId
from retiro.rules.money import format_cents
from retiro.runs.start import start_execution
from tests.simulation import offices, ordering, plan_lives, remitting
from tests.simulation.asking import expect_done, expect_refused
from tests.simulation.deductions import CREDITED_ROWS
from tests.simulation.model import SEMESTERS, Member
from tests.simulation.payrolls import payrolls
from tests.simulation.rebuilding import rebuilding
from tests.simulation.settlements import settlements
from tests.simulation.world import EMPLOYERS, Host, World, principal

Workload = Callable[[World], None]

ENROLLED_ON = date(2024, 7, 1)
SELECTIONS: tuple[Mapping[str, int], ...] = (
    {"fixed_income": 100},
    {"system_portfolio": 100},
    {"fixed_income": 50, "system_portfolio": 50},
)
GIFT_PERIODS = ("2025-05", "2025-06")


# -- enrolment


def enrolment_body(world: World, participant_id: str, transfer_cents: int) -> dict[str, Any]:
    """An enrolment as a person sends it."""
    body: dict[str, Any] = {
        "participant_id": participant_id,
        "fund": "ERS",
        "birth_date": "1970-04-04",
        "employer_id": world.scheduler.rng.choice(EMPLOYERS),
        "enrolled_on": ENROLLED_ON.isoformat(),
        "selection": dict(world.scheduler.rng.choice(SELECTIONS)),
    }
    if transfer_cents:
        day = ENROLLED_ON + timedelta(days=world.scheduler.rng.randrange(340))
        body["initial_transfer"] = {
            "amount": format_cents(transfer_cents),
            "credited_on": day.isoformat(),
            "reference": f"T-{participant_id}",
        }
    return body


def member_of(body: Mapping[str, Any]) -> Member:
    """The member that an enrolment makes."""
    member = Member(body["employer_id"], body["selection"])
    if transfer := body.get("initial_transfer"):
        cents = int(transfer["amount"].replace(".", ""))
        member.movements.append((date.fromisoformat(transfer["credited_on"]), cents, "transfers"))
    return member


def enrol(world: World, participant_id: str, transfer_cents: int) -> dict[str, Any]:
    """Enrol one; the body that was sent."""
    body = enrolment_body(world, participant_id, transfer_cents)
    expect_done(world, f"enrol {participant_id}", lambda host: _enrolled(host, body))
    world.model.members[participant_id] = member_of(body)
    return body


def _enrolled(host: Host, body: Mapping[str, Any]) -> Any:
    enrolment = Enrolment.model_validate_json(json.dumps(body))
    return Enrolments(host.passbooks, host.registry, host.board).enrol(enrolment, "u-ana via portal")


def enrolments(world: World) -> None:
    """One by one: sent twice at once, sent again, and sent with another content."""
    rng = world.scheduler.rng
    for number in range(11, 13):
        participant_id = f"P-{number:06d}"
        body = enrol(world, participant_id, rng.choice([0, 1_000_000, 123_457]))
        if rng.random() < 0.5:
            expect_done(world, f"enrol {participant_id} again", lambda host, body=body: _enrolled(host, body))
        other = {**body, "birth_date": "1971-01-01"}
        expect_refused(
            world,
            f"enrol {participant_id} otherwise",
            {"KeyConflictError"},
            lambda host, other=other: _enrolled(host, other),
        )
        world.scheduler.sleep(rng.random() * 100)


def files(world: World) -> None:
    """A file of enrolments, worked off by the machine; sent again until it is done."""
    rows = [enrolment_body(world, f"P-{number:06d}", 50_000 * number) for number in range(21, 26)]
    total = sum(member.movements[0][1] for member in map(member_of, rows))
    body = {
        "reference": "F-1",
        "control": {"count": len(rows), "transfers_total": format_cents(total)},
        "participants": rows,
    }
    wrong = {**body, "control": {"count": len(rows), "transfers_total": format_cents(total + 1)}}
    expect_refused(world, "send a file of another total", {"file_refused"}, lambda host: _received_file(host, wrong))
    offices.until_done(
        world,
        "send the file",
        lambda host: _received_file(host, body),
        lambda host: host.file_jobs.get("office_F-1"),
        "participant_file-office_F-1-",
    )
    for row in rows:
        world.model.members[row["participant_id"]] = member_of(row)


def _received_file(host: Host, body: Mapping[str, Any]) -> Any:
    sent = NewParticipantFile.model_validate_json(json.dumps(body))
    reception = Reception(host.file_jobs, host.files, PersonKeys(lambda: "secret"), host.file_starter)
    enrolments_of = Enrolments(host.passbooks, host.registry, host.board)
    return reception.receive(sent, principal("u-ana"), enrolments_of, Language.EN)


# -- credits


def transfers(world: World) -> None:
    """Initial transfers of some who brought none; a second one is refused, and so is another amount."""
    rng = world.scheduler.rng
    for participant_id in [one for one, member in sorted(world.model.members.items()) if not member.movements][:2]:
        day = ENROLLED_ON + timedelta(days=rng.randrange(360))
        cents = rng.randrange(1, 900_000)
        body = {"amount": format_cents(cents), "credited_on": day.isoformat(), "reference": f"T-{participant_id}"}
        expect_done(
            world, f"transfer to {participant_id}", lambda host, one=participant_id, b=body: _move(host, one, b)
        )
        world.model.members[participant_id].movements.append((day, cents, "transfers"))
        other = {**body, "amount": format_cents(cents + 1)}
        expect_refused(
            world,
            f"transfer otherwise to {participant_id}",
            {"KeyConflictError"},
            lambda host, one=participant_id, b=other: _move(host, one, b),
        )
        second = {**body, "reference": "T-2"}
        expect_refused(
            world,
            f"second transfer to {participant_id}",
            {"initial_transfer_already_credited"},
            lambda host, one=participant_id, b=second: _move(host, one, b),
        )


def _move(host: Host, participant_id: str, body: Mapping[str, Any]) -> Any:
    transfer = InitialTransfer.model_validate_json(json.dumps(body))
    return Transfers(host.passbooks, host.board).credit(_profile(participant_id), transfer, "u-ana via portal")


def remittances(world: World) -> None:
    """An employer's remittances: filed, confirmed, credited; wrong ones between them, of which nothing is taken."""
    rng = world.scheduler.rng
    employer_id = EMPLOYERS[rng.randrange(2)]
    for number in range(rng.randrange(2, 4)):
        remit(world, employer_id, f"R-{rng.randrange(10**6)}-{number}")
        world.scheduler.sleep(rng.random() * 400)


def remit(world: World, employer_id: str, reference: str) -> None:
    """A remittance from its filing to its credit."""
    rng = world.scheduler.rng
    own = [one for one, member in sorted(world.model.members.items()) if member.employer_id == employer_id]
    if not own:
        return
    amounts = {one: rng.randrange(1, 60_000) for one in rng.sample(own, min(len(own), rng.randrange(1, 6)))}
    day = date(2024, 7, 15) + timedelta(days=rng.randrange(360))
    body = {
        "reference": reference,
        "employer_id": employer_id,
        "period": f"{day:%Y-%m}",
        "control": {"count": len(amounts), "total": format_cents(sum(amounts.values()))},
        "lines": [
            {"participant_id": one, "amount": format_cents(cents), "kind": "contribution"}
            for one, cents in amounts.items()
        ],
    }
    wrong = {**body, "control": {"count": len(amounts), "total": format_cents(sum(amounts.values()) + 1)}}
    expect_refused(world, f"file {reference} out of sum", {"remittance_refused"}, lambda host: _filed(host, wrong))
    expect_done(world, f"file {reference}", lambda host: _filed(host, body))
    other = {**body, "period": "2025-01" if body["period"] != "2025-01" else "2025-02"}
    expect_refused(
        world, f"file {reference} otherwise", {"remittance_reference_used"}, lambda host: _filed(host, other)
    )
    remittance_id = f"{employer_id}_{reference}"
    deposit = {
        "reference": f"D-{employer_id}-{reference}",  # a bank's reference is one deposit's, whoever sent it
        "amount": format_cents(sum(amounts.values())),
        "value_date": day.isoformat(),
    }
    short = {**deposit, "amount": "0.01"} if sum(amounts.values()) > 1 else {**deposit, "amount": "0.02"}
    expect_refused(
        world,
        f"deposit another amount for {reference}",
        {"deposit_amount_differs"},
        lambda host: _confirmed(host, remittance_id, short),
    )
    world.model.credit(remittance_id, employer_id, day, amounts)
    offices.until_done(
        world,
        f"deposit for {reference}",
        lambda host: _confirmed(host, remittance_id, deposit),
        lambda host: host.remittances.jobs.get(remittance_id),
        f"remittance-{remittance_id}-",
    )


def _filed(host: Host, body: Mapping[str, Any]) -> Any:
    sent = NewRemittance.model_validate_json(json.dumps(body))
    clerk = principal("u-clerk", Party.EMPLOYER, employer_id=body["employer_id"])
    return host.remittances.receive(sent, clerk)


def _confirmed(host: Host, remittance_id: str, body: Mapping[str, Any]) -> Any:
    sent = NewDeposit.model_validate_json(json.dumps(body))
    return host.remittances.confirm(remittance_id, sent, principal("u-carla", Party.FUND, fund="ERS"))


def returned_remittances(world: World) -> None:
    """Remittances whose deposits the bank takes back some time after they were credited, with yields posted by then."""
    rng = world.scheduler.rng
    employer_id = EMPLOYERS[rng.randrange(2)]
    for number in range(2):
        reference = f"B-{rng.randrange(10**6)}-{number}"
        remit(world, employer_id, reference)
        world.scheduler.sleep(rng.random() * 800)
        take_back(world, f"{employer_id}_{reference}")


def take_back(world: World, remittance_id: str) -> None:
    """What a remittance has credited, taken back; what an account can't give back stays owed."""
    credited = world.model.credited.get(remittance_id)
    if credited is None:
        return
    body = NewReturn.model_validate(
        {"reference": f"R-{remittance_id[6:]}", "returned_on": "2025-07-09", "reason": "bank"}
    )
    fund = principal("u-carla", Party.FUND, fund="ERS")
    offices.until_done(
        world,
        f"take {remittance_id} back",
        lambda host: host.deductions.returns.take_back(remittance_id, body, fund),
        lambda host: host.deductions.return_jobs.get(remittance_id),
        f"remittance_return-{remittance_id}-",
    )
    pages = -(-len(credited.amounts) // CREDITED_ROWS)
    read = world.hosts[0].ledger.get_evidence
    found = [read("taken_back", f"remittance_credit/{remittance_id}/{page:04d}") for page in range(pages)]
    world.model.take_back(remittance_id, {owed["participant_id"] for one in found if one for owed in one.body["owed"]})


# -- what changes an account


def selections(world: World) -> None:
    """A change for the next fiscal year, and a second one in the same year, which the statute forbids."""
    rng = world.scheduler.rng
    for participant_id in rng.sample(sorted(world.model.members), 2):
        requested_on = date(2025, 1, 10) + timedelta(days=rng.randrange(100))
        first, second = rng.sample(SELECTIONS, 2)
        expect_done(
            world,
            f"select for {participant_id}",
            lambda host, one=participant_id, on=requested_on, wanted=first: _selected(host, one, on, wanted),
        )
        expect_refused(
            world,
            f"select again for {participant_id}",
            {"already_changed_this_fiscal_year"},
            lambda host, one=participant_id, on=requested_on, wanted=second: _selected(
                host, one, on + timedelta(days=1), wanted
            ),
        )


def _selected(host: Host, participant_id: str, on: date, selection: Mapping[str, int]) -> Any:
    office = Selections(host.passbooks, host.board)
    return office.select(_profile(participant_id), on, dict(selection), "u-ana via portal")


def deaths(world: World) -> None:
    """A death is reported at some time: what isn't posted by then is withheld."""
    rng = world.scheduler.rng
    world.scheduler.sleep(rng.random() * 3_000)
    participant_id = rng.choice(sorted(world.model.members))
    world.model.members[participant_id].is_dead = True
    draft = savings.status_change(LineKind.DEATH_REPORT, date(2025, 7, 1), Origin("u-ana via office"))
    key = BusinessKey(KeyKind.DEATH_REPORT, participant_id)
    expect_done(
        world,
        f"report the death of {participant_id}",
        lambda host: host.passbooks.append(participant_id, lambda _: draft, key=key, content={"on": "2025-07-01"}),
    )


def _profile(participant_id: str) -> Profile:
    return Profile(participant_id, "ERS", date(1970, 4, 4), EMPLOYERS[0], ENROLLED_ON)


# -- runs


def yields(world: World) -> None:
    """Both semesters, one after the other; perhaps one is reversed, and posted again as the next attempt."""
    rng = world.scheduler.rng
    world.scheduler.sleep(rng.random() * 300)
    for semester in SEMESTERS:
        offices.drive_yield(world, semester)
        if rng.random() < 0.3:
            world.scheduler.sleep(rng.random() * 500)
            offices.reverse_yield(world, semester)
            offices.drive_yield(world, semester)


def schedule(world: World) -> None:
    """The daily look at what is due, beside people who prepare runs by hand."""
    rng = world.scheduler.rng
    for _ in range(3):
        world.scheduler.sleep(rng.random() * 2_000)
        world.ask("look at what is due", offices.looked)


def gifts(world: World) -> None:
    """The second kind of run, with its own pauses."""
    for period in GIFT_PERIODS:
        world.scheduler.sleep(world.scheduler.rng.random() * 500)
        offices.drive_gift(world, period)


def audits(world: World) -> None:
    """Audits while all this goes on. What they find must be nothing but what is on its way."""
    rng = world.scheduler.rng
    for number in range(2):
        world.scheduler.sleep(rng.random() * 2_000)
        run = RunId("audit", f"2025-07-1{number}", 1)
        world.ask(f"audit {number}", lambda _, run=run: _audit_started(world, run))


def _audit_started(world: World, run: RunId) -> None:
    machines: Any = world.machines
    start_execution(
        machines, state_machine_arn="arn:machine", worker_arn="arn:audit", run=run, number=1, phase="verify"
    )


def clocks(world: World) -> None:
    """Days go by between one call and the next, and each host's clock is put otherwise."""
    rng = world.scheduler.rng
    for _ in range(rng.randrange(3)):
        world.scheduler.sleep(rng.random() * 3_000)
        world.jump()


SAVINGS: Mapping[str, Workload] = {
    "enrolments": enrolments,
    "files": files,
    "transfers": transfers,
    "remittances": remittances,
    "more remittances": remittances,
    "selections": selections,
    "deaths": deaths,
    "settlements": settlements,
    "payrolls": payrolls,
    "yields": yields,
    "schedule": schedule,
    "gifts": gifts,
    "audits": audits,
    "clocks": clocks,
}
"""Savings accounts and annuities."""

PLANS: Mapping[str, Workload] = {
    **{f"plan of {one}": plan_lives.plan_of(one) for one in plan_lives.DEBTORS if one != plan_lives.LATE},
    "late plans": plan_lives.late_plans,
    "pensions": plan_lives.pensions,
    "early death": plan_lives.early_death,
    "looks at plans": plan_lives.looks,
    "orders": ordering.orders,
    "payers": remitting.payers,
    "audits": audits,
    "clocks": clocks,
}
"""Payment plans, their orders, and what payers remit on them."""

RETURNS: Mapping[str, Workload] = {
    "transfers": transfers,
    "remittances": remittances,
    "returned remittances": returned_remittances,
    "more returned remittances": returned_remittances,
    "selections": selections,
    "yields": yields,
    "schedule": schedule,
    "audits": audits,
    "clocks": clocks,
}
"""Savings accounts whose contributions' deposits the bank takes back."""

REBUILDS: Mapping[str, Workload] = {
    "rebuild": rebuilding,
    "enrolments": enrolments,
    "remittances": remittances,
    "selections": selections,
    "yields": yields,
    "schedule": schedule,
    "audits": audits,
    "clocks": clocks,
}
"""Savings accounts, and others whose history is posted meanwhile."""

WORKLOADS = {**SAVINGS, **PLANS, **RETURNS, **REBUILDS}
"""Each is a task; a seed takes those of one side, and its chance says how they meet."""


def of_seed(seed: int) -> Mapping[str, Workload]:
    """The workloads that a seed takes.

    One in twenty has deposits that are returned, one a history to rebuild; of the others those in 7 and 9 have plans.
    """
    if seed % 20 in _RARE:
        return _RARE[seed % 20]
    return PLANS if seed % 10 in _PLANS else SAVINGS


_RARE, _PLANS = {13: REBUILDS, 19: RETURNS}, {7, 9}
