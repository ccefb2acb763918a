"""What payers remit on their orders, in any order: short, over and missing, in bodies and in files, and taken back."""

import json
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from functools import partial
from typing import Any

from payroll_deductions.models import (
    NewCsvRemittance,
    NewDeposit,
    NewPlacement,
    NewRemittance,
    NewReturn,
    NewUpload,
    PlacementApproval,
)
from retiro.registry.clients import Party
from retiro.registry.deduction_orders import Order
from retiro.registry.remittances import remittance_of
from retiro.rules.money import format_cents
from tests.simulation import offices, plan_lives
from tests.simulation.asking import at_once, expect_done, expect_refused
from tests.simulation.ordering import MONTHS
from tests.simulation.plan_lives import PAYERS
from tests.simulation.plan_model import PENSIONS, Payment, Remitted, Row
from tests.simulation.scheduler import all_ended
from tests.simulation.world import Host, Refused, World, principal

SETTLED_ON = date(2025, 7, 1)
"""The value date of the last remittance, when all schedules are over."""

_TRIES_MAX = 60
_FUND = principal("u-carla", Party.FUND, fund="ERS")


def payers(world: World) -> None:
    """Each payer reads each month's order, and remits; all of them beside each other."""
    tasks = [
        world.scheduler.spawn(f"{payer_id} for {month}", partial(_remit_month, world, payer_id, month))
        for month in MONTHS
        for payer_id in (*PAYERS, PENSIONS)
    ]
    world.scheduler.join(all_ended(tasks))


def _remit_month(world: World, payer_id: str, month: str) -> None:
    rng = world.scheduler.rng
    order = _order(world, payer_id, month)
    if order is None:
        return
    world.scheduler.sleep(rng.random() * 300)
    rows = _rows(world, payer_id, order)
    if not rows:
        return
    remittance_id = file(world, payer_id, month, f"M{month[2:4]}{month[5:]}", rows)
    world.scheduler.sleep(rng.random() * 300)
    deposit(world, remittance_id)
    if rng.random() < 0.6:
        place_held(world, remittance_id)
    if rng.random() < 0.35:
        world.scheduler.sleep(rng.random() * 300)
        take_back(world, remittance_id)


def _order(world: World, payer_id: str, month: str) -> list[Order] | None:
    """What the payer is to withhold, once the month's run is posted; `None`, where that isn't in time."""
    for _ in range(_TRIES_MAX):
        read = world.ask(
            f"read the order of {payer_id} for {month}",
            lambda host: list(host.deductions.orders.all_orders(payer_id, month)),
        )
        if not isinstance(read, Refused):
            return read
        world.scheduler.sleep(50.0)
    return None


