"""What is checked of a remittance when it is filed in a request's body: all of it, at once, with every error named."""

from collections.abc import Mapping
from http import HTTPStatus

from payroll_deductions.edits import Edit, Fault, in_order
from payroll_deductions.file_reading import Control, Parsed, check_whole, read, read_row
from payroll_deductions.matching import Checked, Payer, check
from payroll_deductions.models import LINES_MAX, NewCsvRemittance, NewRemittance
from retiro.portal import FieldError, Problem
from retiro.registry.participants import Profile
from retiro.rules.forms import Sentence
from retiro.rules.money import format_cents
from retiro.rules.savings_accounts import SECTION


def parsed_of(body: NewRemittance | NewCsvRemittance) -> Parsed:
    """The rows of a body, with the faults of its form."""
    if isinstance(body, NewCsvRemittance):
        return read(body.file.encode(), "csv", LINES_MAX)
    parsed = Parsed(first_line=1, control=Control(body.control.count, body.control.total), control_line=0)
    for line, one in enumerate(body.lines, start=1):
        salary = "" if one.salary is None else format_cents(one.salary)
        fields = (one.participant_id, one.kind, format_cents(one.amount), salary, one.name)
        parsed.rows.append(read_row(line, fields, parsed))
    check_whole(parsed)
    return parsed


def checked_whole(parsed: Parsed, payer: Payer, profiles: Mapping[str, Profile]) -> Checked:
    """All faults of a body, and its matches. `profiles`: those of its participants who are enrolled, by id."""
    checked = check(parsed.rows, parsed.first_line, payer, profiles)
    control = [fault for fault in parsed.faults if fault.edit is Edit.CONTROL_MISMATCH]
    rest = [fault for fault in parsed.faults if fault.edit is not Edit.CONTROL_MISMATCH]
    return Checked([*control, *in_order([*rest, *checked.faults])], checked.matches)


def refusal(body: NewRemittance | NewCsvRemittance, faults: list[Fault]) -> Problem:
    """422 with every fault: of JSON by its field, of a file by its line and column."""
    errors = [_field_error(body, fault) for fault in faults]
    first = errors[0].detail
    return Problem(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        "remittance_refused",
        Sentence(
            f"Nothing of the remittance was taken: {len(errors)} error(s). {first.en}",
            f"No se tomó nada de la remesa: {len(errors)} error(es). {first.es}",
        ),
        citation=f"{SECTION}(a)(2)",
        errors=errors,
    )


def _field_error(body: NewRemittance | NewCsvRemittance, fault: Fault) -> FieldError:
    sentence, line = fault.sentence, fault.line
    numbered = Sentence(f"Line {line}: {sentence.en}", f"Línea {line}: {sentence.es}")
    if isinstance(body, NewCsvRemittance):
        return FieldError(("body", "file", line, fault.column), str(fault.edit), numbered)
    if fault.edit is Edit.CONTROL_MISMATCH:
        return FieldError(("body", "control", fault.column), str(fault.edit), sentence)
    return FieldError(("body", "lines", line - 1, fault.column), str(fault.edit), numbered)
