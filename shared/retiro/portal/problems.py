"""What a caller reads when a request is refused: RFC 9457 problem documents, in Spanish or English.

A handler raises one of the constructors here, or lets a rule's `Refusal` or the ledger's conflict through; the frame
does the rest. Nothing of ours that failed is described to the caller.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from pydantic import BaseModel, ConfigDict

from retiro.portal.languages import Language
from retiro.rules.forms import Sentence
from retiro.rules.receipts import Receipt
from retiro.rules.refusals import Refusal

CONTENT_TYPE = "application/problem+json"
ERRORS_MAX = 1_000
"""How many errors a document lists. With the names cut, it stays well under the 6 MB that a function can answer."""
_NAME_CHARACTERS_MAX = 100
"""How much is shown of a name that came in: it is said several times, and may be as long as the body."""

_TITLES = {
    HTTPStatus.BAD_REQUEST: Sentence("The request can't be read", "La solicitud no se puede leer"),
    HTTPStatus.UNAUTHORIZED: Sentence("Who is asking isn't known", "No se sabe quién solicita"),
    HTTPStatus.FORBIDDEN: Sentence("Not allowed to this client", "No permitido a este cliente"),
    HTTPStatus.NOT_FOUND: Sentence("Not found", "No se encuentra"),
    HTTPStatus.CONFLICT: Sentence("In conflict with what stands", "En conflicto con lo que consta"),
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: Sentence("Too large", "Demasiado grande"),
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: Sentence("Not JSON", "No es JSON"),
    HTTPStatus.UNPROCESSABLE_ENTITY: Sentence("Refused", "Denegado"),
    HTTPStatus.INTERNAL_SERVER_ERROR: Sentence("A fault of ours", "Una falla nuestra"),
    HTTPStatus.SERVICE_UNAVAILABLE: Sentence("Try again", "Intente de nuevo"),
}


class FieldErrorDocument(BaseModel):
    """One error of a request, as its problem document says it."""

    model_config = ConfigDict(defer_build=True)

    field: str
    location: list[str | int]
    code: str
    detail: str
    received: str | None = None


class ProblemDocument(BaseModel):
    """An RFC 9457 problem document as it is described to callers. `Problem.document` is one."""

    model_config = ConfigDict(defer_build=True)

    type: str
    title: str
    status: int
    detail: str
    instance: str
    code: str
    citation: str
    field: str | None = None
    errors: list[FieldErrorDocument] | None = None
    receipt: Receipt | None = None


@dataclass(frozen=True)
class FieldError:
    """One thing that is wrong in a request, and where: `location` starts with body, query, path or header."""

    location: tuple[str | int, ...]
    code: str
    detail: Sentence
    received: str | None = None

    @property
    def field(self) -> str:
        """The place as a person writes it: `lines.3.amount`."""
        return ".".join(str(_shown(step)) for step in self.location[1:])


class Problem(Exception):  # noqa: N818  a problem is what RFC 9457 calls it
    """A request that is not granted. `members` are further members of the document."""

    def __init__(  # noqa: PLR0913  the document's members, by name
        self,
        status: HTTPStatus,
        code: str,
        detail: Sentence,
        *,
        citation: str,
        field: str | None = None,
        errors: Sequence[FieldError] = (),
        members: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(code)
        self.status = status
        self.code = code
        self.detail = detail
        self.citation = citation
        self.field = field
        self.errors = tuple(errors)
        self.members = dict(members or {})

    def document(self, language: Language, instance: str) -> dict[str, Any]:
        """The problem as the members of its JSON document. Of very many errors the first are listed."""
        detail = spoken(self.detail, language)
        if (more := len(self.errors) - ERRORS_MAX) > 0:
            detail = f"{detail} {spoken(_not_listed(more), language)}"
        field = self.field or (self.errors[0].field if self.errors else None)
        return {
            "type": f"urn:problem-type:retiro:{self.code}",
            "title": spoken(_TITLES[self.status], language),
            "status": int(self.status),
            "detail": detail,
            "instance": instance,
            "code": self.code,
            "citation": self.citation,
            **({"field": field} if field else {}),
            **({"errors": [_error(error, language) for error in self.errors[:ERRORS_MAX]]} if self.errors else {}),
            **self.members,
        }


def spoken(sentence: Sentence, language: Language) -> str:
    """The sentence in that language."""
    return sentence.es if language is Language.ES else sentence.en


def not_found(code: str, *, en: str, es: str, field: str | None = None) -> Problem:
    """There is no such thing: 404."""
    return Problem(HTTPStatus.NOT_FOUND, code, Sentence(en, es), citation="RFC 9110 § 15.5.5", field=field)


def conflict(code: str, *, en: str, es: str, citation: str = "RFC 9110 § 15.5.10", field: str | None = None) -> Problem:
    """It doesn't go with what stands: 409."""
    return Problem(HTTPStatus.CONFLICT, code, Sentence(en, es), citation=citation, field=field)


