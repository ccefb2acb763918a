"""The line that follows from the one before it."""

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from retiro.ledger import encoding
from retiro.ledger.lines import (
    Draft,
    FundMismatchError,
    Line,
    LineError,
    LineKind,
    Posting,
    RunMark,
    canonical_bytes,
    document_of,
    from_document,
    from_item,
    next_line,
    partition,
    restamped,
    to_item,
)
from retiro.ledger.month_ends import MonthEnds
from retiro.ledger.store import LedgerStore
from retiro.ledger.verify import FindingCode, verify_passbook
from tests.ledger.makers import NOW, PARTICIPANT, S2, account_of_readings, contributed, drafted, enrolled, posted


def following(previous: Line | None, draft: Draft, **changes: Any) -> Line:
    return next_line(previous, draft, **{"passbook": PARTICIPANT, "fund": "ERS", "recorded_at": NOW} | changes)


def test_balances_of_all_accounts_are_carried_and_sum_to_zero() -> None:
    last = account_of_readings()[-1]
    # 10,000.00 brought, six times 200.00 contributed.
    assert last.balances == {"savings": 1_120_000, "transfers": -1_000_000, "contributions": -120_000}
    assert sum(last.balances.values()) == 0


def test_an_account_at_zero_is_not_carried() -> None:
    last = contributed(enrolled(), ("2025-01-15", 500), ("2025-01-15", -500))[-1]
    assert last.balances == {}
    assert last.balance_cents("savings") == 0


def test_an_opening_transfer_is_whole_cents_against_its_contra_account() -> None:
    """LE-13, https://github.com/blnkfinance/blnk/issues/61: 12345.6 and 123456000 were one transfer."""
    line = following(
        None,
        Draft(
            LineKind.INITIAL_TRANSFER,
            NOW.date(),
            "u-ana",
            (Posting("savings", 123_456), Posting("transfers", -123_456)),
        ),
    )
    assert line.balances == {"savings": 123_456, "transfers": -123_456}


@pytest.mark.parametrize("amount", ["214.36", 214.36, True, None, 21436.0], ids=repr)
def test_a_posting_of_anything_but_whole_cents_cannot_be_built(amount: Any) -> None:
    """LE-13, https://github.com/blnkfinance/blnk/issues/61: two precisions in one line."""
    with pytest.raises(LineError):
        Posting("savings", amount)


@pytest.mark.parametrize("cents", [-1, 1])
def test_a_line_a_cent_out_of_balance_cannot_be_made(cents: int) -> None:
    postings = (Posting("savings", 100), Posting("contributions", -100 + cents))
    with pytest.raises(LineError, match=f"by {cents} cents"):
        following(None, Draft(LineKind.CONTRIBUTION, NOW.date(), "u-ana", postings))


def test_a_passbook_stays_in_its_fund() -> None:
    with pytest.raises(FundMismatchError):
        following(enrolled()[-1], drafted(), fund="JRS")


def test_a_line_follows_one_of_its_own_passbook() -> None:
    with pytest.raises(LineError, match="P-000002"):
        following(enrolled()[-1], drafted(), passbook="P-000002")


@pytest.mark.parametrize("seconds", [-1, 0, 1])
def test_recorded_at_is_the_later_of_now_and_the_line_before(seconds: int) -> None:
    first = enrolled()[-1]
    second = following(first, drafted(), recorded_at=NOW + timedelta(seconds=seconds))
    assert second.recorded_at == NOW + timedelta(seconds=max(seconds, 0))


def test_recorded_at_is_kept_in_utc_and_needs_a_time_zone() -> None:
    here = datetime(2025, 7, 10, 12, 0, tzinfo=timezone(timedelta(hours=-4)))
    assert document_of(following(None, drafted(), recorded_at=here))["recorded_at"] == "2025-07-10T16:00:00.000000Z"
    with pytest.raises(LineError):
        following(None, drafted(), recorded_at=datetime(2025, 7, 10, 12, 0))  # noqa: DTZ001


def test_state_replaces_the_keys_that_are_named_and_none_takes_one_away() -> None:
    first = following(None, drafted(state={"status": "active", "held": ["x"]}))
    second = following(first, drafted(state={"held": None}))
    assert second.state == {"status": "active"}
    assert following(second, drafted()).state == {"status": "active"}


def test_a_run_marks_its_own_line_and_the_mark_is_carried() -> None:
    history = contributed(posted(account_of_readings(), S2, 21_436), ("2025-07-01", 100))
    assert history[-2].runs == history[-1].runs == {"yield": RunMark("FY2025-S2", 1, history[-2].sequence)}


