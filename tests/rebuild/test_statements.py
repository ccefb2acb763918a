"""`retiro rebuild DIR`: what the statements and the exceptions say."""

import pytest
from click.testing import CliRunner

from cli.main import main
from cli.rebuild import contributions
from retiro.rules.money import parse_cents


def test_a_semester_is_posted_as_its_determination_has_it(history):
    # 10,000.00 and 200.00 on the 15th of each month: month-ends 10,200 … 11,200, mean 10,700.00
    # 10,700.00 × 24.04 ÷ 12 % = 214.3567 → 214.36; 10,000.00 + 1,200.00 + 214.36 = 11,414.36
    history.participant()
    history.add("transfers.csv", "P-1,2025-01-01,10000.00")
    for month in range(1, 7):
        history.contribution(f"2025-{month:02d}-15", "200.00", pay_period=f"2025-{month:02d}")
    history.treasury()
    result = history.rebuild()
    assert result.exit_code == 0
    assert "1 participants, 6 contributions, 1 statements through FY2025-S2, 0 exceptions" in result.output
    assert history.statements() == [
        {
            "participant_id": "P-1",
            "semester": "FY2025-S2",
            "opening_balance": "0.00",
            "credits": "11200.00",
            "average_monthly_balance": "10700.00",
            "semester_percent": "2.003333",
            "yield": "214.36",
            "closing_balance": "11414.36",
        }
    ]
    assert (history.folder / "exceptions.csv").read_text() == "participant_id,where,code,detail\n"


def test_cents_and_zeros_survive_the_reading_and_halves_round_up_rb_03(history):
    # https://github.com/pola-rs/polars/issues/13568: "2.04" was read as 2.4, and conversions round half to even.
    # 2.04 + 0.05 + 10.10 + 1000.01 = 1,012.20. 150.00 × 24.04 ÷ 12 % = 3.005 → 3.01
    history.participant("P-1")
    history.participant("P-2")
    for amount in ("2.04", "0.05", "10.10", "1000.01"):
        history.contribution("2025-01-15", amount)
    history.contribution("2025-01-31", "150.00", participant_id="P-2")
    history.treasury()
    assert history.rebuild().exit_code == 0
    first, second = history.statements()
    assert first["credits"] == "1012.20"
    assert (second["average_monthly_balance"], second["yield"]) == ("150.00", "3.01")


def test_each_semester_opens_where_the_last_one_closed(history):
    # S1 of FY2025: 100.00 in July on: mean 100.00 at 6 ÷ 2 = 3 %: 3.00. S2: 103.00 at 24.04 ÷ 12 % = 2.0634 → 2.06
    history.participant(enrolled_on="2024-07-01")
    history.contribution("2024-07-31", "100.00")
    history.treasury(2024, 1, ["6.00"] * 6)
    history.treasury()
    history.rebuild()
    assert [(row["opening_balance"], row["yield"], row["closing_balance"]) for row in history.statements()] == [
        ("0.00", "3.00", "103.00"),
        ("103.00", "2.06", "105.06"),
    ]


def test_a_month_end_counts_its_last_day(history):
    # Of 600.00: on January 31 in six month-ends, on February 1 in five: 500.00; on June 30 in one: 100.00
    for number, day in enumerate(("2025-01-31", "2025-02-01", "2025-06-30"), start=1):
        history.participant(f"P-{number}")
        history.contribution(day, "600.00", participant_id=f"P-{number}")
    history.treasury()
    history.rebuild()
    assert [row["average_monthly_balance"] for row in history.statements()] == ["600.00", "500.00", "100.00"]


def test_a_correction_below_zero_is_credited_as_it_stands(history):
    history.participant()
    history.contribution("2025-01-15", "100.00")
    history.contribution("2025-01-16", "-89.24")
    history.treasury()
    history.rebuild()
    assert history.statements()[0]["credits"] == "10.76"


def test_an_amount_below_zero_is_written_with_its_sign_alone_pd_13(history):
    # https://github.com/woocommerce/woocommerce/issues/53020: a guard against formulas put an apostrophe before it.
    history.participant()
    history.contribution("2025-01-15", "-89.24")
    history.treasury()
    history.rebuild()
    assert (
        (history.folder / "statements.csv").read_text().splitlines()[1].startswith("P-1,FY2025-S2,0.00,-89.24,-89.24,")
    )


