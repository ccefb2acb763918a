"""What every determination is built of: its given, its result, the worksheet that becomes its receipt.

A determination is one pure function: facts in, result out; no clock, no random, no I/O. A new statute section is a
module of such functions and a row each in `determinations`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction
from functools import lru_cache
from typing import Annotated, Any, Generic, TypeVar

from pydantic import AfterValidator, Field, ValidationError

from retiro.rules import settings as board_settings
from retiro.rules.forms import Form, Sentence
from retiro.rules.money import format_cents, format_decimal, format_percent, is_shown_whole, round_half_away
from retiro.rules.parameters import Parameter
from retiro.rules.receipts import NO_ACTS, Act, ParameterUsed, Receipt, SettingUsed, Step, part_name
from retiro.rules.refusals import Refusal, refuse_form

_BY_DEFAULT = Sentence("default of the program; no act of the Board", "valor por omisión; sin acto de la Junta")
_AS_GIVEN = Sentence("given with the case", "dado con el caso")


def _checked_settings(settings: dict[str, str]) -> dict[str, str]:
    for name, value in settings.items():
        board_settings.check(name, value)
    return settings


class Given(Form):
    """The facts of a determination. `settings` are those of this case; what it leaves out is at its default."""

    settings: Annotated[dict[str, str], AfterValidator(_checked_settings)] = Field(default_factory=dict)


class Result(Form):
    """What a determination finds, and the receipt that shows how."""

    receipt: Receipt


@dataclass
class Worksheet:
    """What a determination writes down as it goes. It becomes the receipt, or so much of it as a refusal leaves."""

    determination: str
    citation: str
    inputs: dict[str, Any]
    acts: Mapping[str, Act] = field(default_factory=lambda: NO_ACTS)
    parameters: list[ParameterUsed] = field(default_factory=list)
    settings: list[SettingUsed] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    open_questions: list[Sentence] = field(default_factory=list)

    def setting(self, name: str, settings: Mapping[str, str], on: date) -> str:
        """The value of a setting, written down with the day that matters and with what adopted it."""
        value = board_settings.value_of(name, settings)
        used = _setting_used(name, value, on, self.acts.get(name), name in settings)
        if used not in self.settings:
            self.settings.append(used)
        return value

    def parameter(self, parameter: Parameter, on: date) -> Fraction:
        """The value of a parameter, written down with its dates and source."""
        used = ParameterUsed(
            name=parameter.name,
            value=format_decimal(parameter.value),
            unit=parameter.unit,
            on=on,
            in_force_from=parameter.in_force_from,
            until=parameter.until,
            citation=parameter.citation,
            source=parameter.source,
            checked_on=parameter.checked_on,
        )
        if used not in self.parameters:
            self.parameters.append(used)
        return parameter.value

    def money(self, citation: str, label: Sentence, formula: Sentence, amount_cents: Fraction | int) -> None:
        """Write down a step whose value is money, exact cents that are shown rounded."""
        shown = round_half_away(amount_cents)
        exact = None if amount_cents == shown else f"{amount_cents / 100}"
        self._step(citation, label, formula, format_cents(shown), exact)

    def percent(self, citation: str, label: Sentence, formula: Sentence, percent: Fraction) -> None:
        """Write down a step whose value is a percent, exact, shown with six places."""
        exact = None if is_shown_whole(percent) else str(percent)
        self._step(citation, label, formula, format_percent(percent), exact)

    def fact(self, citation: str, label: Sentence, formula: Sentence, value: object) -> None:
        """Write down a step whose value is a date, a fiscal year, or another plain text."""
        self._step(citation, label, formula, str(value), None)

    def _step(self, citation: str, label: Sentence, formula: Sentence, value: str, exact: str | None) -> None:
        self.steps.append(Step(citation, label, formula, value, exact))

    def ask(self, question: Sentence) -> None:
        """Leave a question open, once."""
        if question not in self.open_questions:
            self.open_questions.append(question)

    def summary(self, part: object) -> "Worksheet":
        """A worksheet for a part worked again: its parameters and settings count, its steps and questions don't.

        An act that is named for the part (`receipts.part_name`) is the part's; others are those of the whole.
        """
        own = {
            name: self.acts[of_part]
            for name in board_settings.SETTINGS
            if (of_part := part_name(part, name)) in self.acts
        }
        return Worksheet(
            self.determination,
            self.citation,
            self.inputs,
            {**self.acts, **own},
            self.parameters,
            self.settings,
        )

    def receipt(self) -> Receipt:
        """The receipt of what was written down so far."""
        return Receipt(
            determination=self.determination,
            citation=self.citation,
            inputs=self.inputs,
            parameters=list(self.parameters),
            settings=list(self.settings),
            steps=list(self.steps),
            open_questions=list(self.open_questions),
        )


@lru_cache
def _setting_used(name: str, value: str, on: date, act: Act | None, is_given: bool) -> SettingUsed:  # noqa: FBT001
    """A setting at work: one and the same in all receipts of a semester."""
    by_nobody = _AS_GIVEN if is_given else _BY_DEFAULT
    return SettingUsed(
        name=name,
        value=value,
        on=on,
        in_force_from=act.in_force_from if act else None,
        citation=board_settings.SETTINGS[name].citation,
        source=Sentence(act.source, act.source) if act else by_nobody,
    )


G = TypeVar("G", bound=Given)
R = TypeVar("R", bound=Result)


@dataclass(frozen=True)
class Determination(Generic[G, R]):
    """A determination by name: what law it applies, what it takes, what it finds."""

    name: str
    citation: str
    given: type[G]
    result: type[R]
    function: Callable[[G, Worksheet], R]

    def __call__(self, given: G, *, acts: Mapping[str, Act] = NO_ACTS) -> R:
        """Determine. `acts` say what adopted the settings given, by name; they are for the receipt alone.

        Raises:
            Refusal: with the receipt so far.
        """
        inputs = given.model_dump(mode="json", exclude_unset=True)
        sheet = Worksheet(self.name, self.citation, inputs, acts)
        try:
            return self.function(given, sheet)
        except Refusal as refusal:
            refusal.receipt = sheet.receipt()
            raise

    def parse(self, given: object) -> G:
        """The given of what came from JSON or YAML.

        Raises:
            Refusal: `invalid_input`, with the field.
        """
        try:
            return self.given.model_validate(given)
        except ValidationError as error:
            refuse_form(error, self.citation)


def determination(
    name: str, citation: str, given: type[G], result: type[R]
) -> Callable[[Callable[[G, Worksheet], R]], Determination[G, R]]:
    """Make a determination of a function that works on a worksheet."""

    def made(function: Callable[[G, Worksheet], R]) -> Determination[G, R]:
        return Determination(name, citation, given, result, function)

    return made
