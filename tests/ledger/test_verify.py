"""The audit finds a changed byte anywhere, a missing line and a missing last line, and names them."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from retiro.ledger import encoding, savings
from retiro.ledger.late_credits import Late, late_credit, reversal_of
from retiro.ledger.lines import Line, LineKind, Posting, RunMark, document_of, sealed, to_item
from retiro.ledger.month_ends import MonthEnds
from retiro.ledger.store import LedgerStore
from retiro.ledger.verify import Finding, FindingCode, verify_passbook
from retiro.ledger.witness import Witness
from tests.ledger.makers import (
    ANA,
    FIGURES,
    PARTICIPANT,
    S2,
    account_of_readings,
    contributed,
    day,
    drafted,
    grown,
    posted,
    two_semesters_posted,
)

Item = dict[str, Any]


def rich_history() -> list[Line]:
    """A passbook with a line of most kinds: thirteen lines."""
    history = two_semesters_posted()
    late, _ = late_credit(history, Late(30_000, day("2024-09-10"), day("2025-07-10")), FIGURES, ANA)
    history = grown([late], history)
    history = grown([reversal_of(history, S2, ANA, run=("yield_reversal", "FY2025-S2", 1))], history)
    options = {"fixed_income": 30, "system_portfolio": 70}
    selection = savings.selection(
        history[-1], options, requested_on=day("2025-06-30"), effective_on=day("2025-07-01"), origin=ANA
    )
    return grown([selection], history)


def items_of(history: list[Line]) -> list[Item]:
    return [to_item(line) for line in history]


def found(items: list[Item], witness: Witness | None = None) -> list[tuple[int, FindingCode]]:
    findings = verify_passbook(PARTICIPANT, items, witness).findings
    assert all(finding.passbook == PARTICIPANT and finding.detail for finding in findings)
    return [(finding.sequence, finding.code) for finding in findings]


def test_a_sound_passbook_has_no_finding() -> None:
    verified = verify_passbook(PARTICIPANT, items_of(rich_history()))
    assert verified.findings == ()
    assert (verified.lines, verified.last) == (13, rich_history()[-1])


def test_an_empty_passbook_has_no_finding_unless_the_stream_saw_lines() -> None:
    assert found([]) == []
    seen = Witness(2, b"x")
    assert found([], seen) == [(1, FindingCode.MISSING_LAST_LINE), (2, FindingCode.MISSING_LAST_LINE)]


def changes_of(attribute: Any) -> Iterator[Any]:
    """The attribute with each single thing in it changed, and something more put into each list and map."""
    match attribute:
        case {"S": text}:
            yield from ({"S": text + "x"}, {"S": text[:-1] if text else " "}, {"B": text.encode()})
        case {"N": digits}:
            yield from ({"N": str(int(digits) + 1)}, {"N": str(-int(digits) or 7)}, {"S": digits})
        case {"B": raw}:
            for index in range(len(raw)):
                yield {"B": raw[:index] + bytes([raw[index] ^ 1]) + raw[index + 1 :]}
        case {"L": inner}:
            yield from ({"L": changed} for changed in changed_lists(inner))
        case {"M": inner}:
            yield from ({"M": changed} for changed in changed_maps(inner))


def changed_lists(values: list[Any]) -> Iterator[list[Any]]:
    yield [*values, {"M": {}}]
    if values:
        yield values[1:]
    if values != values[::-1]:
        yield values[::-1]
    for index, value in enumerate(values):
        yield from ([*values[:index], changed, *values[index + 1 :]] for changed in changes_of(value))


def changed_maps(values: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield values | {"added": {"M": {}}}
    for name, value in values.items():
        rest = {other: kept for other, kept in values.items() if other != name}
        yield rest
        yield rest | {name + "x": value}
        yield from (rest | {name: changed} for changed in changes_of(value))


def mutants_of(item: Item) -> Iterator[Item]:
    """Each item that differs from this one in one thing, its key excepted."""
    key = {name: item[name] for name in ("pk", "sk")}
    body = {name: inner for name, inner in item.items() if name not in key}
    for mutant in changes_of({"M": body}):
        yield key | mutant["M"]


@pytest.mark.parametrize("sequence", range(1, 14))
def test_whatever_is_changed_in_a_stored_line_that_line_alone_is_named(sequence: int) -> None:
    """LE-03, https://github.com/2witstudios/PageSpace/pull/1073: nested fields were left out of the hash."""
    items = items_of(rich_history())
    mutants = list(mutants_of(items[sequence - 1]))
    assert len(mutants) > 60
    for mutant in mutants:
        findings = found([*items[: sequence - 1], mutant, *items[sequence:]])
        assert {number for number, _ in findings} == {sequence}, mutant
        assert findings[0][1] in (FindingCode.CHANGED, FindingCode.UNREADABLE)


