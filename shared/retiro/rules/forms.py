"""The form of what comes in: strict texts, their fields for pydantic, and what to say when the form is broken.

What breaks a form is said twice, in English and Spanish, by kind; the offending value is never repeated, since it may
be a person's. `field_faults` turns pydantic's errors into these sentences, for the rules and for the HTTP doors.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationError
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema


@dataclass(frozen=True, slots=True)
class Sentence:
    """What a person reads, in English and in Spanish."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(strict=False)  # so that a stored one is read again

    en: str
    es: str

    def with_facts(self, **facts: object) -> "Sentence":
        """The sentence with its `{facts}` filled in."""
        return Sentence(self.en.format(**facts), self.es.format(**facts))


class Form(BaseModel):
    """The base of every model of the rules: strict, closed, unchanging, and silent about values when it refuses."""

    model_config = ConfigDict(
        strict=True,
        extra="forbid",
        frozen=True,
        hide_input_in_errors=True,
        serialize_by_alias=True,
        defer_build=True,
    )


_OTHER = Sentence("doesn't have the form that it must have", "no tiene la forma que debe tener")

# By the kind of pydantic's error; the kinds of our own first. Each reads on from "The field NAME …".
FORMS = {
    "person_identifier": Sentence(
        "must have four letters or digits, or more", "debe tener cuatro letras o dígitos, o más"
    ),
    "money": Sentence(
        'must be money as a text with two places, like "214.36"', 'debe ser dinero en texto con dos decimales: "214.36"'
    ),
    "money_not_below_zero": Sentence(
        'must be money as a text with two places, not below zero, like "214.36"',
        'debe ser dinero en texto con dos decimales, no menor que cero: "214.36"',
    ),
    "money_above_zero": Sentence(
        'must be money as a text with two places, above zero, like "214.36"',
        'debe ser dinero en texto con dos decimales, mayor que cero: "214.36"',
    ),
    "percent": Sentence('must be a decimal text, like "4.27"', 'debe ser un texto decimal, como "4.27"'),
    "percent_not_below_zero": Sentence(
        'must be a decimal text not below zero, like "4.27"', 'debe ser un texto decimal no menor que cero, como "4.27"'
    ),
    "shown_percent": Sentence(
        'must be a text with six places, like "2.003333"', "debe ser un texto con seis decimales"
    ),
    "date": Sentence(
        "must be a date as YYYY-MM-DD, with no time, from 1900 through 2199",
        "debe ser una fecha AAAA-MM-DD, sin hora, de 1900 a 2199",
    ),
    "semester": Sentence(
        'must be a semester of the fiscal calendar, like "FY2025-S2"',
        'debe ser un semestre del calendario fiscal, como "FY2025-S2"',
    ),
    "month": Sentence('must be a month as YYYY-MM, like "2026-09"', 'debe ser un mes AAAA-MM, como "2026-09"'),
    "selection_negative": Sentence("holds a percent below zero", "contiene un porcentaje menor que cero"),
    "selection_total": Sentence("must total 100 percent", "debe sumar 100 por ciento"),
    "percent_below_minus_100": Sentence("can't lose more than 100 percent", "no puede perder más del 100 por ciento"),
    "semesters_in_order": Sentence(
        "must be semesters that follow one another", "deben ser semestres que se siguen uno al otro"
    ),
    "no_business_day": Sentence(
        "must leave a business day in the semester", "debe dejar un día laborable en el semestre"
    ),
    "setting_unknown": Sentence("isn't a setting of the Board", "no es una opción reglamentaria de la Junta"),
    "setting_value": Sentence("isn't a value of this setting", "no es un valor de esta opción reglamentaria"),
    "not_above_zero": Sentence("must be above zero", "debe ser mayor que cero"),
    "moment": Sentence(
        'must be a moment in UTC, like "2025-07-10T16:00:00Z"', 'debe ser un momento en UTC: "2025-07-10T16:00:00Z"'
    ),
    "before_birth": Sentence("must not be before the birth", "no puede ser anterior al nacimiento"),
    "before_enrolment": Sentence("must not be before the enrolment", "no puede ser anterior a la inscripción"),
    "fund_of_employer": Sentence("must be the fund of the employer", "debe ser el fondo del patrono"),
    "outside_calendar": Sentence(
        "must be a day from the program's first, 2000-01-01, through today",
        "debe ser un día desde el primero del programa, 2000-01-01, hasta hoy",
    ),
    "in_the_future": Sentence("must not be in the future", "no puede ser una fecha futura"),
    "not_of_program": Sentence("isn't taken in this program", "no se admite en este programa"),
    "named_twice": Sentence("names somebody twice", "nombra a alguien dos veces"),
    "before_application": Sentence("must not be before the application", "no puede ser anterior a la solicitud"),
    "before_separation": Sentence("must be after the separation", "debe ser posterior a la separación"),
    "before_payment": Sentence("must not be before the payment", "no puede ser anterior al pago"),
    "before_retirement": Sentence("must not be before the retirement", "no puede ser anterior al retiro"),
    "more_than_credited": Sentence(
        "must not be more than the credited service", "no puede ser más que los servicios acreditados"
    ),
    "factor_age": Sentence(
        'must be an age in years and months, like "65y0m"', 'debe ser una edad en años y meses, como "65y0m"'
    ),
    "factor_or_table": Sentence(
        "must be given, or a factor_table, and not both", "debe darse, o una factor_table, y no ambos"
    ),
    "makeham_constant": Sentence(
        "must be above zero for B, and above one for c", "debe ser mayor que cero para B, y mayor que uno para c"
    ),
    "soa_table": Sentence(
        "must name SOA tables of death rates by age", "debe indicar tablas de la SOA de tasas de mortalidad por edad"
    ),
    "missing": Sentence("is missing", "falta"),
    "extra_forbidden": Sentence("isn't known here", "no se conoce aquí"),
    "too_short": Sentence("must not be empty", "no puede estar vacío"),
    "string_type": Sentence("must be a text", "debe ser un texto"),
    "string_too_short": Sentence("must not be empty", "no puede estar vacío"),
    "int_type": Sentence("must be a whole number", "debe ser un número entero"),
    "bool_type": Sentence("must be true or false", "debe ser verdadero o falso"),
    "greater_than_equal": Sentence("is below its range", "está por debajo de su límite"),
    "less_than_equal": Sentence("is above its range", "está por encima de su límite"),
    "literal_error": Sentence("isn't one of the values that it takes", "no es uno de los valores que admite"),
    "list_type": Sentence("must be a list", "debe ser una lista"),
    "dict_type": Sentence("must be a mapping", "debe ser un conjunto de campos"),
    "model_type": Sentence("must be a mapping", "debe ser un conjunto de campos"),
}


