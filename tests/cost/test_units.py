"""The units that are paid for are those that the code asks for: counted at the client, by DynamoDB's rules."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from cli.cost.units import unit
from ledger_guard.audit import PAGE_PASSBOOKS
from payroll_deductions.crediting import PAGE_ROWS
from semester_yields import worker
from tests.conftest import ENVIRONMENT, Stack
from tests.cost.consumed import Consumed, consumed, item_size
from tests.payroll_deductions.conftest import confirm, credit, enrol, line, machine, remit, remittance
from tests.runs.states_language import DEFINITION
from tests.semester_yields.conftest import Yields, few_shards, yields

TABLES = {ENVIRONMENT[f"{name.upper()}_TABLE"]: name for name in ("ledger", "registry", "idempotency")}
PEOPLE = 30

__all__ = ["confirm", "credit", "few_shards", "machine", "remit", "yields"]


def test_a_posting_writes_one_unit_and_reads_half_of_one_before_and_after(
    yields: Yields, stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHUNK_ACCOUNTS", "100")
    monkeypatch.setenv("INVOCATION_ACCOUNTS", "0")
    worker.world.cache_clear()
    for number in range(1, PEOPLE + 1):
        yields.enrol(f"P-{number:06d}", savings_cents=1_000_000)
    yields.adopt_figures("FY2025-S2")

    with consumed(stack.dynamodb, TABLES) as preparing:
        yields.prepare_semester("FY2025-S2")
    assert of_passbooks(preparing, "reads") == PEOPLE * unit("prepare_read_units")
    assert preparing["ledger.writes"] == 0

    with consumed(stack.dynamodb, TABLES) as posting:
        assert yields.approve_by_hash("FY2025-S2").status == 202
        yields.work_off()
    assert of_passbooks(posting, "writes") == PEOPLE * unit("post_write_units")
    assert of_passbooks(posting, "reads") == PEOPLE * unit("close_read_units")
    line_of_one = next(item for item in stack.ledger_items() if item.get("kind") == {"S": "semester_yield"})
    assert item_size(line_of_one) <= 1024


def test_a_remittance_takes_what_is_counted_and_little_less(
    stack: Stack, remit: Callable[..., Any], confirm: Callable[..., Any], credit: Callable[..., int]
) -> None:
    """One page of ten lines, with all that is once a page and once a remittance."""
    assert unit("credit_page_rows") == PAGE_ROWS
    people = range(100, 110)
    for number in people:
        enrol(stack, number)
    with consumed(stack.dynamodb, TABLES) as counted:
        assert remit(remittance([line(number) for number in people], "2000.00")).status == 201
        assert confirm({"amount": "2000.00"}).status == 202
        credit()
    # In transactions, two units each: ten lines; the payer's opening, deposit and passing on.
    assert of_passbooks(counted, "writes") == 10 * unit("credit_write_units") + 3 * 2
    for what, name in (("writes", "write"), ("reads", "read")):
        paid_for = unit(f"credit_page_{name}_units") + unit(f"remittance_{name}_units")
        paid_for += 10 * unit(f"credit_{name}_units")
        assert paid_for - 8 <= sum(counted[f"{table}.{what}"] for table in TABLES.values()) <= paid_for


def test_the_machine_makes_the_transitions_that_are_counted() -> None:
    chunk = DEFINITION["States"]["Chunks"]["ItemProcessor"]["States"]
    assert len(chunk) == unit("transitions_a_chunk")
    phase = {"Begin", "Chunks", "End", "WhatNext", "NextPhase"}
    assert phase < set(DEFINITION["States"])
    assert len(phase) == unit("transitions_a_phase")


def test_an_audits_page_is_as_counted() -> None:
    assert unit("audit_page_passbooks") == PAGE_PASSBOOKS


def of_passbooks(counted: Consumed, what: str) -> Fraction:
    return Fraction(counted[f"passbooks.{what}"])