def forbidden(code: str, *, en: str, es: str, citation: str = "RFC 9110 § 15.5.4", field: str | None = None) -> Problem:
    """This principal may not: 403."""
    return Problem(HTTPStatus.FORBIDDEN, code, Sentence(en, es), citation=citation, field=field)


def bad_request(code: str, *, en: str, es: str, citation: str, field: str | None = None) -> Problem:
    """The request can't be read: 400."""
    return Problem(HTTPStatus.BAD_REQUEST, code, Sentence(en, es), citation=citation, field=field)


def refused(code: str, *, en: str, es: str, citation: str, field: str | None = None) -> Problem:
    """It is read and refused: 422. For what `rules` refuses, let its `Refusal` through instead."""
    return Problem(HTTPStatus.UNPROCESSABLE_ENTITY, code, Sentence(en, es), citation=citation, field=field)


def unavailable() -> Problem:
    """Too much at once, or a store that doesn't answer: 503. The same request may be sent again."""
    return Problem(
        HTTPStatus.SERVICE_UNAVAILABLE,
        "try_again",
        Sentence("Send the same request again in a moment.", "Envíe la misma solicitud de nuevo en un momento."),
        citation="RFC 9110 § 15.6.4",
    )


def own_fault() -> Problem:
    """Something of ours is broken: 500, and nothing more is said."""
    return Problem(
        HTTPStatus.INTERNAL_SERVER_ERROR,
        "own_fault",
        Sentence(
            "The fault is ours and has been reported. Send the same request again with the same Idempotency-Key.",
            "La falla es nuestra y ha quedado reportada. Envíe la misma solicitud con la misma Idempotency-Key.",
        ),
        citation="RFC 9110 § 15.6.1",
    )


def of_refusal(refusal: Refusal) -> Problem:
    """A rule's refusal as a problem: 422, with the citation and the receipt so far."""
    receipt = refusal.receipt
    return Problem(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        str(refusal.code),
        refusal.sentence,
        citation=refusal.citation,
        field=refusal.field,
        errors=[
            FieldError(("body", *fault.field.split(".")), str(refusal.code), fault.rule) for fault in refusal.faults
        ],
        members=None if receipt is None else {"receipt": receipt.model_dump(mode="json")},
    )


def _not_listed(more: int) -> Sentence:
    return Sentence(
        f"The first {ERRORS_MAX} errors are listed, and {more} more are not.",
        f"Se indican los primeros {ERRORS_MAX} errores, y otros {more} no.",
    )


def _shown(step: str | int) -> str | int:
    return step if isinstance(step, int) or len(step) <= _NAME_CHARACTERS_MAX else f"{step[:_NAME_CHARACTERS_MAX]}…"


def _error(error: FieldError, language: Language) -> dict[str, Any]:
    return {
        "field": error.field,
        "location": [_shown(step) for step in error.location],
        "code": error.code,
        "detail": spoken(error.detail, language),
        **({"received": error.received} if error.received is not None else {}),
    }