def test_the_order_of_a_map_s_keys_is_nothing() -> None:
    """LE-03, https://github.com/2witstudios/PageSpace/pull/1073."""

    def reversed_keys(attribute: Any) -> Any:
        match attribute:
            case {"M": inner}:
                return {"M": {name: reversed_keys(inner[name]) for name in reversed(inner)}}
            case {"L": inner}:
                return {"L": [reversed_keys(one) for one in inner]}
            case _:
                return attribute

    items = [{name: reversed_keys(item[name]) for name in reversed(item)} for item in items_of(rich_history())]
    assert found(items) == []


@pytest.mark.parametrize("sequence", range(1, 13))
def test_a_missing_line_is_named(sequence: int) -> None:
    items = items_of(rich_history())
    assert found([*items[: sequence - 1], *items[sequence:]]) == [(sequence, FindingCode.MISSING_LINE)]


def test_a_line_changed_after_a_missing_one_is_named_too() -> None:
    items = items_of(rich_history())
    items[8]["principal"] = {"S": "u-eva"}
    assert found([*items[:4], *items[6:]]) == [
        (5, FindingCode.MISSING_LINE),
        (6, FindingCode.MISSING_LINE),
        (9, FindingCode.CHANGED),
    ]


def test_a_missing_last_line_is_named_by_the_witness() -> None:
    history = rich_history()
    witness = Witness(13, history[-1].hash)
    assert found(items_of(history), witness) == []
    assert found(items_of(history)[:-1], witness) == [(13, FindingCode.MISSING_LAST_LINE)]
    assert found(items_of(history)[:-2], witness) == [
        (12, FindingCode.MISSING_LAST_LINE),
        (13, FindingCode.MISSING_LAST_LINE),
    ]


def test_a_witness_may_lag_behind() -> None:
    history = rich_history()
    assert found(items_of(history), Witness(12, history[11].hash)) == []


def test_an_end_that_was_written_anew_is_named_by_the_witness() -> None:
    history = account_of_readings()
    other = contributed(history[:-1], ("2025-06-15", 20_001))
    assert found(items_of(other)) == []
    assert found(items_of(other), Witness(8, history[-1].hash)) == [(8, FindingCode.CHANGED)]


def test_a_line_of_another_passbook_is_no_line_of_this_one() -> None:
    items = items_of(account_of_readings())
    items[3]["pk"] = {"S": "passbook#P-000002"}
    assert found(items) == [(4, FindingCode.UNREADABLE)]
    items[3]["sk"] = {"S": "4"}
    assert found(items)[0] == (4, FindingCode.UNREADABLE)


def forged(change: Callable[[Line], Line]) -> list[tuple[int, FindingCode]]:
    """What is found where somebody changes the last line and computes its hash anew."""
    history = posted(account_of_readings(), S2, 21_436)
    history = contributed(history, ("2025-07-15", 100))
    last = sealed(change(history[-1]), history[-2].hash)
    return found(items_of([*history[:-1], last]))


