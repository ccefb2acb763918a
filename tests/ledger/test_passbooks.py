"""Appending: once for a key, decided on the last line, all of it or nothing."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, cast

import pytest

from retiro.ledger import employers, savings
from retiro.ledger.evidence import Evidence, EvidenceConflictError
from retiro.ledger.keys import BusinessKey, KeyConflictError, KeyKind
from retiro.ledger.lines import Draft, FundMismatchError, Line, LineError, LineKind, to_item
from retiro.ledger.passbooks import (
    AlsoRefusedError,
    Decision,
    InvalidTransactionError,
    LineTooLargeError,
    Part,
    Passbooks,
)
from retiro.ledger.retries import BusyError
from retiro.ledger.store import LedgerStore
from retiro.rules.refusals import Refusal, RefusalCode
from tests.ledger.fake_dynamodb import FakeDynamoDB
from tests.ledger.makers import (
    ANA,
    EMPLOYER,
    NOW,
    PARTICIPANT,
    TABLE,
    cancelled,
    day,
    drafted,
    drop_answer,
    error,
    lose_answer,
    refuse,
    stored_items,
)

ENROLMENT = BusinessKey(KeyKind.ENROLMENT, PARTICIPANT)
CREDIT = BusinessKey(KeyKind.REMITTANCE_CREDIT, "E-001_2026-014#0000")
CONTENT = {"amount": "200.00"}


def enrol(passbooks: Passbooks, passbook: str = PARTICIPANT, fund: str = "ERS") -> Line:
    return passbooks.append(
        passbook,
        lambda last: savings.enrolment(last, day("2025-01-01"), {"fixed_income": 100}, ANA),
        fund=fund,
        key=BusinessKey(KeyKind.ENROLMENT, passbook),
        content={"participant_id": passbook},
    ).lines[0]


def credit(last: Line | None) -> Draft:
    assert last is not None
    return savings.contribution(last, 20_000, day("2025-01-15"), ANA)


def test_an_append_writes_the_line_its_key_and_its_evidence_together(passbooks: Passbooks, client: Any) -> None:
    enrol(passbooks)
    evidence = Evidence("remittance", "E-001_2026-014", {"total": "200.00"})
    done = passbooks.append(PARTICIPANT, credit, key=CREDIT, content=CONTENT, evidence=[evidence])
    assert not done.replayed
    assert passbooks.history(PARTICIPANT)[1:] == list(done.lines)
    assert passbooks.store.get_evidence("remittance", "E-001_2026-014") == evidence
    record = passbooks.store.get_key(CREDIT)
    assert record is not None
    assert record.lines == ((PARTICIPANT, 2),)
    assert len(stored_items(client)) == 5  # two lines, two keys, one evidence


def test_the_same_key_with_the_same_content_gets_the_first_answer(passbooks: Passbooks, client: Any) -> None:
    enrol(passbooks)
    first = passbooks.append(PARTICIPANT, credit, key=CREDIT, content={"a": 1, "b": "x"})
    before = stored_items(client)
    again = passbooks.append(PARTICIPANT, credit, key=CREDIT, content={"b": "x", "a": 1})
    assert (again.lines, again.replayed) == (first.lines, True)
    assert stored_items(client) == before


def test_the_same_key_with_another_content_is_a_conflict_that_names_both(passbooks: Passbooks, client: Any) -> None:
    enrol(passbooks)
    passbooks.append(PARTICIPANT, credit, key=CREDIT, content=CONTENT)
    before = stored_items(client)
    with pytest.raises(KeyConflictError) as conflict:
        passbooks.append(PARTICIPANT, credit, key=CREDIT, content={"amount": "200.01"})
    message = str(conflict.value)
    assert "remittance_credit E-001_2026-014#0000" in message
    assert conflict.value.record.content_hash.hex() in message
    assert conflict.value.content_hash.hex() in message
    assert stored_items(client) == before


def test_a_refused_decision_writes_nothing_and_leaves_its_key_free(passbooks: Passbooks, client: Any) -> None:
    """LE-07, https://github.com/LerianStudio/midaz/issues/709: a refused transaction burned its key."""
    enrol(passbooks)
    before = stored_items(client)

    def refused(_: Line | None) -> Draft:
        raise Refusal(RefusalCode.STATUS_FORBIDS, "3 L.P.R.A. § 786-7(a)", status="closed")

    with pytest.raises(Refusal):
        passbooks.append(PARTICIPANT, refused, key=CREDIT, content=CONTENT)
    assert stored_items(client) == before
    corrected = passbooks.append(PARTICIPANT, credit, key=CREDIT, content={"amount": "200.00", "corrected": 1})
    assert not corrected.replayed


