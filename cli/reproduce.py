"""`retiro reproduce`: a stored determination, computed again from the receipt that was stored with it.

The receipt has the inputs, and the settings with the acts that adopted them, so that what the Board has adopted since
changes nothing. Of a semester's yield, the ledger keeps the figures and the passbook: `PASSBOOK/LINE` takes both.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import click

from cli.desk import DESK
from cli.stacks import Stack, stack_option
from retiro.ledger.board import BoardBook
from retiro.ledger.credits import PostedFigures
from retiro.ledger.late_credits import as_posted, posted_semesters
from retiro.ledger.lines import Line, LineKind
from retiro.ledger.savings import posted_semester
from retiro.ledger.store import LedgerStore
from retiro.rules.judiciary_hybrid import FACTOR_TABLE, act_of_factor
from retiro.rules.money import format_cents
from retiro.rules.receipts import Act, Receipt
from retiro.rules.refusals import Refusal
from retiro.rules.savings_accounts import semester_yield

_RECEIPT = frozenset({"determination", "citation", "inputs", "steps", "settings", "parameters"})


class NothingStoredError(Exception):
    """There is no such determination, or nothing in it to compute again."""


@dataclass(frozen=True)
class Difference:
    """Where the stored and the computed result differ: the place, what is stored, what comes out now."""

    place: str
    stored: object
    now: object

    def __str__(self) -> str:
        return f"{self.place}: stored {self.stored!r}, now {self.now!r}"


@dataclass(frozen=True)
class Reproduced:
    """A determination computed again."""

    name: str
    differences: tuple[Difference, ...]


def reproduced(store: LedgerStore, identifier: str) -> list[Reproduced]:
    """Compute a stored determination again, by its id (`TYPE/ID`) or by the line that rests on it (`PASSBOOK/LINE`).

    Raises:
        NothingStoredError: there is no such determination, or it has no receipt.
    """
    kind, _, rest = identifier.partition("/")
    if kind.startswith("P-") and rest.isdigit():
        return _of_line(store, kind, int(rest))
    return _of_evidence(store, identifier)


def _of_line(store: LedgerStore, passbook: str, sequence: int) -> list[Reproduced]:
    history = list(store.lines(passbook))
    if not 0 < sequence <= len(history):
        raise NothingStoredError(f"{passbook} has no line {sequence}")
    line = history[sequence - 1]
    if line.kind is LineKind.SEMESTER_YIELD:
        return [_of_yield(store, history, line)]
    if line.determination is None:
        raise NothingStoredError(f"line {sequence} of {passbook} rests on no determination")
    return _of_evidence(store, line.determination)


def _of_yield(store: LedgerStore, history: list[Line], line: Line) -> Reproduced:
    """A semester's yield, with what late credits have added to it since."""
    semester = posted_semester(line)
    posted = next(one for one in posted_semesters(history, semester.starts_on) if one.semester == semester)
    figures = PostedFigures(store, BoardBook(store)).of(history, semester.starts_on)[str(semester)]
    stands_cents = line.savings_cents + sum(
        one.differences.get(str(semester), 0) for one in history[line.sequence :] if one.kind is not LineKind.REVERSAL
    )
    now_cents = semester_yield(as_posted(history, posted, figures)).yield_amount
    differs = Difference("yield", format_cents(stands_cents), format_cents(now_cents))
    return Reproduced(f"semester_yield {semester}", () if stands_cents == now_cents else (differs,))


def _of_evidence(store: LedgerStore, identifier: str) -> list[Reproduced]:
    kind, _, name = identifier.partition("/")
    evidence = store.get_evidence(kind, name)
    if evidence is None:
        raise NothingStoredError(f"there is no determination {identifier}")
    found = [_again(receipt, result) for receipt, result in receipts_in(evidence.body)]
    if not found:
        raise NothingStoredError(f"{identifier} has no receipt to compute from")
    return found


def receipts_in(body: object) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any] | None]]:
    """Every receipt in a stored body, with the result that it is of, where that is stored too."""
    if isinstance(body, list):
        for one in body:
            yield from receipts_in(one)
    if not isinstance(body, dict):
        return
    if body.keys() >= _RECEIPT:
        yield body, None
        return
    receipt = body.get("receipt")
    if isinstance(receipt, dict) and body.keys() - {"receipt"} == _fields_of(receipt["determination"]):
        yield receipt, body
        return
    for one in body.values():
        yield from receipts_in(one)


def _fields_of(determination: str) -> set[str]:
    model = DESK[determination].result.model_fields if determination in DESK else {}
    return {field.alias or name for name, field in model.items()} - {"receipt"}


def _again(receipt: Mapping[str, Any], result: Mapping[str, Any] | None) -> Reproduced:
    """One determination from its receipt alone."""
    stored = Receipt.model_validate(receipt)
    name = stored.determination
    if name not in DESK:
        raise NothingStoredError(f"there is no determination {name} in these rules")
    acts = {one.name: Act(one.source.en, one.in_force_from) for one in stored.settings if one.in_force_from}
    if (adopted := act_of_factor(stored)) is not None:
        acts[FACTOR_TABLE] = adopted
    settings = {one.name: one.value for one in stored.settings if one.in_force_from}
    inputs = stored.inputs | {"settings": {**stored.inputs.get("settings", {}), **settings}}
    try:
        now = DESK[name](DESK[name].parse(inputs), acts=acts).model_dump(mode="json")
    except Refusal as refusal:
        return Reproduced(name, (Difference("result", "a result", f"refused: {refusal.code}"),))
    wanted: Mapping[str, Any] = result if result is not None else {"receipt": receipt}
    differences = _differences("", _compared(wanted), _compared({key: now[key] for key in wanted}))
    return Reproduced(name, tuple(differences))


def _compared(result: Mapping[str, Any]) -> dict[str, Any]:
    """A result without what names the run of the rules: their version, and how its inputs were written down."""
    receipt = {key: one for key, one in result["receipt"].items() if key not in {"rules_version", "inputs"}}
    return {**result, "receipt": receipt}


def _differences(place: str, stored: object, now: object) -> Iterator[Difference]:
    match stored, now:
        case dict(), dict():
            for key in dict.fromkeys([*stored, *now]):
                yield from _differences(f"{place}.{key}".lstrip("."), stored.get(key), now.get(key))
        case list(), list() if len(stored) == len(now):
            for number, (one, other) in enumerate(zip(stored, now, strict=True)):
                yield from _differences(f"{place}.{number}", one, other)
        case _ if stored != now:
            yield Difference(place, stored, now)


@click.command()
@click.argument("determination_id")
@stack_option
def reproduce(stack: Stack, determination_id: str) -> None:
    """Compute DETERMINATION_ID again from its stored receipt, and say same or different.

    An id is TYPE/ID, as a line names it (death_settlement/P-000001/00000012), or PASSBOOK/LINE (P-000001/9), which
    takes a semester's yield too. Exits 0 where it is the same, 1 where it is different, 2 with nothing to compute.
    """
    store = LedgerStore(stack.client("dynamodb"), stack.outputs["LedgerTable"])
    try:
        found = reproduced(store, determination_id)
    except NothingStoredError as nothing:
        click.echo(f"Error: {nothing}", err=True)
        raise SystemExit(2) from nothing
    for one in found:
        click.echo(f"{'different' if one.differences else 'same'}  {one.name}")
        for difference in one.differences:
            click.echo(f"  {difference}")
    if any(one.differences for one in found):
        raise SystemExit(1)
