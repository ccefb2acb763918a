"""A malformed history stops `retiro rebuild` with file, line and column, and nothing is written."""

import pytest

from cli.rebuild import contributions
from retiro.rules.money import format_cents


@pytest.fixture
def good(history):
    """A history that is rebuilt without an exception."""
    history.participant()
    history.contribution("2025-01-15", "100.00")
    history.treasury()
    return history


def refusal_of(history):
    """What is said of a malformed history, once nothing is seen to be written."""
    before = {place.name: place.read_bytes() for place in history.folder.iterdir()}
    result = history.rebuild()
    assert result.exit_code == 2
    assert {place.name: place.read_bytes() for place in history.folder.iterdir()} == before
    return result.output.strip()


# The large file


def test_ids_are_texts_however_many_came_before_rb_01(history):
    # https://github.com/duckdb/duckdb/issues/25824: a reader that fixes a column's type from the first 20,480 lines
    # credits "0001000001" to 1000001 and "1000002.4" to 1000002.
    ids = [str(number) for number in range(1_000_000, 1_000_050)]
    for one in ids:
        history.participant(one)
    history.treasury()
    lines = [f"{ids[number % 50]},2025-01-15,100.00,E-001,2025-{number:06d}" for number in range(30_000)]
    history.add("contributions.csv", *lines)
    assert history.rebuild().exit_code == 0
    (history.folder / "statements.csv").unlink()
    (history.folder / "exceptions.csv").unlink()
    history.contribution("2025-01-15", "55.55", participant_id="0001000001")
    history.contribution("2025-01-15", "1.00", participant_id="1000002.4")
    assert refusal_of(history).splitlines() == [
        "contributions.csv, line 30002, column participant_id: is no participant of participants.csv",
        "contributions.csv, line 30003, column participant_id: is no participant of participants.csv",
    ]


def test_amounts_keep_their_cents_after_whole_ones_rb_01(history):
    # duckdb's default turned 150.75 into 151 where the first 30,000 amounts were whole.
    history.participant()
    history.treasury()
    history.add("contributions.csv", *[f"P-1,2025-01-15,1.00,E-001,{number}" for number in range(30_000)])
    history.contribution("2025-01-15", "150.75")
    assert history.rebuild().exit_code == 0
    assert history.statements()[0]["credits"] == "30150.75"


@pytest.mark.parametrize(
    "amount",
    [
        '"1.234,56"', '"1,234.56"', '"-950,00"', "110.7", '"1355,90"', "(89.24)", "$89.24", "+89.24", "89.240", ".50",
        "89.", "８９.24", "1e2", "1_000.00", " 89.24", "89.24 ", "89.245", "089.24", "-0.00", "NaN", "٣.00", "89", "",
    ],
)  # fmt: skip
def test_an_amount_of_another_form_is_never_guessed_pd_11(good, amount):
    # https://github.com/firefly-iii/firefly-iii/issues/1938: "-950,00" became −95000.00, "1.355,90" became 1.35
    good.contribution("2025-01-16", amount)
    assert refusal_of(good) == (
        'contributions.csv, line 3, column amount: must be money as a text with two places, like "214.36"'
    )


@pytest.mark.parametrize("bare", ["1,234.56", "-950,00"])
def test_an_unquoted_comma_makes_a_column_too_many(good, bare):
    good.contribution("2025-01-16", bare)
    assert refusal_of(good) == "contributions.csv, line 3, column 6: there is no such column"


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("1,1,1", "column employer_id: is missing"),
        ("P-1,2025-01-16,1.00,E-001", "column pay_period: is missing"),
        ("P-1,2025-01-16,1.00,E-001,2025-01,", "column 6: there is no such column"),
        ("", "column participant_id: is missing"),
        ("P-1,2025-01-16,1.00,,2025-01", "column employer_id: must be an id"),
        ("P-1,2025-01-16,1.00,E-001,", "column pay_period: must be a short text"),
        ("P-1,2025-01-16,1.00,=cmd,2025-01", "column employer_id: must be an id"),
        ("P-1,2025-02-29,1.00,E-001,2025-01", "column remitted_on: must be a date"),
        ("P-1,2025-1-16,1.00,E-001,2025-01", "column remitted_on: must be a date"),
        ("P-1,2025-01-16T00:00:00,1.00,E-001,2025-01", "column remitted_on: must be a date"),
        ("p-1,2025-01-16,1.00,E-001,2025-01", "column participant_id: is no participant"),
        (" P-1,2025-01-16,1.00,E-001,2025-01", "column participant_id: is no participant"),
        ('P-1,2025-01-16,1.00,E-001,"2025-01', ": unexpected end of data"),
        ('P-1,2025-01-16,1.00,E-001,"2025\n01"', "column pay_period: must be a short text"),
        ("P-1,2025-01-16,1.00,E-001,2025-01\rP-1,2025-01-17,1.00,E-001,2025-01", ": new-line character"),
        ("P-1,2025-01-16,1.00,E\0,2025-01", "column employer_id: must be an id"),
    ],
)
@pytest.mark.parametrize("block_bytes", [1 << 24, 60])
def test_one_odd_last_line_is_named_rb_05(good, monkeypatch, line, fault, block_bytes):
    # https://github.com/duckdb/duckdb/issues/15473: one odd last line changed the types of the whole column.
    for number in range(40):
        good.contribution("2025-01-15", "1.00", pay_period=f"2025-{number}")
    good.add("contributions.csv", line)
    monkeypatch.setattr(contributions, "BLOCK_BYTES", block_bytes)
    assert refusal_of(good).startswith("contributions.csv, line 43")
    assert fault in refusal_of(good)


