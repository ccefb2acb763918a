"""The Board's book and the figures folded from it: dates at their edges, what is missing, what a changed byte shows."""

from datetime import UTC, date, datetime
from fractions import Fraction

import pytest

from retiro.ledger import encoding
from retiro.ledger.board import BoardBook, partition
from retiro.ledger.encoding import UnreadableError
from retiro.ledger.resolutions import RESOLUTION
from retiro.ledger.retries import BusyError, Retries
from retiro.ledger.store import LedgerStore
from retiro.ledger.verify import FindingCode
from retiro.ledger.verify_board import verify_book
from retiro.rules.calendar import Semester
from retiro.rules.refusals import Refusal, RefusalCode
from retiro.rules.settings import SAVINGS_SETTINGS, SETTINGS

FY2025_S2 = Semester.parse("FY2025-S2")
NOW = datetime(2025, 7, 10, 16, tzinfo=UTC)
ACT = {
    "kind": "resolution",
    "body": "Junta de Retiro",
    "number": "2025-07",
    "date": "2025-07-01",
    "document_sha256": "ab" * 32,
}
MONTHS = {
    f"2025-0{number}": percent for number, percent in enumerate(("4.27", "4.21", "3.97", "3.78", "3.92", "3.89"), 1)
}


class Board:
    """A Board that adopts at once."""

    def __init__(self, stack):
        self.store = LedgerStore(stack.dynamodb, "retiro-ledger", retries=Retries(sleep=lambda _seconds: None))
        self.book = BoardBook(self.store)
        self.count = 0

    def adopts(self, kind, **content):
        self.count += 1
        content = {"fund": "ERS", "act": ACT, "source": "test", "vintage": "2025-07-01", "kind": kind} | content
        resolution = RESOLUTION.validate_json(encoding.canonical(content))
        return self.book.adopt(f"RB-{self.count}", resolution, proposed_by="u-ana", adopted_by="u-berta", now=NOW)

    def adopts_setting(self, name, value, in_force_from):
        return self.adopts("setting", name=name, value=value, in_force_from=in_force_from)

    def creates(self, code, in_force_from, until=None):
        name = {"en": code, "es": code}
        return self.adopts(
            "option", code=code, name=name, in_force_from=in_force_from, **({"until": until} if until else {})
        )

    @property
    def figures(self):
        return self.book.adopted("ERS")

    @property
    def items(self):
        return list(self.store.items(partition("ERS")))


@pytest.fixture
def board(stack):
    return Board(stack)


# In force


def test_a_setting_is_in_force_from_its_day_until_the_next_one(board):
    board.adopts_setting("negative_yield", "post", "2025-01-01")
    board.adopts_setting("negative_yield", "floor_at_zero", "2025-07-01")

    found = {day: board.figures.setting("negative_yield", date.fromisoformat(day))
             for day in ("2025-01-01", "2025-06-30", "2025-07-01", "2030-01-01")}  # fmt: skip

    assert found == {
        "2025-01-01": "post",
        "2025-06-30": "post",
        "2025-07-01": "floor_at_zero",
        "2030-01-01": "floor_at_zero",
    }


def test_a_setting_adopted_for_an_earlier_day_holds_until_the_later_one(board):
    board.adopts_setting("negative_yield", "floor_at_zero", "2025-07-01")
    board.adopts_setting("negative_yield", "post", "2025-01-01")
    figures = board.figures
    assert figures.setting("negative_yield", date(2025, 6, 30)) == "post"
    assert figures.setting("negative_yield", date(2025, 7, 1)) == "floor_at_zero"


def test_of_two_settings_from_the_same_day_the_later_adopted_holds(board):
    board.adopts_setting("negative_yield", "post", "2025-01-01")
    board.adopts_setting("negative_yield", "floor_at_zero", "2025-01-01")
    assert board.figures.setting("negative_yield", date(2025, 1, 1)) == "floor_at_zero"
    assert len(board.figures.entries) == 2


def test_no_setting_is_taken_by_default(board):
    with pytest.raises(Refusal) as refused:
        board.figures.setting("negative_yield", date(2025, 6, 30))
    assert refused.value.code is RefusalCode.NOT_IN_FORCE
    assert "negative_yield" in refused.value.sentence.en
    assert "2025-06-30" in refused.value.sentence.en


def test_a_setting_is_not_in_force_the_day_before_and_the_refusal_names_the_nearest_period(board):
    board.adopts_setting("negative_yield", "post", "2025-01-01")
    with pytest.raises(Refusal) as refused:
        board.figures.setting("negative_yield", date(2024, 12, 31))
    assert "2024-12-31" in refused.value.sentence.en
    assert "from 2025-01-01 on" in refused.value.sentence.en


