"""The remittance file: what it takes, and every fault of what it doesn't, by line and column."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from payroll_deductions.edits import ENGLISH, SPANISH, Edit, Fault
from payroll_deductions.file_reading import LINES_MAX, Control, Parsed, Row, check_whole, read
from retiro.rules.money import format_cents

HEADER = ",".join(ENGLISH)


def file_of(*lines: str, control: str = "total,1,89.24,,", header: str = HEADER, end: str = "\n") -> bytes:
    return end.join([header, *lines, control, ""]).encode()


def faults(data: bytes, form: str = "csv") -> list[tuple[int, str, str]]:
    return [(fault.line, fault.column, str(fault.edit)) for fault in read(data, form).faults]


GOOD = "P-000001,installment,89.24,,"


def test_a_file_is_read_with_its_control():
    parsed = read(
        file_of(
            'P-000001,installment,89.24,,"García, José"',
            "P-000002,contribution,214.29,2589.55,",
            control="total,2,303.53,,",
        ),
        "csv",
    )
    assert parsed.faults == []
    assert parsed.rows == [
        Row("P-000001", "installment", 89_24, None, "García, José"),
        Row("P-000002", "contribution", 214_29, 2589_55, ""),
    ]
    # 89.24 + 214.29 = 303.53
    assert (parsed.control, parsed.control_line) == (Control(2, 303_53), 4)


def test_headings_and_kinds_may_be_spanish():
    spanish = file_of(
        "P-000001,plazo,89.24,,", "P-000001,aportacion,10.00,,", control="total,2,99.24,,", header=",".join(SPANISH)
    )
    parsed = read(spanish, "csv")
    assert parsed.faults == []
    assert [row.kind for row in parsed.rows] == ["installment", "contribution"]


@pytest.mark.parametrize(
    "data", [b"\xef\xbb\xbf" + file_of(GOOD), file_of(GOOD, end="\r\n"), file_of(GOOD).rstrip(b"\n")]
)
def test_a_byte_order_mark_carriage_returns_and_a_missing_last_line_end_are_taken(data: bytes):
    parsed = read(data, "csv")
    assert (parsed.faults, parsed.rows) == ([], [Row("P-000001", "installment", 89_24, None, "")])


@pytest.mark.parametrize(
    "amount",
    [
        '"1.234,56"', '"1,234.56"', '"-950,00"', "110.7", '"1355,90"', "(89.24)", "$89.24", "+89.24", "89.240", ".50",
        "89.", "８９.24", "1e2", "1_000.00", " 89.24", "89.24 ", "-0.00", "089.24", "NaN", "",
    ],
)  # fmt: skip
def test_an_amount_of_another_form_is_a_fault_of_its_line_and_column_pd_11(amount: str):
    """https://github.com/firefly-iii/firefly-iii/issues/1938 · https://github.com/actualbudget/actual/issues/5020
    https://github.com/plaintextaccounting/hledger/issues/1158 · https://github.com/ledger/ledger/issues/1941
    https://github.com/deadlocker8/BudgetMaster/issues/731
    """
    data = file_of(GOOD, f"P-000002,installment,{amount},,", control="total,2,178.48,,")
    assert faults(data) == [(3, "amount", "amount_form")]
    spanish = data.replace(HEADER.encode(), ",".join(SPANISH).encode())
    assert faults(spanish) == [(3, "importe", "amount_form")]


def test_an_unquoted_decimal_comma_is_a_sixth_column():
    assert faults(file_of("P-000001,installment,1355,90,,")) == [(2, "name", "column_count")]


def test_every_fault_of_a_file_is_listed_and_one_line_breaks_no_other_pd_11():
    data = file_of(
        "P-000001,installment,-89.24,,",
        "P-000002,contribution,1e2,0.00,",
        "X-1,pension,89.24,,",
        "",
        "P-000003,installment,89.24",
        'P-000004,installment,89.24,,"open',
        "P-000005,installment,89.24,,=cmd|'/C calc'!A0",
        "P-000006,installment,0.00,,tab\there",
        control="total,9,1.00,,",
    )
    assert faults(data) == [
        (2, "amount", "amount_not_above_zero"),
        (3, "amount", "amount_form"),
        (3, "salary", "salary_form"),
        (4, "participant_id", "participant_id_form"),
        (4, "kind", "kind"),
        (5, "participant_id", "blank_line"),
        (6, "salary", "column_count"),
        (7, "name", "quotes"),
        (9, "amount", "amount_not_above_zero"),
        (9, "name", "name_form"),
        (10, "count", "control_mismatch"),
    ]


@pytest.mark.parametrize(
    ("control", "fault"),
    [
        # 250.00 + 250.00 + 499.99 + 0.01 = 1,000.00
        ("total,4,1000.01,,", Fault(6, "total", Edit.CONTROL_MISMATCH, "1000.01", "1000.00")),
        ("total,4,999.99,,", Fault(6, "total", Edit.CONTROL_MISMATCH, "999.99", "1000.00")),
        ("total,3,1000.00,,", Fault(6, "count", Edit.CONTROL_MISMATCH, "3", "4")),
        ("total,4,1000.0,,", Fault(6, "kind", Edit.CONTROL_FORM)),
        ("total,04,1000.00,,", Fault(6, "kind", Edit.CONTROL_FORM)),
        ("total,4,1000.00,,x", Fault(6, "kind", Edit.CONTROL_FORM)),
    ],
)
def test_a_control_off_by_a_cent_or_a_line_names_both_figures_pd_09(control: str, fault: Fault):
    """https://github.com/beancount/beancount/issues/411"""
    amounts = ("250.00", "250.00", "499.99", "0.01")
    lines = [f"P-{number:06d},contribution,{amount},," for number, amount in enumerate(amounts, start=1)]
    assert read(file_of(*lines, control=control), "csv").faults == [fault]
    assert not fault.stated or all(figure in fault.sentence.es for figure in (fault.stated, fault.found))