def form_error(kind: str) -> PydanticCustomError:
    """The error that a validator raises for a form of `FORMS`."""
    return PydanticCustomError(kind, FORMS[kind].en)


class FieldFault(NamedTuple):
    """One fault of form: the field (`movements.0.amount`) and what it must be, reading on from "The field NAME …"."""

    field: str
    rule: Sentence


def field_faults(error: ValidationError) -> list[FieldFault]:
    """Every fault that pydantic found, in the order of the fields, without any value that came in."""
    return [
        FieldFault(".".join(str(part) for part in fault["loc"] if part != "[key]"), FORMS.get(fault["type"], _OTHER))
        for fault in error.errors(include_input=False, include_context=False, include_url=False)
    ]


@dataclass(frozen=True)
class TextField:
    """A pydantic type that is a text of one strict form outside, and a value inside.

    `Annotated[int, TextField("money", parse_cents, format_cents, …)]` takes that text alone (no number), holds the
    value, and serialises to the text. `inside` is a type that is taken as it is: one that no JSON can hold.
    """

    kind: str
    parse: Callable[[str], Any]
    show: Callable[[Any], str]
    schema: dict[str, Any] = field(hash=False)  # a type of a union must be hashable
    inside: type | None = None

    def _validated(self, value: object) -> object:
        # `type(…) is` and not isinstance: a datetime is a date to isinstance.
        if self.inside is not None and type(value) is self.inside:
            return value
        if type(value) is not str:
            raise form_error(self.kind)
        try:
            return self.parse(value)
        except ValueError:
            raise form_error(self.kind) from None

    def __get_pydantic_core_schema__(self, source: type, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Pydantic's hook: a plain validator and a serialiser to the text."""
        return core_schema.no_info_plain_validator_function(
            self._validated,
            serialization=core_schema.plain_serializer_function_ser_schema(
                self.show, return_schema=core_schema.str_schema()
            ),
        )

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Pydantic's hook: a string with its pattern or format, and an example, never a number."""
        return {"type": "string", **self.schema}