def test_without_the_odd_line_the_statements_are_as_ever(good):
    assert good.rebuild().exit_code == 0
    before = (good.folder / "statements.csv").read_bytes()
    text = (good.folder / "contributions.csv").read_text()
    (good.folder / "contributions.csv").write_text(f"{text}1,1,1\n")
    refusal_of(good)
    (good.folder / "contributions.csv").write_text(text)
    assert good.rebuild().exit_code == 0
    assert (good.folder / "statements.csv").read_bytes() == before


def test_every_fault_is_listed_up_to_twenty(good):
    good.contribution("2025-02-30", "1,00")
    good.contribution("2025-02-30", "x")
    assert [fault.partition(":")[0] for fault in refusal_of(good).splitlines()] == [
        "contributions.csv, line 3, column 6",
        "contributions.csv, line 4, column remitted_on",
        "contributions.csv, line 4, column amount",
    ]
    for _ in range(30):
        good.contribution("2025-01-15", "x")
    assert len(refusal_of(good).splitlines()) == 21
    assert refusal_of(good).endswith("… and more")


def test_another_encoding_is_named_by_its_line(good):
    with (good.folder / "contributions.csv").open("ab") as file:
        file.write("P-1,2025-01-16,1.00,Peñuelas,2025-01\n".encode("latin-1"))
    assert refusal_of(good) == "contributions.csv, line 3: isn't UTF-8 text"


def test_what_the_two_readings_see_differently_is_refused(good, monkeypatch):
    monkeypatch.setattr(contributions, "MONEY_PATTERN", "^[0-9]$")
    assert refusal_of(good) == "contributions.csv, line 2 and what follows: can't be read"


def test_amounts_that_could_not_be_added_exactly_are_refused(good):
    for number in range(100):
        good.contribution("2025-01-15", format_cents(99_999_999_999_999_999), pay_period=f"2025-{number}")
    assert refusal_of(good) == ("contributions.csv, transfers.csv: the amounts are too large to be added up exactly")


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("last", [True, False])
def test_a_byte_order_mark_and_line_endings_change_nothing(good, ending, mark, last):
    for name in ("participants.csv", "contributions.csv", "selections.csv", "yields.csv", "transfers.csv"):
        lines = (good.folder / name).read_text().splitlines()
        text = mark + ending.join(lines) + (ending if last else "")
        (good.folder / name).write_bytes(text.encode())
    assert good.rebuild().exit_code == 0
    assert good.statements()[0]["credits"] == "100.00"


def test_quoted_fields_are_the_same_fields(good):
    good.add("contributions.csv", '"P-1","2025-01-16","0.05","E-001","2025-01"')
    assert good.rebuild().exit_code == 0
    assert good.statements()[0]["credits"] == "100.05"


# Every file


@pytest.mark.parametrize(
    "name", ["participants.csv", "transfers.csv", "contributions.csv", "selections.csv", "yields.csv", "settings.csv"]
)
def test_an_empty_file_lacks_its_header(good, name):
    good.write(name, [])
    assert refusal_of(good) == f"{name}, line 1: the header is missing"


@pytest.mark.parametrize(
    "name", ["participants.csv", "transfers.csv", "contributions.csv", "selections.csv", "yields.csv"]
)
def test_a_file_that_is_missing_is_named(good, name):
    (good.folder / name).unlink()
    assert refusal_of(good) == f"{name}: can't be read: No such file or directory"


def test_files_of_headers_alone_make_files_of_headers_alone(history):
    assert history.rebuild().exit_code == 0
    assert history.statements() == []
    assert history.exceptions() == []