def test_a_line_over_its_size_writes_nothing_of_its_transaction(passbooks: Passbooks, client: Any) -> None:
    """DR-13, https://github.com/blnkfinance/blnk/issues/203: the balance moved though nothing was recorded."""
    enrol(passbooks)
    before = stored_items(client)

    def too_long(last: Line | None) -> Sequence[Draft]:
        return [credit(last), drafted(facts={"payee": "x" * 4096})]

    evidence = Evidence("settlement", "C-1", {"net": "10000.00"})
    with pytest.raises(LineTooLargeError, match="4096 at most"):
        passbooks.append(PARTICIPANT, too_long, key=CREDIT, content=CONTENT, evidence=[evidence])
    assert stored_items(client) == before
    assert len(passbooks.append(PARTICIPANT, credit, key=CREDIT, content=CONTENT, evidence=[evidence]).lines) == 1


@pytest.mark.parametrize("injure", [drop_answer, lose_answer])
def test_a_lost_answer_of_our_own_transaction_is_the_first_answer(
    passbooks: Passbooks, client: Any, injure: Callable[[Any, str], None]
) -> None:
    """LE-01, https://github.com/earth-mover/icechunk/issues/2099: told "conflict" about its own commit."""
    enrol(passbooks)
    injure(client, "TransactWriteItems")
    done = passbooks.append(PARTICIPANT, credit, key=CREDIT, content=CONTENT)
    assert done.replayed
    assert passbooks.history(PARTICIPANT)[1:] == list(done.lines)


def test_a_lost_answer_of_an_enrolment_is_not_taken_for_an_enrolment_by_another(
    passbooks: Passbooks, client: Any
) -> None:
    lose_answer(client, "TransactWriteItems")
    assert enrol(passbooks).sequence == 1
    assert len(passbooks.history(PARTICIPANT)) == 1


def test_the_same_request_twice_at_once_is_posted_once(passbooks: Passbooks) -> None:
    """The twin posts after we have seen that the key is free: what refuses us then is our own answer."""
    twin = Passbooks(passbooks.store, passbooks.clock)
    left = [1]

    def decide(last: Line | None) -> Draft:
        if left:
            left.pop()
            enrol(twin)
            last = passbooks.last(PARTICIPANT)
        return savings.enrolment(last, day("2025-01-01"), {"fixed_income": 100}, ANA)

    content = {"participant_id": PARTICIPANT}
    done = passbooks.append(PARTICIPANT, decide, fund="ERS", key=ENROLMENT, content=content)
    assert done.replayed
    assert len(passbooks.history(PARTICIPANT)) == 1


def test_a_lost_race_is_read_again_and_decided_again(passbooks: Passbooks, pauses: list[float]) -> None:
    enrol(passbooks)
    seen: list[int] = []

    def decide(last: Line | None) -> Draft:
        assert last is not None
        seen.append(last.sequence)
        if len(seen) == 1:
            other = BusinessKey(KeyKind.REMITTANCE_CREDIT, "other")
            passbooks.append(PARTICIPANT, credit, key=other, content={})
        return credit(last)

    done = passbooks.append(PARTICIPANT, decide, key=CREDIT, content=CONTENT)
    assert seen == [1, 2]
    assert [line.sequence for line in done.lines] == [3]
    assert done.lines[0].balances["savings"] == 40_000
    assert len(pauses) == 1


def test_a_race_lost_every_time_gives_up_within_bounds(passbooks: Passbooks, pauses: list[float]) -> None:
    enrol(passbooks)

    def overtaken(last: Line | None) -> Draft:
        assert last is not None
        other = BusinessKey(KeyKind.REMITTANCE_CREDIT, f"other-{last.sequence}")
        passbooks.append(PARTICIPANT, credit, key=other, content={})
        return credit(last)

    with pytest.raises(BusyError):
        passbooks.append(PARTICIPANT, overtaken, key=CREDIT, content=CONTENT)
    assert pauses == [0.05, 0.1, 0.2, 0.4]
    assert passbooks.store.get_key(CREDIT) is None


@pytest.mark.parametrize(
    "answer",
    [
        cancelled("None", "TransactionConflict"),
        cancelled("None", "ThrottlingError"),
        cancelled("ProvisionedThroughputExceeded", "None"),
        error("ThrottlingException"),
        error("TransactionInProgressException"),
        error("InternalServerError"),
    ],
    ids=lambda answer: str(answer.get("CancellationReasons", answer["Error"]["Code"])),
)
def test_conflicts_and_throttles_are_tried_again(
    passbooks: Passbooks, client: Any, pauses: list[float], answer: dict[str, Any]
) -> None:
    enrol(passbooks)
    refuse(client, "TransactWriteItems", answer, answer)
    assert not passbooks.append(PARTICIPANT, credit, key=CREDIT, content=CONTENT).replayed
    assert pauses == [0.05, 0.1]


