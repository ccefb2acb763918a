"""How a built function is laid, and what is seen of its start, on a function of three lines. Nothing is timed."""

import compileall
import py_compile
import zipfile
from pathlib import Path

import pytest

from bench import cold_start
from bench.cold_start import EVENTS, Artifact, answering, handlers, lay, start

ROOT = Path(__file__).parents[2]
TEMPLATE = """
Resources:
  DataKey:
    Type: AWS::KMS::Key
  OneApi:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: OneApi
      Handler: one.api.handler
  OneWorker:
    Type: AWS::Serverless::Function
    Metadata:
      SamResourceId: OneWorker
    Properties:
      Handler: one.worker.handler
"""
CODE = """
import boto3
def handler(event, context):
    boto3.client("dynamodb").get_item(TableName="t", Key={"pk": {"S": "run#a#b"}, "sk": {"S": "other"}})
    return event["httpMethod"]
"""
MODES = {
    "unchecked": py_compile.PycInvalidationMode.UNCHECKED_HASH,
    "by time": py_compile.PycInvalidationMode.TIMESTAMP,
}


def test_the_functions_of_a_built_template_are_found_with_their_handlers():
    assert handlers(TEMPLATE) == {"OneApi": "one.api.handler", "OneWorker": "one.worker.handler"}


def test_every_function_of_the_template_has_a_first_event():
    assert set(handlers((ROOT / "template.yaml").read_text("utf-8"))) == set(EVENTS)
    assert all((ROOT / "events" / f"{event}.json").is_file() for event in EVENTS.values())


@pytest.mark.parametrize(("mode", "compiled"), [("unchecked", 0), ("by time", 1)])
def test_bytecode_that_is_checked_by_times_is_compiled_at_each_start_and_the_other_is_not(
    mode, compiled, tmp_path, monkeypatch
):
    built = tmp_path / "built"
    built.mkdir()
    (built / "one.py").write_text(CODE)
    compileall.compile_dir(built, quiet=1, invalidation_mode=MODES[mode])
    monkeypatch.setitem(cold_start.EVENTS, "One", "semester_yields/read")
    variables = {"AWS_DEFAULT_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x"}
    layer = tmp_path / "layer"
    artifact = Artifact("One", "one", variables, lay(built, tmp_path / "laid"), layer)
    with answering() as endpoint:
        started = start(artifact, endpoint, "record")
    assert (started.answer, started.compiled) == ('"GET"', compiled)
    assert (started.clients, [call[:2] for call in started.calls]) == (["dynamodb"], [["dynamodb", "GetItem"]])
    assert "boto3" in started.libraries
    assert "one" not in started.libraries


def test_a_laid_zip_has_times_of_1980_and_is_not_written_to(tmp_path):
    (tmp_path / "built" / "one").mkdir(parents=True)
    (tmp_path / "built" / "one" / "api.py").write_text("handler = None\n")
    laid = lay(tmp_path / "built", tmp_path / "laid")
    file = laid / "one" / "api.py"
    assert file.read_text() == "handler = None\n"
    assert file.stat().st_mtime == 315_532_800
    assert file.stat().st_mode & 0o222 == 0
    with zipfile.ZipFile(tmp_path / "laid.zip") as zipped:
        assert [one.date_time for one in zipped.infolist()] == [(1980, 1, 1, 0, 0, 0)]
