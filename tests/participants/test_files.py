"""Files of participants: taken whole or not at all, worked off once, whatever stops in between."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from participants import worker
from participants.enrolment import Enrolments
from retiro.registry.employers import Employer, register
from retiro.registry.jobs import Jobs
from tests.conftest import Context
from tests.participants.conftest import NEW
from tests.participants.machine import Killed, Machine

FILE = "/participant-files/portal_F-1"


def row(number: int, **change: Any) -> dict[str, Any]:
    """A participant of a file, with 100.00 brought in."""
    transfer = {"amount": "100.00", "credited_on": "2025-01-01", "reference": f"T-{number}"}
    return NEW | {"participant_id": f"P-{number:06d}", "initial_transfer": transfer} | change


def file_of(rows: list[dict[str, Any]], *, reference: str = "F-1", total: str | None = None) -> dict[str, Any]:
    control = {"count": len(rows), "transfers_total": total or f"{len(rows) * 100}.00"}
    return {"reference": reference, "control": control, "participants": rows}


TEN = file_of([row(number) for number in range(1, 11)])


def enrolled_ids(stack: Any) -> list[str]:
    return sorted(item["sk"]["S"] for item in stack.registry_items() if item["pk"]["S"].startswith("roster#"))


def first_lines(stack: Any) -> int:
    return sum(item.get("kind", {}).get("S") == "enrolment" for item in stack.ledger_items())


def test_a_file_is_taken_with_a_place_to_look_and_then_worked_off(
    write: Callable[..., Any], read: Callable[..., Any], run_files: Callable[..., int], stack: Any
) -> None:
    answer = write("POST", "/participant-files", TEN)
    assert answer.status == 202
    assert answer.body["place"] == FILE
    assert (answer.body["status"], answer.body["done"], answer.body["of"]) == ("received", 0, 10)
    assert enrolled_ids(stack) == []
    run_files()
    assert read(FILE).body == {
        "file_id": "portal_F-1",
        "status": "done",
        "place": FILE,
        "done": 10,
        "of": 10,
        "errors": [],
    }
    assert enrolled_ids(stack) == [f"P-{number:06d}" for number in range(1, 11)]
    assert read("/participants/P-000010").body["savings"] == "100.00"


def test_every_error_is_listed_with_its_line_and_nothing_is_taken(
    write: Callable[..., Any], stack: Any, machine: Machine
) -> None:
    rows = [
        row(1),
        row(2, employer_id="E-009"),
        row(3, selection={"fixed_income": 25, "system_portfolio": 75}),
        row(4, enrolled_on="1999-12-31"),
        row(1, birth_date="1980-01-01"),
    ]
    before = (stack.ledger_items(), stack.registry_items())
    answer = write("POST", "/participant-files", file_of(rows, total="500.01"))
    assert (answer.status, answer.code) == (422, "file_refused")
    assert answer.body["citation"]
    found = [(error["field"], error["code"], error["detail"]) for error in answer.body["errors"]]
    assert [(field, code) for field, code, _ in found] == [
        ("control.transfers_total", "control_mismatch"),
        ("participants.0.participant_id", "participant_twice"),
        ("participants.1.employer_id", "unknown_employer"),
        ("participants.2.selection", "not_multiple_of_ten"),
        ("participants.3.enrolled_on", "invalid_input"),
        ("participants.4.participant_id", "participant_twice"),
    ]
    # Both totals are named.
    assert "500.01" in found[0][2]
    assert "500.00" in found[0][2]
    assert found[2][2].startswith("Line 2: ")
    assert (stack.ledger_items(), stack.registry_items()) == before
    assert stack.s3.list_objects_v2(Bucket="retiro-files")["KeyCount"] == 0
    assert machine.names == []


@pytest.mark.parametrize("total", ["999.99", "1000.01"])
def test_a_total_a_cent_off_is_refused_and_the_reference_stays_free(write: Callable[..., Any], total: str) -> None:
    rows = TEN["participants"]
    assert write("POST", "/participant-files", file_of(rows, total=total)).status == 422
    assert write("POST", "/participant-files", TEN).status == 202


def test_a_count_one_off_is_refused(write: Callable[..., Any]) -> None:
    off = TEN | {"control": {"count": 11, "transfers_total": "1000.00"}}
    answer = write("POST", "/participant-files", off)
    assert (answer.status, answer.body["field"]) == (422, "control.count")


def test_errors_of_form_are_all_listed(write: Callable[..., Any], stack: Any) -> None:
    before = stack.registry_items()
    rows = [row(1, birth_date="1970-4-4"), row(2), row(3, participant_id="3")]
    answer = write("POST", "/participant-files", file_of(rows))
    assert [error["field"] for error in answer.body["errors"]] == [
        "participants.0.birth_date",
        "participants.2.participant_id",
    ]
    assert stack.registry_items() == before


def test_the_same_file_again_enrols_nobody_twice(
    write: Callable[..., Any], run_files: Callable[..., int], stack: Any, machine: Machine
) -> None:
    write("POST", "/participant-files", TEN)
    run_files()
    before = stack.ledger_items()
    again = write("POST", "/participant-files", TEN)
    assert (again.status, again.body["status"]) == (202, "done")
    assert len(machine.names) == 1
    assert stack.ledger_items() == before


def test_another_content_under_the_same_reference_is_a_conflict(
    write: Callable[..., Any], run_files: Callable[..., int], stack: Any
) -> None:
    write("POST", "/participant-files", TEN)
    other = write("POST", "/participant-files", file_of([row(11)]))
    assert (other.status, other.code, other.body["field"]) == (409, "file_reference_used", "reference")
    run_files()
    assert enrolled_ids(stack) == [f"P-{number:06d}" for number in range(1, 11)]


def test_a_row_that_cant_be_taken_is_noted_and_stops_no_other(
    enrolled: dict[str, Any], write: Callable[..., Any], read: Callable[..., Any], run_files: Callable[..., int]
) -> None:
    """P-000001 is enrolled already, with 10,000.00: the file's row of it is another enrolment."""
    write("POST", "/participant-files", TEN)
    run_files()
    seen = read(FILE).body
    assert (seen["status"], seen["done"]) == ("done", 10)
    assert [(error["line"], error["participant_id"], error["code"]) for error in seen["errors"]] == [
        (1, "P-000001", "already_enrolled")
    ]
    said = read(FILE, headers={"Accept-Language": "es"}).body["errors"][0]["detail"]
    assert said == "El participante está inscrito con otro contenido."
    assert read("/participants/P-000001").body["savings"] == "10000.00"


