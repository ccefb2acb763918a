"""What comes in and goes out: strict JSON (RFC 8259) into models, and models into JSON that their own schema accepts.

A body is read twice: once here, with every number kept as it came and with doubled names refused, and once by pydantic
in its JSON mode, where money and percents take texts alone and a date is `2025-04-10` and nothing else. All errors of a
request are reported, not the first; of very many, the first thousand and how many more.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Annotated, Any, NoReturn

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails, PydanticSerializationError

from retiro.portal.problems import FieldError, Problem, bad_request
from retiro.rules.forms import FORMS, Sentence, TextField
from retiro.rules.money import MONEY_PATTERN, format_cents, parse_cents

BODY_BYTES_MAX = 1_000_000

_CITATION = "Retiro API v1, values"
_SHOWN_KINDS = frozenset(kind for kind in FORMS if kind.startswith(("money", "percent"))) | {"date"}
"""The forms of which a JSON number that came is shown. In any other field a number may be a person's."""
_OTHER_FORM = Sentence("doesn't have the form that it must have", "no tiene la forma que debe tener")

Amount = Annotated[
    int, TextField("money", parse_cents, format_cents, {"pattern": MONEY_PATTERN, "examples": ["214.36"]}, int)
]
"""Money in an answer: whole cents inside, written as its text. In a body it is `rules.money.Money`, a text alone."""


class Body(BaseModel):
    """The base of a request's body: no unknown names, no conversions, and no input in the text of its errors."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, hide_input_in_errors=True, defer_build=True)


class Query(BaseModel):
    """The base of a request's query string: each name once, no unknown names."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True, defer_build=True)


class Answer(BaseModel):
    """The base of an answer."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True, defer_build=True)


class _Number(str):
    """A JSON number as its text. No number type takes every one that JSON allows: an exponent has no end there."""

    __slots__ = ()


class FaultyAnswerError(Exception):
    """A handler's answer breaks its own schema. That is our fault, never the caller's; it carries no data."""


def read_body(text: str | None, content_type: str | None, adapter: TypeAdapter[Any]) -> Any:
    """The body as its model.

    Raises 415 for another content type, 413 above 1 MB, 400 for what isn't JSON or names a member twice, and 422 with
    all errors for what breaks the model.
    """
    if content_type is not None and content_type.split(";")[0].strip().lower() != "application/json":
        raise Problem(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            "content_type_not_json",
            Sentence("The body must be application/json.", "El cuerpo debe ser application/json."),
            citation="RFC 9110 § 15.5.16",
            field="Content-Type",
        )
    if not text:
        raise _unreadable("body_missing", "A JSON body is needed.", "Hace falta un cuerpo JSON.")
    if len(text.encode(errors="surrogatepass")) > BODY_BYTES_MAX:
        raise Problem(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            "body_too_large",
            Sentence("A body stays under 1 MB.", "Un cuerpo no pasa de 1 MB."),
            citation="RFC 9110 § 15.5.14",
        )
    received = _strict_json(text)
    try:
        return adapter.validate_json(text)
    except ValidationError as invalid:
        raise invalid_input("body", invalid, received) from None


def read_strings(place: str, values: Mapping[str, str], adapter: TypeAdapter[Any]) -> Any:
    """Path or query values as their model. Raises 422 with all errors."""
    try:
        return adapter.validate_strings(dict(values))
    except ValidationError as invalid:
        raise invalid_input(place, invalid, values) from None


def write_answer(answer: Any, adapter: TypeAdapter[Any]) -> str:
    """The answer as JSON text. Raises `FaultyAnswerError` where it, or the text, breaks the answer's own schema."""
    try:
        text = adapter.dump_json(answer, warnings="error", exclude_none=False).decode()
        adapter.validate_json(text)
    except (ValidationError, PydanticSerializationError) as faulty:
        raise FaultyAnswerError(type(faulty).__name__) from None
    return text


def invalid_input(place: str, invalid: ValidationError, received: Any) -> Problem:
    """All errors of a validation as one problem. A number that stands where a text must is shown as it came."""
    errors = [_field_error(place, error, received) for error in invalid.errors(include_url=False, include_input=False)]
    first, more = errors[0], len(errors) - 1
    return Problem(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        "invalid_input",
        Sentence(
            f"The field {first.field or place} {first.detail.en}." + (f" And {more} more." if more else ""),
            f"El campo {first.field or place} {first.detail.es}." + (f" Y {more} más." if more else ""),
        ),
        citation=_CITATION,
        errors=errors,
    )


def _field_error(place: str, error: ErrorDetails, received: Any) -> FieldError:
    location, value = _place_of(error["loc"], received)
    is_shown = isinstance(value, _Number) and error["type"] in _SHOWN_KINDS
    return FieldError(
        (place, *location),
        error["type"],
        _on_line(location, FORMS.get(error["type"], _OTHER_FORM)),
        str(value) if is_shown else None,
    )


def _on_line(location: Sequence[str | int], rule: Sentence) -> Sentence:
    """What must be, and on which line of a list, counted from one as who wrote the file counts."""
    index = next((step for step in location if isinstance(step, int)), None)
    if index is None:
        return rule
    return Sentence(f"{rule.en} (line {index + 1})", f"{rule.es} (línea {index + 1})")


def _place_of(steps: Sequence[str | int], received: Any) -> tuple[tuple[str | int, ...], Any]:
    """The place in the document, and what came there (`None` for nothing).

    Steps of pydantic's own (the kind that a union was told apart by, `[key]`) lead nowhere in the document. The last
    step of a field that is missing doesn't either, and stays.
    """
    location: list[str | int] = []
    for number, step in enumerate(steps, start=1):
        match received, step:
            case (dict(), str()) if step in received:
                received = received[step]
            case (list(), int()) if step < len(received):
                received = received[step]
            case _ if number < len(steps) or step == "[key]":
                continue
            case _:
                received = None
        location.append(step)
    return tuple(location), received


def _strict_json(text: str) -> Any:
    try:
        return json.loads(
            text,
            parse_float=_Number,
            parse_int=_Number,
            parse_constant=_no_constant,
            object_pairs_hook=_no_name_twice,
        )
    except (json.JSONDecodeError, RecursionError):
        raise _unreadable("not_json", "The body isn't JSON.", "El cuerpo no es JSON.") from None


def _no_constant(name: str) -> NoReturn:
    raise _unreadable("not_json", f"JSON has no {name}.", f"JSON no tiene {name}.")


def _no_name_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        times = Counter(name for name, _ in pairs)
        twice = next(name for name in times if times[name] > 1)
        raise _unreadable(
            "name_twice",
            "A member is named twice in one object.",
            "Un miembro aparece dos veces en un objeto.",
            field=twice,
        )
    return members


def _unreadable(code: str, en: str, es: str, field: str | None = None) -> Problem:
    return bad_request(code, en=en, es=es, citation="RFC 8259", field=field)
