"""What the definition of the state machine must hold on to, beside what the runs in process show."""

import json

from retiro.registry import roster
from retiro.registry.runs import Phase, RunId
from retiro.runs.start import start_execution
from tests.runs.conftest import Executions
from tests.runs.states_language import DEFINITION

CHUNKS = DEFINITION["States"]["Chunks"]
TASKS = [DEFINITION["States"][name] for name in ("Begin", "End", "Fail")] + [CHUNKS["ItemProcessor"]["States"]["Work"]]


def test_the_map_is_distributed_over_an_items_path_and_hands_nothing_back() -> None:
    """The local cloud ignores ItemBatcher, ResultWriter and JSONata Items without a word."""
    assert CHUNKS["ItemProcessor"]["ProcessorConfig"] == {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}
    assert CHUNKS["ItemsPath"] == "$.begun.chunks"
    assert CHUNKS["MaxConcurrency"] == 64
    assert CHUNKS["ResultPath"] is None
    assert not {"ItemBatcher", "ResultWriter", "ItemReader", "Items"} & CHUNKS.keys()
    assert DEFINITION["QueryLanguage"] == "JSONPath"


def test_every_task_is_tried_again_when_lambda_fails_with_a_bound_and_jitter() -> None:
    for task in TASKS:
        (retry,) = task["Retry"]
        assert retry["MaxAttempts"] == 6
        assert retry["JitterStrategy"] == "FULL"
        assert "States.ALL" in retry["ErrorEquals"] or "Lambda.TooManyRequestsException" in retry["ErrorEquals"]


def test_whatever_fails_is_told_to_the_run_and_ends_the_execution_as_failed() -> None:
    for name in ("Begin", "Chunks", "End"):
        assert DEFINITION["States"][name]["Catch"] == [
            {"ErrorEquals": ["States.ALL"], "ResultPath": "$.error", "Next": "Fail"}
        ]
    assert DEFINITION["States"]["Fail"]["Next"] == "Failed"
    assert DEFINITION["States"]["Failed"]["Type"] == "Fail"


def test_an_execution_is_named_by_kind_period_attempt_and_number_and_started_once() -> None:
    executions = Executions()
    for _ in range(2):
        start_execution(
            executions,  # type: ignore[arg-type]
            state_machine_arn="arn:machine",
            worker_arn="arn:worker",
            run=RunId("yield_reversal", "FY2025-S2", 12),
            number=3,
            phase=Phase.POST,
        )
    assert executions.names == ["yield_reversal-FY2025-S2-0012-0003"]
    assert executions.waiting == [
        {
            "worker": "arn:worker",
            "kind": "yield_reversal",
            "period": "FY2025-S2",
            "attempt": 12,
            "number": 3,
            "phase": "post",
        }
    ]
    assert len(executions.names[0]) <= 80  # what Step Functions takes


def test_the_most_chunks_that_there_can_be_stay_far_below_what_a_state_may_hand_on() -> None:
    """A state's output is at most 256 KB on AWS; the local cloud lets more through. There are 1,024 shards."""
    assert len(json.dumps({"chunks": list(range(1024))})) < 262_144 / 10


def test_what_begin_answers_at_the_worst_is_far_below_a_states_256_kilobytes() -> None:
    """The local cloud takes more than AWS: a chunk is a range of shards at least, so there are no more than shards."""
    assert len(json.dumps({"chunks": list(range(roster.SHARDS))})) < 256 * 1024 // 10
