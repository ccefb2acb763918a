"""The audit over the roster: what it counts, what it finds, and that it counts it once."""

import json
import runpy
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from cli import stacks
from cli.main import main
from ledger_guard import worker
from ledger_guard.audit import SETTLED
from retiro.ledger import savings, seal
from retiro.ledger.evidence import Evidence
from retiro.ledger.evidence import to_item as evidence_item
from retiro.ledger.savings import Origin
from retiro.ledger.store import LedgerStore
from retiro.registry import roster
from tests.conftest import ENVIRONMENT, Context
from tests.ledger.makers import account_of_readings, day, grown
from tests.ledger_guard.conftest import ASKED, brought

TABLE = ENVIRONMENT["LEDGER_TABLE"]
SCRIPT = Path(__file__).parents[2] / "docs" / "verify_proof.py"
OUTPUTS = {"LedgerTable": "LEDGER_TABLE", "RegistryTable": "REGISTRY_TABLE", "FilesBucket": "FILES_BUCKET"}
TEN = [f"P-{number:06d}" for number in range(1, 11)]


@pytest.fixture
def ten(keep):
    """Ten passbooks of two lines each, 10,000.00 in each."""
    for passbook in TEN:
        keep(brought(passbook))


@pytest.fixture
def retiro(guard, monkeypatch):
    """`retiro prove` on this stack."""
    clients = {"dynamodb": guard.dynamodb, "s3": guard.s3}
    outputs = {name: ENVIRONMENT[variable] for name, variable in OUTPUTS.items()}
    monkeypatch.setattr(stacks, "Stack", lambda *_, **__: SimpleNamespace(client=clients.get, outputs=outputs))
    return lambda *arguments: CliRunner().invoke(main, ["prove", "--stack", "retiro", *arguments])


def key(passbook: str, sequence: int):
    return {"pk": {"S": f"passbook#{passbook}"}, "sk": {"S": f"{sequence:08d}"}}


def test_a_sound_ledger_is_clean_and_every_passbook_is_counted_once(ten, run_audit):
    answer = run_audit()
    assert answer["status"] == "clean"
    assert (answer["passbooks"], answer["lines"], answer["findings"]) == (10, 20, 0)
    # Ten times 10,000.00 brought: savings against transfers, and nothing else.
    assert answer["trial_balance"]["totals_cents"] == {"ERS": {"savings": 10_000_000, "transfers": -10_000_000}}


def test_a_clean_audit_seals_the_head_of_every_passbook_once(ten, guard, run_audit):
    """LE-11: the count is sealed, and the list of heads is what gives the seal."""
    answer = run_audit()
    evidence = LedgerStore(guard.dynamodb, TABLE).get_evidence("seal", "2025-07-10").body
    listed = guard.s3.get_object(Bucket=ENVIRONMENT["FILES_BUCKET"], Key=evidence["heads"])["Body"].read().decode()
    heads = listed.splitlines()
    assert sorted(heads) == sorted(seal.head(brought(passbook)[-1]) for passbook in TEN)
    assert evidence["count"] == 10
    assert evidence["seal"] == answer["seal"] == seal.seal(heads).hash.hex()


def test_an_audit_that_finds_anything_seals_nothing(ten, guard, run_audit):
    guard.dynamodb.delete_item(TableName=TABLE, Key=key("P-000007", 2))
    assert "seal" not in run_audit()
    assert LedgerStore(guard.dynamodb, TABLE).get_evidence("seal", "2025-07-10") is None


def test_a_passbooks_head_is_proven_under_the_latest_seal_by_the_script_of_the_docs(ten, guard, run_audit, retiro):
    answer = run_audit()
    proof = json.loads(retiro("P-000003").stdout)
    head = seal.head(brought("P-000003")[-1])
    assert (proof["audit"], proof["head"], proof["seal"]) == ("2025-07-10", head, answer["seal"])
    path = [bytes.fromhex(one) for one in proof["path"]]
    seal_of = runpy.run_path(str(SCRIPT))["seal_of"]
    assert seal_of(proof["head"].encode(), proof["index"], proof["count"], path).hex() == answer["seal"]


