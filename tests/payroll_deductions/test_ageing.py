"""The ageing report: every employer, every month that was due and isn't with the fund."""

from collections.abc import Callable
from datetime import date
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner
from rich.console import Console

from cli import stacks
from cli.ageing import show_ages
from cli.main import main
from payroll_deductions import api
from retiro.ledger import plans
from retiro.ledger.lines import next_line
from retiro.ledger.passbooks import Passbooks
from retiro.ledger.store import LedgerStore
from retiro.registry import ageing
from retiro.registry.ageing import Ageing, EmployerAge, Overdue, OverdueMonth
from retiro.registry.employers import Employer, register
from tests.payroll_deductions.conftest import THREE, line, remittance
from tests.payroll_deductions.plans_at_work import BY, open_plan, order


def report(stack: Any, as_of: str) -> dict[str, list[tuple[str, int, str, int, int]]]:
    """By employer: month, days, why, withheld, ordered."""
    ages = Ageing(LedgerStore(stack.dynamodb, "retiro-ledger"), stack.registry).report(date.fromisoformat(as_of))
    return {
        age.employer.employer_id: [
            (one.period, one.days, str(one.reason), one.withheld_cents, one.ordered_cents) for one in age.months
        ]
        for age in ages
    }


def test_a_month_is_late_after_the_fifteenth_until_its_deposit(
    *, remit: Callable[..., Any], confirm: Callable[..., Any], stack: Any
) -> None:
    """January's 500.51 is filed, and deposited on February 20. E-002 has never filed, and stands in the report too."""
    remit(THREE)
    assert report(stack, "2025-02-15") == {"E-001": [], "E-002": []}
    assert report(stack, "2025-02-16")["E-001"] == [("2025-01", 1, "not_deposited", 500_51, 0)]
    confirm({"value_date": "2025-02-20"})
    assert report(stack, "2025-02-19")["E-001"] == [("2025-01", 4, "not_deposited", 500_51, 0)]
    assert report(stack, "2025-02-20")["E-001"] == []
    # Nothing for February, due on March 15, nor for March, due on April 15.
    assert report(stack, "2025-04-16")["E-001"] == [
        ("2025-02", 32, "nothing_filed", 0, 0),
        ("2025-03", 1, "nothing_filed", 0, 0),
    ]


def test_a_month_that_was_ordered_is_late_though_nothing_was_ever_filed(machine: Any, stack: Any) -> None:
    order(stack, "E-002", "2008-11", ("P-000004", 89_23, 89_23))
    assert report(stack, "2008-12-16")["E-002"] == [("2008-11", 1, "nothing_filed", 0, 178_46)]


def test_one_remittance_of_two_and_a_deposit_taken_back_are_late(
    *,
    remit: Callable[..., Any],
    confirm: Callable[..., Any],
    credit: Callable[..., int],
    call: Callable[..., Any],
    stack: Any,
) -> None:
    remit(THREE)
    remit(remittance([line(1, "10.00")], "10.00", reference="2025-015"))
    confirm()
    credit()
    assert report(stack, "2025-02-16")["E-001"] == [("2025-01", 1, "not_deposited", 10_00, 0)]
    body = {"reference": "RD-1", "returned_on": "2025-02-20", "reason": "Insufficient funds"}
    path = "/payroll-remittances/E-001_2025-014/deposit-return"
    assert call(api.handler, "POST", path, body=body, scopes="payroll.confirm", client="fund").status == 202
    assert report(stack, "2025-02-19")["E-001"] == [("2025-01", 4, "not_deposited", 10_00, 0)]
    # 500.51 + 10.00
    assert report(stack, "2025-02-20")["E-001"] == [("2025-01", 5, "not_deposited", 510_51, 0)]


def returned(call: Callable[..., Any], reference: str, day: str, remittance_id: str = "E-001_2025-014") -> None:
    body = {"reference": reference, "returned_on": day, "reason": "Insufficient funds"}
    path = f"/payroll-remittances/{remittance_id}/deposit-return"
    answer = call(api.handler, "POST", path, body=body, scopes="payroll.confirm", client="fund")
    assert answer.status == 202, answer.text