def test_a_fault_of_form_names_the_line_of_the_file(write: Callable[..., Any]) -> None:
    rows = [row(1), row(2), row(3, birth_date=19700404)]
    (error,) = write("POST", "/participant-files", file_of(rows)).body["errors"]
    assert error["field"] == "participants.2.birth_date"
    assert error["detail"].endswith("(line 3)")


def test_the_kept_file_has_no_identifier(write: Callable[..., Any], stack: Any) -> None:
    write("POST", "/participant-files", file_of([row(1, person_identifier="123-45-6789")]))
    listed = stack.s3.list_objects_v2(Bucket="retiro-files")["Contents"]
    assert [one["Key"].split("/")[:3] for one in listed] == [["files", "participants", "portal_F-1"]]
    text = stack.s3.get_object(Bucket="retiro-files", Key=listed[0]["Key"])["Body"].read().decode()
    assert "123-45-6789" not in text
    assert len(json.loads(text)[0]["person_key"]) == 64


def test_a_file_with_a_faulty_identifier_names_its_line_and_with_another_person_is_another_file(
    write: Callable[..., Any],
) -> None:
    rows = [row(1, person_identifier="123-45-6789"), row(2, person_identifier="----")]
    (error,) = write("POST", "/participant-files", file_of(rows)).body["errors"]
    assert error["field"] == "participants.1.person_identifier"
    assert error["detail"].endswith("(line 2)")
    assert write("POST", "/participant-files", file_of(rows[:1]), key="one").status == 202
    other = file_of([row(1, person_identifier="987-65-4321")])
    assert write("POST", "/participant-files", other, key="one").code == "idempotency_key_reused"


def test_an_invocation_that_may_take_three_rows_hands_back_until_all_are_done(
    write: Callable[..., Any],
    read: Callable[..., Any],
    run_files: Callable[..., int],
    monkeypatch: pytest.MonkeyPatch,
    stack: Any,
) -> None:
    """Chunks of four rows, pages of one, three rows an invocation: 4 + 4 + 2 rows are 2 + 2 + 1 invocations of work."""
    monkeypatch.setenv("CHUNK_ACCOUNTS", "4")
    monkeypatch.setenv("INVOCATION_ACCOUNTS", "3")
    monkeypatch.setattr(worker, "PAGE_ROWS", 1)
    write("POST", "/participant-files", TEN)
    assert run_files() == 1 + 5
    assert read(FILE).body["done"] == 10
    assert first_lines(stack) == 10


