"""The deposit and what it credits: on its value date, once, in balance, whatever stops in between."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any

import pytest

from payroll_deductions import api, crediting, remittances, returns, worker
from payroll_deductions.crediting import folded, pages_noted
from payroll_deductions.remittances import OPEN_MAX, OPEN_MAX_BY_RETURNS
from retiro.ledger import employers, savings
from retiro.ledger.encoding import size_bytes
from retiro.ledger.lines import Draft, Line, LineKind, next_line
from retiro.ledger.passbooks import LINE_BYTES_MAX, Passbooks, check_size
from retiro.ledger.savings import Origin
from retiro.registry.jobs import Jobs
from retiro.registry.roster import partition, shard_of
from retiro.registry.table import to_attributes
from retiro.runs.jobs import JobWorker
from tests.conftest import Context
from tests.participants.machine import Killed
from tests.participants.semesters import post_fy2025_s2
from tests.payroll_deductions.conftest import THREE, enrol, line, remittance


def balances(stack: Any, passbooks: Passbooks) -> dict[str, int]:
    """By account, over all passbooks of the fund."""
    totals: dict[str, int] = {}
    names = {item["pk"]["S"] for item in stack.ledger_items() if item["pk"]["S"].startswith("passbook#")}
    for name in names:
        last = passbooks.last(name.removeprefix("passbook#"))
        for account, cents in (last.balances if last else {}).items():
            totals[account] = totals.get(account, 0) + cents
    return {account: cents for account, cents in totals.items() if cents}


def close(stack: Any, passbooks: Passbooks, participant_id: str) -> None:
    """A state that takes no credits."""
    last = passbooks.last(participant_id)
    draft = savings.status_change(LineKind.CLOSING, date(2025, 7, 1), Origin("u-ana via office"))
    passbooks.store.put_line(next_line(last, draft, passbook=participant_id, fund="ERS", recorded_at=passbooks.clock()))


def test_the_deposit_credits_each_participant_on_its_value_date(
    remit: Callable[..., Any],
    confirm: Callable[..., Any],
    credit: Callable[..., int],
    look: Callable[..., Any],
    passbooks: Passbooks,
) -> None:
    remit(THREE)
    answer = confirm()
    assert answer.status == 202
    assert (answer.body["status"], answer.body["clearing"]) == ("crediting", "500.51")
    assert answer.body["deposit"] == {"reference": "D-1", "amount": "500.51", "value_date": "2025-02-10"}
    credit()
    seen = look().body
    assert (seen["status"], seen["clearing"], seen["credited"], seen["unplaced"]) == ("closed", "0.00", 3, [])
    for participant_id, cents in (("P-000001", 200_00), ("P-000002", 300_50), ("P-000003", 1)):
        last = passbooks.last(participant_id)
        assert (last.kind, last.effective_on) == (LineKind.CONTRIBUTION, date(2025, 2, 10))
        assert last.balances == {"savings": cents, "contributions": -cents}
        assert last.determination == "crediting/E-001_2025-014/0000"


def test_the_employers_passbook_holds_the_money_until_it_is_passed_on(
    *,
    remit: Callable[..., Any],
    confirm: Callable[..., Any],
    credit: Callable[..., int],
    passbooks: Passbooks,
    stack: Any,
) -> None:
    remit(THREE)
    confirm()
    assert passbooks.last("E-001").balances == {"cash": -500_51, "clearing:E-001_2025-014": 500_51}
    credit()
    history = passbooks.history("E-001")
    assert [line.kind for line in history] == ["employer_opening", "deposit", "passing_on"]
    assert history[-1].balances == {"cash": -500_51, "contributions": 500_51}
    # Over the fund: what came in cash is what is in savings, and nothing is in between.
    assert balances(stack, passbooks) == {"cash": -500_51, "savings": 500_51}
    entry = stack.registry.get(partition(shard_of("E-001")), "E-001")
    assert (entry["fund"], entry["holder"]) == ("ERS", "employer")


def test_the_deposit_is_posted_and_credited_once(
    *, remit: Callable[..., Any], confirm: Callable[..., Any], credit: Callable[..., int], stack: Any, machine: Any
) -> None:
    remit(THREE)
    first = confirm()
    again = confirm(user="u-diego")
    assert (again.status, again.body) == (202, first.body)
    credit()
    before = stack.ledger_items()
    late = confirm()
    assert (late.status, late.body["status"]) == (202, "closed")
    # Sent again before it was done it was started again; once done, no more.
    assert len(machine.names) == 2
    credit()
    assert stack.ledger_items() == before


@pytest.mark.parametrize(
    ("change", "field", "code"),
    [
        ({"amount": "500.50"}, "amount", "deposit_amount_differs"),
        ({"amount": "500.52"}, "amount", "deposit_amount_differs"),
        ({"amount": 500.51}, "amount", "invalid_input"),
        ({"amount": "500.510"}, "amount", "invalid_input"),
        ({"value_date": "2024-12-31"}, "value_date", "deposit_before_period"),
        ({"value_date": "2025-07-11"}, "value_date", "invalid_input"),
        ({"value_date": "2025-02-30"}, "value_date", "invalid_input"),
        ({"value_date": "1999-12-31"}, "value_date", "invalid_input"),
    ],
)
def test_a_deposit_that_cant_be_names_field_rule_and_citation_and_changes_nothing(
    *,
    remit: Callable[..., Any],
    confirm: Callable[..., Any],
    stack: Any,
    machine: Any,
    change: dict[str, Any],
    field: str,
    code: str,
) -> None:
    remit(THREE)
    before = (stack.ledger_items(), stack.registry_items())
    answer = confirm(change)
    assert (answer.status, answer.code, answer.body["field"]) == (422, code, field)
    assert answer.body["citation"]
    assert (stack.ledger_items(), stack.registry_items()) == before
    assert machine.names == []
    assert confirm().status == 202


def test_a_deposit_of_another_amount_names_both(remit: Callable[..., Any], confirm: Callable[..., Any]) -> None:
    remit(THREE)
    assert confirm({"amount": "500.50"}).body["detail"] == "The deposit is of 500.50, the remittance of 500.51."


@pytest.mark.parametrize("value_date", ["2025-01-01", "2025-07-10"])
def test_the_periods_first_day_and_today_may_be_value_dates(
    remit: Callable[..., Any], confirm: Callable[..., Any], value_date: str
) -> None:
    remit(THREE)
    assert confirm({"value_date": value_date}).status == 202


def test_a_second_deposit_of_the_remittance_is_a_conflict(
    remit: Callable[..., Any], confirm: Callable[..., Any], stack: Any
) -> None:
    remit(THREE)
    confirm()
    before = stack.ledger_items()
    other = confirm({"reference": "D-2"})
    assert (other.status, other.code) == (409, "already_deposited")
    moved = confirm({"value_date": "2025-02-11"})
    assert moved.status == 409
    assert stack.ledger_items() == before


def test_a_deposits_reference_is_for_one_remittance(
    remit: Callable[..., Any], confirm: Callable[..., Any], stack: Any
) -> None:
    remit(THREE)
    confirm()
    remit(remittance([line(4, "500.51")], "500.51", employer_id="E-002"), client="employer-002")
    before = (stack.ledger_items(), stack.registry_items())
    assert confirm(place="/payroll-remittances/E-002_2025-014").status == 409
    assert (stack.ledger_items(), stack.registry_items()) == before


def test_only_the_funds_client_confirms(remit: Callable[..., Any], confirm: Callable[..., Any], stack: Any) -> None:
    remit(THREE)
    before = stack.ledger_items()
    assert confirm(client="employer-001").code == "party_not_allowed"
    assert confirm(client="portal").code == "party_not_allowed"
    assert confirm(scopes="payroll.remit").code == "scope_missing"
    assert confirm(place="/payroll-remittances/E-001_2025-099").status == 404
    assert stack.ledger_items() == before


def test_who_cant_be_credited_stays_in_clearing_and_is_named(
    *,
    remit: Callable[..., Any],
    confirm: Callable[..., Any],
    credit: Callable[..., int],
    look: Callable[..., Any],
    passbooks: Passbooks,
    stack: Any,
) -> None:
    remit(THREE)
    close(stack, passbooks, "P-000002")
    confirm()
    credit()
    seen = look().body
    assert (seen["status"], seen["clearing"], seen["credited"]) == ("credited", "300.50", 2)
    (unplaced,) = seen["unplaced"]
    assert unplaced == {
        "line": 2,
        "participant_id": "P-000002",
        "amount": "300.50",
        "code": "status_forbids",
        "detail": "The account is closed, which doesn't allow this to be posted.",
        "citation": "3 L.P.R.A. § 786-7(a)",
    }
    assert passbooks.last("P-000002").balances == {}
    assert balances(stack, passbooks) == {"cash": -500_51, "savings": 200_01, "clearing:E-001_2025-014": 300_50}


def test_where_nobody_can_be_credited_all_stays_in_clearing(
    *,
    remit: Callable[..., Any],
    confirm: Callable[..., Any],
    credit: Callable[..., int],
    look: Callable[..., Any],
    passbooks: Passbooks,
    stack: Any,
) -> None:
    remit(THREE)
    for number in (1, 2, 3):
        close(stack, passbooks, f"P-{number:06d}")
    confirm()
    credit()
    seen = look().body
    assert (seen["status"], seen["clearing"], len(seen["unplaced"])) == ("credited", "500.51", 3)
    assert [line.kind for line in passbooks.history("E-001")] == ["employer_opening", "deposit"]


@pytest.mark.parametrize(
    ("value_date", "difference_cents"), [("2025-01-31", 24_04), ("2025-02-01", 20_04), ("2025-07-01", None)]
)
def test_a_value_date_in_a_posted_semester_makes_a_late_credit_sy_01(
    *,
    remit: Callable[..., Any],
    confirm: Callable[..., Any],
    credit: Callable[..., int],
    passbooks: Passbooks,
    stack: Any,
    value_date: str,
    difference_cents: int | None,
) -> None:
    """https://github.com/peti/hledger-interest/issues/21

    10,000.00 all semester: 200.33. With 1,200.00 from January 31 on 224.37, from February 1 on 220.37. On July 1
    nothing is posted yet, and it is an ordinary credit.
    """
    last = passbooks.last("P-000001")
    transfer = savings.initial_transfer(last, 10_000_00, date(2025, 1, 1), Origin("u-ana via portal"))
    passbooks.store.put_line(next_line(last, transfer, passbook="P-000001", fund="ERS", recorded_at=passbooks.clock()))
    post_fy2025_s2(stack, "P-000001", 200_33)
    remit(remittance([line(1, "1200.00")], "1200.00"))
    confirm({"amount": "1200.00", "value_date": value_date})
    credit()
    credited = passbooks.last("P-000001")
    if difference_cents is None:
        assert (credited.kind, credited.effective_on) == (LineKind.CONTRIBUTION, date(2025, 7, 1))
        assert credited.differences == {}
    else:
        assert (credited.kind, credited.belongs_on) == (LineKind.LATE_CREDIT, date.fromisoformat(value_date))
        assert credited.effective_on == date(2025, 7, 10)
        assert credited.differences == {"FY2025-S2": difference_cents}
    assert credited.balance_cents("savings") == 10_000_00 + 200_33 + 1_200_00 + (difference_cents or 0)
    assert credited.facts["remittance"] == "E-001_2025-014"
    # The late credit's yield has its own contra account: the contributions still meet at zero.
    assert balances(stack, passbooks).get("contributions") is None


@pytest.mark.parametrize("killed_after", [0, 1, 2])
@pytest.mark.parametrize("killed_in", ["the posting", "the cursor"])
def test_a_worker_killed_between_pages_credits_each_once_when_sent_again_ru_01(
    *,
    remit: Callable[..., Any],
    confirm: Callable[..., Any],
    credit: Callable[..., int],
    look: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    passbooks: Passbooks,
    stack: Any,
    machine: Any,
    killed_in: str,
    killed_after: int,
) -> None:
    """https://github.com/sidekiq/sidekiq/pull/6405. Five lines of 10.00, two a page: pages of 2, 2 and 1."""
    monkeypatch.setattr(crediting, "PAGE_ROWS", 2)
    monkeypatch.setattr(worker, "PAGE_ROWS", 2)
    for number in (5, 6):
        enrol(stack, number)
    numbers = [1, 2, 3, 5, 6]
    remit(remittance([line(number, "10.00") for number in numbers], "50.00"))
    confirm({"amount": "50.00"})
    owner, name = (Passbooks, "append_together") if killed_in == "the posting" else (Jobs, "advance")
    real, left = getattr(owner, name), [killed_after]

    def dying(*args: Any, **kwargs: Any) -> Any:
        if left[0] == 0:
            raise Killed
        left[0] -= 1
        return real(*args, **kwargs)

    with monkeypatch.context() as killing:
        killing.setattr(owner, name, dying)
        with pytest.raises(Killed):
            credit()
    assert look().body["status"] == "crediting"
    assert confirm({"amount": "50.00"}).status == 202
    credit()
    seen = look().body
    assert (seen["status"], seen["credited"], seen["clearing"]) == ("closed", 5, "0.00")
    assert all(len(passbooks.history(f"P-{number:06d}")) == 2 for number in numbers)
    assert balances(stack, passbooks) == {"cash": -50_00, "savings": 50_00}
    assert len(passbooks.history("E-001")) == 2 + 3


