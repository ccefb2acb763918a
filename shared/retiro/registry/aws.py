"""The AWS clients of an execution environment: made when first asked for, once each, and shared.

No module makes a client at import. botocore's own retries are few and quick, since a caller waits; what must not be
lost is kept safe by conditions and keys in the tables, never by a retry.
"""

from functools import cache
from typing import TYPE_CHECKING

import boto3
from botocore.config import Config

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_lambda import LambdaClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_stepfunctions import SFNClient

_CONFIG = Config(connect_timeout=3, read_timeout=10, retries={"mode": "standard", "max_attempts": 4})
DYNAMODB_CONFIG = _CONFIG.merge(Config(parameter_validation=False))
"""Without botocore's look at each value of an item, a fifth of what a put computes: `encoding` and `registry.table`
make the attributes, of types that they check, and DynamoDB checks them again."""


@cache
def dynamodb() -> "DynamoDBClient":
    return boto3.client("dynamodb", config=DYNAMODB_CONFIG)


@cache
def s3() -> "S3Client":
    # Version 4, since a link to a bucket whose objects are encrypted by a key of KMS needs it.
    return boto3.client("s3", config=_CONFIG.merge(Config(signature_version="s3v4")))


@cache
def stepfunctions() -> "SFNClient":
    return boto3.client("stepfunctions", config=_CONFIG)


@cache
def lambda_functions() -> "LambdaClient":
    return boto3.client("lambda", config=_CONFIG)