@pytest.mark.parametrize("killed_after", [0, 1, 2, 3, 9])
@pytest.mark.parametrize("between", ["before the cursor", "before the row"])
def test_a_worker_killed_anywhere_enrols_each_once_when_sent_again_ru_01(
    *,
    write: Callable[..., Any],
    read: Callable[..., Any],
    run_files: Callable[..., int],
    monkeypatch: pytest.MonkeyPatch,
    stack: Any,
    machine: Machine,
    killed_after: int,
    between: str,
) -> None:
    """https://github.com/sidekiq/sidekiq/pull/6405"""
    monkeypatch.setenv("CHUNK_ACCOUNTS", "3")
    monkeypatch.setattr(worker, "PAGE_ROWS", 1)
    left = [killed_after]
    name, owner = ("advance", Jobs) if between == "before the cursor" else ("enrol", Enrolments)
    real = getattr(owner, name)

    def dying(*args: Any, **kwargs: Any) -> Any:
        if left[0] == 0:
            raise Killed
        left[0] -= 1
        return real(*args, **kwargs)

    write("POST", "/participant-files", TEN)
    with monkeypatch.context() as killing:
        killing.setattr(owner, name, dying)
        with pytest.raises(Killed):
            run_files()
    assert read(FILE).body["status"] == "working"
    machine.waiting.clear()
    write("POST", "/participant-files", TEN)
    run_files()
    seen = read(FILE).body
    assert (seen["status"], seen["done"], seen["errors"]) == ("done", 10, [])
    assert first_lines(stack) == 10


def test_a_newer_execution_fences_the_older(
    write: Callable[..., Any], read: Callable[..., Any], stack: Any, machine: Machine
) -> None:
    write("POST", "/participant-files", TEN)
    write("POST", "/participant-files", TEN)
    older, newer = machine.waiting
    assert (older["number"], newer["number"]) == (1, 2)
    del older["worker"], newer["worker"]
    worker.handler({"op": "begin", **newer}, Context(remaining_ms=800_000))
    assert worker.handler({"op": "begin", **older}, Context(remaining_ms=800_000))["chunks"] == []
    worker.handler({"op": "end", **older}, Context(remaining_ms=800_000))
    worker.handler({"op": "fail", **older}, Context(remaining_ms=800_000))
    assert read(FILE).body["status"] == "working"


def test_a_failed_file_is_started_again_by_sending_it_again(
    write: Callable[..., Any], read: Callable[..., Any], run_files: Callable[..., int], machine: Machine
) -> None:
    write("POST", "/participant-files", TEN)
    failing = machine.waiting.popleft()
    del failing["worker"]
    worker.handler({"op": "fail", **failing, "error": "States.Timeout"}, Context())
    assert read(FILE).body["status"] == "failed"
    write("POST", "/participant-files", TEN)
    run_files()
    assert (read(FILE).body["status"], read(FILE).body["done"]) == ("done", 10)


def test_an_event_of_another_shape_is_refused(machine: Machine) -> None:
    good = {"op": "work", "kind": "participant_file", "period": "F", "attempt": 1, "number": 1, "phase": "work"}
    for event in (good | {"items": []}, good | {"kind": "yield", "chunk": 0}, good, good | {"op": "redrive"}):
        with pytest.raises(ValueError):  # noqa: PT011  pydantic's is a ValueError too
            worker.handler(event, Context())


def test_an_employers_client_sees_and_sends_its_own_only(
    write: Callable[..., Any], read: Callable[..., Any], machine: Machine
) -> None:
    assert write("POST", "/participant-files", TEN, client="employer-002").status == 403
    own = write("POST", "/participant-files", TEN, client="employer-001")
    assert own.body["file_id"] == "E-001_F-1"
    assert read(own.body["place"], client="employer-001").status == 200
    assert read(own.body["place"], client="employer-002").status == 403
    assert read("/participant-files/portal_F-2").status == 404


def test_a_funds_client_sees_and_sends_its_own_only(
    write: Callable[..., Any], read: Callable[..., Any], machine: Machine, stack: Any
) -> None:
    """The fund's client is the ERS's. What a judge is enrolled by is another fund's, in a file as by itself."""
    register(stack.registry, Employer("E-010", "JRS"))
    judge = row(99, fund="JRS", employer_id="E-010")
    del judge["selection"], judge["initial_transfer"]
    judges = file_of([judge], reference="F-9", total="0.00")
    before = stack.registry_items()
    refused = write("POST", "/participant-files", judges, client="fund")
    assert (refused.status, refused.code) == (403, "other_fund")
    assert stack.registry_items() == before
    own = write("POST", "/participant-files", TEN, client="fund")
    assert own.body["file_id"] == "fund-ERS_F-1"
    assert read(own.body["place"], client="fund").status == 200
    taken = write("POST", "/participant-files", judges)
    assert taken.status == 202, taken.text
    assert read(taken.body["place"], client="fund").code == "other_fund"
