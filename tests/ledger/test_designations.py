"""Which designation counts as of a day: days of filing decide, whatever the office came to first."""

from datetime import date

import pytest

from retiro.ledger import hybrid
from retiro.ledger.designations import change_by, counting, fell
from retiro.ledger.lines import Line
from retiro.ledger.savings import Origin
from tests.ledger.makers import ANA, day, grown

TODAY = day("2025-07-10")
ORDER, MOVE = hybrid.designation, hybrid.system_change


def office(*steps: tuple[str, str]) -> list[Line]:
    """Papers as the office comes to them: filed (a name and a day; `move` changes the system), approved (a name)."""
    history = grown([hybrid.enrolment(None, day("2014-01-15"), ANA)])
    filed: dict[str, Line] = {}
    for name, on in steps:
        if on:
            history = grown([hybrid.filed(day(on), Origin("u-ana", f"paper/{name}", {"filed": name}))], history)
            filed[name] = history[-1]
        else:
            paper = filed[name]
            origin = Origin("u-berta", f"paper/{name}", {"filed": paper.sequence})
            draft = MOVE if name.startswith("move") else ORDER
            history = grown([draft(history[-1], paper.effective_on, origin)], history)
    return history


def named(history: list[Line], on: date = TODAY) -> str | None:
    """The paper that counts."""
    found = counting(history, on)
    return None if found is None else str(found.determination).removeprefix("paper/")


A, B, M = ("A", ""), ("B", ""), ("move", "")
COUNTS = {
    "none": ([], None),
    "filed and not recognized": ([("A", "2020-05-01")], None),
    "the last by its day": ([("A", "2016-05-01"), A, ("B", "2020-05-01"), B], "B"),
    "an older paper, entered later": ([("B", "2020-05-01"), B, ("A", "2016-05-01"), A], "B"),
    "an older paper, entered later and recognized first": ([("B", "2020-05-01"), ("A", "2016-05-01"), A, B], "B"),
    "two of one day: the one filed last": ([("A", "2020-05-01"), ("B", "2020-05-01"), A, B], "B"),
    "two of one day, recognized the other way round": ([("A", "2020-05-01"), ("B", "2020-05-01"), B, A], "B"),
    "after today": ([("A", "2020-05-01"), A, ("B", "2025-07-11"), B], "A"),
    "before a move": ([("A", "2016-05-01"), A, ("move", "2018-01-15"), M], None),
    "before a move, entered after it": ([("move", "2018-01-15"), M, ("A", "2016-05-01"), A], None),
    "after a move": ([("move", "2018-01-15"), M, ("A", "2020-05-01"), A], "A"),
    "after a move that is entered late": ([("A", "2020-05-01"), A, ("move", "2018-01-15"), M], "A"),
    "a move that nobody approved": ([("A", "2016-05-01"), A, ("move", "2018-01-15")], "A"),
    "a move after today": ([("A", "2016-05-01"), A, ("move", "2025-07-11"), M], "A"),
    "the day of a move, filed before it": ([("A", "2018-01-15"), ("move", "2018-01-15"), M, A], None),
    "the day of a move, filed after it": ([("move", "2018-01-15"), ("A", "2018-01-15"), A, M], "A"),
    "between two moves, the later one entered first": (
        [("move2", "2021-01-15"), ("move2", ""), ("move1", "2018-01-15"), ("move1", ""), ("A", "2020-05-01"), A],
        None,
    ),
}


@pytest.mark.parametrize("case", COUNTS)
def test_the_last_order_filed_since_the_last_change_of_system_counts(case: str) -> None:
    steps, expected = COUNTS[case]
    assert named(office(*steps)) == expected


def test_it_counts_as_of_a_day() -> None:
    history = office(("A", "2016-05-01"), A, ("move", "2018-01-15"), M, ("B", "2020-05-01"), B)
    days = ["2016-04-30", "2016-05-01", "2018-01-14", "2018-01-15", "2020-04-30", "2020-05-01"]
    assert [named(history, day(on)) for on in days] == [None, "A", "A", None, None, "B"]


def test_what_is_filed_and_what_is_recognized_fall_alike() -> None:
    history = office(("A", "2016-05-01"), A, ("B", "2020-05-01"), B, ("move", "2018-01-15"), M)
    change = change_by(history, TODAY)
    assert change == history[-1]
    assert [fell(line, change) for line in history[1:5]] == [True, True, False, False]
    assert not any(fell(line, change_by(history, day("2018-01-14"))) for line in history[1:5])
