"""Nothing that is declared and paid for is left out: each kind of resource has its prices, and its count."""

from typing import Any

from cli.cost.model import Fleet, year
from cli.cost.units import unit
from retiro.registry import roster
from tests.template.conftest import both, functions, resources, source

FREE = "free"
PAID: dict[str, set[str] | str] = {
    "AWS::ApiGateway::Account": FREE,  # a setting
    "AWS::ApiGateway::Deployment": FREE,
    "AWS::ApiGateway::GatewayResponse": FREE,
    "AWS::ApiGateway::RestApi": {"api_requests", "transfer"},
    "AWS::ApiGateway::Stage": {"metrics", "log_ingestion", "traces"},
    "AWS::CloudWatch::Alarm": {"alarms", "metrics"},
    "AWS::Cognito::UserPool": FREE,  # it has no users; its clients are paid for
    "AWS::Cognito::UserPoolClient": {"cognito_clients", "cognito_tokens"},
    "AWS::Cognito::UserPoolDomain": FREE,  # Cognito's own, with a prefix
    "AWS::Cognito::UserPoolResourceServer": FREE,
    "AWS::DynamoDB::Table": {"dynamodb_write", "dynamodb_read", "dynamodb_storage", "dynamodb_backup"},
    "AWS::IAM::ManagedPolicy": FREE,
    "AWS::IAM::Role": FREE,
    "AWS::KMS::Key": {"kms_keys", "kms_requests"},
    "AWS::Lambda::EventSourceMapping": FREE,  # Lambda's reads of a DynamoDB stream are
    "AWS::Lambda::Function": {"lambda_seconds", "lambda_requests"},
    "AWS::Lambda::LayerVersion": FREE,  # within the 75 GB of code that an account has
    "AWS::Lambda::Permission": FREE,
    "AWS::Logs::LogGroup": {"log_ingestion", "log_storage"},
    "AWS::S3::Bucket": {"s3_put", "s3_get", "s3_storage"},
    "AWS::S3::BucketPolicy": FREE,
    "AWS::SNS::Topic": {"topics"},
    "AWS::SQS::Queue": {"queues"},
    "AWS::Scheduler::Schedule": {"scheduler"},
    "AWS::SecretsManager::Secret": {"secrets", "secret_requests"},
    "AWS::StepFunctions::StateMachine": {"state_transitions"},
}

__all__ = ["both", "functions", "resources", "source"]


def of_type(resources: dict[str, Any], name: str) -> list[dict[str, Any]]:
    return [one["Properties"] for one in resources.values() if one["Type"] == name]


def test_every_kind_of_resource_has_its_prices_and_each_is_of_some_line(resources: dict[str, Any]) -> None:
    kinds = {one["Type"] for one in resources.values()}
    assert kinds <= set(PAID)
    lines = {line.price.name for line in year(Fleet.of(1000, 2))}
    wanted = set().union(*(PAID[kind] for kind in kinds if PAID[kind] != FREE))
    assert wanted <= lines


def test_what_is_counted_is_what_is_there(resources: dict[str, Any], functions: dict[str, Any]) -> None:
    clients = of_type(resources, "AWS::Cognito::UserPoolClient")
    assert len(clients) == unit("clients")
    named = [one["ClientName"] for one in clients]
    assert named.count("employer") == unit("employer_clients_in_the_template")
    assert len(of_type(resources, "AWS::KMS::Key")) == unit("keys")
    assert len(of_type(resources, "AWS::SecretsManager::Secret")) == unit("secret_count")
    assert len(of_type(resources, "AWS::CloudWatch::Alarm")) == unit("alarm_count")
    assert len(functions) == unit("functions")
    paths = resources["Api"]["Properties"]["Body"]["paths"]
    assert sum(len(methods) for methods in paths.values()) == unit("routes")


def test_tables_are_on_demand_backed_up_and_under_the_key_as_counted(resources: dict[str, Any]) -> None:
    tables = of_type(resources, "AWS::DynamoDB::Table")
    assert {one["BillingMode"] for one in tables} == {"PAY_PER_REQUEST"}
    with_key = [one for one in tables if "KMSMasterKeyId" in one["SSESpecification"]]
    assert len(with_key) == unit("tables_with_the_key")
    backed_up = [one for one in tables if "PointInTimeRecoverySpecification" in one]
    assert backed_up == with_key  # what expires after a day isn't


def test_functions_have_the_memory_and_the_processor_that_are_paid_for(functions: dict[str, Any]) -> None:
    memory = {one["Handler"]: one["MemorySize"] for one in functions.values()}
    workers = {"semester_yields.worker.handler", "annuities.worker.handler", "payroll_deductions.orders_worker.handler"}
    for handler, size in memory.items():
        assert size == unit("run_worker_mb" if handler in workers else "function_mb"), handler
    assert round(unit("function_mb") / unit("run_worker_mb"), 3) == unit("function_processor")


def test_schedules_metrics_and_logs_are_as_counted(resources: dict[str, Any], source: dict[str, Any]) -> None:
    daily, monthly = 365, 12
    assert len(of_type(resources, "AWS::Scheduler::Schedule")) == 4
    assert 3 * daily + monthly == unit("schedules_a_year")
    own = {one["MetricName"] for one in of_type(resources, "AWS::CloudWatch::Alarm") if one["Namespace"] == "Retiro"}
    assert len(own) <= unit("own_metrics")
    (stage,) = of_type(resources, "AWS::ApiGateway::Stage")
    assert [one["MetricsEnabled"] for one in stage["MethodSettings"]] == [True]
    days = source["Parameters"]["LogRetentionDays"]["Default"]
    assert days / 31 <= unit("log_months") <= days / 30
    assert source["Parameters"]["AuditChunks"]["Default"] == unit("audit_chunks")
    (stream,) = of_type(resources, "AWS::Lambda::EventSourceMapping")
    assert stream["BatchSize"] == unit("guard_batch")
    assert roster.SHARDS == 1024
