"""What was not taken of a history, and why: the rows of exceptions.csv."""

from dataclasses import dataclass, field
from typing import NamedTuple

from retiro.rules.forms import FORMS, Sentence
from retiro.rules.refusals import SENTENCES, Refusal, RefusalCode

DUPLICATE_ROW = "duplicate_row"
_DUPLICATE = Sentence(
    "The row is equal to an earlier one in every column.", "La fila es igual a una anterior en todas las columnas."
)
LEDGER = "ledger"
# Where a participant's account stops comes after what was not taken of the files.
FILES = ("participants.csv", "transfers.csv", "contributions.csv", "selections.csv", "yields.csv", "settings.csv")


class NotTaken(NamedTuple):
    """A row that was not taken, or a semester at which an account stops. They sort by participant, file and line."""

    participant_id: str
    file: int
    line: int
    where: str
    code: str
    detail: str


@dataclass(slots=True)
class Exceptions:
    """The exceptions of a history, as they are found."""

    rows: list[NotTaken] = field(default_factory=list)

    def duplicate(self, file: str, line: int, participant_id: str = "") -> None:
        """A row equal to an earlier one in every column."""
        self._row(file, line, participant_id, DUPLICATE_ROW, _DUPLICATE)

    def refused(self, file: str, line: int, participant_id: str, refusal: Refusal) -> None:
        """A row that the rules refuse."""
        self._row(file, line, participant_id, refusal.code, refusal.sentence)

    def out_of_form(self, file: str, line: int, participant_id: str, column: str, kind: str) -> None:
        """A row with a field that can't stand, by its kind in `FORMS`."""
        rule = FORMS[kind]
        sentence = SENTENCES[RefusalCode.INVALID_INPUT].with_facts(field=column, rule_en=rule.en, rule_es=rule.es)
        self._row(file, line, participant_id, RefusalCode.INVALID_INPUT, sentence)

    def stops(self, participant_id: str, semester: str, refusal: Refusal) -> None:
        """An account that stops at a semester."""
        sentence = refusal.sentence
        self.rows.append(
            NotTaken(participant_id, len(FILES), 0, semester, refusal.code, f"{sentence.en} / {sentence.es}")
        )

    def not_posted(self, participant_id: str, code: str, sentence: Sentence) -> None:
        """An account that the ledger didn't take."""
        self.rows.append(NotTaken(participant_id, len(FILES) + 1, 0, LEDGER, code, f"{sentence.en} / {sentence.es}"))

    def _row(self, file: str, line: int, participant_id: str, code: str, sentence: Sentence) -> None:
        self.rows.append(
            NotTaken(participant_id, FILES.index(file), line, f"{file}:{line}", code, f"{sentence.en} / {sentence.es}")
        )