def test_a_malformed_transaction_is_a_fault_of_ours_and_is_not_tried_again(
    passbooks: Passbooks, client: Any, pauses: list[float]
) -> None:
    enrol(passbooks)
    refuse(client, "TransactWriteItems", cancelled("ConditionalCheckFailed", "ValidationError"))
    with pytest.raises(InvalidTransactionError):
        passbooks.append(PARTICIPANT, credit, key=CREDIT, content=CONTENT)
    assert pauses == []


def test_evidence_that_is_there_with_the_same_body_is_not_put_again(passbooks: Passbooks, client: Any) -> None:
    enrol(passbooks)
    evidence = Evidence("remittance", "E-001_2026-014", {"total": "200.00"})
    passbooks.store.put_evidence(evidence)
    done = passbooks.append(PARTICIPANT, credit, key=CREDIT, content=CONTENT, evidence=[evidence])
    assert (len(done.lines), done.replayed) == (1, False)


def test_evidence_that_is_there_with_another_body_stops_the_transaction(passbooks: Passbooks, client: Any) -> None:
    enrol(passbooks)
    passbooks.store.put_evidence(Evidence("remittance", "E-001_2026-014", {"total": "200.00"}))
    before = stored_items(client)
    other = Evidence("remittance", "E-001_2026-014", {"total": "200.01"})
    with pytest.raises(EvidenceConflictError):
        passbooks.append(PARTICIPANT, credit, key=CREDIT, content=CONTENT, evidence=[other])
    assert stored_items(client) == before


def test_what_the_registry_has_to_know_goes_along_or_nothing_does(passbooks: Passbooks, client: Any) -> None:
    enrol(passbooks)
    insertion = passbooks.store.insertion
    taken = {"pk": {"S": "participant#P-1"}, "sk": {"S": "profile"}}
    free = {"pk": {"S": "participant#P-2"}, "sk": {"S": "profile"}}
    done = passbooks.append(
        PARTICIPANT, lambda last: Decision([credit(last)], also=[insertion(taken)]), key=CREDIT, content=CONTENT
    )
    assert not done.replayed
    before = stored_items(client)
    with pytest.raises(AlsoRefusedError) as refused:
        passbooks.append(
            PARTICIPANT,
            credit,
            key=BusinessKey(KeyKind.REMITTANCE_CREDIT, "other"),
            content=CONTENT,
            also=[insertion(free), insertion(taken)],
        )
    assert (refused.value.index, refused.value.existing) == (1, taken)
    assert stored_items(client) == before


def test_several_passbooks_are_appended_to_together(passbooks: Passbooks) -> None:
    enrol(passbooks)
    enrol(passbooks, "P-000002")
    passbooks.append(
        EMPLOYER,
        lambda _: [employers.opening(day("2025-01-02"), ANA), employers.deposit("R-1", 50_000, day("2025-01-15"), ANA)],
        fund="ERS",
        key=BusinessKey(KeyKind.DEPOSIT, "D-1"),
        content={},
    )

    def pass_on(last: Line | None) -> Draft:
        assert last is not None
        return employers.passing_on(last, "R-1", 40_000, day("2025-01-15"), ANA)

    parts = [Part(PARTICIPANT, credit), Part("P-000002", credit), Part(EMPLOYER, pass_on)]
    done = passbooks.append_together(parts, key=CREDIT, content=CONTENT)
    assert [(line.passbook, line.sequence) for line in done.lines] == [
        (PARTICIPANT, 2),
        ("P-000002", 2),
        (EMPLOYER, 3),
    ]
    again = passbooks.append_together(parts, key=CREDIT, content=CONTENT)
    assert (again.lines, again.replayed) == (done.lines, True)
    # 500.00 deposited, twice 200.00 passed on.
    assert done.lines[2].balances == {"cash": -50_000, "clearing:R-1": 10_000, "contributions": 40_000}


def test_all_lines_of_a_transaction_are_of_one_moment_whatever_the_clocks_before_said(passbooks: Passbooks) -> None:
    """The first passbook was last written to by a function whose clock was a minute ahead."""
    ahead = NOW + timedelta(minutes=1)
    enrol(Passbooks(passbooks.store, lambda: ahead))
    enrol(passbooks, "P-000002")
    done = passbooks.append_together([Part("P-000002", credit), Part(PARTICIPANT, credit)], key=CREDIT, content=CONTENT)
    assert [line.recorded_at for line in done.lines] == [ahead, ahead]


