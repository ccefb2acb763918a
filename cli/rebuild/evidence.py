"""What the lines of a rebuilt passbook rest on: the history by its hash, and each semester's figures and settings."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from cli.files import FileError
from cli.rebuild.contributions import CONTRIBUTIONS
from cli.rebuild.entries import EVIDENCE, dated_on
from cli.rebuild.figures import SETTINGS, YIELDS, Figures
from cli.rebuild.history import PARTICIPANTS, SELECTIONS, TRANSFERS
from retiro.ledger.encoding import content_hash
from retiro.ledger.evidence import Evidence
from retiro.rules.calendar import Semester
from retiro.rules.settings import SAVINGS_SETTINGS

_FILES = (PARTICIPANTS, TRANSFERS, CONTRIBUTIONS, SELECTIONS, YIELDS, SETTINGS)
_HASH_DIGITS = 32
"""Of the 64 of the hash: every line carries them."""


@dataclass(frozen=True, slots=True)
class PostedHistory:
    """A history as the ledger knows it: its hash, and the evidence that its lines rest on, its own first."""

    hash: str
    evidence: tuple[Evidence, ...]


def posted_history(folder: Path, figures: Figures, today: date) -> PostedHistory:
    """The history in a folder, by the hash of all its files' bytes.

    Raises:
        FileError: a semester isn't over, or would be posted on a setting that isn't in force: no ledger posts on a
            default.
    """
    files = {name: _sha256(folder / name) for name in _FILES if (folder / name).exists()}
    digest = content_hash(files).hex()[:_HASH_DIGITS]
    body: dict[str, Any] = {"files": files}
    if figures.last is not None:
        if dated_on(figures.last) > today:
            raise FileError(f"{YIELDS}: {figures.last} is posted from {dated_on(figures.last)} on")
        body["through"] = str(figures.last)
    return PostedHistory(digest, (Evidence(EVIDENCE, digest, body), *_of_semesters(digest, figures)))


def _of_semesters(digest: str, figures: Figures) -> Iterator[Evidence]:
    """As a yield run's evidence has them: what a late credit is determined from."""
    for semester in figures.semesters():
        in_force = figures.settings_on(semester.ends_on)
        for name in SAVINGS_SETTINGS:
            if name not in in_force:
                raise _not_adopted(name, semester)
        source = f"{SETTINGS} of the history {digest}"
        body = {
            "semester": str(semester),
            "yield_date": dated_on(semester).isoformat(),
            "option_yields": {
                option: one.model_dump(mode="json", exclude_none=True)
                for option, one in figures.of(semester).option_yields.items()
            },
            "settings": {name: value for name, (_, value) in in_force.items()},
            "acts": {name: {"source": source, "in_force_from": day.isoformat()} for name, (day, _) in in_force.items()},
            "closure_days": [],
        }
        yield Evidence(EVIDENCE, f"{digest}/{semester}", body)


def _not_adopted(name: str, semester: Semester) -> FileError:
    return FileError(
        f"{SETTINGS}: {name} is not in force on {semester.ends_on}, and nothing is posted to a ledger on a default"
    )


def _sha256(place: Path) -> str:
    with place.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
