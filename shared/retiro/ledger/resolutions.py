"""What the Board resolves: the kinds of resolution and what each says, as proposed, adopted and kept.

Each rests on an act (regulation, order or resolution: body, number, date, hash of the document) and names its source
and its vintage, the day as of which the source says so.
"""

from datetime import date
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, StringConstraints, TypeAdapter

from retiro.ledger.encoding import content_hash
from retiro.rules.calendar import Date, Semester, last_day_of_month
from retiro.rules.forms import Form, Sentence
from retiro.rules.judiciary_hybrid import FactorTable, format_age
from retiro.rules.judiciary_hybrid.factors import AgeInMonths, Unit
from retiro.rules.money import NonNegativePercent, Percent, format_decimal
from retiro.rules.savings_accounts import FIXED_INCOME, SYSTEM_PORTFOLIO
from retiro.rules.savings_accounts.arithmetic import MONTHS_IN_SEMESTER
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
_POINTS_MAX = 600


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


class Makeham(Form):
    """Mortality by Makeham's law, by its constants."""

    law: Literal["makeham"]
    A: NonNegativePercent
    B: NonNegativePercent
    c: NonNegativePercent


class SoaTable(Form):
    """Mortality by a table of the Society of Actuaries, by its number."""

    soa_table: Annotated[int, Field(ge=1)]


class BlendedTable(SoaTable):
    """A table and its weight in a blend."""

    weight_percent: NonNegativePercent


class Blend(Form):
    """Mortality by several tables, whose death rates are weighed."""

    blend: Annotated[list[BlendedTable], Field(min_length=1, max_length=10)]


class NamedMortality(Form):
    """Mortality by a table that the actuary names."""

    named: Text


class AnnuityFactors(_Resolved):
    """The factors by age that annuities are issued on, and what they rest on. § 242b(c)(2).

    Points are in the order of the ages, no more than a year apart. `payment` is when in a month the annuity is paid.
    """

    kind: Literal["factor_table"]
    fund: Literal["JRS"]
    unit: Unit
    points: Annotated[dict[AgeInMonths, Percent], Field(min_length=1, max_length=_POINTS_MAX)]
    mortality: Makeham | Blend | SoaTable | NamedMortality
    interest_percent: NonNegativePercent
    method: Text
    payment: Literal["start", "end"]
    actuary: Text
    consulted_on: Date
    in_force_from: Date
    until: Date | None = None

    @property
    def table(self) -> FactorTable:
        """The table as `life_annuity` takes it."""
        by_age = {format_age(age): format_decimal(factor) for age, factor in self.points.items()}
        return FactorTable.model_validate({"unit": self.unit, "points": by_age})


class HybridReturn(_Resolved):
    """What the hybrid accounts earned in a semester, or in its first complete months. The Board's percent.

    The percent is that of the months covered, as it is: it isn't a year's. Six months are the whole semester.
    """

    kind: Literal["hybrid_return"]
    fund: Literal["JRS"]
    semester: Semester
    percent: Percent
    months_covered: Annotated[int, Field(ge=1, le=MONTHS_IN_SEMESTER)] = MONTHS_IN_SEMESTER


Resolution = Annotated[
    TreasuryYields
    | PortfolioReturn
    | Option
    | OptionSemester
    | SettingAdopted
    | ClosureDays
    | AnnuityFactors
    | HybridReturn,
    Field(discriminator="kind"),
]
RESOLUTION: TypeAdapter[Resolution] = TypeAdapter(Resolution, config=ConfigDict(defer_build=True))


class Kind(StrEnum):
    """The kinds of resolution."""

    TREASURY_YIELDS = "treasury_yields"
    PORTFOLIO_RETURN = "portfolio_return"
    OPTION = "option"
    OPTION_YIELD = "option_yield"
    SETTING = "setting"
    CLOSURE_DAYS = "closure_days"
    FACTOR_TABLE = "factor_table"
    HYBRID_RETURN = "hybrid_return"


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


def month_period(month: str) -> tuple[date, date]:
    """The first and the last day of a month `2025-06`."""
    year, number = int(month[:4]), int(month[5:])
    return date(year, number, 1), date(year, number, last_day_of_month(year, number))


def names_option(resolution: SettingAdopted) -> bool:
    """Whether the setting's value is an investment option's code."""
    setting = SETTINGS[resolution.name]
    return setting.takes_option and resolution.value not in {setting.default, *setting.alternatives}