def test_an_option_is_in_force_from_its_first_day_to_the_day_before_its_end(board):
    """BR-01: https://github.com/openfisca/openfisca-core/issues/437. In force [2025-01-01, 2026-01-01)."""
    board.creates("stable", "2025-01-01", until="2026-01-01")
    statutory = ["fixed_income", "system_portfolio"]

    found = {day: board.figures.options_in_force(date.fromisoformat(day))
             for day in ("2024-12-31", "2025-01-01", "2025-12-31", "2026-01-01")}  # fmt: skip

    assert found == {
        "2024-12-31": statutory,
        "2025-01-01": [*statutory, "stable"],
        "2025-12-31": [*statutory, "stable"],
        "2026-01-01": statutory,
    }


def test_an_option_is_closed_by_adopting_it_again_with_an_end(board):
    board.creates("stable", "2025-01-01")
    board.creates("stable", "2025-01-01", until="2025-07-01")
    assert "stable" in board.figures.options_in_force(date(2025, 6, 30))
    assert "stable" not in board.figures.options_in_force(date(2025, 7, 1))


def test_a_month_past_the_series_is_refused_and_not_carried_forward(board):
    """BR-01: https://github.com/openfisca/openfisca-core/issues/368. With the nearest period."""
    board.adopts("treasury_yields", months={"2025-05": "3.92"})
    with pytest.raises(Refusal) as refused:
        board.figures.treasury_percent("2025-06")
    assert refused.value.code is RefusalCode.NOT_IN_FORCE
    for part in ("fixed_income 2025-06", "2025-06-01", "2025-05-01 through 2025-05-31"):
        assert part in refused.value.sentence.en
    assert refused.value.citation == "3 L.P.R.A. § 786-7(b)(3)(A)"


# What a semester needs


def test_everything_that_is_missing_is_named(board):
    board.adopts("treasury_yields", months={month: MONTHS[month] for month in list(MONTHS)[:5]})
    board.creates("stable", "2025-01-01")
    board.adopts_setting("negative_yield", "post", "2025-06-30")
    board.adopts_setting("no_selection", "hold", "2025-07-01")  # a day after the semester's last

    assert board.figures.missing(FY2025_S2, ["fixed_income", "system_portfolio", "stable"]) == [
        "fixed_income 2025-06",
        "system_portfolio FY2025-S2",
        "stable FY2025-S2",
        "setting average_balance_method",
        "setting cmt_semester_conversion",
        "setting portfolio_fee_treatment",
        "setting no_selection",
    ]


def test_nothing_is_missing_once_all_is_adopted(board):
    board.adopts("treasury_yields", months=MONTHS)
    board.adopts("portfolio_return", semester="FY2025-S2", return_percent="3.50", management_fees_percent="0.40")
    board.creates("stable", "2025-01-01")
    board.adopts("option_yield", option="stable", semester="FY2025-S2", semester_percent="1.25")
    for name, value in DEFAULTS.items():
        board.adopts_setting(name, value, "2025-01-01")
    figures = board.figures
    codes = ["fixed_income", "system_portfolio", "stable"]

    assert figures.missing(FY2025_S2, codes) == []
    yields = figures.option_yields(FY2025_S2, codes)
    assert yields["fixed_income"].monthly_percent == [Fraction(text) for text in MONTHS.values()]
    assert (yields["system_portfolio"].return_percent, yields["system_portfolio"].management_fees_percent) == (
        Fraction("3.5"),
        Fraction("0.4"),
    )
    assert yields["stable"].semester_percent == Fraction("1.25")
    assert figures.settings(FY2025_S2.ends_on) == DEFAULTS
    assert figures.acts(FY2025_S2.ends_on)["no_selection"].source == "Resolution 2025-07 of 2025-07-01, Junta de Retiro"


DEFAULTS = {
    "average_balance_method": "month_end",
    "cmt_semester_conversion": "half",
    "portfolio_fee_treatment": "fees_before_share",
    "no_selection": "hold",
    "negative_yield": "post",
}


def test_the_settings_of_a_semester_are_those_of_its_section():
    assert set(SAVINGS_SETTINGS) == set(DEFAULTS)
    assert set(SAVINGS_SETTINGS) == {name for name, one in SETTINGS.items() if "§ 786-7" in one.citation}


def test_before_the_acts_share_a_portfolio_needs_the_boards_own(board):
    """Act 296-2004: the 90 percent is in force from FY2005-S1; before it the Board enters the figure of its day."""
    figures = {"return_percent": "3.50", "management_fees_percent": "0.40"}
    board.adopts("portfolio_return", semester="FY2004-S2", **figures)
    board.adopts("portfolio_return", semester="FY2005-S1", **figures)
    codes = ["system_portfolio"]
    before, after = Semester.parse("FY2004-S2"), Semester.parse("FY2005-S1")
    assert "system_portfolio share_percent FY2004-S2" in board.figures.missing(before, codes)
    assert "system_portfolio share_percent FY2005-S1" not in board.figures.missing(after, codes)

    board.adopts("portfolio_return", semester="FY2004-S2", share_percent="75", vintage="2025-07-02", **figures)

    assert "system_portfolio share_percent FY2004-S2" not in board.figures.missing(before, codes)


