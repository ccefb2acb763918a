"""The edits of the remittance file: each rule that a file is held against, and what its breach is called.

The list is closed, and published in docs/remittance-file.md. A fault never repeats what stands in the file, since that
may be a person's; of the control alone both figures are named.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from retiro.rules.forms import Sentence

ENGLISH = ("participant_id", "kind", "amount", "salary", "name")
SPANISH = ("participante", "tipo", "importe", "salario", "nombre")
"""The columns of a file, in their order, as either heading names them."""


class Edit(StrEnum):
    """Every edit there is."""

    FILE_TOO_LARGE = "file_too_large"
    FILE_EMPTY = "file_empty"
    NOT_UTF8 = "not_utf8"
    NOT_JSON = "not_json"
    HEADER = "header"
    TOO_MANY_LINES = "too_many_lines"
    BLANK_LINE = "blank_line"
    QUOTES = "quotes"
    COLUMN_COUNT = "column_count"
    MEMBER = "member"
    PARTICIPANT_ID_FORM = "participant_id_form"
    KIND = "kind"
    AMOUNT_FORM = "amount_form"
    AMOUNT_NOT_ABOVE_ZERO = "amount_not_above_zero"
    SALARY_FORM = "salary_form"
    NAME_FORM = "name_form"
    PARTICIPANT_TWICE = "participant_twice"
    UNKNOWN_PARTICIPANT = "unknown_participant"
    OTHER_EMPLOYERS_PARTICIPANT = "other_employers_participant"
    CONTRIBUTION_BY_PENSIONS = "contribution_by_pensions"
    INSTALLMENT_OF_OTHER_FUND = "installment_of_other_fund"
    CONTROL_MISSING = "control_missing"
    CONTROL_FORM = "control_form"
    CONTROL_MISMATCH = "control_mismatch"
    AFTER_CONTROL = "after_control"
    REFERENCE_USED = "reference_used"


SENTENCES = {
    Edit.FILE_TOO_LARGE: Sentence("The file is larger than 64 MB.", "El archivo pasa de 64 MB."),
    Edit.FILE_EMPTY: Sentence("The file has no lines.", "El archivo no tiene líneas."),
    Edit.NOT_UTF8: Sentence("The text isn't UTF-8.", "El texto no es UTF-8."),
    Edit.NOT_JSON: Sentence("The file isn't JSON.", "El archivo no es JSON."),
    Edit.HEADER: Sentence(
        "The heading isn't that of the file format.", "El encabezado no es el del formato del archivo."
    ),
    Edit.TOO_MANY_LINES: Sentence("There are more lines than a file may have.", "Hay más líneas que las permitidas."),
    Edit.BLANK_LINE: Sentence("The line is blank.", "La línea está en blanco."),
    Edit.QUOTES: Sentence(
        "The line's quotes aren't closed, or misplaced.", "Las comillas de la línea no cierran bien."
    ),
    Edit.COLUMN_COUNT: Sentence("The line doesn't have five columns.", "La línea no tiene cinco columnas."),
    Edit.MEMBER: Sentence("The member isn't one of the file format.", "El miembro no es del formato del archivo."),
    Edit.PARTICIPANT_ID_FORM: Sentence(
        "It isn't a participant's id, like P-000001.", "No es un identificador de participante, como P-000001."
    ),
    Edit.KIND: Sentence("The kind is neither contribution nor installment.", "El tipo no es aportacion ni plazo."),
    Edit.AMOUNT_FORM: Sentence(
        "It isn't an amount with two places, like 214.36.", "No es un importe con dos decimales, como 214.36."
    ),
    Edit.AMOUNT_NOT_ABOVE_ZERO: Sentence("A contribution is above zero.", "Una aportación es mayor que cero."),
    Edit.SALARY_FORM: Sentence(
        "It isn't a salary above zero with two places, like 2589.55.",
        "No es un salario mayor que cero con dos decimales, como 2589.55.",
    ),
    Edit.NAME_FORM: Sentence(
        "The name is longer than 100 characters or holds one that can't be printed.",
        "El nombre pasa de 100 caracteres o tiene uno que no se imprime.",
    ),
    Edit.PARTICIPANT_TWICE: Sentence("The participant stands twice.", "El participante consta dos veces."),
    Edit.UNKNOWN_PARTICIPANT: Sentence("There is no such participant.", "No existe tal participante."),
    Edit.OTHER_EMPLOYERS_PARTICIPANT: Sentence(
        "The participant isn't with this employer.", "El participante no es de este patrono."
    ),
    Edit.CONTRIBUTION_BY_PENSIONS: Sentence(
        "The pension payroll remits no contributions.", "La nómina de pensiones no remite aportaciones."
    ),
    Edit.INSTALLMENT_OF_OTHER_FUND: Sentence(
        "Installments are of the fund ERS alone.", "Los plazos son solo del fondo ERS."
    ),
    Edit.CONTROL_MISSING: Sentence("The control line is missing.", "Falta la línea de control."),
    Edit.CONTROL_FORM: Sentence(
        "The control isn't a count and an amount with two places.", "El control no es un conteo y un importe."
    ),
    Edit.CONTROL_MISMATCH: Sentence(
        "The control says {stated}, the lines {found}.", "El control dice {stated}; las líneas, {found}."
    ),
    Edit.AFTER_CONTROL: Sentence("Nothing may follow the control line.", "Nada puede seguir a la línea de control."),
    Edit.REFERENCE_USED: Sentence(
        "The reference stands for another remittance.", "La referencia consta para otra remesa."
    ),
}


@dataclass(frozen=True, slots=True)
class Fault:
    """An edit that a place of the file breaks. `line` counts from 1; `column` is named as the file names it."""

    line: int
    column: str
    edit: Edit
    stated: str = ""
    found: str = ""

    @property
    def sentence(self) -> Sentence:
        """What is wrong, in both languages."""
        return SENTENCES[self.edit].with_facts(stated=self.stated, found=self.found)

    @property
    def document(self) -> list[Any]:
        """The fault as it is stored."""
        facts = [self.stated, self.found] if self.stated else []
        return [self.line, self.column, str(self.edit), *facts]

    @classmethod
    def of_document(cls, document: list[Any]) -> "Fault":
        """A fault as it was stored."""
        line, column, edit, *facts = document
        return cls(line, column, Edit(edit), *facts)


def in_order(faults: Iterable[Fault]) -> list[Fault]:
    """By line and column; what is said of a line's other places comes before."""
    return sorted(faults, key=lambda fault: (fault.line, _COLUMN_ORDER.get(fault.column, -1)))


_COLUMN_ORDER = {name: order for names in (ENGLISH, SPANISH) for order, name in enumerate(names)}