def _rows(world: World, payer_id: str, order: Sequence[Order]) -> list[Row]:
    """What is withheld: as it was ordered, short, over, not at all; of others without an order; and contributions."""
    rng, rows = world.scheduler.rng, []
    ordered = {one.participant_id: one.total_cents for one in order}
    own = [one for one, debtor in world.model.plans.debtors.items() if debtor.employer_id == payer_id]
    for participant_id in sorted({*ordered, *own}):
        cents = ordered.get(participant_id, 0)
        due = rng.choice([cents, cents, cents // 2, cents + rng.randrange(1, 5_000), 0])
        if not cents and rng.random() < 0.3:
            due = rng.randrange(1, 5_000)
        if due:
            rows.append(Row(participant_id, "installment", due))
        if participant_id in own and rng.random() < 0.4:
            rows.append(Row(participant_id, "contribution", rng.randrange(1, 50_000)))
    rng.shuffle(rows)
    return rows


# -- filing


def file(world: World, payer_id: str, month: str, reference: str, rows: Sequence[Row]) -> str:
    """File a remittance: in the body, or uploaded. What is wrong before it is refused, and nothing of it is taken."""
    rng = world.scheduler.rng
    remittance_id = f"{payer_id}_{reference}"
    how = rng.choice(["json", "csv", "upload"])
    day = date.fromisoformat(f"{month}-01") + timedelta(days=rng.randrange(60))
    world.model.plans.remitted[remittance_id] = Remitted(payer_id, month, rows, 1 if how == "json" else 2, day)
    facts = {"reference": reference, "employer_id": payer_id, "period": month}
    clerk = principal("u-clerk", Party.EMPLOYER, employer_id=payer_id)
    if how == "upload":
        _upload(world, remittance_id, facts, clerk, rows)
        return remittance_id
    strangers = [*rows, Row("P-000999", "installment", 1)]
    for wrong in (_body(how, facts, rows, off=1), _body(how, facts, strangers)):
        expect_refused(world, f"file {remittance_id} wrong", {"remittance_refused"}, partial(_filed, wrong, clerk))
    body = _body(how, facts, rows)
    for answer in at_once(world, f"file {remittance_id}", *[partial(_filed, body, clerk)] * 2):
        if isinstance(answer, Refused):
            world.fail("done", f"{remittance_id} was refused: {answer.error!r}")
    return remittance_id


def _filed(body: Any, clerk: Any, host: Host) -> Any:
    return host.deductions.remittances.receive(body, clerk)


def _body(how: str, facts: dict[str, str], rows: Sequence[Row], off: int = 0) -> Any:
    """The remittance in a request's body; `off`: by how many cents its control is wrong."""
    if how == "csv":
        return NewCsvRemittance.model_validate({**facts, "format": "csv", "file": _csv(rows, off)})
    control = {"count": len(rows), "total": format_cents(sum(row.cents for row in rows) + off)}
    lines = [
        {"participant_id": row.participant_id, "kind": row.kind, "amount": format_cents(row.cents)} for row in rows
    ]
    return NewRemittance.model_validate_json(json.dumps({**facts, "control": control, "lines": lines}))


def _csv(rows: Sequence[Row], off: int = 0) -> str:
    lines = [f"{row.participant_id},{row.kind},{format_cents(row.cents)},,=cmd" for row in rows]
    total = format_cents(sum(row.cents for row in rows) + off)
    return "\n".join(["participant_id,kind,amount,salary,name", *lines, f"total,{len(rows)},{total},,", ""])


def _upload(world: World, remittance_id: str, facts: dict[str, str], clerk: Any, rows: Sequence[Row]) -> None:
    """A file with a bad line in the middle, or out of sum, is refused whole; the right one is taken whole."""
    rng = world.scheduler.rng
    body = NewUpload.model_validate({**facts, "format": "csv", "upload": True})
    expect_done(world, f"offer {remittance_id}", partial(_filed, body, clerk))
    if rng.random() < 0.4:
        middle = len(rows) // 2
        strangers = [*rows[:middle], Row("P-000999", "installment", 1), *rows[middle:]]
        _put(world, remittance_id, rng.choice([_csv(rows, 1), _csv(strangers)]))
        _validated(world, remittance_id, clerk, "refused")
        if remittance_of(world.hosts[0].ledger, remittance_id) is not None:
            world.fail("whole_or_nothing", f"something of the wrong {remittance_id} was taken")
    _put(world, remittance_id, _csv(rows))
    _validated(world, remittance_id, clerk, "awaiting_deposit")


def _put(world: World, remittance_id: str, text: str) -> None:
    """By the link, until it is there: no function of ours has a part in it."""

    def put(host: Host) -> None:
        host.deductions.files.s3.put_object(
            Bucket="files", Key=f"files/remittances/{remittance_id}/file", Body=text.encode()
        )

    expect_done(world, f"upload {remittance_id}", put)


def _validated(world: World, remittance_id: str, clerk: Any, wanted: str) -> None:
    """Validate what was uploaded, now and then twice at once, until it is taken or refused."""
    rng = world.scheduler.rng

    def validate(host: Host) -> Any:
        return host.deductions.uploads.validate(remittance_id, clerk)

    for _ in range(offices.ROUNDS_MAX):
        prefix = f"remittance_file-{remittance_id}."
        if not any(one.startswith(prefix) for one in world.machines.running):
            for answer in at_once(world, f"validate {remittance_id}", *[validate] * rng.choice([2, 2, 3])):
                if isinstance(answer, Refused) and answer.code != "validation_under_way":
                    world.fail("done", f"the validation of {remittance_id} was refused: {answer.error!r}")
        world.scheduler.sleep(rng.random() * 40)
        seen = world.ask(
            f"look at {remittance_id}", lambda host: host.deductions.remittances.read(remittance_id, clerk)
        )
        if isinstance(seen, Refused):
            world.fail("done", f"{remittance_id} can't be read: {seen.error!r}")
        elif seen.status == wanted:
            return
        elif seen.status not in {"validating", "failed", "refused", "awaiting_upload"}:
            world.fail("whole_or_nothing", f"{remittance_id} is {seen.status}, not {wanted}")
    world.fail("is_finished", f"the validation of {remittance_id} never ends")


# -- money


def deposit(world: World, remittance_id: str) -> None:
    """Confirm the deposit; until then nothing is credited. Twice at once, and again until all is credited."""
    remitted = world.model.plans.remitted[remittance_id]
    body = NewDeposit.model_validate(
        {
            "reference": f"D-{remittance_id}".replace("_", "-"),
            "amount": format_cents(remitted.total_cents),
            "value_date": remitted.value_date.isoformat(),
        }
    )

    def confirm(host: Host) -> Any:
        return host.deductions.remittances.confirm(remittance_id, body, _FUND)

    for answer in at_once(world, f"confirm {remittance_id}", confirm):
        if isinstance(answer, Refused):
            world.fail("done", f"the deposit of {remittance_id} was refused: {answer.error!r}")
    offices.until_done(
        world,
        f"deposit for {remittance_id}",
        confirm,
        lambda host: host.deductions.jobs.get(remittance_id),
        f"remittance-{remittance_id}-",
    )


def place_held(world: World, remittance_id: str) -> None:
    """What waits in clearing is placed: one proposes, another one approves, and somebody else proposes beside them."""
    remitted = world.model.plans.remitted[remittance_id]
    for line in sorted(remitted.held):
        if world.scheduler.rng.random() < 0.7:
            _place(world, remittance_id, line)


def _place(world: World, remittance_id: str, line: int) -> None:
    rng, remitted = world.scheduler.rng, world.model.plans.remitted[remittance_id]
    proposals = [_proposal(world, remitted, line) for _ in range(2)]
    proposed = world.ask(f"propose for line {line} of {remittance_id}", partial(_propose, remittance_id, proposals[0]))
    if isinstance(proposed, Refused):
        _check_placing(world, remittance_id, proposed)
        return
    approve = partial(_approve, remittance_id, line, proposed.content_hash)
    asked: list[Callable[[Host], Any]] = [approve, approve]
    if rng.random() < 0.5:
        asked.append(partial(_propose, remittance_id, proposals[1]))
    for answer in at_once(world, f"place line {line} of {remittance_id}", *asked):
        if isinstance(answer, Refused):
            _check_placing(world, remittance_id, answer)


def _proposal(world: World, remitted: Remitted, line: int) -> NewPlacement:
    """To whoever has most to pay, as contribution of its own participant, or back to the payer."""
    rng = world.scheduler.rng
    debtors = world.model.plans.debtors
    owing = [one for one, debtor in debtors.items() if debtor.plan and debtor.plan.status == "paying"]
    body: dict[str, Any] = {"line": line, "action": "return", "reason": "no place for it"}
    if rng.random() < 0.8:
        kind = rng.choice(["installment", "contribution"]) if owing else "contribution"
        participant_id = rng.choice(owing) if kind == "installment" else rng.choice(sorted(debtors))
        body |= {"action": "credit", "participant_id": participant_id, "kind": kind, "period": remitted.period}
    return NewPlacement.model_validate(body)


def _propose(remittance_id: str, body: NewPlacement, host: Host) -> Any:
    return host.deductions.placing.propose(remittance_id, body, _FUND)


def _approve(remittance_id: str, line: int, content_hash: str, host: Host) -> Any:
    approver = principal("u-luis", Party.FUND, fund="ERS")
    return host.deductions.placing.approve(remittance_id, line, PlacementApproval(content_hash=content_hash), approver)


def _check_placing(world: World, remittance_id: str, answer: Refused) -> None:
    """It has a place by now, another proposal was made, the plan takes less, or the bank has taken the deposit back."""
    fine = {"no_money_to_place", "stale_hash", "over_due", "plan_not_open", "plan_lapsed", "deposit_returned"}
    if answer.code not in fine:
        world.fail("done", f"a placement of {remittance_id} was refused: {answer.error!r}")


def take_back(world: World, remittance_id: str) -> None:
    """The bank takes the deposit back: what it credited is taken back, page by page, while somebody places the rest."""
    rng, remitted = world.scheduler.rng, world.model.plans.remitted[remittance_id]
    body = NewReturn.model_validate(
        {
            "reference": f"R-{remittance_id}".replace("_", "-"),
            "returned_on": (remitted.value_date + timedelta(days=3)).isoformat(),
            "reason": "no funds",
        }
    )

    def back(host: Host) -> Any:
        return host.deductions.returns.take_back(remittance_id, body, _FUND)

    beside = [
        world.scheduler.spawn(f"place {line} of {remittance_id}", partial(_place, world, remittance_id, line))
        for line in sorted(remitted.held)
        if rng.random() < 0.7
    ]
    offices.until_done(
        world,
        f"take {remittance_id} back",
        back,
        lambda host: host.deductions.return_jobs.get(remittance_id),
        f"remittance_return-{remittance_id}-",
    )
    world.scheduler.join(all_ended(beside))


# -- the end


def settle_up(world: World) -> None:
    """In peace again, when all schedules are over, the pension payroll remits all that is open, and a little more.

    Of survivors it is credited with one discount; they pay the rest at once.
    """
    debtors = world.model.plans.debtors
    rows = [
        Row(one, "installment", debtor.plan.balance_cents + 7)
        for one, debtor in debtors.items()
        if debtor.plan and debtor.plan.status == "paying" and debtor.plan.schedule
    ]
    if not rows:
        return
    remittance_id = file(world, PENSIONS, f"{SETTLED_ON:%Y-%m}", "LAST", rows)
    remitted = world.model.plans.remitted[remittance_id]
    remitted.value_date = SETTLED_ON
    over = sorted(row.cents - _discount_cents(world, row) for row in rows)
    deposit(world, remittance_id)
    if sorted(remitted.held.values()) != over:
        world.fail("plan_total", f"{remitted.held} is held of {rows}, not {over}")
    for row in rows:
        _pay_the_rest(world, row.participant_id)
        _check_total(world, row.participant_id)


def _discount_cents(world: World, row: Row) -> int:
    """What is credited of a row of the last remittance."""
    plan = world.model.plans.debtors[row.participant_id].plan
    assert plan is not None
    return plan.balance_cents if plan.death is None else min(plan.balance_cents, plan.discount_cents)


def _pay_the_rest(world: World, participant_id: str) -> None:
    """What survivors still owe after a discount, by a payoff."""
    plan = world.model.plans.debtors[participant_id].plan
    if plan is not None and plan.death is not None and plan.status == "paying":
        rest = Payment(plan.balance_cents, SETTLED_ON)
        pays = plan_lives.pay_off(world, f"{participant_id}_{plan.line}", "LAST", rest)
        expect_done(world, f"pay the rest of {participant_id}", pays)


def _check_total(world: World, participant_id: str) -> None:
    """What was paid to the plan, less what was taken back, is its principal and its interest, to the cent."""
    plan = world.model.plans.debtors[participant_id].plan
    assert plan is not None
    owed = paid = 0
    for line in list(world.hosts[0].ledger.lines(participant_id))[plan.line - 1 :]:
        for posting in line.postings:
            if posting.account.startswith("plan_debt:"):
                if line.kind in {"plan_approved", "plan_scheduled"}:
                    owed -= posting.amount_cents
                else:
                    paid += posting.amount_cents
    if plan.status != "paid" or owed != paid or owed != sum(plan.owed_cents):
        world.fail("plan_total", f"{participant_id} is {plan.status}, with {paid} paid of {owed}")


def check_clearing(world: World) -> None:
    """What was deposited is credited, or held for a person; what the bank has taken back is back, all of it."""
    for remittance_id, remitted in world.model.plans.remitted.items():
        left = set(remitted.credited) - remitted.taken_back
        if not remitted.returned and remitted.clearing_cents != sum(remitted.held.values()):
            world.fail("plan_clearing", f"{remittance_id} has {remitted.clearing_cents} in clearing, {remitted.held}")
        owed = remitted.owed_cents + remitted.given_back_cents
        if remitted.returned and (left or remitted.clearing_cents != -owed):
            where = f"{remitted.clearing_cents} in clearing, {owed} owed"
            world.fail("returned_whole", f"{remittance_id} was taken back, but for {left}: {where}")