def test_a_semester_without_its_figures_is_refused_by_name(board):
    for code in ("system_portfolio", "stable"):
        with pytest.raises(Refusal, match=f"{code} FY2025-S2"):
            board.figures.option_yields(FY2025_S2, [code])


def test_closure_days_add_up(board):
    order = ACT | {"kind": "order"}
    board.adopts("closure_days", dates=["2025-06-30"], act=order)
    board.adopts("closure_days", dates=["2025-06-27", "2025-06-30"], act=order)
    assert board.figures.closure_days() == (date(2025, 6, 27), date(2025, 6, 30))


# The chain


def test_the_hash_of_the_figures_changes_with_each_adoption(board):
    hashes = [board.figures.content_hash]
    for month, percent in MONTHS.items():
        board.adopts("treasury_yields", months={month: percent})
        hashes.append(board.figures.content_hash)
    assert len(set(hashes)) == 7


def test_a_book_that_nobody_touched_verifies(board):
    for month, percent in MONTHS.items():
        board.adopts("treasury_yields", months={month: percent})
    assert verify_book("ERS", board.items) == []
    assert [entry.sequence for entry in board.figures.entries] == [1, 2, 3, 4, 5, 6]


def test_a_changed_byte_anywhere_in_an_entry_is_found_and_named(board):
    for month in ("2025-01", "2025-02", "2025-03"):
        board.adopts("treasury_yields", months={month: "4.00"})
    for name, value in board.items[1].items():
        items = board.items
        [(kind, content)] = value.items()
        items[1][name] = {kind: content[:-1] + (b"\x00" if kind == "B" else "~")}
        assert 2 in [finding.sequence for finding in verify_book("ERS", items)], name


def test_a_missing_entry_is_found(board):
    for month in ("2025-01", "2025-02", "2025-03"):
        board.adopts("treasury_yields", months={month: "4.00"})
    first, _, third = board.items
    found = verify_book("ERS", [first, third])
    assert (found[0].passbook, found[0].sequence, found[0].code) == ("board#ERS", 2, FindingCode.MISSING_LINE)


def test_two_adoptions_at_once_both_stand_in_an_order(board, monkeypatch):
    other = RESOLUTION.validate_json(encoding.canonical({
        "fund": "ERS", "act": ACT, "source": "test", "vintage": "2025-07-01",
        "kind": "treasury_yields", "months": {"2025-06": "3.89"},
    }))  # fmt: skip
    insert = board.store.insert

    def overtaken(item):
        monkeypatch.setattr(board.store, "insert", insert)
        board.book.adopt("RB-other", other, proposed_by="u-carla", adopted_by="u-berta", now=NOW)
        return insert(item)

    monkeypatch.setattr(board.store, "insert", overtaken)

    entry = board.adopts("treasury_yields", months={"2025-05": "3.92"})

    assert entry.sequence == 2
    assert [one.resolution_id for one in board.figures.entries] == ["RB-other", "RB-1"]
    assert verify_book("ERS", board.items) == []


def test_a_lost_answer_is_not_a_second_entry(board, monkeypatch):
    insert = board.store.insert

    def answered_late(item):
        monkeypatch.setattr(board.store, "insert", insert)
        insert(item)
        return insert(item)

    monkeypatch.setattr(board.store, "insert", answered_late)

    assert board.adopts("treasury_yields", months=MONTHS).sequence == 1
    assert len(board.figures.entries) == 1


def test_an_entry_that_cannot_be_read_is_found(board):
    board.adopts("treasury_yields", months=MONTHS)
    [item] = board.items
    assert verify_book("ERS", [item | {"rate": {"N": "0.5"}}])[0].code is FindingCode.UNREADABLE


def test_an_adoption_that_is_overtaken_each_time_gives_up(board, monkeypatch):
    monkeypatch.setattr(board.store, "insert", lambda item: item | {"hash": {"B": b"another"}})
    with pytest.raises(BusyError, match="RB-1"):
        board.adopts("treasury_yields", months=MONTHS)
    assert board.items == []


def test_an_item_that_is_no_entry_is_not_read_as_one(board, stack):
    stack.dynamodb.put_item(
        TableName="retiro-ledger", Item={"pk": {"S": "board#ERS"}, "sk": {"S": "00000001"}, "content": {"S": "{}"}}
    )
    with pytest.raises(UnreadableError):
        board.figures  # noqa: B018  reading it is the act


def test_funds_have_books_of_their_own(board):
    board.adopts("treasury_yields", months=MONTHS, fund="JRS")
    assert board.figures.entries == ()
    assert len(board.book.adopted("JRS").entries) == 1
