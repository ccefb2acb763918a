"""Factor tables and the hybrid accounts' return, § 242b: what may be filed, and what is in force on which day."""

import json
from datetime import date, timedelta
from fractions import Fraction

import pytest
from click.testing import CliRunner

from cli.factors import factors
from retiro.ledger.board import BoardBook
from retiro.ledger.figures import Ending
from retiro.ledger.store import LedgerStore
from retiro.rules.calendar import Semester
from retiro.rules.judiciary_hybrid import factor_at
from retiro.rules.refusals import Refusal, RefusalCode
from retiro.rules.settings import SETTINGS

TABLE = {
    "fund": "JRS",
    "unit": "months",
    "points": {"65y0m": "106.8062", "66y0m": "104.2000"},
    "mortality": {"soa_table": 2586},
    "interest_percent": "5",
    "method": "udd",
    "payment": "start",
    "actuary": "Consulting actuaries of the System",
    "consulted_on": "2025-06-15",
    "in_force_from": "2025-07-01",
}
FY2026_S1 = Semester.parse("FY2026-S1")


@pytest.fixture
def propose_table(propose):
    return lambda **changed: propose("factor_table", **(TABLE | changed))


@pytest.fixture
def adopted(propose, adopt):
    """Propose and adopt; it must come into the book."""

    def adopted_as(kind, **content):
        answer = adopt(propose(kind, **({"fund": "JRS"} | content)))
        assert answer.status == 200, answer.text

    return adopted_as


@pytest.fixture
def figures(stack):
    book = BoardBook(LedgerStore(stack.dynamodb, "retiro-ledger"))
    return lambda: book.adopted("JRS")


# Filing a table


@pytest.mark.parametrize(
    ("code", "field", "changed"),
    [
        # Ages as a text sorts them: ten months come before two.
        (
            "factor_table_unsorted",
            "points.65y2m",
            {"points": {"65y0m": "106.8062", "65y10m": "104.8000", "65y2m": "106.4000", "66y0m": "104.2000"}},
        ),
        ("factor_table_gap", "points.66y1m", {"points": {"65y0m": "106.8062", "66y1m": "104.0000"}}),
        # 360 months are the most, and 360.0001 is more.
        ("factor_out_of_range", "points.65y0m", {"points": {"65y0m": "360.0001"}}),
        # 8.9 is a factor in years: of months it would be an annuity of twelve times as much.
        ("factor_out_of_range", "points.65y0m", {"points": {"65y0m": "8.9005"}}),
        ("factor_out_of_range", "points.65y0m", {"unit": "years"}),
        ("consulted_after_the_act", "consulted_on", {"consulted_on": "2025-07-02"}),
        ("ends_before_it_begins", "until", {"until": "2025-07-01"}),
    ],
)
def test_a_table_that_could_pay_wrong_amounts_is_refused_when_filed(stack, propose_table, code, field, changed):
    refused = propose_table(**changed)

    assert (refused.status, refused.code, refused.body["field"]) == (422, code, field)
    assert refused.body["citation"].startswith("4 L.P.R.A. § 242b(c)(2)")
    assert stack.ledger_items() == []


@pytest.mark.parametrize(
    ("field", "changed"),
    [
        ("fund", {"fund": "ERS"}),
        ("points.65", {"points": {"65": "106.8062"}}),
        ("points.65y0m", {"points": {"65y0m": 106.8062}}),
        ("unit", {"unit": "weeks"}),
        ("actuary", {"actuary": ""}),
        ("points", {"points": {}}),
    ],
)
def test_a_table_out_of_form_names_its_field(propose_table, field, changed):
    refused = propose_table(**changed)

    assert refused.status == 422
    assert any(error["field"].startswith(field) for error in refused.body["errors"]), refused.text


@pytest.mark.parametrize("points", [{"65y0m": "60"}, {"65y0m": "360"}, TABLE["points"]])
def test_the_ends_of_the_range_and_a_step_of_a_year_are_filed(propose_table, points):
    assert propose_table(points=points).status == 201


def test_a_table_keeps_its_factors_to_the_last_place_and_sorts_its_ages_as_ages(adopted, figures):
    points = {"65y0m": "106.8062", "65y2m": "106.4000", "65y10m": "104.8000", "66y0m": "104.2000"}
    adopted("factor_table", **(TABLE | {"points": points}))

    table = figures().factor_table(date(2025, 7, 1)).value.table

    # Between 65y2m and 65y10m, three of eight months: 106.4 - 1.6 x 3/8 = 105.8.
    assert factor_at(table, 65 * 12 + 5) == Fraction("105.8")


def test_the_built_table_of_the_desk_is_what_the_board_can_file(propose, tmp_path):
    options = ["--makeham", "0.00022,0.0000027,1.124", "--interest", "5", "--actuary", "Actuaries"]
    dates = ["--consulted-on", "2025-06-15", "--in-force-from", "2025-07-01"]
    built = CliRunner().invoke(factors, ["build", *options, *dates, "--ages", "65-70", "--out", str(tmp_path)])
    assert built.exit_code == 0, built.output

    content = json.loads((tmp_path / "factor-table.json").read_text("utf-8"))
    assert propose(content.pop("kind"), **content).status == 201


# In force


