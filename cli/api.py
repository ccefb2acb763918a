"""A client of the API: one party's client, one acting user, over a few kept connections."""

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import click
import urllib3

from cli.stacks import Stack

_TIMEOUT_SECONDS = 35
"""A little longer than the gateway waits for a function."""


class ApiProblemError(click.ClickException):
    """The API refused. `document` is its problem document."""

    def __init__(self, status: int, document: Mapping[str, Any]) -> None:
        detail = document.get("detail") or document.get("title") or document.get("message")
        faults = "".join(f"\n  {one.get('field')}: {one.get('detail')}" for one in document.get("errors", []))
        super().__init__(f"{status} {document.get('code', '')}: {detail}{faults}")
        self.status = status
        self.document = document

    @property
    def code(self) -> str:
        """The problem's code."""
        return str(self.document.get("code", ""))


class Api:
    """What a person does through a client of the API."""

    def __init__(self, stack: Stack, *, client_id: str, acting_user: str, language: str = "en") -> None:
        self._pool = urllib3.PoolManager(maxsize=8, timeout=_TIMEOUT_SECONDS, retries=False)
        self._url = stack.api_url
        self._acting_user = acting_user.lower()  # as the API reads it: one person is one spelling
        self._headers = {
            "Authorization": f"Bearer {stack.token(client_id)}",
            "Acting-User": acting_user,
            "Accept-Language": language,
        }

    def get(self, path: str) -> dict[str, Any]:
        """Read. Raises `ApiProblemError`."""
        return self._answer("GET", path, {}, None)

    def post(self, path: str, body: Mapping[str, Any] | None = None, *, key: str | None = None) -> dict[str, Any]:
        """Do something once: the idempotency key is made of who acts, the path and the body, unless one is given.

        Two persons who ask the same are two requests: under one key the API would refuse the second's.

        Raises:
            ApiProblemError: the API refused.
        """
        text = json.dumps(body if body is not None else {}, sort_keys=True)
        key = key or str(uuid5(NAMESPACE_URL, f"{self._acting_user} {path} {text}"))
        return self._answer("POST", path, {"Idempotency-Key": key}, text)

    def put(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Change something. Raises `ApiProblemError`."""
        return self._answer("PUT", path, {}, json.dumps(body))

    def _answer(self, method: str, path: str, headers: Mapping[str, str], text: str | None) -> dict[str, Any]:
        sent = {**self._headers, **headers}
        if text is not None:
            sent["Content-Type"] = "application/json"
        answer = self._pool.request(method, self._url + path, body=text, headers=sent)
        document: dict[str, Any] = answer.json()
        if answer.status >= HTTPStatus.BAD_REQUEST:
            raise ApiProblemError(answer.status, document)
        return document
