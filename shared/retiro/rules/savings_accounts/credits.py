"""§ 786-7(a)(1), (2): the credits, and what a credit that comes late brings.

The initial transfer balance and the remitted contribution have nothing to compute: the passbook credits them on their
day, and they count in the average monthly balance from that day on.
"""

import itertools
from datetime import date
from fractions import Fraction
from typing import Annotated

from pydantic import AfterValidator, Field

from retiro.rules.calendar import Semester
from retiro.rules.forms import Form, Sentence, form_error
from retiro.rules.frame import Given, Result, Worksheet, determination
from retiro.rules.money import Amount, format_cents
from retiro.rules.refusals import Refusal, invalid_input
from retiro.rules.savings_accounts.section import SECTION
from retiro.rules.savings_accounts.yields import Movement, SemesterYieldGiven, figures_of

PROGRAM_STARTS_ON = date(2000, 1, 1)


def check_on_calendar(on: date, *, today: date, field: str) -> None:
    """Check that a credit or a selection is dated within the program: from its first day through today.

    Raises:
        Refusal: `invalid_input`, with the field.
    """
    if not PROGRAM_STARTS_ON <= on <= today:
        raise invalid_input(f"{SECTION}(a)", field, "outside_calendar")


def _in_order(semesters: list[SemesterYieldGiven]) -> list[SemesterYieldGiven]:
    if any(one.semester.next() != other.semester for one, other in itertools.pairwise(semesters)):
        raise form_error("semesters_in_order")
    return semesters


class LateCreditGiven(Given):
    """§ 786-7(a)(2), (3): a movement on its legal date, and each semester from that one on as it was posted."""

    movement: Movement
    semesters: Annotated[list[SemesterYieldGiven], Field(min_length=1), AfterValidator(_in_order)]


class SemesterDifference(Form):
    """What a semester's yield would have been more (or less) with the movement in its place."""

    semester: Semester
    amount: Amount


class LateCredit(Result):
    """§ 786-7(a)(2), (3): the yield differences that go with a late credit."""

    differences: list[SemesterDifference]
    total_difference: Amount


@determination("late_credit", f"{SECTION}(a)(2), (3)", LateCreditGiven, LateCredit)
def late_credit(given: LateCreditGiven, sheet: Worksheet) -> LateCredit:
    """(a)(2), (3): what a credit that comes late adds to the yield of each posted semester since its legal date.

    The first semester is determined again with the movement in it, each later one with the movement and the earlier
    differences in its opening balance. The settings of each semester are its own.
    """
    differences: list[SemesterDifference] = []
    carried_cents = 0
    for number, posted in enumerate(given.semesters):
        try:
            difference_cents = _difference(posted, given.movement, carried_cents, sheet, first=number == 0)
        except Refusal as refusal:
            refusal.field = f"semesters.{number}.{refusal.field}"
            raise
        differences.append(SemesterDifference(semester=posted.semester, amount=difference_cents))
        carried_cents += difference_cents + (given.movement.amount if number == 0 else 0)
    total_cents = carried_cents - given.movement.amount
    sheet.money(
        f"{SECTION}(a)(3)",
        Sentence("Total difference", "Diferencia total"),
        Sentence("sum of the differences of the semesters", "suma de las diferencias de los semestres"),
        Fraction(total_cents),
    )
    return LateCredit(differences=differences, total_difference=total_cents, receipt=sheet.receipt())


def _difference(
    posted: SemesterYieldGiven, movement: Movement, carried_cents: int, sheet: Worksheet, *, first: bool
) -> int:
    """The new yield of a semester less the old, in cents."""
    with_movement = [*posted.movements, movement] if first else posted.movements
    semester = posted.semester
    again = figures_of(posted, posted.opening_balance + carried_cents, with_movement, sheet.summary(semester))
    before = figures_of(posted, posted.opening_balance, posted.movements, sheet.summary(semester))
    difference_cents = again.yield_cents - before.yield_cents
    sheet.money(
        f"{SECTION}(a)(3)",
        Sentence(f"Yield of {semester} as posted", f"Rendimiento de {semester} según acreditado"),
        Sentence("as the semester's own determination has it", "según la determinación del propio semestre"),
        Fraction(before.yield_cents),
    )
    sheet.money(
        f"{SECTION}(a)(3)",
        Sentence(f"Yield of {semester} determined again", f"Rendimiento de {semester} determinado de nuevo"),
        Sentence("with the movement in it", "con el movimiento incluido")
        if first
        else Sentence(
            "with the movement and the earlier differences in the opening balance",
            "con el movimiento y las diferencias anteriores en el balance inicial",
        ),
        Fraction(again.yield_cents),
    )
    sheet.money(
        f"{SECTION}(a)(2)",
        Sentence(f"Difference of {semester}", f"Diferencia de {semester}"),
        Sentence("determined again − as posted", "determinado de nuevo − según acreditado"),
        Fraction(difference_cents),
    )
    if difference_cents < 0:
        sheet.ask(
            Sentence(
                f"{format_cents(-difference_cents)} of the yield of {semester} is taken back, and (c) vests what "
                "was posted.",
                f"Se retira {format_cents(-difference_cents)} del rendimiento de {semester}, y el inciso (c) hace "
                "irrevocable lo acreditado.",
            )
        )
    return difference_cents