def test_statements_are_sorted_by_participant_and_semester(history):
    for participant_id in ("P-2", "P-10", "P-1"):
        history.participant(participant_id, enrolled_on="2024-07-01")
    history.treasury(2024, 1)
    history.treasury()
    history.rebuild()
    assert [(row["participant_id"], row["semester"]) for row in history.statements()] == [
        (participant_id, semester)
        for participant_id in ("P-1", "P-10", "P-2")
        for semester in ("FY2025-S1", "FY2025-S2")
    ]


# The selection


def test_a_selection_made_in_the_semester_is_that_of_the_whole_semester(history):
    # The portfolio alone: 90 % of (4.00 − 0.20) = 3.42 %
    history.participant(selection=None)
    history.add("selections.csv", "P-1,2025-06-30,0,100")
    history.treasury()
    portfolio(history, "FY2025-S2")
    history.rebuild()
    assert [row["semester_percent"] for row in history.statements()] == ["3.420000"]


def portfolio(history, semester):
    history.add(
        "yields.csv",
        f"system_portfolio,{semester},return_percent,4.00",
        f"system_portfolio,{semester},management_fees_percent,0.20",
    )


def test_a_change_holds_from_the_next_fiscal_year_and_a_second_one_is_an_exception(history):
    history.participant(enrolled_on="2024-01-01")
    history.add("selections.csv", "P-1,2024-07-01,0,100", "P-1,2025-06-30,50,50", "P-1,2025-07-01,20,80")
    for year, half, semester in ((2024, 2, "FY2024-S2"), (2024, 1, "FY2025-S1"), (2025, 2, "FY2025-S2")):
        history.treasury(year, half)
        portfolio(history, semester)
    history.treasury(2025, 1)
    portfolio(history, "FY2026-S1")
    assert history.rebuild().exit_code == 1
    # Fixed income through FY2025; the first change from July 1, 2025. The second is of FY2025 too. The third is of
    # FY2026, and holds from July 1, 2026.
    assert [row["semester_percent"] for row in history.statements()] == ["2.003333"] * 3 + ["3.420000"]
    assert history.exceptions() == [("P-1", "selections.csv:4", "already_changed_this_fiscal_year")]


@pytest.mark.parametrize(("selection", "code"), [("95,5", "not_multiple_of_ten"), ("50,40", "does_not_total_100")])
def test_a_refused_change_leaves_the_earlier_selection(history, selection, code):
    history.participant(enrolled_on="2024-07-01")
    history.add("selections.csv", f"P-1,2024-08-01,{selection}")
    history.treasury(2024, 1)
    history.treasury()
    assert history.rebuild().exit_code == 1
    assert [row["semester_percent"] for row in history.statements()] == ["2.003333"] * 2
    assert history.exceptions() == [("P-1", "selections.csv:3", code)]


def test_after_a_refused_first_selection_the_next_is_the_initial_one(history):
    history.participant(selection="95,5")
    history.add("selections.csv", "P-1,2025-03-01,100,0")
    history.treasury()
    assert history.rebuild().exit_code == 1
    assert len(history.statements()) == 1
    assert history.exceptions() == [("P-1", "selections.csv:2", "not_multiple_of_ten")]


def test_an_account_without_a_selection_stops_with_one_row(history):
    # Selected on the first day of the semester after: the semester of enrolment has none, and later ones wait.
    history.participant(enrolled_on="2024-07-01", selection=None)
    history.add("selections.csv", "P-1,2025-01-01,100,0")
    history.participant("P-2")
    history.treasury(2024, 1)
    history.treasury()
    assert history.rebuild().exit_code == 1
    assert [row["participant_id"] for row in history.statements()] == ["P-2"]
    assert history.exceptions() == [("P-1", "FY2025-S1", "no_selection")]


def test_the_setting_no_selection_puts_an_option_in_its_place(history):
    history.participant(selection=None)
    history.treasury()
    history.write("settings.csv", ["setting,value,in_force_from", "no_selection,fixed_income,2025-06-30"])
    assert history.rebuild().exit_code == 0
    assert history.statements()[0]["semester_percent"] == "2.003333"


# The figures


def test_an_account_stops_where_its_option_has_no_figures(history):
    history.participant("P-1", enrolled_on="2024-07-01", selection="0,100")
    history.participant("P-2", enrolled_on="2024-07-01")
    history.treasury(2024, 1)
    history.treasury()
    portfolio(history, "FY2025-S2")
    assert history.rebuild().exit_code == 1
    assert [(row["participant_id"], row["semester"]) for row in history.statements()] == [
        ("P-2", "FY2025-S1"),
        ("P-2", "FY2025-S2"),
    ]
    assert history.exceptions() == [("P-1", "FY2025-S1", "yield_not_in_force")]