def test_nothing_is_proven_without_a_seal_or_of_a_passbook_that_was_not_there(ten, run_audit, retiro):
    assert "no audit has sealed this ledger yet" in retiro("P-000003").output
    run_audit()
    assert "P-000099 had no line" in retiro("P-000099").output
    assert "no audit of 2025-07-09 has sealed anything" in retiro("P-000003", "--audit", "2025-07-09").output


def test_a_list_of_heads_that_was_changed_proves_nothing(ten, guard, run_audit, retiro):
    run_audit()
    stored = LedgerStore(guard.dynamodb, TABLE).get_evidence("seal", "2025-07-10").body["heads"]
    guard.s3.put_object(Bucket=ENVIRONMENT["FILES_BUCKET"], Key=stored, Body=b"P-000003 2 00")
    answer = retiro("P-000003")
    assert answer.exit_code == 1
    assert "isn't what was sealed" in answer.output


def test_a_worker_hands_back_after_its_accounts_and_goes_on_where_it_stopped(ten, run_audit):
    by_chunk = [sum(roster.shard_of(one) * 4 // roster.SHARDS == chunk for one in TEN) for chunk in range(4)]
    assert max(by_chunk) > 2, "a chunk has to have more than an invocation takes"
    assert run_audit()["invocations"] > 4


def test_an_empty_roster_is_clean(run_audit):
    answer = run_audit()
    assert (answer["status"], answer["passbooks"], answer["lines"]) == ("clean", 0, 0)


def test_a_changed_amount_is_named_with_its_line(ten, guard, run_audit):
    item = guard.dynamodb.get_item(TableName=TABLE, Key=key("P-000004", 2))["Item"]
    item["postings"]["L"][0]["M"]["cents"]["N"] = "1000001"
    guard.dynamodb.put_item(TableName=TABLE, Item=item)
    answer = run_audit()
    assert answer["status"] == "findings"
    assert [(one["passbook"], one["sequence"], one["code"]) for one in answer["named"]] == [("P-000004", 2, "changed")]


def test_evidence_that_is_gone_or_changed_is_a_finding_of_the_line_that_rests_on_it(keep, guard, run_audit):
    store = LedgerStore(guard.dynamodb, TABLE)
    store.put_evidence(Evidence("enrolment", "P-000001", {"by": "u-ana"}))
    kept = {one: Origin("u-ana", f"enrolment/{one}") for one in ("P-000001", "P-000002", "P-000003")}
    for passbook, origin in kept.items():
        keep(grown([savings.enrolment(None, day("2025-01-01"), {"fixed_income": 100}, origin)], passbook=passbook))
    altered = evidence_item(Evidence("enrolment", "P-000003", {"by": "u-ana"})) | {"body": {"S": '{"by":"u-eva"}'}}
    guard.dynamodb.put_item(TableName=TABLE, Item=altered)
    named = sorted((one["passbook"], one["sequence"], one["code"], one["detail"]) for one in run_audit()["named"])
    assert named == [
        ("P-000002", 1, "evidence", "enrolment/P-000002 isn't there"),
        ("P-000003", 1, "evidence", "evidence enrolment P-000003 was changed"),
    ]


def test_a_missing_last_line_is_named_by_the_streams_witness(ten, guard, run_audit):
    guard.dynamodb.delete_item(TableName=TABLE, Key=key("P-000007", 2))
    answer = run_audit()
    named = [(one["passbook"], one["sequence"], one["code"]) for one in answer["named"]]
    assert named == [("P-000007", 2, "missing_last_line")]
    assert answer["lines"] == 19


def test_a_passbook_of_which_nothing_is_left_is_named(ten, guard, run_audit):
    for sequence in (1, 2):
        guard.dynamodb.delete_item(TableName=TABLE, Key=key("P-000002", sequence))
    answer = run_audit()
    assert {one["passbook"] for one in answer["named"]} == {"P-000002"}
    assert answer["findings"] == 2


def test_contributions_that_nobody_passed_on_are_a_finding_of_the_fund(keep, run_audit, clock):
    keep(account_of_readings())
    clock.now += SETTLED
    answer = run_audit()
    # Six contributions of 200.00 were credited, and no employer's passbook has the other half.
    assert [(one["passbook"], one["code"], one["detail"]) for one in answer["named"]] == [
        ("ERS", "contributions", "out by -1200.00")
    ]


def test_what_is_credited_while_an_audit_reads_is_for_the_next_one(keep, run_audit, clock):
    """Its other half may be in a passbook that was read before."""
    keep(account_of_readings())
    clock.now += SETTLED - timedelta(seconds=1)
    assert run_audit()["status"] == "clean"


def test_a_changed_entry_of_the_boards_book_is_a_finding(ten, guard, run_audit):
    entry = {"pk": {"S": "board#ERS"}, "sk": {"S": "00000001"}, "kind": {"S": "setting"}, "hash": {"B": bytes(32)}}
    guard.dynamodb.put_item(TableName=TABLE, Item=entry)
    answer = run_audit()
    assert answer["status"] == "findings"
    assert {(one["passbook"], one["sequence"]) for one in answer["named"]} == {("board#ERS", 1)}


def test_a_page_worked_by_two_workers_counts_once(ten, guard, run_audit):
    context = Context(remaining_ms=900_000)
    worker.handler({"op": "begin", **ASKED}, context)
    auditor = worker.world()
    before = guard.registry.get("run#audit#2025-07-10#0001", "chunk#0000")
    assert auditor._work_page(before) > 0
    assert auditor._work_page(before) == 0
    assert run_audit()["passbooks"] == 10


def test_beginning_again_keeps_what_was_found(ten, guard, run_audit):
    answered = run_audit()
    again = run_audit()
    assert again["invocations"] == 4
    assert {name: again[name] for name in again if name != "invocations"} == {
        name: answered[name] for name in answered if name != "invocations"
    }


def test_an_audit_that_was_given_up_has_no_answer(guard, event):
    worker.handler(event("audit_begins"), Context())
    worker.handler(event("audit_fails"), Context())
    assert guard.registry.get("run#audit#2025-07-10", "attempt#0001")["status"] == "failed"


def test_an_audit_that_was_given_up_before_it_began_has_failed_too(guard, event):
    """Its execution died before its first write: whoever waits for the answer would wait for ever."""
    worker.handler(event("audit_fails"), Context())
    assert guard.registry.get("run#audit#2025-07-10", "attempt#0001")["status"] == "failed"


def test_an_audit_that_has_its_answer_is_not_failed_any_more(ten, guard, run_audit, event):
    """The end was answered, and its answer lost: the execution gives up on what is done."""
    assert run_audit()["status"] == "clean"
    worker.handler(event("audit_fails"), Context())
    assert guard.registry.get("run#audit#2025-07-10", "attempt#0001")["status"] == "clean"


def test_an_event_of_another_kind_is_refused(guard, event):
    with pytest.raises(ValueError, match="a job of kind yield"):
        worker.handler(event("audit_begins") | {"kind": "yield"}, Context())


def test_recorded_events_of_the_state_machine_are_answered(ten, event):
    assert worker.handler(event("audit_begins"), Context()) == {"chunks": [0, 1, 2, 3]}
    assert worker.handler(event("audit_chunk"), Context(remaining_ms=900_000))["done"] in {True, False}
    assert worker.handler(event("audit_ends"), Context()) == {"next": None, "wait": False}


def test_a_worker_without_time_hands_back_at_once(ten, event):
    worker.handler(event("audit_begins"), Context())
    assert worker.handler(event("audit_chunk"), Context(remaining_ms=29_999)) == {"done": False}