def test_a_deposit_taken_back_is_made_good_by_what_comes_instead_of_it(
    *,
    remit: Callable[..., Any],
    confirm: Callable[..., Any],
    credit: Callable[..., int],
    call: Callable[..., Any],
    stack: Any,
) -> None:
    """January's 500.51 bounces on February 20, and comes as another remittance on the 25th; that bounces on March 1.

    It is 500.51 that is late after both, never 1,001.02, until 400.00 come on March 5; then 500.51 − 400.00 = 100.51.
    The 200.00 more that come on March 6 are over it.
    """
    remit(THREE)
    confirm()
    credit()
    returned(call, "RD-1", "2025-02-20")
    credit()
    assert report(stack, "2025-02-19")["E-001"] == []
    assert report(stack, "2025-03-10")["E-001"] == [("2025-01", 23, "not_deposited", 500_51, 0)]

    def instead(reference: str, day: str, lines: list[dict[str, Any]], total: str) -> None:
        remit(remittance(lines, total, reference=reference))
        place = f"/payroll-remittances/E-001_{reference}"
        confirmed = confirm({"reference": f"D-{reference}", "amount": total, "value_date": day}, place=place)
        assert confirmed.status == 202, confirmed.text
        credit()

    instead("2025-020", "2025-02-25", THREE["lines"], "500.51")
    assert report(stack, "2025-02-25")["E-001"] == []
    returned(call, "RD-2", "2025-03-01", "E-001_2025-020")
    credit()
    assert report(stack, "2025-03-04")["E-001"] == [("2025-01", 17, "not_deposited", 500_51, 0)]
    instead("2025-021", "2025-03-05", [line(1, "400.00")], "400.00")
    assert report(stack, "2025-03-05")["E-001"] == [("2025-01", 18, "not_deposited", 100_51, 0)]
    instead("2025-022", "2025-03-06", [line(2, "200.00")], "200.00")
    assert report(stack, "2025-03-10")["E-001"] == []


@pytest.mark.parametrize(
    ("moneys", "cents"),
    [
        # Two that bounce, and one that comes: it makes good once. 500 + 300 − 500.
        ([(500, 1, 5), (300, 1, 6), (500, 7, None)], 300),
        # What came before the bounce is no replacement of it; what comes on its day is.
        ([(500, 1, 5), (500, 4, None)], 500),
        ([(500, 1, 5), (500, 5, None)], 0),
        # It comes and bounces on one day: nothing makes good its own return.
        ([(500, 5, 5)], 500),
        ([(500, 1, 5), (500, 5, 5)], 500),
        ([(500, 1, 5), (500, 5, 5), (500, 6, None)], 0),
        # One that isn't there yet, beside one that bounced: both are withheld.
        ([(500, 1, 5), (20, None, None)], 520),
    ],
)
def test_each_deposit_makes_good_once_what_was_taken_back_until_its_day(
    moneys: list[tuple[int, int | None, int | None]], cents: int
) -> None:
    def on(day: int | None) -> date | None:
        return None if day is None else date(2025, 2, day)

    known = [ageing._Money(str(at), amount, on(came), on(back)) for at, (amount, came, back) in enumerate(moneys)]
    assert ageing._withheld_cents(known) == cents
    assert ageing._withheld_cents(reversed(known)) == cents


def test_installments_that_were_ordered_and_kept_stand_though_something_was_filed(
    *, remit: Callable[..., Any], confirm: Callable[..., Any], credit: Callable[..., int], stack: Any
) -> None:
    """89.23 and 89.23 of arrears are ordered, 178.46; a cent's contribution comes, then 178.45, and the last cent."""
    order(stack, "E-001", "2025-01", ("P-000001", 89_23, 89_23))

    def remitted(reference: str, one: dict[str, Any]) -> None:
        remit(remittance([one], one["amount"], reference=reference))
        place = f"/payroll-remittances/E-001_{reference}"
        confirm({"reference": f"D-{reference}", "amount": one["amount"]}, place=place)
        credit()

    assert report(stack, "2025-02-20")["E-001"] == [("2025-01", 5, "nothing_filed", 0, 178_46)]
    remitted("R-1", line(2, "0.01"))
    kept = [("2025-01", 5, "ordered_not_remitted", 0, 178_46)]
    assert report(stack, "2025-02-20")["E-001"] == kept
    remitted("R-2", line(1, "178.45", kind="installment"))
    assert report(stack, "2025-02-20")["E-001"] == kept
    remitted("R-3", line(1, "0.01", kind="installment"))
    assert report(stack, "2025-02-20")["E-001"] == []
    # On a day before the deposits it stands as it did: they are of February 10, and the month is late from the 16th.
    assert report(stack, "2025-02-09")["E-001"] == []