FORGERIES: dict[str, tuple[FindingCode, dict[str, Any]]] = {
    "out of balance": (FindingCode.DOUBLE_ENTRY, {"postings": (Posting("savings", 100),)}),
    "another balance": (FindingCode.BALANCES, {"balances": {"savings": 1, "contributions": -1}}),
    "another fund": (FindingCode.FUND, {"fund": "JRS"}),
    "recorded earlier": (
        FindingCode.RECORDED_ORDER,
        {"recorded_at": account_of_readings()[0].recorded_at.replace(year=2024)},
    ),
    "a mark taken away": (FindingCode.RUNS, {"runs": {}}),
    "a mark of another attempt": (FindingCode.RUNS, {"runs": {"yield": RunMark("FY2025-S2", 2, 9)}}),
    "a yield's mark on another line": (FindingCode.RUNS, {"runs": {"yield": RunMark("FY2026-S1", 1, 10)}}),
    "a yield out of order": (
        FindingCode.RUNS,
        {"kind": LineKind.SEMESTER_YIELD, "runs": {"yield": RunMark("FY2026-S2", 1, 10)}},
    ),
    "a reversal of a contribution": (FindingCode.RUNS, {"kind": LineKind.REVERSAL, "reverses": 8}),
    "a reversal of nothing": (FindingCode.RUNS, {"kind": LineKind.REVERSAL}),
    "another state": (FindingCode.STATE, {"state": {"status": "closed"}}),
    "a status that its kind doesn't bring": (
        FindingCode.STATE,
        {"kind": LineKind.DEATH_REPORT, "state": {"status": "active"}},
    ),
    "another month-end": (FindingCode.MONTH_ENDS, {"month_ends": MonthEnds("2025-06", (1_141_436, 1_141_537))}),
    "no month-ends": (FindingCode.MONTH_ENDS, {"month_ends": None}),
    "month-ends of another month": (FindingCode.MONTH_ENDS, {"month_ends": MonthEnds("2025-05", (1, 2))}),
    "month-ends cut short": (FindingCode.MONTH_ENDS, {"month_ends": MonthEnds("2025-06", (1_141_436,))}),
    "month-ends of nothing": (FindingCode.MONTH_ENDS, {"month_ends": MonthEnds("2025-06", ())}),
    "a difference of no semester": (FindingCode.UNREADABLE, {"differences": {"soon": 1}}),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_line_whose_hash_was_made_anew_is_still_found(forgery: str) -> None:
    code, changes = FORGERIES[forgery]
    findings = forged(lambda line: replace(line, **changes))
    assert {number for number, _ in findings} == {10}
    assert code in [one for _, one in findings]


def test_month_ends_marked_incomplete_may_be_cut_short() -> None:
    cut = MonthEnds("2025-06", (1_141_436,), complete=False)
    assert forged(lambda line: replace(line, month_ends=cut)) == []


def test_an_attribute_that_no_line_has_is_found_even_under_a_hash_of_its_own() -> None:
    history = account_of_readings()
    document = document_of(history[-1]) | {"note": "x"}
    item = encoding.to_item(document) | {"hash": {"B": encoding.chain_hash(history[-2].hash, document)}}
    assert found([*items_of(history[:-1]), item]) == [(8, FindingCode.UNREADABLE)]


def test_what_is_stored_verifies_as_it_comes_back(store: LedgerStore) -> None:
    for line in rich_history():
        store.put_line(line)
    assert verify_passbook(PARTICIPANT, store.items("passbook#P-000001")).findings == ()


def test_a_finding_says_what_is_wrong_and_where() -> None:
    items = items_of(account_of_readings())
    items[4]["postings"]["L"][1]["M"]["cents"] = {"N": "-20001"}
    finding = Finding(PARTICIPANT, 5, FindingCode.CHANGED, "the hash isn't that of the line before and this one")
    assert verify_passbook(PARTICIPANT, items).findings == (finding,)
    assert drafted().kind is LineKind.CONTRIBUTION