def test_the_last_semester_is_the_last_one_covered_in_full(history):
    history.participant()
    history.treasury()
    history.treasury(2025, 1, TREASURY_OF_FIVE_MONTHS)
    result = history.rebuild()
    assert result.exit_code == 0
    assert "through FY2025-S2" in result.output
    assert [row["semester"] for row in history.statements()] == ["FY2025-S2"]


TREASURY_OF_FIVE_MONTHS = ("3.90",) * 5


def test_a_semester_without_the_portfolio_is_not_covered_in_full(history):
    history.participant(enrolled_on="2024-07-01")
    history.treasury(2024, 1)
    portfolio(history, "FY2025-S1")
    history.treasury()
    assert "through FY2025-S1" in history.rebuild().output


def test_another_option_that_has_ended_does_not_end_the_rebuild(history):
    history.participant()
    history.add("yields.csv", "bonds,FY2024-S2,semester_percent,1.50")
    history.treasury()
    assert "through FY2025-S2" in history.rebuild().output


def test_before_its_statute_the_share_of_the_portfolio_must_be_given(history):
    # With 75 %: 0.75 × (4.00 − 0.20) = 2.85 %
    for number, semester in enumerate(("FY2004-S1", "FY2004-S2"), start=1):
        history.participant(f"P-{number}", enrolled_on="2003-07-01", selection="0,100")
        portfolio(history, semester)
    history.add("yields.csv", "system_portfolio,FY2004-S2,share_percent,75")
    assert history.rebuild().exit_code == 1
    assert history.exceptions() == [("P-1", "FY2004-S1", "not_in_force"), ("P-2", "FY2004-S1", "not_in_force")]


def test_the_share_that_is_given_is_used(history):
    history.participant(enrolled_on="2004-01-01", selection="0,100")
    portfolio(history, "FY2004-S2")
    history.add("yields.csv", "system_portfolio,FY2004-S2,share_percent,75")
    assert history.rebuild().exit_code == 0
    assert history.statements()[0]["semester_percent"] == "2.850000"


def test_yields_that_cover_nothing_post_nothing(history):
    history.participant()
    result = history.rebuild()
    assert (result.exit_code, history.statements()) == (0, [])
    assert "yields.csv covers no semester in full" in result.output


def test_an_account_opened_before_every_figure_stops_at_once(history):
    history.participant(enrolled_on="2024-12-31")
    history.treasury()
    assert history.rebuild().exit_code == 1
    assert history.statements() == []
    assert history.exceptions() == [("P-1", "FY2025-S1", "yield_not_in_force")]


def test_an_account_opened_after_the_last_semester_has_no_statement_yet(history):
    history.participant(enrolled_on="2025-07-01")
    history.treasury()
    assert (history.rebuild().exit_code, history.statements()) == (0, [])


def test_a_setting_holds_from_the_semester_whose_last_day_it_reaches(history):
    # Unhalved, 24.04 ÷ 6 = 4.006667 %, from the semester that ends on the day that it comes into force
    history.participant(enrolled_on="2024-07-01")
    history.treasury(2024, 1)
    history.treasury()
    history.write("settings.csv", ["setting,value,in_force_from", "cmt_semester_conversion,unhalved,2025-06-30"])
    history.rebuild()
    assert [row["semester_percent"] for row in history.statements()] == ["2.003333", "4.006667"]


# Rows that are not taken


def test_a_row_equal_to_an_earlier_one_is_not_taken_twice(history, monkeypatch):
    history.participant()
    history.treasury()
    history.contribution("2025-01-15", "100.00")
    history.contribution("2025-01-15", "100.00", pay_period="2025-02")
    history.contribution("2025-01-15", "100.00")
    history.contribution("2025-01-15", "100.00")
    monkeypatch.setattr(contributions, "BLOCK_BYTES", 50)
    result = history.rebuild()
    assert result.exit_code == 1
    assert "2 contributions" in result.output
    assert history.statements()[0]["credits"] == "200.00"
    assert history.exceptions() == [
        ("P-1", "contributions.csv:4", "duplicate_row"),
        ("P-1", "contributions.csv:5", "duplicate_row"),
    ]


def test_rows_that_only_share_a_hash_are_both_taken(history, monkeypatch):
    history.participant()
    history.treasury()
    history.contribution("2025-01-15", "100.00")
    history.contribution("2025-01-15", "100.01")
    monkeypatch.setattr(contributions, "_repeated", lambda hashes: hashes[0])
    assert history.rebuild().exit_code == 0
    assert history.statements()[0]["credits"] == "200.01"