def test_what_an_employer_kept_is_late_until_the_plan_owes_it_no_more(
    *, remit: Callable[..., Any], confirm: Callable[..., Any], passbooks: Passbooks, stack: Any
) -> None:
    """October's 89.23 were kept; on November 20 they come from another payer, as arrears of its own order."""
    open_plan(passbooks, "P-000001")
    order(stack, "E-001", "2008-10", ("P-000001", 89_23, 0))
    remit(remittance([line(2, "0.01")], "0.01", period="2008-10"))
    confirm({"amount": "0.01", "value_date": "2008-11-10"})
    kept = [("2008-10", 1, "ordered_not_remitted", 0, 89_23)]
    assert report(stack, "2008-11-16")["E-001"] == kept
    last = passbooks.last("P-000001")
    assert last is not None
    paid = plans.installment_credit(last, 89_23, date(2008, 11, 20), BY, through=date(2008, 10, 31))
    passbooks.store.put_line(
        next_line(last, paid, passbook=last.passbook, fund=last.fund, recorded_at=passbooks.clock())
    )
    assert report(stack, "2008-11-19")["E-001"] == [("2008-10", 4, "ordered_not_remitted", 0, 89_23)]
    assert report(stack, "2008-11-20")["E-001"] == []


@pytest.mark.parametrize(
    ("paid", "late"),
    [
        # January's 89.23 comes with February's, as arrears: 178.46 in all. Both are settled.
        ("178.46", []),
        # A cent of the arrears stays: it is February's, and it is January's.
        ("178.45", [("2025-01", 89_23), ("2025-02", 178_46)]),
        # February's own alone.
        ("89.23", [("2025-01", 89_23), ("2025-02", 178_46)]),
    ],
)
def test_what_was_short_is_settled_when_it_comes_as_a_later_months_arrears(
    *,
    remit: Callable[..., Any],
    confirm: Callable[..., Any],
    credit: Callable[..., int],
    stack: Any,
    paid: str,
    late: list[tuple[str, int]],
) -> None:
    order(stack, "E-001", "2025-01", ("P-000001", 89_23, 0))
    order(stack, "E-001", "2025-02", ("P-000001", 89_23, 89_23))
    remit(remittance([line(2, "0.01")], "0.01"))
    confirm({"amount": "0.01"})
    february = remittance([line(1, paid, kind="installment")], paid, reference="R-2", period="2025-02")
    remit(february)
    confirm({"reference": "D-2", "amount": paid, "value_date": "2025-03-10"}, place="/payroll-remittances/E-001_R-2")
    credit()
    assert [(month, ordered) for month, _, _, _, ordered in report(stack, "2025-03-20")["E-001"]] == late
    # February isn't due yet on the 12th, and has brought January's all the same.
    assert [month for month, *_ in report(stack, "2025-03-12")["E-001"]] == [month for month, _ in late[:1]]


def test_the_pension_payroll_owes_what_is_ordered_and_nothing_else(
    *, machine: Any, call: Callable[..., Any], confirm: Callable[..., Any], stack: Any
) -> None:
    """It remits no contributions: 89.23 of January, nothing of which came, come as February's arrears; March has none.

    A month of which nothing is ordered isn't late, and one that later arrears have paid isn't any more.
    """
    register(stack.registry, Employer("E-000", "ERS"))
    order(stack, "E-000", "2025-01", ("P-000001", 89_23, 0))
    order(stack, "E-000", "2025-02", ("P-000001", 89_23, 89_23))
    assert report(stack, "2025-02-20")["E-000"] == [("2025-01", 5, "nothing_filed", 0, 89_23)]
    lines = [line(1, "178.46", kind="installment")]
    body = remittance(lines, "178.46", employer_id="E-000", period="2025-02")
    assert call(api.handler, "POST", "/payroll-remittances", body=body, scopes="payroll.remit").status == 201
    confirm({"amount": "178.46", "value_date": "2025-03-10"}, place="/payroll-remittances/E-000_2025-014")
    assert report(stack, "2025-04-20")["E-000"] == []


def test_a_refused_remittance_makes_no_month_look_filed(
    *, remit: Callable[..., Any], confirm: Callable[..., Any], stack: Any
) -> None:
    """January's reference, deposited, sent again for February: refused, and February is still nobody's."""
    remit(THREE)
    confirm()
    before = stack.registry_items()
    assert remit(THREE | {"period": "2025-02"}).code == "remittance_reference_used"
    assert stack.registry_items() == before
    assert report(stack, "2025-03-16")["E-001"] == [("2025-02", 1, "nothing_filed", 0, 0)]


