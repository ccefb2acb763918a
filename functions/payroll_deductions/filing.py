"""What is checked of a remittance when it is filed: its control totals and each line, all errors at once."""

from collections import Counter
from collections.abc import Iterator, Mapping
from http import HTTPStatus

from payroll_deductions.models import NewRemittance
from retiro.portal import FieldError, Problem
from retiro.registry.employers import Employer
from retiro.registry.participants import Profile
from retiro.rules.forms import Sentence
from retiro.rules.money import format_cents
from retiro.rules.savings_accounts import SECTION

_UNKNOWN = Sentence("There is no such participant.", "No existe tal participante.")
_OTHER_EMPLOYERS = Sentence("The participant isn't with this employer.", "El participante no es de este patrono.")
_TWICE = Sentence("The participant stands twice.", "El participante consta dos veces.")
_NOT_ABOVE_ZERO = Sentence("A contribution is above zero.", "Una aportación es mayor que cero.")


def check(body: NewRemittance, employer: Employer, profiles: Mapping[str, Profile]) -> None:
    """Raise 422 with every error, or nothing: a remittance is taken whole or not at all.

    `profiles` are those of the lines' participants that are enrolled, by id.
    """
    errors = [*_control_errors(body), *_line_errors(body, employer, profiles)]
    if errors:
        raise _refused(errors)


def _control_errors(body: NewRemittance) -> Iterator[FieldError]:
    """Both must be those of the lines, to the cent: there is no tolerance."""
    if body.control.count != len(body.lines):
        yield _control_error("count", str(body.control.count), str(len(body.lines)))
    total_cents = sum(line.amount for line in body.lines)
    if body.control.total != total_cents:
        yield _control_error("total", format_cents(body.control.total), format_cents(total_cents))


def _control_error(name: str, stated: str, found: str) -> FieldError:
    return FieldError(
        ("body", "control", name),
        "control_mismatch",
        Sentence(f"The control says {stated}, the lines {found}.", f"El control dice {stated}; las líneas, {found}."),
    )


def _line_errors(body: NewRemittance, employer: Employer, profiles: Mapping[str, Profile]) -> Iterator[FieldError]:
    times = Counter(line.participant_id for line in body.lines)
    for index, line in enumerate(body.lines):
        profile = profiles.get(line.participant_id)
        if profile is None:
            yield _line_error(index, "participant_id", "unknown_participant", _UNKNOWN)
        elif profile.employer_id != employer.employer_id or profile.fund != employer.fund:
            yield _line_error(index, "participant_id", "other_employers_participant", _OTHER_EMPLOYERS)
        if times[line.participant_id] > 1:
            yield _line_error(index, "participant_id", "participant_twice", _TWICE)
        if line.amount <= 0:
            yield _line_error(index, "amount", "amount_not_above_zero", _NOT_ABOVE_ZERO)


def _line_error(index: int, field: str, code: str, sentence: Sentence) -> FieldError:
    line = index + 1
    return FieldError(
        ("body", "lines", index, field),
        code,
        Sentence(f"Line {line}: {sentence.en}", f"Línea {line}: {sentence.es}"),
    )


def _refused(errors: list[FieldError]) -> Problem:
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