def test_an_invocation_that_may_take_a_page_hands_back(
    *,
    remit: Callable[..., Any],
    confirm: Callable[..., Any],
    credit: Callable[..., int],
    monkeypatch: pytest.MonkeyPatch,
    stack: Any,
) -> None:
    """43 lines are two pages; with three accounts an invocation each page is one of its own."""
    monkeypatch.setenv("INVOCATION_ACCOUNTS", "3")
    for number in range(5, 45):
        enrol(stack, number)
    numbers = [1, 2, 3, *range(5, 45)]
    remit(remittance([line(number, "1.00") for number in numbers], "43.00"))
    confirm({"amount": "43.00"})
    assert credit() == 1 + 2


def test_without_time_left_nothing_is_taken(
    remit: Callable[..., Any], confirm: Callable[..., Any], machine: Any
) -> None:
    remit(THREE)
    confirm()
    started = machine.waiting.popleft()
    del started["worker"]
    assert worker.handler({"op": "begin", **started}, Context(remaining_ms=900_000)) == {"chunks": [0]}
    answer = worker.handler({"op": "work", "chunk": 0, **started}, Context(remaining_ms=19_999))
    assert answer == {"done": False}


def test_a_remittance_without_deposit_cant_be_credited_by_the_worker(
    remit: Callable[..., Any], stack: Any, machine: Any
) -> None:
    """Nobody starts it; were it started all the same, nothing is credited."""
    remit(THREE)
    Jobs(stack.registry, "remittance").open("E-001_2025-014", rows=3, facts={})
    number = Jobs(stack.registry, "remittance").next_number("E-001_2025-014")
    event = {"kind": "remittance", "period": "E-001_2025-014", "attempt": 1, "number": number, "phase": "work"}
    worker.handler({"op": "begin", **event}, Context(remaining_ms=900_000))
    before = stack.ledger_items()
    with pytest.raises(Exception, match="E-001_2025-014"):
        worker.handler({"op": "work", "chunk": 0, **event}, Context(remaining_ms=900_000))
    assert stack.ledger_items() == before


