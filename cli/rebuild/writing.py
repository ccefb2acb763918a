"""statements.csv and exceptions.csv: written beside their places, and put there together when all is done."""

import csv
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from cli.rebuild.exceptions import Exceptions

STATEMENTS = "statements.csv"
EXCEPTIONS = "exceptions.csv"
EXCEPTION_COLUMNS = ("participant_id", "where", "code", "detail")


@contextmanager
def put_in_place(folder: Path) -> Iterator[tuple[TextIO, TextIO]]:
    """Files for the statements and the exceptions. What stood in their places stays until both are complete."""
    parts = [folder / f"{name}.part" for name in (STATEMENTS, EXCEPTIONS)]
    try:
        with (
            parts[0].open("w", encoding="utf-8", newline="") as statements,
            parts[1].open("w", encoding="utf-8", newline="") as exceptions,
        ):
            yield statements, exceptions
            for file in (statements, exceptions):
                file.flush()
                os.fsync(file.fileno())
        for part in parts:
            part.replace(part.with_suffix(""))
    finally:
        for part in parts:
            part.unlink(missing_ok=True)


def write_exceptions(file: TextIO, exceptions: Exceptions) -> None:
    """The exceptions by participant, each one's by file and line, the semester at which the account stops last."""
    rows = csv.writer(file, lineterminator="\n")
    rows.writerow(EXCEPTION_COLUMNS)
    for row in sorted(exceptions.rows):
        rows.writerow((row.participant_id, row.where, row.code, row.detail))
