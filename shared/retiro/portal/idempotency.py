"""`Idempotency-Key`: the same request sent again gets the first answer, byte for byte, while its record lasts.

A courtesy at the edge on Powertools' records. What protects the money is the ledger's own business keys: a record may
expire, or be lost between the effect and its writing, and the request sent again then meets the business key.
"""

import hashlib
import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from aws_lambda_powertools.utilities.idempotency import (
    DynamoDBPersistenceLayer,
    IdempotencyConfig,
    idempotent_function,
)
from aws_lambda_powertools.utilities.idempotency.exceptions import (
    IdempotencyAlreadyInProgressError,
    IdempotencyInconsistentStateError,
    IdempotencyPersistenceLayerError,
    IdempotencyValidationError,
)

from retiro.portal.problems import bad_request, conflict, refused, unavailable

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext
    from mypy_boto3_dynamodb import DynamoDBClient

_CITATION = "draft-ietf-httpapi-idempotency-key-header-07 § 2"
KEY_PATTERN = r"^[\x21-\x7e]{1,255}$"
_KEY = re.compile(KEY_PATTERN)
_RECORD_SECONDS = 24 * 60 * 60


class Reply(NamedTuple):
    """A status and the text of a body."""

    status: int
    body: str


class Replies:
    """The answers already given, by client, route and key."""

    def __init__(self, client: "DynamoDBClient", table_name: str) -> None:
        self._store = DynamoDBPersistenceLayer(table_name=table_name, boto3_client=client)

    def once(
        self,
        scope: str,
        key: str,
        payload: Any,
        context: "LambdaContext",
        act: Callable[[], Reply],
    ) -> Reply:
        """What `act` replies, or replied when this key came first in this scope (client and route).

        `payload` is the validated request in its canonical form, JSON-able. Raises 422 for a key that came with another
        payload, 409 while the first is in flight. A request that `act` refuses leaves its key free.
        """
        config = IdempotencyConfig(
            event_key_jmespath="key",
            payload_validation_jmespath="payload",
            raise_on_no_idempotency_key=True,
            expires_after_seconds=_RECORD_SECONDS,
            hash_function="sha256",
            lambda_context=context,
        )

        @idempotent_function(  # type: ignore[untyped-decorator]  # Powertools reads `request`
            data_keyword_argument="request", persistence_store=self._store, config=config, key_prefix=scope
        )
        def acted(*, request: dict[str, str]) -> dict[str, Any]:  # noqa: ARG001
            return act()._asdict()

        try:
            return Reply(**acted(request={"key": key, "payload": _digest(payload)}))
        except IdempotencyValidationError:
            raise refused(
                "idempotency_key_reused",
                en="This Idempotency-Key came before with another request.",
                es="Esta Idempotency-Key ya vino con otra solicitud.",
                citation=_CITATION,
                field="Idempotency-Key",
            ) from None
        except IdempotencyAlreadyInProgressError:
            raise conflict(
                "idempotency_key_in_flight",
                en="The request with this Idempotency-Key is still being answered.",
                es="La solicitud con esta Idempotency-Key aún se está atendiendo.",
                citation=_CITATION,
                field="Idempotency-Key",
            ) from None
        except (IdempotencyInconsistentStateError, IdempotencyPersistenceLayerError) as lost:
            raise unavailable() from lost


def checked_key(header: str | None, *, required: bool) -> str | None:
    """The key that came. Raises 400 where it must come and hasn't, or isn't 1 to 255 visible ASCII characters."""
    if header is None and not required:
        return None
    if header is None or not _KEY.fullmatch(header):
        raise bad_request(
            "idempotency_key_missing" if header is None else "idempotency_key_malformed",
            en="Idempotency-Key must be 1 to 255 visible ASCII characters.",
            es="Idempotency-Key debe tener de 1 a 255 caracteres ASCII visibles.",
            citation=_CITATION,
            field="Idempotency-Key",
        )
    return header


def _digest(payload: Any) -> str:
    canonical = json.dumps(payload, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(canonical.encode()).hexdigest()