def test_one_transaction_is_in_one_fund(passbooks: Passbooks, client: Any) -> None:
    """Audit finding 5: $21.6 million of one system's money was spent on another."""
    enrol(passbooks)
    enrol(passbooks, "P-000002", fund="JRS")
    before = stored_items(client)
    with pytest.raises(FundMismatchError, match="ERS, JRS"):
        passbooks.append_together([Part(PARTICIPANT, credit), Part("P-000002", credit)], key=CREDIT, content=CONTENT)
    with pytest.raises(FundMismatchError):
        passbooks.append(PARTICIPANT, credit, fund="JRS", key=CREDIT, content=CONTENT)
    assert stored_items(client) == before


def test_a_passbook_is_named_once_in_a_transaction(passbooks: Passbooks) -> None:
    with pytest.raises(LineError, match="twice"):
        passbooks.append_together([Part(PARTICIPANT, credit)] * 2, key=CREDIT, content=CONTENT)


def test_a_first_line_needs_its_fund(passbooks: Passbooks) -> None:
    with pytest.raises(LineError, match="fund"):
        passbooks.append(PARTICIPANT, lambda _: drafted(LineKind.ENROLMENT), key=ENROLMENT, content={})


def test_balances_are_read_as_of_an_effective_date_and_as_of_a_recorded_moment(passbooks: Passbooks) -> None:
    enrol(passbooks)
    for number, (on, recorded) in enumerate([("2025-01-15", 0), ("2025-02-15", 1), ("2025-01-31", 2)]):
        later = Passbooks(passbooks.store, lambda days=recorded: NOW + timedelta(days=days))
        later.append(
            PARTICIPANT,
            lambda last, on=on, cents=100 * 10**number: savings.contribution(last, cents, day(on), ANA),
            key=BusinessKey(KeyKind.REMITTANCE_CREDIT, str(number)),
            content={},
        )

    def saved(**as_of: Any) -> int:
        return passbooks.balances_as_of(PARTICIPANT, **as_of).get("savings", 0)

    assert saved() == 11_100
    assert [saved(effective=day(f"2025-01-{on}")) for on in (14, 15, 16, 30, 31)] == [0, 100, 100, 100, 10_100]
    assert [saved(effective=day(f"2025-02-{on}")) for on in (14, 15)] == [10_100, 11_100]
    assert [saved(recorded=NOW + timedelta(days=days)) for days in (-1, 0, 1, 2)] == [0, 100, 1_100, 11_100]
    # What was known on the second day of the end of January: the line recorded on the third isn't in it.
    assert saved(effective=day("2025-01-31"), recorded=NOW + timedelta(days=1)) == 100
    assert passbooks.balances_as_of("P-000009") == {}


@pytest.mark.parametrize("content", [{"amount": 200.0}, {"when": NOW}])
def test_a_key_s_content_is_plain_json_without_floats(passbooks: Passbooks, content: Any) -> None:
    with pytest.raises(TypeError):
        passbooks.append(PARTICIPANT, credit, key=CREDIT, content=content)


def test_the_fake_of_dynamodb_keeps_what_moto_keeps(passbooks: Passbooks, client: Any) -> None:
    fake = FakeDynamoDB()
    pretended = Passbooks(LedgerStore(cast("Any", fake), TABLE, retries=passbooks.store.retries), passbooks.clock)
    evidence = Evidence("remittance", "E-001_2026-014", {"total": "200.00"})
    answers = []
    for one in (passbooks, pretended):
        enrol(one)
        one.append(PARTICIPANT, credit, key=CREDIT, content=CONTENT, evidence=[evidence])
        again = one.append(PARTICIPANT, credit, key=CREDIT, content=CONTENT)
        other = BusinessKey(KeyKind.REMITTANCE_CREDIT, "other")
        with pytest.raises(AlsoRefusedError) as refused:
            one.append(PARTICIPANT, credit, key=other, content={}, also=[one.store.insertion(taken(one))])
        answers.append((again, refused.value.existing, one.last(PARTICIPANT)))
    assert answers[0] == answers[1]
    assert sorted(stored_items(client), key=str) == sorted(fake.items.values(), key=str)


def taken(passbooks: Passbooks) -> Any:
    """The item of a line that is there."""
    last = passbooks.last(PARTICIPANT)
    assert last is not None
    return to_item(last)


def test_a_key_has_a_reference() -> None:
    with pytest.raises(ValueError, match="deposit"):
        BusinessKey(KeyKind.DEPOSIT, "")
