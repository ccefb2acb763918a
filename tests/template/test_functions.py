"""The functions, their schedules and their sources of events."""

import importlib
import json
import os
import re
import subprocess
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from retiro.portal.frame import PortalEnvironment
from tests.conftest import ENVIRONMENT, forget_worlds

ROOT = Path(__file__).parent.parent.parent


def test_every_handler_that_the_template_names_is_there(functions):
    assert functions
    for name, function in functions.items():
        module, _, attribute = function["Handler"].rpartition(".")
        assert callable(getattr(importlib.import_module(module), attribute)), name


def test_every_function_starts_with_the_variables_that_it_gets(functions, monkeypatch):
    for name, function in functions.items():
        with monkeypatch.context() as patch:
            for variable in os.environ:
                patch.delenv(variable)
            # Lambda gives every function its role's credentials; the clients that are made here stay for other tests.
            for variable in ("AWS_DEFAULT_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
                patch.setenv(variable, ENVIRONMENT[variable])
            for variable in function["Environment"]["Variables"]:
                patch.setenv(variable, "7")
            forget_worlds()
            module = importlib.import_module(function["Handler"].rpartition(".")[0])
            module.world()
            if name.endswith("Api"):
                PortalEnvironment.read()
    forget_worlds()


def test_every_schedule_has_a_zone_that_exists_and_a_queue_for_what_is_lost(resources):
    schedules = {
        name: one["Properties"] for name, one in resources.items() if one["Type"] == "AWS::Scheduler::Schedule"
    }
    assert len(schedules) == 4
    for schedule in schedules.values():
        assert schedule["ScheduleExpressionTimezone"] == "America/Puerto_Rico"
        assert ZoneInfo(schedule["ScheduleExpressionTimezone"]).key == "America/Puerto_Rico"
        assert schedule["Target"]["DeadLetterConfig"] == {"Arn": {"Fn::GetAtt": ["ScheduleDeadLetters", "Arn"]}}


@pytest.mark.parametrize("parameter", ["YieldSchedule", "AuditSchedule", "PlanSchedule"])
def test_the_schedules_fire_every_day(source, parameter):
    """Puerto Rico has no daylight saving, so no hour of the day is skipped or comes twice."""
    assert re.fullmatch(r"cron\(\d{1,2} \d{1,2} \* \* \? \*\)", source["Parameters"][parameter]["Default"])


def test_the_annuities_are_prepared_once_a_month_on_a_day_that_every_month_has(source):
    schedule = source["Parameters"]["AnnuitySchedule"]["Default"]
    assert 1 <= int(re.fullmatch(r"cron\(\d{1,2} \d{1,2} (\d{1,2}) \* \? \*\)", schedule)[1]) <= 28


def test_what_a_schedule_delivers_and_a_function_fails_each_time_is_kept(resources, functions):
    """Scheduler hands an event over and is done with it: its own queue takes only what it couldn't hand over."""
    scheduled = {
        one["Properties"]["Target"]["Arn"]["Fn::GetAtt"][0]
        for one in resources.values()
        if one["Type"] == "AWS::Scheduler::Schedule"
    }
    assert len(scheduled) == 4
    queue = {"Fn::GetAtt": ["ScheduleDeadLetters", "Arn"]}
    for name in scheduled:
        assert functions[name]["DeadLetterConfig"]["TargetArn"] == queue, name


def test_a_schedule_sends_its_own_time_as_json(resources):
    for one in resources.values():
        if one["Type"] == "AWS::Scheduler::Schedule":
            sent = json.loads(one["Properties"]["Target"]["Input"])
            assert sent == {"scheduled_time": "<aws.scheduler.scheduled-time>"}


def test_the_guard_of_the_stream_reports_single_records_and_loses_none(resources):
    stream = resources["LedgerGuardStreamLedger"]["Properties"]
    assert stream["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert stream["BisectBatchOnFunctionError"] is True
    assert stream["StartingPosition"] == "TRIM_HORIZON"
    assert stream["DestinationConfig"]["OnFailure"]["Destination"] == {"Fn::GetAtt": ["StreamDeadLetters", "Arn"]}


def test_every_alarm_tells_somebody(resources):
    alarms = [one["Properties"] for one in resources.values() if one["Type"] == "AWS::CloudWatch::Alarm"]
    assert alarms
    for alarm in alarms:
        assert alarm["AlarmActions"] == [{"Ref": "Alarms"}]
        assert alarm["AlarmDescription"]


def test_an_execution_that_ends_without_its_run_being_done_is_told(resources):
    """It fails, or is stopped. It never times out: the machine sets itself no time, and Step Functions a year."""
    told = {
        one["Properties"]["MetricName"]
        for one in resources.values()
        if one["Type"] == "AWS::CloudWatch::Alarm"
        and one["Properties"].get("Dimensions") == [{"Name": "StateMachineArn", "Value": {"Ref": "Runs"}}]
    }
    assert told == {"ExecutionsFailed", "ExecutionsAborted"}
    assert "TimeoutSeconds" not in json.loads((ROOT / "functions/run.asl.json").read_text())


def test_production_runs_on_arm_and_the_newest_runtime_that_sam_knows(source):
    assert source["Parameters"]["Architecture"]["Default"] == "arm64"
    asked = "from samcli.local.common.runtime_template import INIT_RUNTIMES; print(*INIT_RUNTIMES)"
    known = subprocess.run([ROOT / ".tools/sam/bin/python", "-c", asked], check=True, capture_output=True, text=True)
    pythons = [name.removeprefix("python") for name in known.stdout.split() if name.startswith("python3.")]
    newest = max(pythons, key=lambda version: tuple(map(int, version.split("."))))
    assert source["Parameters"]["PythonRuntime"]["Default"] == f"python{newest}"


def test_the_layer_carries_the_versions_of_the_lock():
    locked = dict(re.findall(r'^name = "(\S+)"\nversion = "(\S+)"', (ROOT / "uv.lock").read_text(), re.MULTILINE))
    pinned = dict(re.findall(r"^([a-z-]+)==(\S+)$", (ROOT / "shared/requirements.txt").read_text(), re.MULTILINE))
    assert set(pinned) > {"aws-lambda-powertools", "pydantic"}
    assert pinned == {name: locked[name] for name in pinned}