def test_every_file_knows_its_duplicates(history):
    history.participant()
    history.participant()
    history.add("transfers.csv", "P-1,2025-01-01,1.00", "P-1,2025-01-01,1.00")
    history.treasury()
    history.treasury()
    history.write("settings.csv", ["setting,value,in_force_from", *["negative_yield,post,2000-01-01"] * 2])
    assert history.rebuild().exit_code == 1
    assert history.exceptions() == [
        *[("", f"yields.csv:{line}", "duplicate_row") for line in range(8, 14)],
        ("", "settings.csv:3", "duplicate_row"),
        ("P-1", "participants.csv:3", "duplicate_row"),
        ("P-1", "transfers.csv:3", "duplicate_row"),
        ("P-1", "selections.csv:3", "duplicate_row"),
    ]
    assert history.statements()[0]["credits"] == "1.00"


def test_a_second_transfer_is_not_taken(history):
    history.participant()
    history.add("transfers.csv", "P-1,2025-01-01,1.00", "P-1,2025-01-02,1.00")
    history.treasury()
    assert history.rebuild().exit_code == 1
    assert history.exceptions() == [("P-1", "transfers.csv:3", "initial_transfer_already_credited")]


@pytest.mark.parametrize("amount", ["0.00", "-0.01"])
def test_a_transfer_that_is_not_above_zero_is_not_taken(history, amount):
    history.participant()
    history.add("transfers.csv", f"P-1,2025-01-01,{amount}")
    history.treasury()
    assert history.rebuild().exit_code == 1
    assert history.exceptions() == [("P-1", "transfers.csv:2", "invalid_input")]
    assert history.statements()[0]["credits"] == "0.00"


def test_what_is_dated_before_the_enrolment_is_not_taken(history):
    history.participant(enrolled_on="2025-01-15")
    history.contribution("2025-01-14", "100.00")
    history.contribution("2025-01-15", "50.00")
    history.contribution("2025-01-14", "100.00")
    history.add("transfers.csv", "P-1,2025-01-14,1.00")
    history.add("selections.csv", "P-1,2025-01-14,0,100")
    history.treasury()
    result = history.rebuild()
    assert result.exit_code == 1
    assert "1 contributions" in result.output
    assert history.statements()[0]["credits"] == "50.00"
    assert history.exceptions() == [
        ("P-1", "transfers.csv:2", "invalid_input"),
        ("P-1", "contributions.csv:2", "invalid_input"),
        ("P-1", "contributions.csv:4", "invalid_input"),
        ("P-1", "selections.csv:3", "invalid_input"),
    ]


def test_an_exception_says_why_in_both_languages(history):
    history.participant(selection=None)
    history.treasury()
    history.rebuild()
    detail = (history.folder / "exceptions.csv").read_text("utf-8").splitlines()[1]
    assert "no yield can be credited for FY2025-S2" in detail
    assert "no se puede acreditar rendimiento para FY2025-S2" in detail


# The same whatever the order and the blocks


def test_the_order_of_rows_and_the_size_of_blocks_change_nothing(tmp_path, history, monkeypatch):
    assert CliRunner().invoke(main, ["rebuild", "sample", str(tmp_path / "a"), "--participants", "20"]).exit_code == 0
    history.folder = tmp_path / "a"
    assert history.rebuild().exit_code == 0
    expected = (history.folder / "statements.csv").read_bytes()
    header, *lines = (history.folder / "contributions.csv").read_text().splitlines()
    history.write("contributions.csv", [header, *sorted(lines, key=lambda line: line[::-1])])
    monkeypatch.setattr(contributions, "BLOCK_BYTES", 777)
    assert history.rebuild().exit_code == 0
    assert (history.folder / "statements.csv").read_bytes() == expected


def test_nothing_is_lost_between_the_files_and_the_statements(tmp_path, history):
    assert CliRunner().invoke(main, ["rebuild", "sample", str(tmp_path / "a"), "--participants", "25"]).exit_code == 0
    history.folder = tmp_path / "a"
    history.rebuild()
    came_in = sum(
        parse_cents(line.split(",")[2])
        for name in ("contributions.csv", "transfers.csv")
        for line in (history.folder / name).read_text().splitlines()[1:]
    )
    statements = history.statements()
    yielded = sum(parse_cents(row["yield"]) for row in statements)
    closed = sum(parse_cents(row["closing_balance"]) for row in statements if row["semester"] == "FY2013-S2")
    assert sum(parse_cents(row["credits"]) for row in statements) == came_in
    assert closed == came_in + yielded
