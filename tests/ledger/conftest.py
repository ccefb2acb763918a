"""A ledger's table on moto, and passbooks whose clock stands still and whose retries never sleep."""

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto import mock_aws

from retiro.ledger.passbooks import Passbooks
from retiro.ledger.retries import Retries
from retiro.ledger.store import LedgerStore
from tests.ledger.makers import NOW, TABLE


@pytest.fixture(scope="session")
def session() -> boto3.Session:
    """One for all tests: it keeps the service's model, which takes longer to read than a test to run."""
    return boto3.Session(region_name="us-east-1", aws_access_key_id="testing", aws_secret_access_key="testing")


@pytest.fixture
def client(session: boto3.Session) -> Iterator[Any]:
    with mock_aws():
        client = session.client("dynamodb")
        client.create_table(
            TableName=TABLE,
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[{"AttributeName": key, "AttributeType": "S"} for key in ("pk", "sk")],
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
        )
        yield client


@pytest.fixture
def pauses() -> list[float]:
    """How long each retry would have waited, in seconds."""
    return []


@pytest.fixture
def store(client: Any, pauses: list[float]) -> LedgerStore:
    return LedgerStore(client, TABLE, retries=Retries(attempts_max=4, sleep=pauses.append, jitter=lambda: 1.0))


@pytest.fixture
def passbooks(store: LedgerStore) -> Passbooks:
    return Passbooks(store, lambda: NOW)