def test_a_rebuild_marks_each_line_beside_the_run_that_it_posts() -> None:
    """The history's hash and the row reached; of a yield, the semester too. Both are carried, each with its line."""
    first = following(None, drafted(rebuild=("0af1", 1)))
    assert first.runs == {"rebuild": RunMark("0af1", 1, 1)}
    second = following(first, drafted(run=("yield", "FY2025-S2", 1), rebuild=("0af1", 3)))
    assert second.runs == {"rebuild": RunMark("0af1", 3, 2), "yield": RunMark("FY2025-S2", 1, 2)}
    assert following(second, drafted()).runs == second.runs


def test_an_ordinary_line_in_a_posted_semester_cannot_be_made() -> None:
    last = posted(account_of_readings(), S2, 21_436)[-1]
    with pytest.raises(LineError, match="late credit"):
        following(last, drafted(on="2025-06-30"))
    assert following(last, drafted(on="2025-07-01")).month_ends == MonthEnds("2025-06", (1_141_436, 1_161_436))


def test_the_hash_covers_the_line_before_and_this_one() -> None:
    first, second = contributed(enrolled(), ("2025-01-15", 500))
    document = json.loads(canonical_bytes(second))
    assert document["pk"] == "passbook#P-000001"
    assert document["sk"] == "00000002"
    assert second.hash == encoding.chain_hash(first.hash, document)
    assert encoding.chain_hash(encoding.GENESIS, document) != second.hash


def test_a_prepared_line_is_stamped_when_it_is_posted() -> None:
    last = account_of_readings()[-1]
    prepared = from_document(document_of(posted([last], S2, 21_436)[-1]))
    later = NOW + timedelta(days=1)
    stamped = restamped(prepared, previous=last, recorded_at=later)
    again = posted([last], S2, 21_436)[-1]
    assert stamped.recorded_at == later
    assert document_of(stamped) == document_of(again) | {"recorded_at": "2025-07-11T16:00:00.000000Z"}
    assert stamped.hash == encoding.chain_hash(last.hash, document_of(stamped))


def test_a_prepared_line_does_not_go_after_another_line() -> None:
    history = account_of_readings()
    prepared = posted(history, S2, 21_436)[-1]
    moved = contributed(history, ("2025-06-30", 100))[-1]
    with pytest.raises(LineError):
        restamped(prepared, previous=moved, recorded_at=NOW)
    with pytest.raises(LineError):
        restamped(prepared, previous=None, recorded_at=NOW)


EVERYTHING: dict[str, Any] = {
    "state": {"status": "active", "selections": {"2025-01-01": {"fixed_income": 100}}, "empty": {}, "none": []},
    "restores": ("other", RunMark("2025-01", 2, 1)),
    "determination": "yield/FY2025-S2/1",
    "reverses": 1,
    "differences": {"FY2024-S2": 0, "FY2025-S1": -1},
    "facts": {"zero": 0, "ten": 10, "hundred": 100, "large": 10**10, "negative": -1, "text": "", "accent": "Ñ"},
    "month_ends": MonthEnds("2024-12", (0, 10, 100, 10**10, -1), complete=False),
}
ABSENT: dict[str, Any] = {}
EMPTY: dict[str, Any] = {"state": {}, "differences": {}, "facts": {}, "determination": "", "postings": ()}


@pytest.mark.parametrize("options", [ABSENT, EMPTY, EVERYTHING], ids=["absent", "empty", "everything"])
def test_every_kind_of_line_comes_back_as_it_was_hashed(store: LedgerStore, options: dict[str, Any]) -> None:
    """LE-05, https://github.com/Temple-Stuart/temple-stuart-accounting/pull/499: absent against null, and so on."""
    lines = account_of_readings()
    for kind in LineKind:
        run = {"run": ("yield", "FY2025-S2", 1)} if kind is LineKind.SEMESTER_YIELD else {}
        late = {"belongs_on": NOW.date()}
        lines.append(following(lines[-1], drafted(kind, **(late | run | options))))
        if kind is LineKind.SEMESTER_YIELD:
            lines.append(following(lines[-1], drafted(restores=("yield", None), month_ends=lines[-2].month_ends)))
    for line in lines:
        store.put_line(line)
    items = list(store.items(partition(PARTICIPANT)))
    assert [from_item(item) for item in items] == lines
    assert [to_item(from_item(item)) for item in items] == items
    broken = {FindingCode.CHANGED, FindingCode.UNREADABLE, FindingCode.MISSING_LINE}
    assert not broken & {finding.code for finding in verify_passbook(PARTICIPANT, items).findings}


def test_an_item_of_another_kind_is_no_line() -> None:
    item = to_item(enrolled()[-1])
    for broken in ({"pk": {"S": "key#x"}}, {"kind": {"S": "gift"}}, {"hash": {"S": "x"}}, {"effective_on": {"S": "0"}}):
        with pytest.raises(encoding.UnreadableError):
            from_item(item | broken)


def test_sequences_sort_as_text() -> None:
    assert [document_of(line)["sk"] for line in account_of_readings()][-1] == "00000008"
    assert NOW.tzinfo is UTC
