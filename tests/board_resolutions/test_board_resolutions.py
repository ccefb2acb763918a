"""The doors of the Board's resolutions, through the real handler on moto."""

import json
from datetime import date
from fractions import Fraction

import pytest

from board_resolutions import api
from retiro.ledger.board import BoardBook
from retiro.ledger.store import LedgerStore
from retiro.registry.table import Table
from retiro.rules.calendar import Semester

ACT = {
    "kind": "resolution",
    "body": "Junta de Retiro",
    "number": "2025-07",
    "date": "2025-07-01",
    "document_sha256": "ab" * 32,
}
JUNE = {"2025-06": "3.89"}
SEMESTER = {"2025-01": "4.27", "2025-02": "4.21", "2025-03": "3.97", "2025-04": "3.78", "2025-05": "3.92", **JUNE}


@pytest.fixture
def figures(stack):
    book = BoardBook(LedgerStore(stack.dynamodb, "retiro-ledger"))
    return lambda: book.adopted("ERS")


# From proposal to adoption


def test_what_one_person_proposes_and_another_adopts_is_in_the_book(propose, adopt, figures):
    proposed = propose("treasury_yields", months=SEMESTER)
    assert proposed.status == 201
    assert proposed.body["status"] == "proposed"
    assert figures().entries == ()

    adopted = adopt(proposed)

    assert (adopted.status, adopted.body["status"]) == (200, "adopted")
    assert (adopted.body["proposed_by"], adopted.body["adopted_by"]) == ("u-ana", "u-berta")
    assert figures().treasury_percent("2025-06") == Fraction("3.89")


def test_a_percent_keeps_each_of_its_digits_from_the_door_to_the_book(propose, adopt, read):
    percents = {"2025-05": "100.10", "2025-06": "-0.0000000000000000001"}

    proposed = propose("treasury_yields", months=percents)
    adopt(proposed)

    months = read(f"/board-resolutions/{proposed.body['resolution_id']}").body["resolution"]["months"]
    assert {month: Fraction(text) for month, text in months.items()} == {
        "2025-05": Fraction("100.1"),
        "2025-06": Fraction(-1, 10**19),
    }


@pytest.mark.parametrize("client", ["board", "office"])
def test_who_proposed_cannot_adopt_by_whatever_client(propose, adopt, figures, client):
    proposed = propose("treasury_yields", months=JUNE)

    refused = adopt(proposed, user="u-ana", client=client)

    assert (refused.status, refused.code, refused.body["field"]) == (403, "same_person", "Acting-User")
    assert figures().entries == ()


def test_one_person_is_the_same_in_capital_letters(propose, adopt):
    assert adopt(propose("treasury_yields", months=JUNE), user="U-Ana").code == "same_person"


def test_a_stale_hash_is_refused_and_writes_nothing(propose, adopt, figures, schedule):
    proposed = propose("treasury_yields", months=JUNE)

    refused = adopt(proposed, content_hash="0" * 64)

    assert (refused.status, refused.code, refused.body["field"]) == (409, "stale_hash", "content_hash")
    assert figures().entries == ()
    assert schedule.asked == []


def test_the_same_content_proposed_again_is_the_same_resolution(propose, read):
    first = propose("treasury_yields", months=JUNE)
    again = propose("treasury_yields", months={"2025-06": "3.890"}, user="u-carla")

    assert again.text == first.text
    assert len(read().body["items"]) == 1


def test_two_proposals_of_the_same_content_at_once_are_one(propose, monkeypatch):
    inner = []
    get = Table.get

    def seen_before_the_other(table, pk, sk):
        found = get(table, pk, sk)
        if pk == "resolutions" and not inner:
            inner.append(None)
            inner[0] = propose("treasury_yields", months=JUNE, user="u-carla")
        return found

    monkeypatch.setattr(Table, "get", seen_before_the_other)

    outer = propose("treasury_yields", months=JUNE)

    assert outer.text == inner[0].text
    assert outer.body["proposed_by"] == "u-carla"


def test_adopting_again_answers_the_same_and_writes_nothing(propose, adopt, figures):
    proposed = propose("treasury_yields", months=JUNE)
    first = adopt(proposed)
    again = adopt(proposed)

    assert again.text == first.text
    assert len(figures().entries) == 1


def test_what_another_person_has_adopted_is_a_conflict(propose, adopt, figures):
    proposed = propose("treasury_yields", months=JUNE)
    adopt(proposed)

    refused = adopt(proposed, user="u-carla")

    assert (refused.status, refused.code) == (409, "already_adopted")
    assert figures().entries[0].adopted_by == "u-berta via board"


