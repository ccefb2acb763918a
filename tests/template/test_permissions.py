"""What each role may do. No emulator evaluates this, so it is read off the template."""

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any

import pytest

CHANGES_OF_THE_LEDGER = (
    "dynamodb:UpdateItem",
    "dynamodb:DeleteItem",
    "dynamodb:BatchWriteItem",
    "dynamodb:PartiQLUpdate",
    "dynamodb:PartiQLDelete",
    "dynamodb:PartiQLInsert",
    "dynamodb:DeleteTable",
    "dynamodb:UpdateTable",
    "dynamodb:PutResourcePolicy",
    "dynamodb:DeleteResourcePolicy",
)
LEDGER = {"Fn::GetAtt": ["LedgerTable", "Arn"]}
READERS_ALONE = {"AnnuitiesScheduleRole", "SemesterYieldsScheduleRole"}


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def statements_of(role: dict[str, Any], resources: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every statement of a role: its own, and those of the stack's managed policies that it names."""
    for policy in role.get("Policies", []):
        yield from listed(policy["PolicyDocument"]["Statement"])
    for policy in role.get("ManagedPolicyArns", []):
        if isinstance(policy, dict) and "Ref" in policy:
            yield from listed(resources[policy["Ref"]]["Properties"]["PolicyDocument"]["Statement"])


def allowed(statement: dict[str, Any], action: str) -> bool:
    return statement["Effect"] == "Allow" and any(
        fnmatchcase(action.lower(), pattern.lower()) for pattern in listed(statement["Action"])
    )


@pytest.fixture(scope="module")
def roles(resources):
    found = {name: one["Properties"] for name, one in resources.items() if one["Type"] == "AWS::IAM::Role"}
    return {name: list(statements_of(role, resources)) for name, role in found.items()}


@pytest.mark.parametrize("action", CHANGES_OF_THE_LEDGER)
def test_no_role_may_change_the_ledger(roles, action):
    for name, statements in roles.items():
        for statement in statements:
            if allowed(statement, action):
                assert LEDGER not in listed(statement["Resource"]), name
                assert "*" not in listed(statement["Resource"]), name


def test_who_only_reads_the_ledger_may_not_insert(roles):
    for name in READERS_ALONE:
        for statement in roles[name]:
            if allowed(statement, "dynamodb:PutItem"):
                assert LEDGER not in listed(statement["Resource"]), name


def test_the_audit_may_insert_its_seals_and_nothing_else_into_what_it_audits(roles):
    puts = [one for one in roles["LedgerGuardWorkerRole"] if allowed(one, "dynamodb:PutItem")]
    (into_ledger,) = [one for one in puts if LEDGER in listed(one["Resource"])]
    assert listed(into_ledger["Action"]) == ["dynamodb:PutItem"]
    assert into_ledger["Condition"] == {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["evidence#seal#*"]}}


def test_the_guard_of_the_stream_reads_no_passbook(roles):
    for statement in roles["LedgerGuardStreamRole"]:
        if LEDGER in listed(statement["Resource"]):
            pytest.fail(f"{statement}")


def test_every_function_has_a_role_of_its_own(functions):
    roles = [one["Role"]["Fn::GetAtt"][0] for one in functions.values()]
    assert len(set(roles)) == len(functions)


def test_no_statement_allows_a_whole_service_or_every_resource_of_one(roles):
    with_no_resource = {"logs:", "xray:"}
    for name, statements in roles.items():
        for statement in statements:
            assert statement["Effect"] == "Allow", name
            for action in listed(statement["Action"]):
                assert not action.endswith("*"), (name, action)
                if "*" in listed(statement["Resource"]):
                    assert any(action.startswith(prefix) for prefix in with_no_resource), (name, action)


def test_the_state_machine_may_start_watch_and_stop_its_own_map(roles):
    machine = "arn:${AWS::Partition}:states:${AWS::Region}:${AWS::AccountId}:stateMachine:${AWS::StackName}-runs"
    children = "arn:${AWS::Partition}:states:${AWS::Region}:${AWS::AccountId}:execution:${AWS::StackName}-runs/*"
    states = [one for one in roles["RunsRole"] if any("states:" in action for action in listed(one["Action"]))]
    assert states == [
        {"Effect": "Allow", "Action": "states:StartExecution", "Resource": {"Fn::Sub": machine}},
        {
            "Effect": "Allow",
            "Action": ["states:DescribeExecution", "states:StopExecution"],
            "Resource": {"Fn::Sub": children},
        },
    ]


def test_the_state_machine_may_call_the_workers_and_no_other_function(roles, functions):
    workers = [{"Fn::GetAtt": [name, "Arn"]} for name in functions if name.endswith("Worker")]
    (calls,) = [one for one in roles["RunsRole"] if "lambda:InvokeFunction" in listed(one["Action"])]
    assert sorted(calls["Resource"], key=str) == sorted(workers, key=str)


def test_only_the_deployer_may_change_the_ledger_table_or_its_policy(resources):
    (statement,) = resources["LedgerTable"]["Properties"]["ResourcePolicy"]["PolicyDocument"]["Statement"]
    assert statement["Effect"] == "Deny"
    assert statement["Principal"] == "*"
    assert statement["Condition"] == {"ArnNotEquals": {"aws:PrincipalArn": {"Ref": "DeployerArn"}}}
    assert set(statement["Action"]) >= {
        "dynamodb:UpdateItem",
        "dynamodb:DeleteItem",
        "dynamodb:BatchWriteItem",
        "dynamodb:PartiQLUpdate",
        "dynamodb:PartiQLDelete",
        "dynamodb:PutResourcePolicy",
        "dynamodb:DeleteResourcePolicy",
    }


def test_the_ledger_can_be_recovered_and_not_be_dropped(resources):
    ledger = resources["LedgerTable"]
    assert ledger["DeletionPolicy"] == ledger["UpdateReplacePolicy"] == "Retain"
    properties = ledger["Properties"]
    assert properties["DeletionProtectionEnabled"] is True
    assert properties["PointInTimeRecoverySpecification"]["PointInTimeRecoveryEnabled"] is True
    assert properties["SSESpecification"]["KMSMasterKeyId"] == {"Fn::GetAtt": ["DataKey", "Arn"]}
    assert properties["StreamSpecification"] == {"StreamViewType": "NEW_AND_OLD_IMAGES"}


def test_the_files_are_versioned_encrypted_and_private(resources):
    bucket = resources["FilesBucket"]["Properties"]
    assert bucket["VersioningConfiguration"] == {"Status": "Enabled"}
    (rule,) = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert rule["ServerSideEncryptionByDefault"]["SSEAlgorithm"] == "aws:kms"
    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
