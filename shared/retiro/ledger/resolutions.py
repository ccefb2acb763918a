"""What the Board resolves: the kinds of resolution and what each says, as proposed, adopted and kept.

Each rests on an act (regulation, order or resolution: body, number, date, hash of the document) and names its source
and its vintage, the day as of which the source says so.
"""

from datetime import date
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, TypeAdapter

from retiro.ledger.encoding import content_hash
from retiro.rules.calendar import Date, Semester, last_day_of_month
from retiro.rules.forms import Form, Sentence
from retiro.rules.money import Percent
from retiro.rules.savings_accounts import FIXED_INCOME, SYSTEM_PORTFOLIO
from retiro.rules.settings import SETTINGS

Fund = Annotated[str, StringConstraints(pattern=r"^[A-Z]{3,6}$"), Field(examples=["ERS"])]
Month = Annotated[str, StringConstraints(pattern=r"^(19|20|21)[0-9]{2}-(0[1-9]|1[0-2])$"), Field(examples=["2025-06"])]
Code = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,39}$"), Field(examples=["stable_value"])]
Text = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$"), Field(examples=["00" * 32])]

STATUTORY_OPTIONS = (FIXED_INCOME, SYSTEM_PORTFOLIO)
"""3 L.P.R.A. § 786-7(b)(3)(A), (B): there without any resolution. The Board's own are (C)."""

_MONTHS_MAX = 600
_DAYS_MAX = 60


class ActKind(StrEnum):
    """What kind of act adopts."""

    REGULATION = "regulation"
    ORDER = "order"
    RESOLUTION = "resolution"


class ActOfTheBoard(Form):
    """The act that a resolution rests on: who made it, its number, its day, and the SHA-256 of its document."""

    kind: ActKind
    body: Text
    number: Annotated[str, StringConstraints(min_length=1, max_length=40)]
    date: Date
    document_sha256: Sha256

    def __str__(self) -> str:
        return f"{self.kind.capitalize()} {self.number} of {self.date}, {self.body}"


class Name(Form):
    """A name that a participant reads, in both languages."""

    en: Text
    es: Text


class _Resolved(Form):
    """What every resolution says."""

    fund: Fund
    act: ActOfTheBoard
    source: Text
    vintage: Date


class TreasuryYields(_Resolved):
    """Monthly averages of the Two-Year Constant Maturity Treasury, percent a year. § 786-7(b)(3)(A)."""

    kind: Literal["treasury_yields"]
    months: Annotated[dict[Month, Percent], Field(min_length=1, max_length=_MONTHS_MAX)]


class PortfolioReturn(_Resolved):
    """A semester of the system portfolio: return before fees, management fees, and the share where the Board sets it.

    § 786-7(b)(3)(B). Without a share the parameter in force holds.
    """

    kind: Literal["portfolio_return"]
    semester: Semester
    return_percent: Percent
    management_fees_percent: Percent
    share_percent: Percent | None = None


class Option(_Resolved):
    """An investment option that the Board creates, in force from a day until another. § 786-7(b)(3)(C)."""

    kind: Literal["option"]
    code: Code
    name: Name
    in_force_from: Date
    until: Date | None = None


class OptionSemester(_Resolved):
    """The percent that one of the Board's options earned in a semester. § 786-7(b)(3)(C)."""

    kind: Literal["option_yield"]
    option: Code
    semester: Semester
    semester_percent: Percent


class SettingAdopted(_Resolved):
    """A choice that the statute leaves, made. In force from a day until the next one of its name."""

    kind: Literal["setting"]
    name: Text
    value: Text
    in_force_from: Date


class ClosureDays(_Resolved):
    """Days on which the government is closed by executive order: no business days."""

    kind: Literal["closure_days"]
    dates: Annotated[list[Date], Field(min_length=1, max_length=_DAYS_MAX)]


Resolution = Annotated[
    TreasuryYields | PortfolioReturn | Option | OptionSemester | SettingAdopted | ClosureDays,
    Field(discriminator="kind"),
]
RESOLUTION: TypeAdapter[Resolution] = TypeAdapter(Resolution)


class Kind(StrEnum):
    """The kinds of resolution."""

    TREASURY_YIELDS = "treasury_yields"
    PORTFOLIO_RETURN = "portfolio_return"
    OPTION = "option"
    OPTION_YIELD = "option_yield"
    SETTING = "setting"
    CLOSURE_DAYS = "closure_days"


