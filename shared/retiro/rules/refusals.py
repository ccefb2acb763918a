"""Refusals: what the law, or the form, doesn't let the program decide. A closed list, with sentences and citations.

The codes stand in the order in which they are tested; a determination that can meet several raises the first.
"""

from collections.abc import Mapping, Sequence
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
    # 3 L.P.R.A. § 830q(a)-(e); not_in_force comes after board_rate_required, needs_decision beside the first
    NOT_IN_ACTIVE_SERVICE = "not_in_active_service"
    JOINED_AFTER_APRIL_1_1990 = "joined_after_april_1_1990"
    APPLICATION_WINDOW_CLOSED = "application_window_closed"
    MORE_THAN_TEN_YEARS_TO_MERIT_PENSION = "more_than_ten_years_to_merit_pension"
    BOARD_RATE_REQUIRED = "board_rate_required"
    PRINCIPAL_OVERPAID = "principal_overpaid"
    PRINCIPAL_LATE = "principal_late"
    # 4 L.P.R.A. § 242b(a)-(f); needs_decision comes after cause_excluded, and before all the others
    CAUSE_EXCLUDED = "cause_excluded"
    INSUFFICIENT_SERVICE = "insufficient_service"
    UNDER_AGE_65 = "under_age_65"
    NO_FACTOR_FOR_AGE = "no_factor_for_age"
    FACTOR_OUT_OF_RANGE = "factor_out_of_range"
    SHARES_DO_NOT_TOTAL_100 = "shares_do_not_total_100"
    # Everywhere: nothing is carried forward silently.
    NOT_IN_FORCE = "not_in_force"
    # A passbook's own order: what its last line doesn't allow to be posted.
    ALREADY_ENROLLED = "already_enrolled"
    UNKNOWN_PARTICIPANT = "unknown_participant"
    UNKNOWN_EMPLOYER = "unknown_employer"
    STATUS_FORBIDS = "status_forbids"
    INITIAL_TRANSFER_ALREADY_CREDITED = "initial_transfer_already_credited"
    NO_CREDIT_YET = "no_credit_yet"
    ALREADY_POSTED = "already_posted"
    SEMESTER_OUT_OF_ORDER = "semester_out_of_order"
    NOT_POSTED = "not_posted"
    LATER_SEMESTER_STANDS = "later_semester_stands"
    PERIOD_OPEN = "period_open"
    ANNUITY_EXISTS = "annuity_exists"
    RETIREMENT_BEFORE_SEPARATION = "retirement_before_separation"
    SEPARATION_DIFFERS = "separation_differs"
    SERVICE_NOT_CREDITED = "service_not_credited"
    NO_ANNUITY = "no_annuity"
    CORRECTION_CHANGES_NOTHING = "correction_changes_nothing"
    ALREADY_PAID = "already_paid"
    DEATH_REPORTED = "death_reported"
    NOT_PAID = "not_paid"
    LATER_PAYMENT_STANDS = "later_payment_stands"
    ALREADY_RETURNED = "already_returned"
    NOT_RETURNED = "not_returned"
    # A payment plan's own order
    PLAN_OPEN = "plan_open"
    PLAN_NOT_OPEN = "plan_not_open"
    PLAN_LAPSED = "plan_lapsed"
    OVER_PLAN_BALANCE = "over_plan_balance"
    OVER_DUE = "over_due"
    PAYOFF_DIFFERS = "payoff_differs"
    ORDER_CHANGED = "order_changed"
    NOT_ORDERED = "not_ordered"
    LATER_ORDER_STANDS = "later_order_stands"
    ORDER_REMITTED = "order_remitted"
    NEEDS_DECISION = "needs_decision"


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
    RefusalCode.NOT_IN_ACTIVE_SERVICE: Sentence(
        "The special payment plan is for participants in active service.",
        "El plan de pago especial es para participantes en servicio activo.",
    ),
    RefusalCode.JOINED_AFTER_APRIL_1_1990: Sentence(
        "The participant first joined on {joined_on}; the plan is for those who joined on or before {limit}.",
        "El participante ingresó por primera vez el {joined_on}; el plan es para quien ingresó hasta el {limit}.",
    ),
    RefusalCode.APPLICATION_WINDOW_CLOSED: Sentence(
        "On {applied_on} no filing window was open: they were {windows_en}. An ordinary plan is for a person.",
        "El {applied_on} no había término de solicitud abierto: fueron {windows_es}. Un plan ordinario lo decide una "
        "persona.",
    ),
    RefusalCode.MORE_THAN_TEN_YEARS_TO_MERIT_PENSION: Sentence(
        "{years} years, {months} months and {days} days are left to the pension for merit; {limit} years may be.",
        "Faltan {years} años, {months} meses y {days} días para la pensión por mérito; pueden faltar a lo sumo {limit} "
        "años.",
    ),
    RefusalCode.BOARD_RATE_REQUIRED: Sentence(
        "Under Act 305-1999 the interest is as the Board provides, and its rate isn't given.",
        "Bajo la Ley 305-1999 el interés es el que disponga la Junta, y no se indica su tasa.",
    ),
    RefusalCode.PRINCIPAL_OVERPAID: Sentence(
        "The payments total {paid} and the principal is {principal}.",
        "Los pagos suman {paid} y el principal es {principal}.",
    ),
    RefusalCode.PRINCIPAL_LATE: Sentence("The plan lapses: {reason_en}.", "El plan caduca: {reason_es}."),
    RefusalCode.CAUSE_EXCLUDED: Sentence(
        "A separation by {cause_en} is neither paid out nor made an annuity here: a person decides.",
        "Una separación por {cause_es} no se liquida ni se convierte en anualidad aquí: lo decide una persona.",
    ),
    RefusalCode.INSUFFICIENT_SERVICE: Sentence(
        "The annuity takes {needed} years as a judge; there are {service_en}.",
        "La anualidad requiere {needed} años como juez; hay {service_es}.",
    ),
    RefusalCode.UNDER_AGE_65: Sentence(
        "The annuity takes the age of {needed}, reached on {birthday}; the retirement is on {retirement_date}.",
        "La anualidad requiere {needed} años de edad, que se cumplen el {birthday}; el retiro es el {retirement_date}.",
    ),
    RefusalCode.NO_FACTOR_FOR_AGE: Sentence(
        "The factor table has no factor for {age}; it goes from {first} to {last}.",
        "La tabla de factores no tiene factor para {age}; va de {first} a {last}.",
    ),
    RefusalCode.FACTOR_OUT_OF_RANGE: Sentence(
        "A factor of {factor} {unit_en} lies outside {low} to {high}: is it of that unit?",
        "Un factor de {factor} {unit_es} queda fuera de {low} a {high}: ¿es de esa unidad?",
    ),
    RefusalCode.SHARES_DO_NOT_TOTAL_100: Sentence(
        "The shares given total {total} percent, and must total 100, one for each or none at all.",
        "Las partes indicadas suman {total} por ciento y deben sumar 100, una para cada cual o ninguna.",
    ),
    RefusalCode.NOT_IN_FORCE: Sentence(
        "{name} is not in force on {day}. The nearest period in force is {nearest_en}.",
        "{name} no está vigente el {day}. El período vigente más cercano es {nearest_es}.",
    ),
    RefusalCode.ALREADY_ENROLLED: Sentence(
        "{participant_id} is enrolled already.", "{participant_id} ya está inscrito."
    ),
    RefusalCode.UNKNOWN_PARTICIPANT: Sentence(
        "There is no participant {participant_id}.", "No existe el participante {participant_id}."
    ),
    RefusalCode.UNKNOWN_EMPLOYER: Sentence(
        "There is no employer {employer_id}.", "No existe el patrono {employer_id}."
    ),
    RefusalCode.STATUS_FORBIDS: Sentence(
        "The account is {status_en}, which doesn't allow this to be posted.",
        "La cuenta {status_es}, lo que no permite registrar esto.",
    ),
    RefusalCode.INITIAL_TRANSFER_ALREADY_CREDITED: Sentence(
        "The initial transfer balance is credited once, and already was.",
        "El balance inicial de transferencia se acredita una sola vez, y ya se acreditó.",
    ),
    RefusalCode.NO_CREDIT_YET: Sentence(
        "Nothing had been credited to the account by the end of {semester}.",
        "No se había acreditado nada a la cuenta al cierre de {semester}.",
    ),
    RefusalCode.ALREADY_POSTED: Sentence(
        "The yield of {semester} was posted already.", "El rendimiento de {semester} ya se acreditó."
    ),
    RefusalCode.SEMESTER_OUT_OF_ORDER: Sentence(
        "{semester} can't be posted while {open_semester} is open.",
        "{semester} no se puede acreditar mientras {open_semester} esté abierto.",
    ),
    RefusalCode.NOT_POSTED: Sentence(
        "The yield of {semester} isn't posted, so it can't be reversed.",
        "El rendimiento de {semester} no está acreditado, por lo que no se puede reversar.",
    ),
    RefusalCode.LATER_SEMESTER_STANDS: Sentence(
        "{semester} can't be reversed while {later_semester} stands.",
        "{semester} no se puede reversar mientras {later_semester} siga acreditado.",
    ),
    RefusalCode.ANNUITY_EXISTS: Sentence(
        "The participant has an annuity already, since {retired_on}.",
        "El participante ya tiene una anualidad, desde el {retired_on}.",
    ),
    RefusalCode.RETIREMENT_BEFORE_SEPARATION: Sentence(
        "The retirement, {retirement_date}, comes before {first}, the day after the separation.",
        "El retiro, {retirement_date}, es anterior al {first}, el día después de la separación.",
    ),
    RefusalCode.SEPARATION_DIFFERS: Sentence(
        "The passbook has the separation on {separated_on}.", "En la libreta consta la separación el {separated_on}."
    ),
    RefusalCode.SERVICE_NOT_CREDITED: Sentence(
        "No service has been credited to the participant.", "No se han acreditado servicios al participante."
    ),
    RefusalCode.NO_ANNUITY: Sentence(
        "The participant has no annuity in force.", "El participante no tiene una anualidad vigente."
    ),
    RefusalCode.CORRECTION_CHANGES_NOTHING: Sentence(
        "What is corrected leaves the annuity as it is.", "Lo corregido deja la anualidad igual."
    ),
    RefusalCode.ALREADY_PAID: Sentence(
        "The annuity was paid through {month} already.", "La anualidad ya se pagó hasta {month}."
    ),
    RefusalCode.DEATH_REPORTED: Sentence(
        "A death on {death_date} is reported, and not resolved.",
        "Se reportó una muerte el {death_date}, sin resolver.",
    ),
    RefusalCode.NOT_PAID: Sentence(
        "The annuity of {month} wasn't paid by this run.", "La anualidad de {month} no se pagó en esta corrida."
    ),
    RefusalCode.LATER_PAYMENT_STANDS: Sentence(
        "The payment through {month} can't be reversed while the one through {later} stands.",
        "El pago hasta {month} no se puede reversar mientras conste el de {later}.",
    ),
    RefusalCode.ALREADY_RETURNED: Sentence(
        "The payment came back already, or nothing of it went out.", "El pago ya fue devuelto, o nada de él salió."
    ),
    RefusalCode.NOT_RETURNED: Sentence(
        "The payment hasn't come back, or was made again already.", "El pago no ha sido devuelto, o ya se repitió."
    ),
    RefusalCode.PERIOD_OPEN: Sentence(
        "The return of {semester}, complete by {on}, isn't posted yet for this participant.",
        "El rendimiento de {semester}, completo al {on}, aún no está acreditado a este participante.",
    ),
    RefusalCode.PLAN_OPEN: Sentence(
        "The participant has a plan, {plan_id}, that isn't paid.",
        "El participante tiene un plan, {plan_id}, que no está saldado.",
    ),
    RefusalCode.PLAN_NOT_OPEN: Sentence(
        "No plan of this participant takes that now: it stands at {status}.",
        "Ningún plan de este participante lo admite ahora: su estado es {status}.",
    ),
    RefusalCode.PLAN_LAPSED: Sentence(
        "The plan {plan_id} has lapsed, and takes no payment.", "El plan {plan_id} caducó y no admite pagos."
    ),
    RefusalCode.OVER_PLAN_BALANCE: Sentence(
        "{balance} is open, and {amount} is more.", "Hay {balance} pendientes y {amount} es más."
    ),
    RefusalCode.OVER_DUE: Sentence(
        "{due} is due through {on}, and {amount} is more.", "Hasta el {on} vencen {due} y {amount} es más."
    ),
    RefusalCode.PAYOFF_DIFFERS: Sentence(
        "The payoff of {on} is {figure}, to the cent, not {amount}.",
        "El saldo del {on} es {figure}, al centavo, no {amount}.",
    ),
    RefusalCode.ORDER_CHANGED: Sentence(
        "What is to be withheld for {month} has changed since the order was prepared; the next attempt orders it.",
        "Lo que se ha de descontar en {month} cambió desde que se preparó la orden; lo ordena el próximo intento.",
    ),
    RefusalCode.NOT_ORDERED: Sentence(
        "Nothing was ordered for {month} by this run.", "Esta corrida no ordenó nada para {month}."
    ),
    RefusalCode.LATER_ORDER_STANDS: Sentence(
        "The order of {month} can't be reversed while that of {later} stands.",
        "La orden de {month} no se puede reversar mientras conste la de {later}.",
    ),
    RefusalCode.ORDER_REMITTED: Sentence(
        "The payer has remitted an installment of {month} since the order: it stands, and a person decides.",
        "El pagador remitió un plazo de {month} después de la orden: consta, y lo decide una persona.",
    ),
    RefusalCode.NEEDS_DECISION: Sentence(
        "This is for a person to decide: {reason_en}.", "Esto lo decide una persona: {reason_es}."
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
        self.sentence = SENTENCES[code].with_facts(field=field, **facts, **_status_in_words(facts))
        self.citation = citation
        self.field = field
        self.faults = tuple(faults)
        self.receipt: Receipt | None = None
        super().__init__(f"{code}: {self.sentence.en} ({citation})")


_STATUS_WORDS = {
    "active": Sentence("active", "está activa"),
    "death_reported": Sentence("under a reported death", "tiene una muerte reportada"),
    "separated": Sentence("that of a separated participant", "es de un participante separado"),
    "retired": Sentence("that of a pensioner", "es de un pensionado"),
    "closed": Sentence("closed", "está cerrada"),
}


def _status_in_words(facts: Mapping[str, object]) -> dict[str, str]:
    """The account's status, where a fact gives it, as a person reads it."""
    words = _STATUS_WORDS.get(str(facts.get("status")))
    return {} if words is None else {"status_en": words.en, "status_es": words.es}


def invalid_input(citation: str, field: str, kind: str) -> Refusal:
    """The refusal of a field for a fault of form, by its kind in `FORMS`."""
    return _of_faults(citation, [FieldFault(field, FORMS[kind])])


def refuse_form(error: ValidationError, citation: str) -> NoReturn:
    """Refuse what pydantic found out of form: the first fault in the sentence, all of them in `faults`.

    Raises:
        Refusal: `invalid_input`, always.
    """
    raise _of_faults(citation, [FieldFault(field or "given", rule) for field, rule in field_faults(error)]) from None


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
