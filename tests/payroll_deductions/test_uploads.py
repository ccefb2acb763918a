"""A file too large for a body: put in its place, validated by pages, taken whole or refused with all its errors."""

import json
import urllib.parse
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from payroll_deductions import api, crediting, file_store, findings, receiving, returning, uploads, validation, worker
from payroll_deductions.edits import Edit
from payroll_deductions.file_store import FILE_BYTES_MAX, PAGE_ROWS
from payroll_deductions.uploads import (
    Upload,
    UploadStatus,
    begin_validation,
    end_validation,
    put_upload,
    upload_of,
)
from retiro.ledger.passbooks import Passbooks
from retiro.portal import cursor
from retiro.registry.employers import Employer, register
from retiro.registry.jobs import FencedError
from retiro.registry.remittances import installments_of
from retiro.registry.runs import RunId
from retiro.registry.table import ChangedError, Table
from tests.conftest import Context
from tests.payroll_deductions.conftest import enrol
from tests.payroll_deductions.plans_at_work import csv_file, open_plan, order, owed_cents

PLACE = "/payroll-remittances/E-001_2008-10"
ASKED = {"reference": "2008-10", "employer_id": "E-001", "period": "2008-10", "format": "csv", "upload": True}
WANTED = {"scopes": "payroll.remit", "client": "employer-001"}


@pytest.fixture
def put(stack: Any) -> Callable[..., None]:
    """What the employer does with the link, which moto answers only inside."""

    def uploaded(text: str | bytes, remittance_id: str = "E-001_2008-10") -> None:
        body = text.encode() if isinstance(text, str) else text
        stack.s3.put_object(Bucket="retiro-files", Key=f"files/remittances/{remittance_id}/file", Body=body)

    return uploaded


@pytest.fixture
def validate(call: Callable[..., Any], machine: Any) -> Callable[..., Any]:
    """Let the file be validated, and look at it after."""

    def validated(place: str = PLACE, **limits: int) -> Any:
        answer = call(api.handler, "POST", f"{place}/validation", **WANTED)
        assert answer.status == 202, answer.text
        machine.run({"arn:remittances": worker.handler}, **limits)
        return call(api.handler, "GET", place, **WANTED).body

    return validated


def found(call: Callable[..., Any], place: str = PLACE, **query: str) -> Any:
    return call(api.handler, "GET", f"{place}/errors", query=query or None, **WANTED).body


def test_the_place_is_a_signed_link_to_one_object_for_an_hour(remit: Callable[..., Any], stack: Any) -> None:
    before = stack.ledger_items()
    answer = remit(ASKED)
    assert (answer.status, answer.body["status"], answer.body["place"]) == (201, "awaiting_upload", PLACE)
    link = urllib.parse.urlsplit(answer.body["upload"]["url"])
    signed = urllib.parse.parse_qs(link.query)
    assert link.path.endswith("/files/remittances/E-001_2008-10/file")
    assert (signed["X-Amz-Expires"], signed["X-Amz-Algorithm"]) == (["3600"], ["AWS4-HMAC-SHA256"])
    assert answer.body["upload"]["method"] == "PUT"
    assert remit(ASKED).status == 201
    assert remit(ASKED | {"format": "json"}).code == "remittance_reference_used"
    assert remit(ASKED, client="employer-002").code == "other_employer"
    assert stack.ledger_items() == before