# Many remittances at once


def test_the_largest_lines_of_a_payer_with_all_that_may_be_open_have_room() -> None:
    """The longest ids, names and references, the largest sums a page can move, and fifty remittances open."""
    payer, who, most = "E-123456", f"{'u' * 64} via {'c' * 40}", 9_999_999_999_999_99

    def named(number: int) -> str:
        return f"{payer}_{number:040d}"

    def origin(determination: str, **facts: str | int) -> Origin:
        return Origin(who, determination, facts)

    def put(draft: Draft, before: Line | None) -> Line:
        line = next_line(before, draft, passbook=payer, fund="ERS", recorded_at=datetime(2025, 7, 10, tzinfo=UTC))
        check_size(line, LINE_BYTES_MAX)
        return line

    last = put(employers.opening(date(2025, 7, 10), Origin(who)), None)
    on = date(2025, 7, 10)
    for number in range(OPEN_MAX_BY_RETURNS):
        came = origin(f"deposit/{named(number)}", reference="D" * 40)
        last = put(employers.deposit(named(number), most + number, on, came), last)
    by = origin(f"crediting/{named(0)}/0000", remittance=named(0))
    put(employers.passing_on(last, named(0), most // 2, on, by, installments_cents=most // 2), last)
    by = origin(f"taken_back/remittance_credit/{named(0)}/0000", remittance=named(0))
    put(employers.passing_on_reversed(named(0), most, most, on, by), last)
    put(employers.deposit_returned(last, named(0), most, on, by), last)
    put(employers.deposit_taken_back(named(0), most * 2, on, by), last)
    assert OPEN_MAX < OPEN_MAX_BY_RETURNS


def test_a_deposit_waits_where_too_many_remittances_of_its_payer_have_money_waiting(
    *,
    remit: Callable[..., Any],
    confirm: Callable[..., Any],
    credit: Callable[..., int],
    call: Callable[..., Any],
    stack: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two may wait, for forty; with deposits that are taken back three, for fifty."""
    monkeypatch.setattr(remittances, "OPEN_MAX", 2)
    monkeypatch.setattr(returns, "OPEN_MAX_BY_RETURNS", 3)

    def place(reference: str) -> str:
        return f"/payroll-remittances/E-001_{reference}"

    def confirmed(reference: str, **request: Any) -> Any:
        deposit = {"reference": f"D-{reference}", "amount": "10.00"}
        return confirm(deposit, place=place(reference), **request)

    def taken_back(reference: str) -> Any:
        body = {"reference": f"RD-{reference}", "returned_on": "2025-03-01", "reason": "Insufficient funds"}
        path = f"{place(reference)}/deposit-return"
        return call(api.handler, "POST", path, body=body, scopes="payroll.confirm", client="fund")

    def filed(*references: str) -> None:
        for reference in references:
            assert remit(remittance([line(1, "10.00")], "10.00", reference=reference)).status == 201

    filed("1", "2", "3", "4", "5")
    assert [confirmed(reference).status for reference in ("1", "2")] == [202, 202]
    before = (stack.ledger_items(), stack.registry_items())
    answer = confirmed("3")
    assert (answer.status, answer.code, answer.body["field"]) == (409, "too_many_open", "reference")
    assert answer.body["detail"] == "Money of 2 remittances of this payer waits already: place it or return it first."
    spanish = confirmed("3", headers={"Accept-Language": "es-PR"}).body["detail"]
    assert spanish == "Ya espera dinero de 2 remesas de este pagador: ubíquelo o devuélvalo primero."
    assert (stack.ledger_items(), stack.registry_items()) == before
    # Sent again, one that was confirmed is the first answer.
    assert confirmed("2").status == 202
    credit()
    assert [confirmed(reference).status for reference in ("3", "4")] == [202, 202]
    # Two are open; the return of the first makes them three, and that of the second would make four.
    assert [taken_back("1").status, taken_back("2").code] == [202, "too_many_open"]
    credit()
    assert taken_back("2").status == 202


# Many pages


def noted(page: int, unplaced: int = 1, whole: int = 1) -> dict[str, int]:
    return {"page": page, "unplaced": unplaced, "whole": whole}


def test_pages_with_lines_that_have_no_place_are_noted_together_and_each_is_found_again() -> None:
    notes = folded([noted(3, 2)], [noted(4), noted(62, 1, 0)])
    # The bit of page 4 is the first one, that of page 62 the fifty-ninth: 3 + 59.
    assert notes == [{"page": 3, "more": 1 | 1 << 58, "unplaced": 4, "whole": 2}]
    assert pages_noted(notes[0]) == [3, 4, 62]
    assert folded(notes, [noted(63)])[1:] == [noted(63)]
    assert pages_noted(noted(63)) == [63]


def test_the_notes_of_the_largest_file_stay_within_two_write_units() -> None:
    """200,000 lines are 5,000 pages, and 5,000 ÷ 60 = 83.3. One note a page would be 160 KB, written at each page."""
    notes: Sequence[Mapping[str, Any]] = ()
    for page in range(5_000):
        notes = folded(notes, [noted(page, 40, 40)])
    assert len(notes) == 84
    assert [page for note in notes for page in pages_noted(note)] == list(range(5_000))
    assert sum(note["unplaced"] for note in notes) == 200_000
    assert size_bytes(to_attributes({"notes": list(notes)})) < 5 * 1024


class Looked(Sequence[int]):
    """Rows that know which of them were asked for."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.asked: list[tuple[int, int]] = []

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, place: Any) -> Any:
        start, stop, _ = place.indices(self.count)
        self.asked.append((start, stop))
        return list(range(start, stop))


def test_a_job_looks_at_a_page_of_its_rows_at_a_time(stack: Any) -> None:
    """25 rows in chunks of ten and pages of four: none twice, none left out, and never more than a page in memory."""
    rows, taken = Looked(25), list[tuple[int, list[int]]]()

    class Kind:
        def rows(self, _: str) -> Looked:
            return rows

        def take(self, _: str, first: int, page: Sequence[int]) -> list[dict[str, Any]]:
            taken.append((first, list(page)))
            return []

    jobs = Jobs(stack.registry, "file")
    jobs.open("F-1", rows=25, facts={})
    jobs.next_number("F-1")
    worker = JobWorker(name="file", jobs=jobs, kind=Kind(), chunk_rows=10, page_rows=4)
    event = {"kind": "file", "period": "F-1", "attempt": 1, "number": 1, "phase": "work"}
    assert worker.handle(event | {"op": "begin"}, Context())["chunks"] == [0, 1, 2]
    for chunk in (2, 0, 1):
        assert worker.handle(event | {"op": "work", "chunk": chunk}, Context())["done"]
    assert sorted(rows.asked) == [(0, 4), (4, 8), (8, 10), (10, 14), (14, 18), (18, 20), (20, 24), (24, 25)]
    assert sorted(row for first, page in taken for row in page) == list(range(25))
    assert all(page[0] == first for first, page in taken)