def test_an_adoption_whose_status_was_lost_is_put_right_when_it_is_sent_again(propose, adopt, stack, read):
    proposed = propose("treasury_yields", months=JUNE)
    first = adopt(proposed)
    stack.registry.update(("resolutions", proposed.body["resolution_id"]), {}, remove=["adopted_by", "adopted_at"])
    assert read().body["items"][0]["status"] == "proposed"

    assert adopt(proposed).text == first.text
    assert read().body["items"][0]["status"] == "adopted"


def test_an_adoption_asks_for_what_is_complete_to_be_prepared(propose, adopt, schedule):
    proposed = propose("treasury_yields", months=SEMESTER)
    assert schedule.asked == []

    adopt(proposed)

    assert schedule.asked == [{"adopted": proposed.body["resolution_id"]}]


def test_an_unknown_resolution_is_not_found(call, schedule):
    path = "/board-resolutions/RB-20250701-000000000000"
    for method, tail, scopes, body in [
        ("GET", "", "board.read", None),
        ("POST", "/adoption", "board.approve", {"content_hash": "0" * 64}),
    ]:
        answer = call(api.handler, method, path + tail, scopes=scopes, body=body)
        assert (answer.status, answer.code) == (404, "resolution_not_found")


def test_a_client_of_one_fund_reaches_no_other_funds_board(propose, adopt, read, call):
    proposed = propose("treasury_yields", months=JUNE, fund="JRS")

    assert propose("treasury_yields", months=JUNE, fund="JRS", client="fund").code == "other_fund"
    assert adopt(proposed, client="fund").code == "other_fund"
    listed = call(api.handler, "GET", "/board-resolutions", scopes="board.read", client="fund")
    assert listed.body["items"] == []
    assert len(read().body["items"]) == 1


# What can't stand


@pytest.mark.parametrize(
    ("kind", "content", "wanted"),
    [
        ("treasury_yields", {"months": {"2025-07": "3.88"}}, ("month_not_over", "months.2025-07")),
        ("treasury_yields", {"months": JUNE, "vintage": "2025-06-30"}, ("month_not_over", "months.2025-06")),
        ("treasury_yields", {"months": JUNE, "vintage": "2025-07-11"}, ("date_to_come", "vintage")),
        ("treasury_yields", {"months": JUNE, "act": ACT | {"date": "2025-07-11"}}, ("date_to_come", "act.date")),
        (
            "portfolio_return",
            {"semester": "FY2026-S1", "return_percent": "3.50", "management_fees_percent": "0.40"},
            ("semester_not_over", "semester"),
        ),
        (
            "option",
            {"code": "fixed_income", "name": {"en": "Bonds", "es": "Bonos"}, "in_force_from": "2025-01-01"},
            ("option_is_statutory", "code"),
        ),
        (
            "option",
            {
                "code": "stable",
                "name": {"en": "Stable", "es": "Estable"},
                "in_force_from": "2025-01-01",
                "until": "2025-01-01",
            },
            ("ends_before_it_begins", "until"),
        ),
        (
            "option_yield",
            {"option": "stable", "semester": "FY2025-S2", "semester_percent": "1"},
            ("unknown_option", "option"),
        ),
        ("setting", {"name": "tea", "value": "black", "in_force_from": "2025-01-01"}, ("unknown_setting", "name")),
        (
            "setting",
            {"name": "negative_yield", "value": "shrug", "in_force_from": "2025-01-01"},
            ("unknown_setting_value", "value"),
        ),
        (
            "setting",
            {"name": "no_selection", "value": "fixed_income", "in_force_from": "2025-01-01"},
            ("act_must_be_order", "value"),
        ),
        (
            "setting",
            {
                "name": "no_selection",
                "value": "stable",
                "in_force_from": "2025-01-01",
                "act": ACT | {"kind": "order"},
            },
            ("unknown_option", "value"),
        ),
        ("closure_days", {"dates": ["2025-06-30"]}, ("act_must_be_order", "dates")),
    ],
)
def test_what_cannot_stand_is_refused_with_its_field_and_citation(propose, read, kind, content, wanted):
    refused = propose(kind, **content)

    assert (refused.status, refused.code, refused.body["field"]) == (422, *wanted)
    assert refused.body["citation"]
    assert read().body["items"] == []


def test_a_figure_is_replaced_by_a_newer_vintage_alone(propose, adopt, figures):
    adopt(propose("treasury_yields", months=JUNE, vintage="2025-07-03"))

    for vintage in ("2025-07-02", "2025-07-03"):
        older = propose("treasury_yields", months={"2025-06": "3.90"}, vintage=vintage)
        assert (older.status, older.code, older.body["field"]) == (422, "vintage_not_newer", "months.2025-06")
    newer = adopt(propose("treasury_yields", months={"2025-06": "3.90"}, vintage="2025-07-04"))

    assert newer.status == 200
    assert figures().treasury_percent("2025-06") == Fraction("3.90")
    assert [entry.resolution.months["2025-06"] for entry in figures().entries] == [Fraction("3.89"), Fraction("3.90")]