def test_a_file_is_validated_whole_and_then_credited_by_pages(
    *,
    remit: Callable[..., Any],
    put: Callable[..., None],
    validate: Callable[..., Any],
    confirm: Callable[..., Any],
    credit: Callable[..., int],
    look: Callable[..., Any],
    call: Callable[..., Any],
    passbooks: Passbooks,
    stack: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Pages of two rows, so that the lines and who is missing lie on several."""
    for module in (file_store, findings, validation):
        monkeypatch.setattr(module, "PAGE_ROWS", 2)
    monkeypatch.setattr(worker, "FILE_PAGE_ROWS", 2)
    for number in (1, 2):
        open_plan(passbooks, f"P-{number:06d}")
    order(stack, "E-001", "2008-10", ("P-000001", 89_23, 0), ("P-000002", 89_23, 0), ("P-000003", 10_00, 0))
    remit(ASKED)
    assert call(api.handler, "POST", f"{PLACE}/validation", **WANTED).code == "nothing_uploaded"
    # 89.23 + 50.00 + 20.00 = 159.23
    put(
        "﻿"
        + csv_file(
            ["P-000001,installment,89.23,,", "P-000002,installment,50.00,,", "P-000003,contribution,20.00,,"], "159.23"
        )
    )
    seen = validate()
    assert (seen["status"], seen["count"], seen["total"], seen["error_count"]) == ("awaiting_deposit", 3, "159.23", 0)
    assert seen["matched"] == {"exact": 1, "missing": 1, "short": 1}
    assert remit(ASKED).code == "remittance_reference_used"
    # 89.23 + 50.00 are installments: the ageing report compares them with the order.
    assert installments_of(passbooks.store, "E-001_2008-10") == 139_23
    assert confirm({"amount": "159.23", "value_date": "2008-11-10"}, place=PLACE).status == 202
    credit()
    seen = look(PLACE).body
    assert (seen["status"], seen["credited"], seen["clearing"]) == ("closed", 3, "0.00")
    assert owed_cents(passbooks, "P-000002") == 5354_30 - 50_00
    assert passbooks.last("P-000003").balances == {"savings": 20_00, "contributions": -20_00}
    lines = call(api.handler, "GET", f"{PLACE}/lines", **WANTED).body["items"]
    assert [(one["line"], one["participant_id"], one["result"]) for one in lines] == [
        (2, "P-000001", "exact"),
        (3, "P-000002", "short"),
        (4, "P-000003", None),
        (0, "P-000003", "missing"),
    ]


def test_a_refused_file_keeps_all_its_errors_and_the_next_version_may_be_right(
    *,
    remit: Callable[..., Any],
    put: Callable[..., None],
    validate: Callable[..., Any],
    call: Callable[..., Any],
    stack: Any,
) -> None:
    lines = [
        "P-000001,contribution,10.00,,José",
        "P-000009,contribution,89.2,,",
        "P-000004,contribution,10.00,,",
        "P-000001,contribution,10.00,,",
    ]
    before = stack.ledger_items()
    remit(ASKED)
    put(csv_file(lines, "40.00", count=5).encode("latin-1"))
    seen = validate()
    assert (seen["status"], seen["error_count"]) == ("refused", 5)
    errors = found(call, limit="4")
    rest = found(call, cursor=errors["next_cursor"])
    assert [(one["line"], one["column"], one["code"]) for one in (*errors["items"], *rest["items"])] == [
        (2, "name", "not_utf8"),
        (3, "participant_id", "unknown_participant"),
        (3, "amount", "amount_form"),
        (4, "participant_id", "other_employers_participant"),
        (6, "count", "control_mismatch"),
    ]
    for place in ("9" * 20, "0." + "9" * 20, "9" * 300 + ".0", "0.٣", "0.-1", "0."):
        faulty = call(api.handler, "GET", f"{PLACE}/errors", query={"cursor": cursor(place)}, **WANTED)
        assert (faulty.status, faulty.code) == (422, "invalid_cursor")
    assert found(call, cursor=cursor("999999999.999999999")) == {"items": [], "next_cursor": None}
    assert stack.ledger_items() == before
    assert validate()["status"] == "refused"
    put(csv_file(["P-000001,contribution,10.00,,José"], "10.00"))
    assert validate()["status"] == "awaiting_deposit"
    versions = stack.s3.list_object_versions(Bucket="retiro-files", Prefix="files/remittances/E-001_2008-10/file")
    assert len(versions["Versions"]) == 2


def test_a_validation_whose_beginning_lost_its_answer_is_begun_and_not_refused(
    stack: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client sends the update again, which finds what the first one has done."""
    upload = Upload(
        "E-001_F-1", "E-001", "F-1", "ERS", "2025-01", "csv", test=False, principal="u-ana via employer-001"
    )
    put_upload(stack.registry, upload)
    real = Table.update

    def sent_twice(table: Table, *values: Any, **more: Any) -> Any:
        real(table, *values, **more)
        return real(table, *values, **more)

    monkeypatch.setattr(Table, "update", sent_twice)
    begun = begin_validation(stack.registry, upload, "3")
    assert (begun.status, begun.version, begun.validation) == ("validating", "3", upload.validation + 1)
    with pytest.raises(ChangedError):
        begin_validation(stack.registry, upload, "4")


def test_a_file_of_one_month_is_never_validated_for_another(
    *,
    remit: Callable[..., Any],
    put: Callable[..., None],
    validate: Callable[..., Any],
    call: Callable[..., Any],
    stack: Any,
) -> None:
    """October's file is refused, and a newer one isn't validated yet, when the reference is asked for November."""
    remit(ASKED)
    put(csv_file(["P-000009,contribution,10.00,,"], "10.00"))
    assert validate()["status"] == "refused"
    enrol(stack, 9)
    put(csv_file(["P-000009,contribution,11.00,,"], "11.00"))
    again = remit(ASKED | {"period": "2008-11"})
    assert (again.status, again.body["status"], again.body["period"]) == (201, "awaiting_upload", "2008-11")
    before = (stack.ledger_items(), stack.registry_items())
    answer = call(api.handler, "POST", f"{PLACE}/validation", **WANTED)
    assert (answer.status, answer.code) == (409, "nothing_uploaded")
    assert (stack.ledger_items(), stack.registry_items()) == before
    put(csv_file(["P-000009,contribution,12.00,,"], "12.00"))
    seen = validate()
    assert (seen["status"], seen["period"], seen["total"]) == ("awaiting_deposit", "2008-11", "12.00")


def test_of_two_requests_at_once_for_one_reference_one_is_told_that_it_is_used(
    remit: Callable[..., Any], look: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both have looked before either wrote: what the second reads is what was there before the first."""
    with monkeypatch.context() as stale:
        stale.setattr(receiving, "upload_of", lambda *_: None)
        assert remit(ASKED).status == 201
        assert remit(ASKED).status == 201
        other = remit(ASKED | {"period": "2008-11"})
        assert (other.status, other.code) == (409, "remittance_reference_used")
    assert look(PLACE).body["period"] == "2008-10"


def test_what_was_asked_for_anew_on_a_stale_look_overwrites_no_validation(
    *,
    remit: Callable[..., Any],
    put: Callable[..., None],
    validate: Callable[..., Any],
    stack: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It read that the file was refused; meanwhile the next version's validation has begun, as number 2."""
    remit(ASKED)
    put("nothing")
    assert validate()["status"] == "refused"
    refused = upload_of(stack.registry, "E-001_2008-10")
    begun = begin_validation(stack.registry, refused, "3")
    monkeypatch.setattr(receiving, "upload_of", lambda *_: refused)
    assert remit(ASKED | {"period": "2008-11"}).code == "remittance_reference_used"
    assert upload_of(stack.registry, "E-001_2008-10") == begun


def test_a_validation_isnt_begun_nor_ended_of_a_file_that_is_to_be_another_months(stack: Any) -> None:
    upload = Upload(
        "E-001_F-1", "E-001", "F-1", "ERS", "2025-01", "csv", test=False, principal="u-ana via employer-001"
    )
    put_upload(stack.registry, upload)
    begun = begin_validation(stack.registry, upload, "1")
    refused = replace(begun, status=UploadStatus.REFUSED, rows=1, faults=1)
    for _ in range(2):
        end_validation(stack.registry, refused)
    asked = replace(upload, period="2025-02", validation=1, version="1")
    assert put_upload(stack.registry, asked, refused) == asked
    with pytest.raises(FencedError):
        end_validation(stack.registry, refused)
    with pytest.raises(ChangedError):
        begin_validation(stack.registry, refused, "2")
    assert upload_of(stack.registry, "E-001_F-1") == asked


def test_an_asking_that_lost_its_answer_is_kept_and_not_refused(stack: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    upload = Upload(
        "E-001_F-1", "E-001", "F-1", "ERS", "2025-01", "csv", test=False, principal="u-ana via employer-001"
    )
    refused = replace(upload, status=UploadStatus.REFUSED, validation=1, version="1", matched={"exact": 1})
    put_upload(stack.registry, refused)
    real = Table.update

    def sent_twice(table: Table, *values: Any, **more: Any) -> Any:
        real(table, *values, **more)
        return real(table, *values, **more)

    monkeypatch.setattr(Table, "update", sent_twice)
    asked = replace(upload, period="2025-02", validation=1, version="1")
    assert put_upload(stack.registry, asked, refused) == asked
    assert upload_of(stack.registry, "E-001_F-1") == asked


def test_a_validation_that_stops_goes_on_where_it_was(
    *,
    remit: Callable[..., Any],
    put: Callable[..., None],
    validate: Callable[..., Any],
    call: Callable[..., Any],
    machine: Any,
) -> None:
    remit(ASKED)
    put(csv_file(["P-000001,contribution,10.00,,"], "10.00"))
    call(api.handler, "POST", f"{PLACE}/validation", **WANTED)
    machine.waiting.clear()
    # Sent again it is started again, under the next number; what the first one would still do is fenced.
    assert validate()["status"] == "awaiting_deposit"
    assert machine.names == ["remittance_file-E-001_2008-10.1-0001-0001", "remittance_file-E-001_2008-10.1-0001-0002"]


def test_an_execution_that_was_overtaken_ends_in_peace_and_finishes_nothing(
    *, remit: Callable[..., Any], put: Callable[..., None], call: Callable[..., Any], look: Callable[..., Any]
) -> None:
    """Its chunks are answered as done where they were fenced off, and their pages aren't there."""
    remit(ASKED)
    put(csv_file(["P-000001,contribution,10.00,,"], "10.00"))
    for _ in range(2):
        call(api.handler, "POST", f"{PLACE}/validation", **WANTED)
    asked = {"kind": "remittance_file", "period": "E-001_2008-10.1", "attempt": 1, "phase": "work"}
    answers = [worker.handler({**asked, "op": op, "number": 1}, Context()) for op in ("begin", "end")]
    assert answers == [{"chunks": [], "done": True, "next": None, "wait": False}] * 2
    assert look(PLACE).body["status"] == "validating"
    # So does one that is about a version before the newest.
    gone = {**asked, "period": "E-001_2008-10.0", "op": "begin", "number": 1}
    assert worker.handler(gone, Context()) == answers[0]


def test_a_file_is_tested_and_nothing_is_remitted(
    *,
    remit: Callable[..., Any],
    put: Callable[..., None],
    validate: Callable[..., Any],
    call: Callable[..., Any],
    stack: Any,
) -> None:
    order(stack, "E-001", "2008-10", ("P-000001", 10_00, 0))
    before = stack.ledger_items()
    place = f"{PLACE}.test"
    assert remit(ASKED | {"test": True}).body["place"] == place
    put(csv_file(["P-000001,installment,11.00,,"], "11.00"), "E-001_2008-10.test")
    seen = validate(place)
    assert (seen["status"], seen["matched"]) == ("tested", {"over": 1})
    (line,) = call(api.handler, "GET", f"{place}/lines", **WANTED).body["items"]
    assert (line["result"], line["ordered"]) == ("over", "10.00")
    assert stack.ledger_items() == before
    assert call(api.handler, "GET", PLACE, **WANTED).status == 404


@pytest.mark.parametrize(("test", "status"), [(False, "awaiting_deposit"), (True, "tested")])
def test_the_longest_reference_is_validated_under_a_name_that_step_functions_takes(
    *,
    remit: Callable[..., Any],
    put: Callable[..., None],
    call: Callable[..., Any],
    machine: Any,
    stack: Any,
    test: bool,
    status: str,
) -> None:
    """Eighty characters: `remittance_file` 15, the employer 8, the reference 40, `.t1` 3, and 1 + 1 + 10 around: 78."""
    register(stack.registry, Employer("E-123456", "ERS"))
    enrol(stack, 7, "E-123456")
    reference = f"{'R' * 36}2025"
    remittance_id = f"E-123456_{reference}{'.test' if test else ''}"
    wanted = WANTED | {"client": "portal"}
    asked = {"employer_id": "E-123456", "reference": reference, "period": "2025-01", "test": test}
    assert remit(ASKED | asked, client="portal").status == 201
    put(csv_file(["P-000007,contribution,10.00,,"], "10.00"), remittance_id)
    place = f"/payroll-remittances/{remittance_id}"
    assert call(api.handler, "POST", f"{place}/validation", **wanted).status == 202
    machine.run({"arn:remittances": worker.handler})
    assert call(api.handler, "GET", place, **wanted).body["status"] == status
    assert [len(name) for name in machine.names] == [78 if test else 77]


@pytest.mark.parametrize("kind", [uploads.KIND, crediting.KIND, returning.KIND])
def test_no_execution_of_a_remittance_has_too_long_a_name(kind: str) -> None:
    """The 999th validation of the longest reference, and the 9,999th attempt at it."""
    reference = "R" * 40
    for suffix in ("", uploads.TEST_SUFFIX):
        remittance_id = f"E-123456_{reference}{suffix}"
        test = bool(suffix)
        upload = Upload(remittance_id, "E-123456", reference, "ERS", "2025-01", "csv", test, "u-ana", validation=999)
        job_id = upload.job_id if kind == uploads.KIND else f"E-123456_{reference}"
        assert len(RunId(kind, job_id, 1).execution_name(9_999)) <= 80


def test_json_is_uploaded_too_and_what_is_too_large_is_an_error(
    *,
    remit: Callable[..., Any],
    put: Callable[..., None],
    validate: Callable[..., Any],
    call: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    remit(ASKED | {"format": "json"})
    file = {
        "control": {"count": 1, "total": "10.00"},
        "lines": [{"participant_id": "P-000001", "kind": "contribution", "amount": 10.00}],
    }
    put(json.dumps(file))
    assert validate()["status"] == "refused"
    assert [one["code"] for one in found(call)["items"]] == [Edit.AMOUNT_FORM]
    put(json.dumps(file).replace("10.0}", '"10.00"}'))
    monkeypatch.setattr("payroll_deductions.validation.FILE_BYTES_MAX", 10)
    assert validate()["status"] == "refused"
    assert [one["code"] for one in found(call)["items"]] == [Edit.FILE_TOO_LARGE]


def test_what_the_machine_and_the_gateway_carry_stays_under_their_limits(machine: Any) -> None:
    """256 KB for a state's output, 6 MB for a function's answer: the local cloud takes more than AWS does."""
    chunks = list(range(-(-200_000 // worker.FILE_CHUNK_ROWS)))
    assert len(json.dumps({"chunks": chunks})) < 256_000
    # A page of an answer has 200 lines; the largest has a name of 100 characters of four bytes, and every amount.
    line = {"line": 200_001, "participant_id": "P-000000001", "kind": "contribution", "name": "😀" * 100}
    amounts = dict.fromkeys(("amount", "salary", "ordered", "expected"), "999999999999999.99")
    largest = json.dumps(line | amounts | {"result": "unknown", "flag": "outside_statutory_rate"})
    assert 200 * len(largest) < 6_000_000
    assert FILE_BYTES_MAX > 200_000 * 200
    assert worker.FILE_CHUNK_ROWS % PAGE_ROWS == 0


def test_a_job_of_another_kind_isnt_worked(machine: Any) -> None:
    event = {"op": "begin", "kind": "yield", "period": "x", "attempt": 1, "number": 1, "phase": "work"}
    with pytest.raises(ValueError, match="a job of kind yield"):
        worker.handler(event, Context())
