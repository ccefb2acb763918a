"""What must hold of payment plans after every write: it is what somebody asked for, once, to the cent of the model's.

plan_as_asked    a transaction of plans, or of their payers' remittances, was asked for, and wasn't done already
plan_lines       its lines and their postings are the model's
plan_debts       each debt stands at principal + interest − paid, and never below zero
plan_clearing    a payer's clearing of a remittance is its deposit less what was credited, taken back or given back
plan_order       an order asks for what is due and isn't paid, of whoever pays on the month's last day
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from tests.simulation.deductions import CREDITED_ROWS
from tests.simulation.plan_model import Credited, Debtor, Order, Payment, Plan, PlansModel, Remitted, Row

APPROVED_ON = date(2008, 10, 10)
"""The day on which every plan of the simulation is granted; its cost was notified before."""

TODAY = date(2025, 7, 10)
"""By which all schedules are over."""

_LOOK_SECONDS = 300.0
"""How old a look at a passbook may be when what was decided on it is written: an invocation's time."""

_RUN = "deduction_order"
_OF_PLANS = frozenset(
    {
        "plan_applied",
        "plan_approved",
        "principal_payment",
        "plan_scheduled",
        "plan_warned",
        "plan_lapsed",
        "installment",
        "installment_returned",
        "plan_payoff",
        "plan_death",
        "plan_discounts",
        "pension",
        "service_end",
        "plan_ended",
        "held_placed",
        "contribution",
        "correction",
    }
)


@dataclass
class _Expected:
    """The lines that the model has for a transaction."""

    lines: list[tuple[str, str, dict[str, int]]] = field(default_factory=list)

    def add(self, passbook: str, kind: str, **postings: int) -> None:
        """A line; what moves nothing is no posting. An account's colon is written `__`."""
        moved = {account.replace("__", ":"): cents for account, cents in postings.items() if cents}
        self.lines.append((passbook, kind, moved))


