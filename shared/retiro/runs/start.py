"""Starting the state machine of a run."""

import json
from typing import TYPE_CHECKING

from retiro.registry.runs import Phase, RunId

if TYPE_CHECKING:
    from mypy_boto3_stepfunctions import SFNClient


def start_execution(  # noqa: PLR0913  # the input of the machine, by name
    stepfunctions: "SFNClient",
    *,
    state_machine_arn: str,
    worker_arn: str,
    run: RunId,
    number: int,
    phase: str = Phase.PREPARE,
) -> None:
    """Start the execution of a run that has this number, or leave the one that is there.

    The name is kind-period-attempt-number: one already there with this name is this one, and is success.
    """
    machine_input = {
        "worker": worker_arn,
        "kind": run.kind,
        "period": run.period,
        "attempt": run.attempt,
        "number": number,
        "phase": phase,
    }
    try:
        stepfunctions.start_execution(
            stateMachineArn=state_machine_arn, name=run.execution_name(number), input=json.dumps(machine_input)
        )
    except stepfunctions.exceptions.ExecutionAlreadyExists:
        return