def test_a_control_that_is_missing_or_followed_is_a_fault():
    assert faults(f"{HEADER}\n{GOOD}\n".encode()) == [(3, "participant_id", "control_missing")]
    assert faults(file_of(GOOD, "total,1,89.24,,", control=GOOD)) == [(4, "participant_id", "after_control")]
    assert faults(b"") == [
        (1, "participant_id", "header"),
        (2, "participant_id", "control_missing"),
        (1, "participant_id", "file_empty"),
    ]


def test_a_participants_second_line_of_a_kind_is_a_fault_of_both():
    lines = [GOOD, "P-000002,installment,1.00,,", "P-000001,contribution,1.00,,", GOOD]
    assert faults(file_of(*lines, control="total,4,180.48,,")) == [
        (2, "participant_id", "participant_twice"),
        (5, "participant_id", "participant_twice"),
    ]


def test_latin_1_is_a_fault_of_each_line_and_column_where_it_shows():
    good = file_of(GOOD, "P-000002,installment,89.24,,José", control="total,2,178.48,,")
    assert read(good, "csv").faults == []
    latin = good.decode().encode("latin-1")
    assert faults(latin) == [(3, "name", "not_utf8")]
    assert faults(good.decode().encode("utf-16"))[0][:3] == (1, "participant_id", "header")


def test_a_formula_in_a_name_is_kept_as_it_came():
    (row,) = read(file_of("P-000001,installment,89.24,,=cmd|'/C calc'!A0"), "csv").rows
    assert row.name == "=cmd|'/C calc'!A0"


@pytest.mark.parametrize(
    ("heading", "column"),
    [
        ("participant_id,kind,amount,salary", "name"),
        ("participant_id,amount,kind,salary,name", "kind"),
        ("participante,kind,amount,salary,name", "participant_id"),
        (HEADER + ",more", "participant_id"),
        (HEADER.replace(",", ";"), "participant_id"),
    ],
)
def test_another_heading_is_a_fault_of_its_column(heading: str, column: str):
    assert faults(file_of(GOOD, header=heading)) == [(1, column, "header")]


def test_a_column_more_or_less_is_a_fault():
    assert faults(file_of("P-000001,installment")) == [(2, "amount", "column_count")]
    assert faults(file_of(GOOD + ",")) == [(2, "name", "column_count")]


# JSON


def json_file(*lines: object, count: object = 1, total: object = "89.24", **more: object) -> bytes:
    return json.dumps({"control": {"count": count, "total": total}, "lines": list(lines)} | more).encode()


LINE = {"participant_id": "P-000001", "kind": "installment", "amount": "89.24"}


def test_a_json_file_is_read_the_same():
    parsed = read(json_file(LINE | {"salary": "2589.55", "name": "Ana"}), "json")
    assert (parsed.faults, parsed.rows) == ([], [Row("P-000001", "installment", 89_24, 2589_55, "Ana")])


