"""The document beside a factor table: how each figure came about, in Spanish and English, in Markdown."""

from collections.abc import Sequence

from cli.annuity_factor import IN_WORDS, Blend, Makeham, SoaTable
from cli.factor_tables import Assumptions, Point
from cli.mortality import soa_table_name
from cli.published import Recomputed
from retiro.rules.forms import Sentence
from retiro.rules.money import format_decimal

_UNITS = {
    "years": Sentence(
        "years (the balance is divided by the factor and by 12)", "años (el balance se divide por el factor y por 12)"
    ),
    "months": Sentence("months (the balance is divided by the factor)", "meses (el balance se divide por el factor)"),
}
_PAYMENTS = {
    "start": Sentence("at the start of each month", "al comienzo de cada mes"),
    "end": Sentence(
        "at the end of each month: the value at the start, less a twelfth",
        "al final de cada mes: el valor al comienzo, menos un doceavo",
    ),
}


def source_in_words(mortality: Makeham | SoaTable | Blend) -> str:
    """The mortality in a line: its law, or its SOA tables with their names and weights.

    Raises:
        NoTableError: there is no such table.
    """
    match mortality:
        case Makeham():
            constants = (f"{name} = {format_decimal(getattr(mortality, name))}" for name in ("A", "B", "c"))
            return f"Makeham, {', '.join(constants)}"
        case SoaTable():
            return _named(mortality.soa_table)
        case Blend():
            return "; ".join(
                f"{format_decimal(part.weight_percent)} % {_named(part.soa_table)}" for part in mortality.blend
            )


def _named(table_id: int) -> str:
    return f"SOA {table_id}, {soa_table_name(table_id)}"


_PURPOSE = Sentence(
    "4 L.P.R.A. § 242b(c)(2). The balance at retirement is divided by the factor of the age.",
    "4 L.P.R.A. § 242b(c)(2). El balance al retiro se divide por el factor de la edad.",
)
_BETWEEN = Sentence(
    "Between two ages of the table the factor is linear, by completed months.",
    "Entre dos edades de la tabla el factor es lineal, por meses cumplidos.",
)
_LIMITS = Sentence(
    "The table binds nobody until the Board adopts it, in consultation with its actuaries. Of a select and ultimate "
    "table the ultimate rates are used; after its last age nobody is alive. It has no mortality improvement and no "
    "expense in it.",
    "La tabla no obliga hasta que la Junta la adopte, en consulta con sus actuarios. De una tabla selecta y última se "
    "usan las tasas últimas; después de su última edad nadie vive. No incluye mejora de la mortalidad ni gastos.",
)


def document(assumptions: Assumptions, points: Sequence[Point], checked: Sequence[Recomputed]) -> str:
    """The whole document."""
    method = IN_WORDS[assumptions.method]
    monthly = Sentence(
        f"Monthly payments, m = 12: {method.en}. {_BETWEEN.en}", f"Pagos mensuales, m = 12: {method.es}. {_BETWEEN.es}"
    )
    parts = [
        "# Tabla de factores de anualidad / Annuity factor table",
        _in_both(_PURPOSE),
        "## Supuestos / Assumptions",
        _assumptions(assumptions),
        "## Método / Method",
        _in_both(monthly),
        "## Factores / Factors",
        _points(points),
        "## Comprobación contra valores impresos / Check against printed values",
        _checked(checked),
        "## Límites / Limits",
        _in_both(_LIMITS),
    ]
    return "\n\n".join(parts) + "\n"


def _in_both(sentence: Sentence) -> str:
    return f"{sentence.es}\n\n{sentence.en}"


def _assumptions(assumptions: Assumptions) -> str:
    unit, payment = _UNITS[assumptions.unit], _PAYMENTS[assumptions.payment]
    rows = [
        ("Mortalidad / Mortality", source_in_words(assumptions.mortality)),
        ("Interés / Interest", f"{format_decimal(assumptions.interest_percent)} % al año / a year"),
        ("Unidad / Unit", f"{unit.es} / {unit.en}"),
        ("Pago / Payment", f"{payment.es} / {payment.en}"),
        ("Actuario / Actuary", assumptions.actuary),
        ("Fecha de consulta / Consulted on", str(assumptions.consulted_on)),
        ("Vigente desde / In force from", str(assumptions.in_force_from)),
    ]
    return _table(("Supuesto / Assumption", ""), rows)


def _points(points: Sequence[Point]) -> str:
    return _table(
        ("Edad / Age", "Anualidad anticipada anual / Annual annuity-due", "Factor"),
        [(str(point.age), point.annual_due, point.factor) for point in points],
    )


def _checked(checked: Sequence[Recomputed]) -> str:
    return _table(
        ("Tabla / Table", "Edad / Age", "Valor / Value", "Impreso / Printed", "Hallado / Found"),
        [(each.table, each.age, each.value, each.printed, each.found) for each in checked],
    )


def _table(columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [columns, tuple("---" for _ in columns), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