@pytest.mark.parametrize(
    ("name", "header", "fault"),
    [
        ("participants.csv", "birth_date,participant_id,employer_id,enrolled_on", "column 1: must be participant_id"),
        ("transfers.csv", "participant_id,credited_on", "column 3: must be amount"),
        (
            "contributions.csv",
            "participant_id,amount,remitted_on,employer_id,pay_period",
            "column 2: must be remitted_on",
        ),
        (
            "contributions.csv",
            "participant_id,remitted_on,amount,employer_id,pay_period,x",
            "column 6: there is no such",
        ),
        ("selections.csv", "participant_id,requested_on", "column 3: must be an option's code"),
        ("selections.csv", "participant_id,requested_on,fixed income", "column 3: must be an option's code"),
        ("selections.csv", "participant_id,requested_on,bonds,bonds", "column 4: bonds has a column already"),
        ("yields.csv", "option;period;figure;value", "column 1: must be option"),
    ],
)
def test_a_header_of_another_form_is_refused(good, name, header, fault):
    good.write(name, [header])
    assert f"{name}, line 1, {fault}" in refusal_of(good)


@pytest.mark.parametrize(
    ("name", "line", "fault"),
    [
        ("participants.csv", "P-1,1980-02-29,E-002,2025-01-01", "line 3, column participant_id: is that of line 2"),
        ("participants.csv", "P-2,1980-02-30,E-001,2025-01-01", "line 3, column birth_date: must be a date"),
        ("participants.csv", "P-2,1980-02-29,E-001,1949-06-30", "line 3, column enrolled_on: must be a semester"),
        ("participants.csv", "=P,1980-02-29,E-001,2025-01-01", "line 3, column participant_id: must be an id"),
        ("transfers.csv", "P-2,2025-01-01,1.00", "line 2, column participant_id: is no participant"),
        ("transfers.csv", "P-1,2025-01-01,1.0", "line 2, column amount: must be money"),
        ("selections.csv", "P-2,2025-01-01,100,0", "line 3, column participant_id: is no participant"),
        ("selections.csv", "P-1,2025-01-01,100.0,0", "line 3, column fixed_income: must be a whole percent"),
        ("selections.csv", "P-1,2025-01-01,110,-10", "line 3, column system_portfolio: must be a whole percent"),
        ("selections.csv", "P-1,2025-01-01,100,", "line 3, column system_portfolio: must be a whole percent"),
        ("yields.csv", "fixed_income,2025-13,percent,1.00", "line 8, column period: must be a month"),
        ("yields.csv", "fixed_income,1900-01,percent,1.00", "line 8, column period: must be a semester"),
        ("yields.csv", "fixed_income,FY2025-S1,percent,1.00", "line 8, column period: must be a month"),
        (
            "yields.csv",
            "fixed_income,2025-07,semester_percent,1.00",
            "line 8, column figure: fixed_income takes no such",
        ),
        ("yields.csv", "system_portfolio,2025-07,return_percent,1.00", "line 8, column period: must be a semester"),
        ("yields.csv", "bonds,FY2025-S2,return_percent,1.00", "line 8, column figure: bonds takes no such figure"),
        ("yields.csv", "bonds,FY2025-S2,semester_percent,1e2", "line 8, column value: must be a decimal text"),
        (
            "yields.csv",
            "fixed_income,2025-07,percent,-100.01",
            "line 8, column value: can't lose more than 100 percent",
        ),
        ("yields.csv", "fixed_income,2025-01,percent,4.28", "line 8, column value: differs from line 2"),
        ("yields.csv", "fixed-income,2025-07,percent,1.00", "line 8, column option: must be an option's code"),
    ],
)
def test_a_malformed_line_is_named(good, name, line, fault):
    good.add(name, line)
    assert f"{name}, {fault}" in refusal_of(good)


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("day_counts,actual_365,2000-01-01", "line 3, column setting: isn't a setting of the Board"),
        ("negative_yield,forgive,2000-01-01", "line 3, column value: isn't a value of this setting"),
        ("negative_yield,floor_at_zero,2000-01-01", "line 3, column in_force_from: has another value"),
        ("negative_yield,floor_at_zero,2000-01", "line 3, column in_force_from: must be a date"),
    ],
)
def test_a_malformed_setting_is_named(good, line, fault):
    good.write("settings.csv", ["setting,value,in_force_from", "negative_yield,post,2000-01-01", line])
    assert f"settings.csv, {fault}" in refusal_of(good)


def test_a_folder_that_cannot_be_written_is_said(good):
    (good.folder / "statements.csv.part").mkdir()
    result = good.rebuild()
    assert result.exit_code == 2
    assert "statements.csv.part" in result.output