def test_a_table_past_its_end_is_refused_with_the_nearest_period_and_never_carried_forward(adopted, figures):
    period = {"in_force_from": "2025-01-01", "until": "2026-01-01"}
    adopted("factor_table", **(TABLE | period | {"act": _act("2024-12-15"), "consulted_on": "2024-12-01"}))

    assert figures().factor_table(date(2025, 12, 31)).in_force_from == date(2025, 1, 1)
    with pytest.raises(Refusal) as refusal:
        figures().factor_table(date(2026, 1, 1))

    assert refusal.value.code is RefusalCode.NOT_IN_FORCE
    assert refusal.value.sentence.en == (
        "factor_table is not in force on 2026-01-01. The nearest period in force is 2025-01-01 through 2025-12-31."
    )


@pytest.mark.parametrize(
    ("looked_on", "by", "warned"),
    [
        (date(2025, 11, 15), date(2025, 12, 31), False),
        (date(2025, 11, 15), date(2026, 1, 1), True),
        (date(2026, 1, 1), date(2026, 6, 30), False),  # it has ended: it isn't in force any more
    ],
)
def test_what_ends_soon_with_nothing_after_it_is_named(adopted, figures, looked_on, by, warned):
    adopted("factor_table", **(TABLE | {"until": "2026-01-01"}))

    assert figures().endings(looked_on, by) == ([Ending("factor_table", date(2026, 1, 1))] if warned else [])


def test_a_table_that_another_follows_does_not_end(adopted, figures):
    adopted("factor_table", **(TABLE | {"until": "2026-01-01"}))
    adopted("factor_table", **(TABLE | {"in_force_from": "2026-01-01"}))

    assert figures().endings(date(2025, 12, 1), date(2026, 12, 31)) == []
    assert figures().factor_table(date(2025, 12, 31)).until == date(2026, 1, 1)


# The hybrid accounts' return


def test_a_return_of_the_first_months_does_not_stand_for_the_semester(adopted, figures, clock):
    clock.advance(days=185)  # 2026-01-11
    adopted("hybrid_return", semester="FY2026-S1", percent="1.25", months_covered=3, vintage="2025-10-01")

    assert figures().hybrid_return(FY2026_S1, 3).value == Fraction("1.25")
    with pytest.raises(Refusal) as refusal:
        figures().hybrid_return(FY2026_S1)
    assert refusal.value.code is RefusalCode.NOT_IN_FORCE
    assert figures().missing_return(FY2026_S1) == [
        "hybrid_return FY2026-S1",
        "setting average_balance_method",
        "setting negative_yield",
    ]

    adopted("hybrid_return", semester="FY2026-S1", percent="2.5", vintage="2026-01-05")
    adopted("setting", name="average_balance_method", value="month_end", in_force_from="2025-07-01")
    adopted("setting", name="negative_yield", value="post", in_force_from="2025-07-01")

    assert figures().hybrid_return(FY2026_S1).value == Fraction("2.5")
    # As a late credit of a semester without a line asks for it.
    assert figures().option_yields(FY2026_S1, ["hybrid_return"])["hybrid_return"].semester_percent == Fraction("2.5")
    assert figures().missing_return(FY2026_S1) == []


@pytest.mark.parametrize(
    ("code", "content"),
    [
        ("semester_not_over", {"semester": "FY2025-S2", "percent": "2.5", "vintage": "2025-06-30"}),
        (
            "semester_not_over",
            {"semester": "FY2025-S2", "percent": "1.1", "months_covered": 3, "vintage": "2025-03-31"},
        ),
        ("percent_below_minus_100", {"semester": "FY2025-S2", "percent": "-100.01"}),
    ],
)
def test_a_return_that_cannot_be_final_is_refused(propose, code, content):
    refused = propose("hybrid_return", fund="JRS", **content)

    assert (refused.status, refused.code) == (422, code)


def test_a_return_is_final_the_day_after_its_last_month(propose):
    assert (
        propose("hybrid_return", fund="JRS", semester="FY2025-S2", percent="-100", vintage="2025-07-01").status == 201
    )
    months = {"semester": "FY2025-S2", "percent": "1.1", "months_covered": 3, "vintage": "2025-04-01"}
    assert propose("hybrid_return", fund="JRS", **months).status == 201


def test_a_return_of_an_older_vintage_does_not_replace_a_newer_one(adopted, propose):
    adopted("hybrid_return", semester="FY2025-S2", percent="2.5", vintage="2025-07-05")

    refused = propose("hybrid_return", fund="JRS", semester="FY2025-S2", percent="2.6", vintage="2025-07-04")

    assert (refused.code, refused.body["citation"]) == ("vintage_not_newer", "4 L.P.R.A. § 242b")


@pytest.mark.parametrize("name", [name for name, one in SETTINGS.items() if "§ 242b" in one.citation])
def test_every_setting_of_the_section_is_adopted_by_an_act_and_in_force_from_its_day(adopted, figures, name):
    value = SETTINGS[name].alternatives[0]
    adopted("setting", name=name, value=value, in_force_from="2025-07-01")

    assert figures().setting(name, date(2025, 7, 1)) == value
    with pytest.raises(Refusal):
        figures().setting(name, date(2025, 7, 1) - timedelta(days=1))


def _act(on):
    return {
        "kind": "resolution",
        "body": "Junta de Retiro",
        "number": "2024-31",
        "date": on,
        "document_sha256": "cd" * 32,
    }