@dataclass
class PlanWatch:
    """Looks at every transaction of the ledger as it takes effect, and moves the model on by it."""

    model: PlansModel
    fail: Callable[[str, str], None]
    now: Callable[[], float]
    moved_at: dict[str, float] = field(default_factory=dict)

    def __call__(self, documents: Sequence[Any]) -> None:
        """The documents of one transaction."""
        lines = [document for document in documents if _passbook(document) in self._passbooks()]
        key = next((document["pk"] for document in documents if document["pk"].startswith("key#")), None)
        expected = None
        if key is not None:
            _, kind, reference = key.split("#", 2)
            expected = self._expected(kind, reference, documents)
        if expected is not None:
            self._compare(key, expected.lines, lines)
        for line in lines:
            if line["kind"] == _RUN:
                self._check_order(line)
            elif line["kind"] == "order_reversed":
                self._check_reversed(line)
            elif expected is None and line["kind"] in _OF_PLANS:
                self.fail("plan_as_asked", f"{line['pk']} line {line['sk']}: a {line['kind']} that nobody asked for")
        for last in {_passbook(line): line for line in lines}.values():
            self._check_balances(last)
            self.moved_at[str(_passbook(last))] = self.now()

    def _passbooks(self) -> set[str | None]:
        return {*self.model.debtors, *(remitted.payer_id for remitted in self.model.remitted.values())}

    def _expected(self, kind: str, reference: str, documents: Sequence[Any]) -> _Expected | None:
        """What the model has for a business key; `None` for a key that isn't of plans or of their payers."""
        expected = _Expected()
        match kind:
            case "plan_applied" | "plan_approved" | "plan_lapsed" | "plan_warned":
                self._plan_event(kind, reference, documents, expected)
            case "principal_payment" | "plan_payoff":
                self._payment(kind, reference, expected)
            case "pension_fact":
                self._fact(reference, expected)
            case "plan_decided":
                self._decided(*reference.split(" "), _body(documents, "plan_decision"), expected)
            case "deposit" | "deposit_return" if _remittance_of(reference) in self.model.remitted:
                self._deposit(kind, _remittance_of(reference), expected)
            case "remittance_credit" if reference.rpartition("/")[0] in self.model.remitted:
                self._credit(reference, _body(documents, "crediting"), expected)
            case "remittance_return":
                self._take_back(reference, expected)
            case "placement":
                self._place(reference, _body(documents, "placement"), expected)
            case _:
                return None
        return expected

    # -- plans

    def _plan_event(self, kind: str, reference: str, documents: Sequence[Any], expected: _Expected) -> None:
        participant_id = reference.replace("_", " ").partition(" ")[0]
        debtor = self.model.debtors[participant_id]
        if kind == "plan_applied":
            asked = self.model.applications.pop(reference, None)
            if asked is None or (
                debtor.plan is not None and debtor.plan.status in {"principal", "paying", "undecided"}
            ):
                self._not_asked(kind, reference)
                return
            line = next(int(document["sk"]) for document in documents if document["pk"] == f"passbook#{participant_id}")
            debtor.plan = Plan(line, asked)
            expected.add(participant_id, kind)
            return
        status = "applied" if kind == "plan_approved" else "principal"
        plan = self._plan(debtor, reference.partition(" ")[0], {status}, kind)
        if kind == "plan_approved":
            plan.approve(APPROVED_ON)
            expected.add(participant_id, kind, **_owed(plan.owed_cents))
        elif kind == "plan_warned":
            expected.add(participant_id, kind)
        else:
            if self.model.looked_on <= min(plan.deadline, debtor.left_on or date.max, debtor.pension_on or date.max):
                self._not_asked(kind, f"{reference} by {self.model.looked_on}")
            opened, owed = plan.open_cents, sum(plan.owed_cents)
            self.model.held[reference] = held = plan.lapse()
            expected.add(participant_id, kind, plan_stated=-owed, plan_held=held, **_debts(opened))

    def _payment(self, kind: str, reference: str, expected: _Expected) -> None:
        plan_id = reference.partition(" ")[0]
        participant_id = plan_id.partition("_")[0]
        asked = self.model.payments.pop(reference, None)
        if asked is None:
            self._not_asked(kind, reference)
            return
        wanted = {"principal"} if kind == "principal_payment" else {"principal", "paying"}
        plan = self._plan(self.model.debtors[participant_id], plan_id, wanted, kind)
        if plan.status == "principal":
            principal = plan.balance_cents if kind == "plan_payoff" else asked.cents
            if principal > plan.balance_cents:
                self.fail("plan_debts", f"{reference} pays {principal} of {plan.balance_cents}")
            plan.payments.append(Payment(principal, asked.on))
            expected.add(participant_id, "principal_payment", cash=-principal, **_debts(plan.pay(principal)))
            if not plan.balance_cents:
                expected.add(participant_id, "plan_scheduled", **_owed(plan.begin_installments()))
            if kind == "principal_payment" or plan.status == "paid":
                return
            asked = Payment(asked.cents - principal, asked.on)
        if asked.cents != plan.balance_cents:
            self.fail("plan_lines", f"{reference} paid off by {asked.cents}, where {plan.balance_cents} is open")
        expected.add(participant_id, "plan_payoff", cash=-asked.cents, **_debts(plan.pay_installment(asked.cents)))

    def _fact(self, fact_id: str, expected: _Expected) -> None:
        fact = self.model.facts.get(fact_id)
        if fact is None:
            self._not_asked("pension_fact", fact_id)
            return
        participant_id = fact["participant_id"]
        debtor = self.model.debtors[participant_id]
        match fact["kind"]:
            case "pension":
                debtor.pension_on = date.fromisoformat(fact["starts_on"])
                expected.add(participant_id, "pension")
            case "service_end":
                debtor.left_on = date.fromisoformat(fact["ended_on"])
                expected.add(participant_id, "service_end")
            case "death_benefit":
                self._death(participant_id, fact, expected)
            case _:
                plan = self._current(debtor, {"paying"}, "plan_discounts")
                if plan.death is None:
                    self._not_asked("plan_discounts", participant_id)
                plan.discount(_cents(fact["monthly_amount"]), date.fromisoformat(fact["starts_on"]))
                expected.add(participant_id, "plan_discounts")

    def _death(self, participant_id: str, fact: Mapping[str, Any], expected: _Expected) -> None:
        debtor = self.model.debtors[participant_id]
        was_dead, debtor.is_dead = debtor.is_dead, True
        held = sum(cents for plan_id, cents in self.model.held.items() if plan_id.startswith(f"{participant_id}_"))
        if (
            held
            and not was_dead
            and debtor.plan is not None
            and debtor.plan.status in {"applied", "lapsed", "paid", "ended"}
        ):
            # No plan is open, and a lapsed one's money is held: the death is told to whoever places it.
            expected.add(participant_id, "plan_death")
            return
        plan = self._current(debtor, {"principal", "paying"}, "plan_death")
        if plan.death is not None:
            self._not_asked("plan_death", participant_id)
        died_on = date.fromisoformat(fact["death_date"])
        pensioned = debtor.pension_on is not None and debtor.pension_on <= died_on
        plan.death = died_on
        if plan.status != "paying" or not pensioned:
            plan.status = "undecided"
            expected.add(participant_id, "plan_death")
            return
        charged = min(plan.balance_cents, _cents(fact["amount"]))
        expected.add(participant_id, "plan_death", death_benefit=-charged, **_debts(plan.pay_installment(charged)))
        plan.schedule = []  # nothing falls due until a survivors' pension is there to bear it

    def _decided(self, plan_id: str, choice: str, body: Mapping[str, Any], expected: _Expected) -> None:
        """What a person decided: that what is left isn't collected, or where goes what a lapsed plan held."""
        participant_id = plan_id.partition("_")[0]
        asked = self.model.decisions.get((plan_id, choice), ())
        if body["content_hash"] not in asked or (plan_id, choice) in self.model.decided:
            self._not_asked(choice, plan_id)
        self.model.decided.add((plan_id, choice))
        if choice == "release":
            plan = self._plan(self.model.debtors[participant_id], plan_id, {"undecided"}, choice)
            balance = plan.balance_cents
            expected.add(participant_id, "plan_ended", plan_released=-balance, **_debts(plan.pay(balance)))
            plan.status = "ended"
        else:
            held = self.model.held.pop(plan_id, 0)
            expected.add(participant_id, "held_placed", plan_held=-held, plan_payable=held)

    # -- remittances

    def _deposit(self, kind: str, remittance_id: str, expected: _Expected) -> None:
        remitted = self.model.remitted[remittance_id]
        total = remitted.total_cents
        if kind == "deposit":
            if remitted.deposited:
                self._not_asked(kind, remittance_id)
            remitted.deposited = True
            remitted.clearing_cents += total
            expected.add(remitted.payer_id, kind, cash=-total, **{f"clearing__{remittance_id}": total})
        else:
            if remitted.returned or not remitted.deposited:
                self._not_asked(kind, remittance_id)
            remitted.returned = True
            remitted.clearing_cents -= total
            expected.add(remitted.payer_id, "deposit_returned", cash=total, **{f"clearing__{remittance_id}": -total})

    def _credit(self, reference: str, body: Mapping[str, Any], expected: _Expected) -> None:
        remittance_id, _, page = reference.rpartition("/")
        remitted = self.model.remitted[remittance_id]
        place = f"remittance_credit/{reference}"
        if place in remitted.credited or not remitted.deposited or remitted.returned:
            self._not_asked("remittance_credit", reference)
        first = int(page) * CREDITED_ROWS
        numbered = list(enumerate(remitted.rows))[first : first + CREDITED_ROWS]
        credited = []
        noted = {note["line"]: _cents(note["amount"]) for note in body.get("unplaced", ())}
        # Of one participant's lines a contribution comes before an installment.
        for at, row in sorted(numbered, key=lambda one: one[1].kind != "contribution"):
            line, cents = at + remitted.first_line, row.cents
            if noted.get(line) == cents and self.now() - self.moved_at.get(row.participant_id, 0.0) < _LOOK_SECONDS:
                # Held by what stood when it was looked at: of a passbook that isn't written to nothing is asked.
                cents = 0
            one = self._credited(row, cents, remitted.through, expected)
            if one.cents:
                credited.append(one)
            if held := row.cents - one.cents:
                remitted.held[line] = held
        remitted.credited[place] = credited
        self._passed_on(remittance_id, credited, expected)

    def _credited(self, row: Row, cents: int, through: date, expected: _Expected) -> Credited:
        """What one line credits: of an installment what is due and isn't paid, at most."""
        debtor = self.model.debtors[row.participant_id]
        if row.kind == "contribution":
            debtor.savings_cents += cents
            expected.add(row.participant_id, "contribution", savings=cents, contributions=-cents)
            return Credited(row.participant_id, row.kind, cents)
        plan = debtor.plan
        credited = min(cents, plan.due_cents(through)) if plan else 0
        if plan is None or not credited:
            return Credited(row.participant_id, row.kind, 0)
        pieces = plan.pay_installment(credited)
        expected.add(row.participant_id, "installment", installments=-credited, **_debts(pieces))
        return Credited(row.participant_id, row.kind, credited, pieces, plan.line)

    def _passed_on(self, remittance_id: str, credited: Iterable[Credited], expected: _Expected) -> None:
        remitted = self.model.remitted[remittance_id]
        contributions, installments = _sums(credited)
        if not contributions + installments:
            return
        remitted.clearing_cents -= contributions + installments
        clearing = {f"clearing__{remittance_id}": -contributions - installments}
        expected.add(
            remitted.payer_id, "passing_on", contributions=contributions, installments=installments, **clearing
        )

    def _take_back(self, reference: str, expected: _Expected) -> None:
        remittance_id = reference.split("/")[1]
        remitted = self.model.remitted.get(remittance_id)
        if remitted is None:
            self._not_asked("remittance_return", reference)
            return
        if reference in remitted.taken_back or reference not in remitted.credited or not remitted.returned:
            self._not_asked("remittance_return", reference)
            return
        remitted.taken_back.add(reference)
        taken = [one for one in remitted.credited[reference] if self._taken(remitted, one, expected)]
        contributions, installments = _sums(taken)
        if not contributions + installments:
            return
        remitted.clearing_cents += contributions + installments
        clearing = {f"clearing__{remittance_id}": contributions + installments}
        expected.add(
            remitted.payer_id, "correction", contributions=-contributions, installments=-installments, **clearing
        )

    def _taken(self, remitted: Remitted, one: Credited, expected: _Expected) -> bool:
        """Take one credit back; false where it stays owed: its plan has ended otherwise."""
        debtor = self.model.debtors[one.participant_id]
        if one.kind == "contribution":
            debtor.savings_cents -= one.cents
            expected.add(one.participant_id, "correction", savings=-one.cents, contributions=one.cents)
            return True
        plan = debtor.plan
        if plan is None or plan.line != one.plan_line or plan.status not in {"paying", "paid"}:
            remitted.owed_cents += one.cents
            return False
        plan.take_back(one.pieces)
        back = _debts([-piece for piece in one.pieces])
        expected.add(one.participant_id, "installment_returned", installments=one.cents, **back)
        return True

    def _place(self, reference: str, body: Mapping[str, Any], expected: _Expected) -> None:
        remittance_id, _, line = reference.rpartition("/")
        remitted, proposal = self.model.remitted[remittance_id], body["proposal"]
        cents = remitted.held.pop(int(line), None)
        if cents is None or remitted.returned or cents != _cents(proposal["amount"]):
            self._not_asked("placement", f"{reference}: {proposal}")
            return
        if proposal["action"] == "return":
            remitted.clearing_cents -= cents
            remitted.given_back_cents += cents
            remitted.credited[f"placement/{reference}"] = []
            expected.add(remitted.payer_id, "deposit_returned", cash=cents, **{f"clearing__{remittance_id}": -cents})
            return
        row = Row(proposal["participant_id"], proposal["kind"], cents)
        one = self._credited(row, cents, TODAY, expected)
        if one.cents != cents:
            self.fail("plan_lines", f"{reference} placed {cents} with {row.participant_id}, who owes {one.cents}")
        remitted.credited[f"placement/{reference}"] = [one]
        self._passed_on(remittance_id, [one], expected)

    # -- what is compared

    def _compare(self, key: str, expected: Sequence[tuple[str, str, dict[str, int]]], lines: Sequence[Any]) -> None:
        wanted = Counter((passbook, kind, _sorted(postings)) for passbook, kind, postings in expected)
        found = Counter(
            (_passbook(line), line["kind"], _sorted(_postings(line)))
            for line in lines
            if line["kind"] != "employer_opening"
        )
        if found != wanted:
            self.fail("plan_lines", f"{key}: {sorted(found - wanted)}, where {sorted(wanted - found)} is expected")

    def _check_order(self, line: Any) -> None:
        participant_id = str(_passbook(line))
        debtor, facts = self.model.debtors[participant_id], line["facts"]
        month = line["runs"][_RUN][0]
        found = Order(facts["payer"], facts["installment"], facts["arrears"])
        expected = debtor.order(month)
        if found != expected:
            self.fail("plan_order", f"{participant_id} {month}: {found}, where {expected} is due")
        if month in debtor.orders or month < max(debtor.orders, default=""):
            self.fail("plan_order", f"{participant_id} {month} was ordered, or a later one: {debtor.orders}")
        debtor.orders[month] = found

    def _check_reversed(self, line: Any) -> None:
        orders = self.model.debtors[str(_passbook(line))].orders
        month = line["runs"][f"{_RUN}_reversal"][0]
        if month != max(orders, default=None) or orders.pop(month).payer_id != line["facts"]["payer"]:
            self.fail("plan_order", f"{line['pk']} line {line['sk']}: {month} reversed, of {orders}")

    def _check_balances(self, line: Any) -> None:
        passbook, balances = str(_passbook(line)), line["balances"]
        where = f"{passbook} line {line['sk']} ({line['kind']})"
        debtor = self.model.debtors.get(passbook)
        if debtor is None:
            self._check_clearing(passbook, balances, where)
            return
        found = {account: -cents for account, cents in balances.items() if account.startswith("plan_debt:")}
        opened = debtor.plan.open_cents if debtor.plan else []
        expected = {f"plan_debt:{number}": cents for number, cents in enumerate(opened, 1) if cents}
        if found != expected or any(cents < 0 for cents in found.values()):
            self.fail("plan_debts", f"{where}: {found}, where {expected} is open")
        if balances.get("savings", 0) != debtor.savings_cents:
            self.fail("plan_debts", f"{where}: savings of {balances.get('savings', 0)}, not {debtor.savings_cents}")

    def _check_clearing(self, payer_id: str, balances: Mapping[str, int], where: str) -> None:
        found = {account: cents for account, cents in balances.items() if account.startswith("clearing:")}
        expected = {
            f"clearing:{remittance_id}": remitted.clearing_cents
            for remittance_id, remitted in self.model.remitted.items()
            if remitted.payer_id == payer_id and remitted.clearing_cents
        }
        if found != expected:
            self.fail("plan_clearing", f"{where}: {found}, where {expected} is left")

    def _plan(self, debtor: Debtor, plan_id: str, statuses: set[str], kind: str) -> Plan:
        plan = self._current(debtor, statuses, kind)
        if plan.line != int(plan_id.partition("_")[2]):
            self._not_asked(kind, plan_id)
        return plan

    def _current(self, debtor: Debtor, statuses: set[str], kind: str) -> Plan:
        if debtor.plan is None or debtor.plan.status not in statuses:
            self._not_asked(kind, str(debtor.plan))
        assert debtor.plan is not None
        return debtor.plan

    def _not_asked(self, kind: str, reference: str) -> None:
        self.fail("plan_as_asked", f"{kind} {reference}: nobody asked for it now, or it was done already")


