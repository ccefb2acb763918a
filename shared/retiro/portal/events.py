"""Reading an API Gateway REST proxy event: headers in any case, the authorizer's claims, each query name once."""

import base64
import binascii
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from retiro.portal.problems import bad_request

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent


STAGE = "/v1"
"""The stage of the API, which may stand before a path."""


def first_word(event: Mapping[str, Any]) -> str:
    """What an event's path begins with: `payment-plans` of `/v1/payment-plans/PP-1`. Empty where it has none."""
    path = str(event.get("path") or "").removeprefix(STAGE)
    return path.lstrip("/").partition("/")[0]


def header(event: "APIGatewayProxyEvent", name: str) -> str | None:
    """The header's value, or `None`. Raises 400 where it came more than once with different values."""
    values = header_values(event, name)
    if len(values) > 1:
        raise _twice(name)
    return next(iter(values), None)


def header_values(event: "APIGatewayProxyEvent", name: str) -> list[str]:
    """The header's different values as they came. It never raises: what answers a failure reads headers with it."""
    multiple = event.raw_event.get("multiValueHeaders") or {}
    values = [value for key, listed in multiple.items() if key.lower() == name.lower() for value in listed]
    single = event.raw_event.get("headers") or {}
    values += [value for key, value in single.items() if key.lower() == name.lower()]
    return list(dict.fromkeys(values))


def query(event: "APIGatewayProxyEvent") -> dict[str, str]:
    """The query's values by name. Raises 400 where a name came twice."""
    multiple: Mapping[str, list[str]] = event.raw_event.get("multiValueQueryStringParameters") or {}
    for name, values in multiple.items():
        if len(values) > 1:
            raise _twice(name)
    return dict(event.raw_event.get("queryStringParameters") or {})


def claims(event: "APIGatewayProxyEvent") -> Mapping[str, Any]:
    """What the gateway's authorizer says of the client; empty where it says nothing."""
    authorizer = (event.raw_event.get("requestContext") or {}).get("authorizer") or {}
    found = authorizer.get("claims") or {}
    return found if isinstance(found, dict) else {}


def request_id(event: "APIGatewayProxyEvent") -> str:
    """The gateway's id of this request."""
    return str((event.raw_event.get("requestContext") or {}).get("requestId") or "unknown")


def body_text(event: "APIGatewayProxyEvent") -> str | None:
    """The body as text. Raises 400 for bytes that aren't UTF-8."""
    body: str | None = event.raw_event.get("body")
    if body is None or not event.raw_event.get("isBase64Encoded"):
        return body
    try:
        return base64.b64decode(body, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        raise bad_request(
            "not_json", en="The body isn't JSON.", es="El cuerpo no es JSON.", citation="RFC 8259 § 8.1"
        ) from None


def _twice(name: str) -> Exception:
    return bad_request(
        "name_twice", en="It came more than once.", es="Vino más de una vez.", citation="RFC 9110 § 5.3", field=name
    )
