"""The list of a run's exceptions, in pages, and drafts as rows keep them."""

import json
from datetime import date

import pytest

from retiro.ledger.lines import Draft, LineKind, Posting, RunMark
from retiro.ledger.month_ends import MonthEnds
from retiro.runs import drafts
from retiro.runs.exceptions import FaultyCursorError, exceptions_page
from tests.runs.conftest import Office


@pytest.mark.parametrize("limit", [1, 2, 3, 50])
def test_the_pages_of_exceptions_name_each_once_whatever_their_size(office: Office, limit: int) -> None:
    for number in range(11, 18):
        office.enrol(f"P-{number:06d}", savings_cents=0)
    run = office.prepared()
    office.report_death("P-000004")
    late = office.credit("P-000005", 5, "2025-03-01")
    office.approve(run)
    office.work_off()

    found, after = exceptions_page(office.shop.objects, office.chunks(run), None, limit)
    pages = 1
    while after is not None:
        more, after = exceptions_page(office.shop.objects, office.chunks(run), after, limit)
        found += more
        pages += 1
    assert sorted((one.passbook, one.code, one.late) for one in found) == [
        ("P-000004", "status_forbids", ()),
        ("P-000005", "late_line", (late.sequence,)),
        *((f"P-{number:06d}", "has_nothing", ()) for number in range(11, 18)),
    ]
    assert pages >= 9 / limit


@pytest.mark.parametrize("cursor", ["x", "1", "1.", ".1", "-1.0", "1.1.1", "²."])
def test_a_cursor_that_no_page_has_given_is_refused(office: Office, cursor: str) -> None:
    with pytest.raises(FaultyCursorError):
        exceptions_page(office.shop.objects, [], cursor, 10)


@pytest.mark.parametrize(
    "draft",
    [
        Draft(LineKind.CORRECTION, date(2025, 6, 30), "u-ana"),
        Draft(
            LineKind.REVERSAL,
            date(2025, 6, 30),
            "u-ana",
            postings=(Posting("savings", -21_436), Posting("yields", 21_436)),
            state={"selections": {"2025-01-01": {"fixed_income": 100}}, "gone": None},
            run=("yield_reversal", "FY2025-S2", 1),
            restores=("yield", RunMark("FY2025-S1", 1, 4)),
            determination="yield_reversal/FY2025-S2/1",
            reverses=9,
            belongs_on=date(2025, 6, 30),
            differences={"FY2025-S2": -37},
            facts={"through": 8},
            month_ends=MonthEnds("2024-12", (1, 2, 3), complete=False),
        ),
        Draft(LineKind.REVERSAL, date(2025, 6, 30), "u-ana", restores=("yield", None)),
    ],
)
def test_a_draft_comes_back_from_its_row_as_it_was(draft: Draft) -> None:
    assert drafts.from_document(json.loads(json.dumps(drafts.document_of(draft)))) == draft
