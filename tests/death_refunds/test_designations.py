"""Which designation counts, § 242b(e): the last written order filed by the day of the death, and recognized."""

import pytest

from tests.death_refunds.judges import JUDGE, Judges, payees

DIED = "2025-04-10"


def a_judge(judges: Judges) -> None:
    """With 1,000.00 and a return of nothing."""
    judges.enrol()
    judges.credit(100_000, "2025-01-31")
    judges.adopt_return("FY2025-S2", "0", months=3)


FILED = {
    # Section 242b(e) pays those of the last order filed; one filed after the death can't be the participant's.
    "a day after the death counts for nothing": ([("Spouse", "2015-02-02"), ("Stranger", "2025-04-11")], "Spouse"),
    "on the day of the death counts": ([("Spouse", "2015-02-02"), ("Niece", DIED)], "Niece"),
    # It is the day of filing that makes an order the last one, not the day on which the office got to it.
    "an older paper found later": ([("Later", "2024-02-02"), ("Earlier", "2015-02-02")], "Later"),
    "two of one day: as they were entered": ([("First", "2024-02-02"), ("Second", "2024-02-02")], "Second"),
    "an older paper and one after the death": (
        [("Later", "2024-02-02"), ("Earlier", "2015-02-02"), ("Stranger", "2025-04-11")],
        "Later",
    ),
}


@pytest.mark.parametrize("case", FILED)
def test_the_last_order_filed_by_the_death_counts(judges: Judges, case: str) -> None:
    """All of the 1,000.00 goes to the one person of the order that counts."""
    filed, takes = FILED[case]
    a_judge(judges)
    for name, filed_on in filed:
        judges.designate(name, filed_on=filed_on)
    # The death is told of only then.
    judges.dies(DIED)
    quoted = judges.settle("/death-refunds/quotes", {"participant_id": JUDGE}, key=None)
    settled = judges.settled()
    assert settled["figures"]["basis"] == "designation"
    assert payees(settled) == payees(quoted.body) == [(takes, "1000.00", "payable", None)]


def test_one_recognized_between_entry_and_approval_is_seen_when_it_is_entered_anew(judges: Judges) -> None:
    """The order of 2024 was filed by the death: it takes the 1,000.00 that had been entered for that of 2015."""
    a_judge(judges)
    judges.designate("Spouse", filed_on="2015-02-02")
    judges.dies(DIED)
    entered = judges.enter()
    judges.designate("Niece", filed_on="2024-02-02")
    assert judges.approve(entered).code == "stale_hash"
    assert payees(judges.settled()) == [("Niece", "1000.00", "payable", None)]


@pytest.mark.parametrize(
    ("changed_on", "expected"),
    [
        # The designation fell with the change, 3 L.P.R.A. § 803: the heirs take, who aren't declared.
        (DIED, ("heirs", "1000.00", "held", "heirs_not_declared")),
        # Nobody moves to another system after the own death.
        ("2025-04-11", ("Spouse", "1000.00", "payable", None)),
    ],
)
def test_a_change_of_system_by_the_death_makes_void_what_came_before(
    judges: Judges, changed_on: str, expected: tuple[str, str, str, str | None]
) -> None:
    """The whole 1,000.00 to one payee either way."""
    a_judge(judges)
    judges.designate("Spouse")
    judges.file(JUDGE, "system-changes", {"reference": "C-1", "changed_on": changed_on, "to_system": "ERS"})
    judges.dies(DIED)
    assert payees(judges.settled()) == [expected]


def test_one_recognized_after_a_change_of_system_counts_again(judges: Judges) -> None:
    """The whole 1,000.00 to who was designated since."""
    a_judge(judges)
    judges.designate("Spouse")
    judges.file(JUDGE, "system-changes", {"reference": "C-1", "changed_on": "2020-01-15", "to_system": "ERS"})
    judges.designate("Niece", filed_on="2021-02-02")
    judges.dies(DIED)
    assert payees(judges.settled()) == [("Niece", "1000.00", "payable", None)]


def test_one_filed_after_a_change_of_system_outlives_its_late_entry(judges: Judges) -> None:
    """The move of 2018 is entered when the order of 2021 is there: only what was filed before it fell."""
    a_judge(judges)
    judges.designate("Spouse")
    judges.designate("Niece", filed_on="2021-02-02")
    judges.file(JUDGE, "system-changes", {"reference": "C-1", "changed_on": "2018-01-15", "to_system": "ERS"})
    judges.dies(DIED)
    assert payees(judges.settled()) == [("Niece", "1000.00", "payable", None)]