@pytest.mark.parametrize(
    ("line", "column", "edit"),
    [
        (LINE | {"amount": 89.24}, "amount", "amount_form"),
        (LINE | {"amount": 89}, "amount", "amount_form"),
        (LINE | {"amount": None}, "amount", "amount_form"),
        (LINE | {"amount": "-1.00"}, "amount", "amount_not_above_zero"),
        (LINE | {"participant_id": 1}, "participant_id", "participant_id_form"),
        (LINE | {"kind": "fee"}, "kind", "kind"),
        (LINE | {"salary": "0.00"}, "salary", "salary_form"),
        (LINE | {"name": ["x"]}, "name", "name_form"),
        (LINE | {"plan": "x"}, "plan", "member"),
        ("P-000001", "participant_id", "column_count"),
    ],
)
def test_a_json_line_at_fault_is_named_by_its_place_and_member(line: object, column: str, edit: str):
    other = LINE | {"participant_id": "P-000002"}
    found = faults(json_file(other, line, count=2, total="178.48"), "json")
    assert found[0] == (2, column, edit)


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (b'{"lines": [\n  {"amount": }', (2, "character 14", "not_json")),
        (b"[]", (1, "character 1", "not_json")),
        (b'{"lines": [], "lines": []}', (1, "character 1", "not_json")),
        (b'{"lines": [NaN]}', (1, "character 1", "not_json")),
        ('{\n"ñ": 1}'.encode("latin-1"), (2, "character 2", "not_utf8")),
    ],
)
def test_what_isnt_json_is_named_by_its_place(data: bytes, fault: tuple[int, str, str]):
    assert faults(data, "json") == [fault]


def test_a_json_control_and_members_are_held_too():
    assert faults(json_file(LINE, count="1"), "json") == [(2, "control", "control_form")]
    assert faults(json_file(LINE, total=89.24), "json") == [(2, "control", "control_form")]
    assert faults(json_file(LINE, total="89.25"), "json") == [(2, "total", "control_mismatch")]
    assert faults(json_file(LINE, period="2025-01"), "json") == [(1, "period", "member")]
    assert faults(b'{"lines": []}', "json") == [(1, "lines", "file_empty"), (1, "control", "control_missing")]


# Large


def test_the_largest_file_foots_pd_15():
    """https://github.com/moov-io/ach/issues/494 · https://github.com/snsparrish/NachaLibPHP/pull/3
    https://github.com/travishathaway/python-ach/issues/13

    200,000 × 89.24 = 17,848,000.00: ten digits, ending in .00.
    """
    rows = [f"P-{number:06d},installment,89.24,," for number in range(1, LINES_MAX + 1)]
    parsed = read(file_of(*rows, control="total,200000,17848000.00,,"), "csv")
    assert (parsed.faults, len(parsed.rows)) == ([], 200_000)
    assert format_cents(parsed.total_cents) == "17848000.00"


def test_amounts_that_end_in_zeros_foot_with_two_places_each_pd_15():
    # 100.00 + 0.10 + 1,234,567.00 = 1,234,667.10
    amounts = ("100.00", "0.10", "1234567.00")
    lines = [f"P-{number:06d},installment,{amount},," for number, amount in enumerate(amounts, start=1)]
    assert faults(file_of(*lines, control="total,3,1234667.10,,")) == []
    assert faults(file_of(*lines, control="total,3,1234667.1,,")) == [(5, "kind", "control_form")]


@pytest.mark.parametrize(("lines", "refused"), [(LINES_MAX, False), (LINES_MAX + 1, True)])
def test_one_line_more_than_a_file_may_have_is_a_fault(lines: int, refused: bool):  # noqa: FBT001
    parsed = Parsed(first_line=2, rows=[Row(None, None, None, None, "")] * lines)
    check_whole(parsed)
    assert [fault.edit for fault in parsed.faults] == ([Edit.TOO_MANY_LINES] if refused else [])


@given(st.binary(max_size=200), st.sampled_from(["csv", "json"]))
def test_no_bytes_break_the_reader(data: bytes, form: str):
    assert read(data, form).faults


@given(st.binary(max_size=60))
def test_no_line_breaks_another(line: bytes):
    """Whatever stands in a line without a line's end, the next line is read."""
    line = line.replace(b"\n", b"")
    parsed = read(f"{HEADER}\n".encode() + line + f"\n{GOOD}\ntotal,2,89.24,,\n".encode(), "csv")
    if not line.startswith(b"total,"):
        assert parsed.rows[1] == Row("P-000001", "installment", 89_24, None, "")
