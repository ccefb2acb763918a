"""`cli.api`: what is sent, without a network between."""

import json
from types import SimpleNamespace

import pytest

from cli.api import Api

STACK = SimpleNamespace(api_url="https://api.example.org/v1", token=lambda client_id: f"token of {client_id}")
BODY = {"amount": "1.00", "reference": "R-1"}


@pytest.fixture
def key_of(monkeypatch):
    """The idempotency key that comes with what a person posts."""

    def key(person, path="/participants/P-1/debts", body=None):
        api = Api(STACK, client_id="office", acting_user=person)
        sent = []
        answer = SimpleNamespace(status=201, json=dict)
        monkeypatch.setattr(api, "_pool", SimpleNamespace(request=lambda *_, **request: sent.append(request) or answer))
        api.post(path, BODY if body is None else body)
        [request] = sent
        assert json.loads(request["body"]) == (BODY if body is None else body)
        assert request["headers"]["Acting-User"] == person
        return request["headers"]["Idempotency-Key"]

    return key


def test_the_same_request_of_the_same_person_has_the_same_key(key_of):
    """However the person is spelled, since the API reads one person in it."""
    assert key_of("u-ana") == key_of("u-ana") == key_of("U-Ana", body=dict(reversed(BODY.items())))


def test_another_person_path_or_body_has_another_key(key_of):
    """The API counts the person to the request, and refuses one key with two requests."""
    keys = [key_of("u-ana"), key_of("u-berta"), key_of("u-ana", "/participants/P-2/debts"), key_of("u-ana", body={})]
    assert len(set(keys)) == 4