def _passbook(document: Any) -> str | None:
    pk: str = document["pk"]
    return pk.removeprefix("passbook#") if pk.startswith("passbook#") else None


def _postings(line: Any) -> dict[str, int]:
    return {posting["account"]: posting["cents"] for posting in line["postings"]}


def _sorted(postings: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(postings.items()))


def _debts(pieces: Sequence[int]) -> dict[str, int]:
    return {f"plan_debt__{number}": piece for number, piece in enumerate(pieces, 1)}


def _owed(amounts: Sequence[int]) -> dict[str, int]:
    return {"plan_stated": sum(amounts), **_debts([-cents for cents in amounts])}


def _sums(credited: Iterable[Credited]) -> tuple[int, int]:
    """Cents of contributions, and of installments."""
    found = {"contribution": 0, "installment": 0}
    for one in credited:
        found[one.kind] += one.cents
    return found["contribution"], found["installment"]


def _remittance_of(reference: str) -> str:
    """The remittance whose deposit, or return, has this reference: `D-E-021-M0811` is that of `E-021_M0811`."""
    payer_id, _, own = reference[2:].rpartition("-")
    return f"{payer_id}_{own}"


def _cents(text: str) -> int:
    return int(text.replace(".", ""))


def _body(documents: Sequence[Any], kind: str) -> Mapping[str, Any]:
    """The body of the evidence of this kind in a transaction; nothing where it has none."""
    found = next((document for document in documents if document["pk"].startswith(f"evidence#{kind}#")), None)
    body: Mapping[str, Any] = {} if found is None else json.loads(found["body"])
    return body
