"""participants.csv, transfers.csv and selections.csv: who they are, what they brought, and what they selected."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import NamedTuple

from cli.files import FileError
from cli.rebuild.exceptions import Exceptions
from cli.rebuild.figures import Selection, option_code
from cli.rebuild.tables import Parser, Row, check_header, identifier, plain_date, read_rows, read_table, split_header
from retiro.registry.participants import EMPLOYER_ID_PATTERN, PARTICIPANT_ID_PATTERN
from retiro.rules.calendar import Semester
from retiro.rules.money import parse_cents
from retiro.rules.refusals import Refusal, RefusalCode
from retiro.rules.savings_accounts import SECTION, InvestmentSelectionGiven, investment_selection

PARTICIPANTS = "participants.csv"
TRANSFERS = "transfers.csv"
SELECTIONS = "selections.csv"
WHOLE_PERCENTS = frozenset(str(percent) for percent in range(1000))


class Transfer(NamedTuple):
    """An initial transfer balance that was taken."""

    participant: int
    credited_on: date
    amount_cents: int


class InForce(NamedTuple):
    """A selection, the day from which it is in force, and the day on which it was asked for."""

    effective_on: date
    selection: Selection
    requested_on: date


@dataclass(slots=True)
class Participant:
    """A participant, and the selections that were accepted, by the day from which each is in force."""

    participant_id: str
    birth_date: date
    employer_id: str
    enrolled_on: date
    selections: list[InForce] = field(default_factory=list)


class Participants:
    """All participants in the order of their ids, and the number of each in that order."""

    def __init__(self, participants: list[Participant]) -> None:
        self._all = sorted(participants, key=lambda each: each.participant_id)
        self._numbers = {each.participant_id: number for number, each in enumerate(self._all)}

    def __len__(self) -> int:
        """How many there are."""
        return len(self._all)

    def __iter__(self) -> Iterator[Participant]:
        """Each, in order."""
        return iter(self._all)

    def __getitem__(self, number: int) -> Participant:
        """The one of a number."""
        return self._all[number]

    def number(self, text: str) -> int:
        """The number of an id: a parser for the other files.

        Raises:
            ValueError: nobody has it.
        """
        number = self._numbers.get(text)
        if number is None:
            raise ValueError("is no participant of participants.csv")
        return number


def read_participants(folder: Path, exceptions: Exceptions, *, of_ledger: bool = False) -> Participants:
    """The participants of a folder; their ids, and their employers', are of the ledger's form where it is asked for.

    Raises:
        FileError: the file is malformed, or has one id with two histories.
    """
    rows = read_table(
        folder / PARTICIPANTS,
        {
            "participant_id": _participant_of_ledger if of_ledger else identifier,
            "birth_date": plain_date,
            "employer_id": _employer_of_ledger if of_ledger else identifier,
            "enrolled_on": _day_of_a_semester,
        },
    )
    taken: dict[str, Row] = {}
    for row in rows:
        earlier = taken.setdefault(row.texts[0], row)
        if earlier is row:
            continue
        if earlier.texts != row.texts:
            raise FileError(
                f"{PARTICIPANTS}, line {row.line}, column participant_id: is that of line {earlier.line}, "
                "which says something else"
            )
        exceptions.duplicate(PARTICIPANTS, row.line, row.texts[0])
    return Participants([Participant(*row.values) for row in taken.values()])


def _participant_of_ledger(text: str) -> str:
    if not re.fullmatch(PARTICIPANT_ID_PATTERN, text):
        raise ValueError("must be P- and six to nine digits, where it is posted to a ledger")
    return text


def _employer_of_ledger(text: str) -> str:
    if not re.fullmatch(EMPLOYER_ID_PATTERN, text):
        raise ValueError("must be E- and three to six digits, where it is posted to a ledger")
    return text


def _day_of_a_semester(text: str) -> date:
    day = plain_date(text)
    Semester.containing(day)
    return day


def read_transfers(folder: Path, participants: Participants, exceptions: Exceptions) -> list[Transfer]:
    """The initial transfer balances that are taken: the first of each participant, above zero, not before enrolment.

    Raises:
        FileError: the file is malformed, or names an unknown participant.
    """
    rows = read_table(
        folder / TRANSFERS,
        {"participant_id": participants.number, "credited_on": plain_date, "amount": parse_cents},
    )
    taken: dict[int, Row] = {}
    transfers = []
    for row in rows:
        transfer = Transfer(*row.values)
        participant = participants[transfer.participant]
        earlier = taken.get(transfer.participant)
        if earlier is not None:
            _not_again(row, earlier, participant.participant_id, exceptions)
        elif transfer.amount_cents <= 0:
            exceptions.out_of_form(TRANSFERS, row.line, participant.participant_id, "amount", "not_above_zero")
        elif transfer.credited_on < participant.enrolled_on:
            exceptions.out_of_form(TRANSFERS, row.line, participant.participant_id, "credited_on", "before_enrolment")
        else:
            taken[transfer.participant] = row
            transfers.append(transfer)
    return transfers


def _not_again(row: Row, earlier: Row, participant_id: str, exceptions: Exceptions) -> None:
    if row.texts == earlier.texts:
        exceptions.duplicate(TRANSFERS, row.line, participant_id)
    else:
        refusal = Refusal(RefusalCode.INITIAL_TRANSFER_ALREADY_CREDITED, f"{SECTION}(a)(1)")
        exceptions.refused(TRANSFERS, row.line, participant_id, refusal)


# selections.csv


def read_selections(folder: Path, participants: Participants, exceptions: Exceptions) -> None:
    """Give each participant the selections that § 786-7(b) accepts, asked for in the order of their dates.

    The first that is accepted is the initial one. A change that is refused is an exception, and the earlier selection
    stays.

    Raises:
        FileError: the file is malformed, or names an unknown participant.
    """
    header, data = split_header(folder / SELECTIONS)
    options = _options(header)
    columns: dict[str, Parser] = {"participant_id": participants.number, "requested_on": plain_date}
    rows = read_rows(SELECTIONS, data, 2, columns | dict.fromkeys(options, _whole_percent))
    seen: set[tuple[str, ...]] = set()
    changed_on: dict[int, list[date]] = {}
    for row in sorted(rows, key=lambda row: row.values[1]):
        participant = participants[row.values[0]]
        if row.texts in seen:
            exceptions.duplicate(SELECTIONS, row.line, participant.participant_id)
            continue
        seen.add(row.texts)
        requested_on = row.values[1]
        if requested_on < participant.enrolled_on:
            exceptions.out_of_form(SELECTIONS, row.line, participant.participant_id, "requested_on", "before_enrolment")
            continue
        changes = changed_on.setdefault(row.values[0], [])
        selected = dict(zip(options, row.values[2:], strict=True))
        try:
            accepted = _accepted(participant, requested_on, selected, changes)
        except Refusal as refusal:
            exceptions.refused(SELECTIONS, row.line, participant.participant_id, refusal)
            continue
        if participant.selections:
            changes.append(requested_on)
        participant.selections.append(accepted)


def _options(header: list[str]) -> list[str]:
    """The options that a selections file's header names, after its two fixed columns."""
    check_header(SELECTIONS, header[:2], ["participant_id", "requested_on"])
    options = header[2:]
    if not options:
        raise FileError(f"{SELECTIONS}, line 1, column 3: must be an option's code")
    for number, option in enumerate(options):
        try:
            option_code(option)
        except ValueError as error:
            raise FileError(f"{SELECTIONS}, line 1, column {number + 3}: {error}") from None
        if option in options[:number]:
            raise FileError(f"{SELECTIONS}, line 1, column {number + 3}: {option} has a column already")
    return options


def _whole_percent(text: str) -> int:
    if text not in WHOLE_PERCENTS:
        raise ValueError("must be a whole percent, 0 for none")
    return int(text)


def _accepted(
    participant: Participant, requested_on: date, selected: Mapping[str, int], earlier_changes: list[date]
) -> InForce:
    """A selection by the rule: what it is without zeros, and from when it is in force.

    The options on offer are the file's own columns.

    Raises:
        Refusal: § 786-7(b) doesn't allow it.
    """
    given = InvestmentSelectionGiven(
        requested_on=requested_on,
        selection=dict(selected),
        options_in_force=list(selected),
        initial=not participant.selections,
        earlier_changes=earlier_changes,
    )
    return InForce(investment_selection(given).effective_on, tuple(given.selection.items()), requested_on)
