"""docs/remittance-file.md is what the reader does: its examples are read, and its edits are all there are."""

import re
from pathlib import Path

import pytest

from payroll_deductions import file_reading, file_store
from payroll_deductions.edits import ENGLISH, SENTENCES, SPANISH, Edit
from payroll_deductions.file_reading import KINDS, read
from payroll_deductions.matching import Flag, Result
from payroll_deductions.models import LINES_MAX
from payroll_deductions.remittances import EVIDENCE_BYTES_MAX, OPEN_MAX, OPEN_MAX_BY_RETURNS
from retiro.registry.ageing import Overdue

PAGE = (Path(__file__).parents[2] / "docs" / "remittance-file.md").read_text("utf-8")
EXAMPLES = re.findall(r"```(csv|json)\n(.*?)```", PAGE, flags=re.DOTALL)


@pytest.mark.parametrize(("form", "text"), EXAMPLES)
def test_every_example_is_read_without_a_fault(form: str, text: str):
    parsed = read(text.encode(), form)
    assert parsed.faults == []
    assert parsed.rows[0].name == "García, José"


def test_both_headings_say_the_same():
    english, spanish = (read(text.encode(), form) for form, text in EXAMPLES if form == "csv")
    assert (english.columns, spanish.columns) == (ENGLISH, SPANISH)
    assert english.rows == spanish.rows
    for names in zip(ENGLISH, SPANISH, strict=True):
        assert "| {} |".format(" | ".join(f"`{name}`" for name in names)) in PAGE
    for kind in KINDS:
        assert f"`{kind}`" in PAGE


def test_every_edit_is_published_with_both_its_sentences_and_no_other():
    edits = PAGE.partition("## The edits")[2].partition("\n## ")[0]
    published = re.findall(r"^\| `(\w+)` \| (.+?) \| (.+?) \|$", edits, flags=re.MULTILINE)
    assert published == [(str(edit), SENTENCES[edit].en, SENTENCES[edit].es) for edit in Edit]


def test_every_reason_of_the_ageing_report_is_published():
    late = PAGE.partition("## What is late")[2]
    assert re.findall(r"^\| `(\w+)` \|", late, flags=re.MULTILINE) == [str(reason) for reason in Overdue]


def test_every_result_and_limit_is_published():
    for result in (*Result, *Flag):
        assert f"`{result}`" in PAGE
    assert f"{LINES_MAX:,} lines" in PAGE
    assert f"{file_reading.LINES_MAX:,} lines ({file_store.FILE_BYTES_MAX // 1_000_000} MB)" in PAGE
    assert f"At most {OPEN_MAX} remittances" in PAGE
    assert f"no more than {OPEN_MAX_BY_RETURNS} would" in PAGE
    assert f"{EVIDENCE_BYTES_MAX:,} bytes" in PAGE
    assert f"up to {file_reading.NAME_CHARACTERS_MAX} characters" in PAGE
