"""Refusals: what the law, or the form, doesn't let the program decide. A closed list, with sentences and citations.

The codes stand in the order in which they are tested; a determination that can meet several raises the first.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, NoReturn

from pydantic import ValidationError

from retiro.rules.forms import FORMS, FieldFault, Sentence, field_faults

if TYPE_CHECKING:
    from retiro.rules.receipts import Receipt

__all__ = ["SENTENCES", "Refusal", "RefusalCode", "Sentence", "invalid_input", "refuse_form"]


class RefusalCode(StrEnum):
    """Why a determination is refused."""

    INVALID_INPUT = "invalid_input"
    # 3 L.P.R.A. § 786-7(b)(1), (2)
    UNKNOWN_OPTION = "unknown_option"
    NOT_MULTIPLE_OF_TEN = "not_multiple_of_ten"
    DOES_NOT_TOTAL_100 = "does_not_total_100"
    ALREADY_CHANGED_THIS_FISCAL_YEAR = "already_changed_this_fiscal_year"
    # 3 L.P.R.A. § 786-7(a)(3), (b)(3)
    NO_SELECTION = "no_selection"
    MOVEMENT_OUTSIDE_SEMESTER = "movement_outside_semester"
    YIELD_NOT_IN_FORCE = "yield_not_in_force"
    # Everywhere: nothing is carried forward silently.
    NOT_IN_FORCE = "not_in_force"


SENTENCES = {
    RefusalCode.INVALID_INPUT: Sentence("The field {field} {rule_en}.", "El campo {field} {rule_es}."),
    RefusalCode.UNKNOWN_OPTION: Sentence(
        "No investment option {option} is in force.", "No hay una opción de inversión {option} vigente."
    ),
    RefusalCode.NOT_MULTIPLE_OF_TEN: Sentence(
        "A selection is made in multiples of ten percent; {option} has {percent}.",
        "La selección se hace en múltiplos de diez por ciento; {option} tiene {percent}.",
    ),
    RefusalCode.DOES_NOT_TOTAL_100: Sentence(
        "The selection totals {total} percent, and must total 100.",
        "La selección suma {total} por ciento y debe sumar 100.",
    ),
    RefusalCode.ALREADY_CHANGED_THIS_FISCAL_YEAR: Sentence(
        "The selection was already changed in {fiscal_year}, on {changed_on}; one change is allowed in a fiscal year.",
        "La selección ya se cambió en {fiscal_year}, el {changed_on}; se permite un cambio por año fiscal.",
    ),
    RefusalCode.NO_SELECTION: Sentence(
        "The participant has selected no investment, so that no yield can be credited for {semester}.",
        "El participante no ha seleccionado inversión, por lo que no se puede acreditar rendimiento para {semester}.",
    ),
    RefusalCode.MOVEMENT_OUTSIDE_SEMESTER: Sentence(
        "The movement of {day} lies outside {semester}.", "El movimiento del {day} queda fuera de {semester}."
    ),
    RefusalCode.YIELD_NOT_IN_FORCE: Sentence(
        "The figures of {option} for {semester} are not exactly those that its yield takes: {takes}.",
        "Las cifras de {option} para {semester} no son exactamente las que requiere su rendimiento: {takes}.",
    ),
    RefusalCode.NOT_IN_FORCE: Sentence(
        "{name} is not in force on {day}. The nearest period in force is {nearest_en}.",
        "{name} no está vigente el {day}. El período vigente más cercano es {nearest_es}.",
    ),
}


class Refusal(Exception):  # noqa: N818  # a refusal is an answer of the law, not an error of the program
    """A determination refused: code, sentence in both languages, citation, and where there is one the field.

    `faults` lists every fault of form, for `invalid_input`. `receipt` is how far the determination came.
    """

    def __init__(
        self,
        code: RefusalCode,
        citation: str,
        *,
        field: str | None = None,
        faults: Sequence[FieldFault] = (),
        **facts: object,
    ) -> None:
        self.code = code
        self.sentence = SENTENCES[code].with_facts(field=field, **facts)
        self.citation = citation
        self.field = field
        self.faults = tuple(faults)
        self.receipt: Receipt | None = None
        super().__init__(f"{code}: {self.sentence.en} ({citation})")


def invalid_input(citation: str, field: str, kind: str) -> Refusal:
    """The refusal of a field for a fault of form, by its kind in `FORMS`."""
    return _of_faults(citation, [FieldFault(field, FORMS[kind])])


def refuse_form(error: ValidationError, citation: str) -> NoReturn:
    """Refuse what pydantic found out of form: the first fault in the sentence, all of them in `faults`.

    Raises:
        Refusal: `invalid_input`, always.
    """
    raise _of_faults(citation, field_faults(error)) from None


def _of_faults(citation: str, faults: Sequence[FieldFault]) -> Refusal:
    first = faults[0]
    return Refusal(
        RefusalCode.INVALID_INPUT,
        citation,
        field=first.field,
        faults=faults,
        rule_en=first.rule.en,
        rule_es=first.rule.es,
    )
