"""An annuity's certificate: the contract in words, in the language of who asks, with the law it rests on."""

from annuities.models import AnnuityState, Certificate
from retiro.portal import Language, spoken
from retiro.rules.forms import Sentence
from retiro.rules.money import format_cents

_STATUS = {
    "entered": Sentence("It was entered and isn't in force yet.", "Se presentó y aún no está vigente."),
    "in_force": Sentence("It is in force.", "Está vigente."),
    "superseded": Sentence("It was superseded by a correction.", "Fue sustituida por una corrección."),
    "withheld": Sentence("Its payments are withheld.", "Sus pagos están retenidos."),
    "ended": Sentence("It has ended.", "Ha terminado."),
}


def certificate(state: AnnuityState, numbers: list[int], language: Language) -> Certificate:
    """The certificate of a contract; `numbers` are those of all contracts of the annuity."""
    contract = state.contract
    monthly = format_cents(contract.monthly_annuity)
    first = contract.first_payment
    status = _STATUS[state.status]
    words = Sentence(
        f"{contract.participant_id} has a life annuity of {monthly} a month from {contract.retirement_date} on, by 4 "
        f"L.P.R.A. § 242b(b)-(d). The first payment, through {first.through}, is {format_cents(first.amount)}; the "
        f"last is that of the whole month of death. {status.en}",
        f"{contract.participant_id} tiene una anualidad vitalicia de {monthly} al mes desde el "
        f"{contract.retirement_date}, por 4 L.P.R.A. § 242b(b)-(d). El primer pago, hasta el {first.through}, es de "
        f"{format_cents(first.amount)}; el último es el del mes completo de la muerte. {status.es}",
    )
    return Certificate(
        **{name: getattr(state, name) for name in AnnuityState.model_fields},
        language="es" if language is Language.ES else "en",
        certifies=spoken(words, language),
        contracts=numbers,
    )
