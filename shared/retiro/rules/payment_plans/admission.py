"""§ 830q(a), (b), (c): who may have the plan, and the rate of each debt. The refusals stand in the order listed."""

from fractions import Fraction

from retiro.rules import parameters
from retiro.rules.forms import Sentence
from retiro.rules.frame import Worksheet
from retiro.rules.payment_plans.facts import PaymentPlanGiven
from retiro.rules.payment_plans.section import KIND_IN_WORDS, SECTION, DebtKind
from retiro.rules.payment_plans.windows import JOINING_LIMIT, WINDOWS, check_kind_admitted, window_open_on
from retiro.rules.refusals import Refusal, RefusalCode


def admitted_rates(given: PaymentPlanGiven, sheet: Worksheet) -> list[Fraction]:
    """Admit the participant to the plan, and find the simple rate of each debt, in percent a year.

    Raises:
        Refusal: `not_in_active_service` or `needs_decision`, `joined_after_april_1_1990`, `application_window_closed`,
            `more_than_ten_years_to_merit_pension`, `board_rate_required`, `not_in_force`: the first that applies.
    """
    _check_service(given)
    _check_joining(given, sheet)
    _check_window(given, sheet)
    _check_nearness(given, sheet)
    return _rates(given, sheet)


def _check_service(given: PaymentPlanGiven) -> None:
    """(a): participants in active service. The text has those who were active and withdrew beside them."""
    if given.status == "active_service":
        return
    if any(debt.kind == "withdrawn_contributions" for debt in given.debts):
        raise Refusal(
            RefusalCode.NEEDS_DECISION,
            f"{SECTION}(a)",
            field="status",
            reason_en='whether "those who were active and had withdrawn" admits a participant who is inactive today',
            reason_es='si "los que estuvieron activos y retiraron" admite a un participante hoy inactivo',
        )
    raise Refusal(RefusalCode.NOT_IN_ACTIVE_SERVICE, f"{SECTION}(a)", field="status")


def _check_joining(given: PaymentPlanGiven, sheet: Worksheet) -> None:
    """(a): who joined the System for the first time on or before the limit."""
    sheet.parameters.append(JOINING_LIMIT.used(given.applied_on))
    if given.first_joined_on > JOINING_LIMIT.on_or_before:
        raise Refusal(
            RefusalCode.JOINED_AFTER_APRIL_1_1990,
            f"{SECTION}(a)",
            field="first_joined_on",
            joined_on=given.first_joined_on,
            limit=JOINING_LIMIT.on_or_before,
        )


def _check_window(given: PaymentPlanGiven, sheet: Worksheet) -> None:
    """(a): applied inside a filing window."""
    window = window_open_on(given.applied_on)
    if window is None:
        raise Refusal(
            RefusalCode.APPLICATION_WINDOW_CLOSED,
            f"{SECTION}(a)",
            field="applied_on",
            applied_on=given.applied_on,
            windows_en=", ".join(f"{each.opens_on} through {each.closes_on}" for each in WINDOWS),
            windows_es=", ".join(f"del {each.opens_on} al {each.closes_on}" for each in WINDOWS),
        )
    sheet.parameters.append(window.used(given.applied_on))
    sheet.fact(
        f"{SECTION}(a)",
        Sentence("Filing window", "Término de solicitud"),
        Sentence("the one open on the day of the application", "el abierto el día de la solicitud"),
        f"{window.opens_on} – {window.closes_on}",
    )


def _check_nearness(given: PaymentPlanGiven, sheet: Worksheet) -> None:
    """(b): the years left to the pension for merit, the service to be bought counted."""
    limit = parameters.in_force("plan_years_left_to_merit_pension", given.applied_on)
    sheet.parameter(limit, given.applied_on)
    left = given.time_to_merit_pension
    if left.exceeds(int(limit.value)):
        raise Refusal(
            RefusalCode.MORE_THAN_TEN_YEARS_TO_MERIT_PENSION,
            f"{SECTION}(b)",
            field="time_to_merit_pension",
            years=left.years,
            months=left.months,
            days=left.days,
            limit=limit.value,
        )


def _rates(given: PaymentPlanGiven, sheet: Worksheet) -> list[Fraction]:
    """(c): the rate by the kind of the debt; under Act 305-1999, the Board's in place of both."""
    if given.act_305:
        board_percent = given.board_rate_percent
        if board_percent is None:
            raise Refusal(RefusalCode.BOARD_RATE_REQUIRED, f"{SECTION}(c)", field="board_rate_percent")
        sheet.percent(
            f"{SECTION}(c)",
            Sentence("Simple rate, a year", "Tasa simple anual"),
            Sentence("as the Board provides under Act 305-1999", "según dispone la Junta bajo la Ley 305-1999"),
            board_percent,
        )
        return [board_percent] * len(given.debts)
    if given.board_rate_percent is not None:
        sheet.ask(
            Sentence(
                "A rate of the Board is given, and wasn't used: it is for participants under Act 305-1999.",
                "Se indica una tasa de la Junta y no se usó: es para participantes bajo la Ley 305-1999.",
            )
        )
    for debt in given.debts:
        check_kind_admitted(debt.kind, given.applied_on)
    return [_rate_of(debt.kind, given, sheet) for debt in given.debts]


def _rate_of(kind: DebtKind, given: PaymentPlanGiven, sheet: Worksheet) -> Fraction:
    rate = parameters.in_force(f"plan_rate_{kind}_percent", given.applied_on)
    in_words = KIND_IN_WORDS[kind]
    sheet.percent(
        f"{SECTION}(c)",
        Sentence(f"Simple rate, a year, {in_words.en}", f"Tasa simple anual, {in_words.es}"),
        Sentence("by the kind of the debt", "según la clase de deuda"),
        sheet.parameter(rate, given.applied_on),
    )
    return rate.value