def test_each_party_reads_what_it_reaches(*, remit: Callable[..., Any], call: Callable[..., Any], stack: Any) -> None:
    remit(THREE)

    def read(scopes: str = "payroll.confirm", client: str = "fund", **query: str) -> Any:
        return call(api.handler, "GET", "/remittance-ageing", scopes=scopes, client=client, query=query or None)

    answer = read(as_of="2025-04-20").body
    assert [one["employer_id"] for one in answer["items"]] == ["E-001", "E-002"]
    first = answer["items"][0]
    # January was due on February 15: 64 days before April 20.
    assert (first["withheld"], first["withheld_by_age"]) == ("500.51", ["0.00", "0.00", "500.51", "0.00"])
    assert first["late"][0] == {
        "period": "2025-01",
        "due_on": "2025-02-15",
        "days": 64,
        "reason": "not_deposited",
        "withheld": "500.51",
        "ordered": "0.00",
    }
    assert (answer["items"][1]["known"], answer["items"][1]["late"]) == (False, [])
    page = read(limit="1")
    rest = read(cursor=page.body["next_cursor"])
    assert [one["employer_id"] for one in (*page.body["items"], *rest.body["items"])] == ["E-001", "E-002"]
    # Today's, where no day is asked for: the clock's, 2025-07-10.
    assert page.body["as_of"] == "2025-07-10"
    assert read(as_of="2025-07-10").status == 200
    for ahead in ("2025-07-11", "2100-01-01"):
        refused = read(as_of=ahead)
        assert (refused.status, refused.body["field"]) == (422, "as_of")
        assert refused.body["citation"] == "3 L.P.R.A. § 786-7(a)(2)"
    own = read("payroll.remit", "employer-001").body
    assert [one["employer_id"] for one in own["items"]] == ["E-001"]
    assert read("payroll.remit", "employer-001", employer_id="E-002").code == "other_employer"
    assert read("participants.read", "portal").code == "scope_missing"


@pytest.mark.parametrize(("days", "bucket"), [(1, 0), (30, 0), (31, 1), (60, 1), (61, 2), (90, 2), (91, 3), (400, 3)])
def test_the_ages_are_of_thirty_days_each(days: int, bucket: int) -> None:
    month = OverdueMonth("2025-01", date(2025, 2, 15), days, Overdue.NOT_DEPOSITED, 5, 0)
    by_age = EmployerAge(Employer("E-001", "ERS"), is_known=True, months_due=1, months=[month]).withheld_by_age_cents
    assert [cents for cents in by_age if cents] == [5]
    assert by_age[bucket] == 5


def test_a_person_reads_it_as_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    month = OverdueMonth("2025-01", date(2025, 2, 15), 64, Overdue.NOT_DEPOSITED, 500_51, 89_23)
    ages = [
        EmployerAge(Employer("E-001", "ERS"), is_known=True, months_due=3, months=[month]),
        EmployerAge(Employer("E-002", "ERS"), is_known=False, months_due=0, months=[]),
    ]
    show_ages(Console(width=120), date(2025, 4, 20), ages)
    shown = capsys.readouterr().out
    for part in ("Late as of 2025-04-20", "E-001", "2025-02-15", "64", "not deposited", "500.51", "89.23"):
        assert part in shown
    assert "nothing known" in shown
    assert "withheld and late: to 30 days 0.00, to 60 days 0.00, to 90 days 500.51, more 0.00" in shown


def test_the_command_asks_the_stack_that_is_named(
    *, remit: Callable[..., Any], stack: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    remit(THREE)
    outputs = {"LedgerTable": "retiro-ledger", "RegistryTable": "retiro-registry"}
    here = SimpleNamespace(client=lambda _: stack.dynamodb, outputs=outputs)
    monkeypatch.setattr(stacks, "Stack", lambda *_, **__: here)

    def run(*arguments: str) -> Any:
        return CliRunner().invoke(main, ["ageing", "--stack", "retiro", *arguments])

    late = run("--as-of", "2025-02-16")
    assert (late.exit_code, "500.51" in late.output, "nothing known" in late.output) == (0, True, True)
    in_time = run("--as-of", "2025-02-15", "--employer-id", "E-001")
    assert (in_time.exit_code, "E-001" in in_time.output) == (0, False)
    assert "to 30 days 0.00" in in_time.output
    assert run("--as-of", "2025-02-30").exit_code == 2
    ahead = run("--as-of", "2190-01-01")
    assert (ahead.exit_code, "after today" in ahead.output) == (2, True)