class UnsoundError(Exception):
    """A resolution that has its form and still can't stand: why, in both languages, and by what rule."""

    def __init__(self, code: str, sentence: Sentence, *, field: str, citation: str) -> None:
        super().__init__(code)
        self.code = code
        self.sentence = sentence
        self.field = field
        self.citation = citation


def hash_of(resolution: Resolution) -> str:
    """The SHA-256 of a resolution's content in its canonical form, as hexadecimal digits."""
    return content_hash(RESOLUTION.dump_python(resolution, mode="json")).hex()


def check(resolution: Resolution, today: date) -> None:
    """Check what can be told from the resolution itself. Raises `UnsoundError`."""
    for field, day in (("act.date", resolution.act.date), ("vintage", resolution.vintage)):
        if day > today:
            raise UnsoundError(
                "date_to_come",
                Sentence(f"{day} is still to come.", f"El {day} está por venir."),
                field=field,
                citation="3 L.P.R.A. § 786-7",
            )
    match resolution:
        case TreasuryYields():
            _check_months(resolution)
        case PortfolioReturn() | OptionSemester():
            _check_over(resolution.semester, resolution.vintage)
        case Option():
            _check_option(resolution)
        case SettingAdopted():
            _check_setting(resolution)
        case ClosureDays():
            _must_be_order(resolution.act, "dates", "Executive order; 3 L.P.R.A. § 786-7(a)(3)")


def month_period(month: str) -> tuple[date, date]:
    """The first and the last day of a month `2025-06`."""
    year, number = int(month[:4]), int(month[5:])
    return date(year, number, 1), date(year, number, last_day_of_month(year, number))


def _check_months(resolution: TreasuryYields) -> None:
    # A month's average is final only after its last day.
    for month in resolution.months:
        if month_period(month)[1] >= resolution.vintage:
            raise UnsoundError(
                "month_not_over",
                Sentence(
                    f"The average of {month} is final only after the month; the vintage is {resolution.vintage}.",
                    f"El promedio de {month} es final solo después del mes; la fecha del dato es {resolution.vintage}.",
                ),
                field=f"months.{month}",
                citation="3 L.P.R.A. § 786-7(b)(3)(A)",
            )


def _check_over(semester: Semester, vintage: date) -> None:
    if vintage <= semester.ends_on:
        raise UnsoundError(
            "semester_not_over",
            Sentence(
                f"The figures of {semester} are final only after {semester.ends_on}; the vintage is {vintage}.",
                f"Las cifras de {semester} son finales después del {semester.ends_on}; la fecha del dato es {vintage}.",
            ),
            field="semester",
            citation="3 L.P.R.A. § 786-7(b)(3)",
        )


def _check_option(resolution: Option) -> None:
    if resolution.code in STATUTORY_OPTIONS:
        raise UnsoundError(
            "option_is_statutory",
            Sentence(
                f"{resolution.code} is created by the statute, not by the Board.",
                f"{resolution.code} la crea la ley, no la Junta.",
            ),
            field="code",
            citation="3 L.P.R.A. § 786-7(b)(3)",
        )
    if resolution.until is not None and resolution.until <= resolution.in_force_from:
        raise UnsoundError(
            "ends_before_it_begins",
            Sentence("It ends before it begins.", "Termina antes de comenzar."),
            field="until",
            citation="3 L.P.R.A. § 786-7(b)(3)(C)",
        )


def _check_setting(resolution: SettingAdopted) -> None:
    setting = SETTINGS.get(resolution.name)
    if setting is None:
        raise UnsoundError(
            "unknown_setting",
            Sentence(
                f"There is no setting {resolution.name}.", f"No existe la opción reglamentaria {resolution.name}."
            ),
            field="name",
            citation="Settings of the Board",
        )
    if not setting.admits(resolution.value):
        choices = ", ".join((setting.default, *setting.alternatives))
        raise UnsoundError(
            "unknown_setting_value",
            Sentence(f"{setting.name} may be: {choices}.", f"{setting.name} puede ser: {choices}."),
            field="value",
            citation=setting.citation,
        )
    if names_option(resolution):
        _must_be_order(resolution.act, "value", setting.citation)


def names_option(resolution: SettingAdopted) -> bool:
    """Whether the setting's value is an investment option's code."""
    setting = SETTINGS[resolution.name]
    return setting.takes_option and resolution.value not in {setting.default, *setting.alternatives}


def _must_be_order(act: ActOfTheBoard, field: str, citation: str) -> None:
    if act.kind is not ActKind.ORDER:
        raise UnsoundError(
            "act_must_be_order",
            Sentence("This takes an order.", "Esto requiere una orden."),
            field=field,
            citation=citation,
        )