def test_a_proposal_that_a_newer_one_has_overtaken_is_not_adopted(propose, adopt, figures):
    older = propose("treasury_yields", months={"2025-06": "3.88"}, vintage="2025-07-02")
    adopt(propose("treasury_yields", months=JUNE, vintage="2025-07-03"))

    refused = adopt(older)

    assert (refused.status, refused.code) == (422, "vintage_not_newer")
    assert figures().treasury_percent("2025-06") == Fraction("3.89")


def test_one_day_is_enough_for_a_months_average(propose):
    # June's last day is the 30th: of that day the average isn't final, of the next it is.
    assert propose("treasury_yields", months=JUNE, vintage="2025-06-30").status == 422
    assert propose("treasury_yields", months=JUNE, vintage="2025-07-01").status == 201


def test_a_setting_is_an_order_of_the_administrator_when_it_names_an_option(propose, adopt, figures):
    order = ACT | {"kind": "order", "body": "Administrador"}
    adopt(propose("setting", name="no_selection", value="fixed_income", in_force_from="2025-01-01", act=order))

    assert figures().setting("no_selection", date(2025, 6, 30)) == "fixed_income"


# Bad input


@pytest.mark.parametrize(
    ("content", "field"),
    [
        ({"months": {"2025-06": 3.89}}, "months.2025-06"),
        ({"months": {"2025-06": "3,89"}}, "months.2025-06"),
        ({"months": {"2025-06": "3.89e0"}}, "months.2025-06"),
        ({"months": {"2025-6": "3.89"}}, "months.2025-6"),
        ({"months": {"2025-13": "3.89"}}, "months.2025-13"),
        ({"months": {}}, "months"),
        ({"months": JUNE, "fund": "ers"}, "fund"),
        ({"months": JUNE, "source": ""}, "source"),
        ({"months": JUNE, "vintage": "2025-7-1"}, "vintage"),
        ({"months": JUNE, "act": ACT | {"document_sha256": "AB" * 32}}, "act.document_sha256"),
        ({"months": JUNE, "act": ACT | {"kind": "decree"}}, "act.kind"),
        ({"months": JUNE, "dates": ["2025-01-01"]}, "dates"),
        ({}, "months"),
    ],
)
def test_what_breaks_the_form_names_its_field(propose, read, content, field):
    refused = propose("treasury_yields", **content)

    assert (refused.status, refused.code, refused.body["field"]) == (422, "invalid_input", field)
    assert read().body["items"] == []


def test_an_unknown_kind_is_refused(propose):
    assert propose("weather").code == "invalid_input"


# Reading


def test_the_list_is_paginated_and_filtered_by_kind(propose, read):
    for month in ("2025-04", "2025-05", "2025-06"):
        propose("treasury_yields", months={month: "4.00"})
    propose("closure_days", dates=["2025-06-30"], act=ACT | {"kind": "order"})

    seen, cursor = [], None
    while True:
        page = read(limit="1", kind="treasury_yields", **({"cursor": cursor} if cursor else {})).body
        seen += [item["resolution_id"] for item in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break

    assert len(seen) == len(set(seen)) == 3
    assert len(read(kind="closure_days").body["items"]) == 1
    assert len(read().body["items"]) == 4


@pytest.mark.parametrize(
    ("query", "field"),
    [({"limit": "0"}, "limit"), ({"limit": "201"}, "limit"), ({"limit": "ten"}, "limit"), ({"kind": "tea"}, "kind"),
     ({"colour": "blue"}, "colour"), ({"cursor": "é"}, "cursor"), ({"cursor": "%%%"}, "cursor")],
)  # fmt: skip
def test_a_query_that_breaks_the_form_names_its_field(read, query, field):
    refused = read(**query)
    assert (refused.status, refused.body["field"]) == (422, field)


def test_the_figures_are_those_of_the_semester_asked_for(propose, adopt, figures):
    """SY-11: https://github.com/SeedCompany/cord-api-v3/issues/1317. FY2025-S2 is January to June 2025."""
    adopt(propose("treasury_yields", months=SEMESTER | {"2024-12": "4.23"}))

    yields = figures().option_yields(Semester.parse("FY2025-S2"), ["fixed_income"])

    assert yields["fixed_income"].monthly_percent == [Fraction(SEMESTER[month]) for month in sorted(SEMESTER)]
    # The sum of the real series, 4.27 + 4.21 + 3.97 + 3.78 + 3.92 + 3.89.
    assert sum(yields["fixed_income"].monthly_percent) == Fraction("24.04")


def test_the_ledger_holds_no_float(propose, adopt, stack):
    adopt(propose("treasury_yields", months=JUNE))
    assert all(kind in {"S", "B"} for item in stack.ledger_items() for value in item.values() for kind in value)
    assert json.loads(stack.ledger_items()[0]["content"]["S"])["months"] == JUNE