def test_of_one_day_the_order_of_filing_decides_and_not_that_of_recognition(judges: Judges) -> None:
    """The whole 1,000.00 to the person of the second paper, though the first was recognized after it."""
    a_judge(judges)
    path = f"/participants/{JUDGE}/designations"
    papers = [
        judges.write(path, {"reference": name, "filed_on": "2024-02-02", "beneficiaries": [{"name": name}]})
        for name in ("First", "Second")
    ]
    for paper in reversed(papers):
        assert judges.write(f"{path}/{paper.body['sequence']}/recognition", user="u-berta").status == 201
    judges.dies(DIED)
    assert payees(judges.settled()) == [("Second", "1000.00", "payable", None)]


def test_only_the_death_of_somebody_designated_and_not_to_come_is_taken(judges: Judges) -> None:
    """A misspelt name would be passed over, and the dead would be paid: each door says so, and writes nothing."""
    a_judge(judges)
    judges.designate("Ana Pérez", "Bea")
    judges.dies(DIED)
    deaths = [{"name": "Bea", "died_on": "2025-04-09"}, {"name": "Ana Perez", "died_on": "2020-01-01"}]
    ahead = [{"name": "Bea", "died_on": "2025-07-11"}]  # Puerto Rico's today is 2025-07-10
    items = judges.stack.ledger_items()
    for path in ("/death-refunds", "/death-refunds/quotes"):
        key = {"key": None} if path.endswith("quotes") else {}
        told = judges.settle(path, {"participant_id": JUDGE, "beneficiary_deaths": deaths}, **key)
        unknown = "beneficiary_deaths.1.name"
        assert (told.status, told.code, told.body["field"]) == (422, "unknown_beneficiary", unknown)
        told = judges.settle(path, {"participant_id": JUDGE, "beneficiary_deaths": ahead}, **key)
        assert (told.status, told.code, told.body["field"]) == (422, "invalid_input", "beneficiary_deaths.0.died_on")
    assert judges.stack.ledger_items() == items
    entered = judges.enter(beneficiary_deaths=deaths[:1])
    assert payees(entered.body) == [
        ("Ana Pérez", "500.00", "payable", None), ("heirs", "500.00", "held", "heirs_not_declared"),
    ]  # fmt: skip
    path = f"/death-refunds/{entered.body['refund_id']}/heirs"
    event = {"event": "beneficiary_died", "name": "Ana Pérez", "died_on": "2025-07-11"}
    told = judges.settle(path, event)
    assert (told.status, told.code, told.body["field"]) == (422, "invalid_input", "died_on")
    assert judges.settle(path, event | {"died_on": "2025-07-10"}).status == 201  # today, after the participant


def test_a_beneficiary_s_death_is_taken_while_a_question_is_open(judges: Judges) -> None:
    """The designation counts however far the determination came: Ana's half of the 1,000.00 falls to the heirs."""
    a_judge(judges)
    judges.designate("Ana", "Bea")
    judges.owe("50.00", system="ERS")
    judges.dies(DIED)
    refund_id = judges.enter().body["refund_id"]
    event = {"event": "beneficiary_died", "name": "Ana", "died_on": "2025-04-09"}
    told = judges.settle(f"/death-refunds/{refund_id}/heirs", event)
    assert (told.status, told.body["status"]) == (201, "needs_decision")
    decision = {"about": "debt_to_another_system", "choice": "leave_out", "reason": "Section 245: debts to the System"}
    decided = judges.settle(f"/death-refunds/{refund_id}/decision", decision)
    assert payees(decided.body) == [
        ("Bea", "500.00", "payable", None), ("heirs", "500.00", "held", "heirs_not_declared"),
    ]  # fmt: skip


def test_without_a_designation_nobody_s_death_is_a_beneficiary_s(judges: Judges) -> None:
    """The heirs take: who is dead isn't declared."""
    a_judge(judges)
    judges.dies(DIED)
    told = judges.enter(beneficiary_deaths=[{"name": "Ana", "died_on": "2020-01-01"}])
    assert (told.status, told.code) == (422, "unknown_beneficiary")
