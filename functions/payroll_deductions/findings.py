"""What was found of a remittance, by pages: the errors of a refused one, and each line as it was matched."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TypeVar

from payroll_deductions.edits import Fault
from payroll_deductions.file_store import PAGE_ROWS, RemittanceFiles, line_of, missing_place, page_count
from payroll_deductions.matching import Match
from payroll_deductions.models import FileError, FileErrors, LinesCsvQuery, LinesQuery, MatchedLine, MatchedLines
from payroll_deductions.receiving import unknown_remittance
from payroll_deductions.remittances import Remittances
from payroll_deductions.uploads import UploadStatus, upload_of
from payroll_deductions.validation import faults_of_page, first_line_of
from retiro.portal import Language, PageQuery, Principal, cursor, not_found
from retiro.portal.problems import refused, spoken
from retiro.portal.spreadsheets import Figure, amount, count, csv_text
from retiro.registry.employers import employer_of
from retiro.registry.remittances import INSTALLMENT, Remittance, RemittedLine, matched_of, remittance_of

_PLACE_NUMBER = re.compile("[0-9]{1,9}")
"""More digits than any file has rows, and less than what a slice can't count to."""

T = TypeVar("T")
Pages = tuple[int, Callable[[int], Iterable[T]]]
"""How many pages something is stored by, and one of them."""

LINES_HEADER = (
    "line", "participant_id", "kind", "amount", "salary", "name", "result", "ordered", "flag", "expected",
)  # fmt: skip


@dataclass(frozen=True)
class Findings:
    """Reads what was found."""

    remittances: Remittances
    files: RemittanceFiles

    def errors(self, remittance_id: str, query: PageQuery, principal: Principal, language: Language) -> FileErrors:
        """A page of a refused file's errors, or of the last remittance in a body that was refused under this id.

        Raises 404 where nothing was refused, 403 for another agency's or another fund's.
        """
        self._reach(remittance_id, principal)
        faults, after = _listed(self._faults(remittance_id), query.after, query.limit)
        return FileErrors(items=[_file_error(fault, language) for fault in faults], next_cursor=cursor(after))

    def lines(self, remittance_id: str, query: LinesQuery, principal: Principal) -> MatchedLines:
        """A page of lines, those of one result or flag where it is asked for. Raises 404, 403."""
        pages = _asked_for(self._lines(remittance_id, principal), query.result)
        found, after = _listed(pages, query.after, query.limit)
        return MatchedLines(items=found, next_cursor=cursor(after))

    def lines_csv(self, remittance_id: str, query: LinesCsvQuery, principal: Principal) -> str:
        """A page as it is stored, as CSV. Raises 404 for one after the last, too."""
        number, page = _asked_for(self._lines(remittance_id, principal), query.result)
        if query.page >= number:
            raise not_found(
                "no_such_page",
                en=f"There are {number} page(s), from 0.",
                es=f"Hay {number} página(s), desde 0.",
                field="page",
            )
        return csv_text(LINES_HEADER, map(_cells, page(query.page)))

    def _reach(self, remittance_id: str, principal: Principal) -> None:
        """Whether what this employer filed, taken or refused, may be looked at. Raises 403, and 404 for no employer."""
        employer_id = remittance_id.partition("_")[0]
        principal.must_reach_employer(employer_id)
        employer = employer_of(self.remittances.registry, employer_id)
        if employer is None:
            raise unknown_remittance()
        principal.must_reach_fund(employer.fund)

    def _faults(self, remittance_id: str) -> Pages[Fault]:
        upload = upload_of(self.remittances.registry, remittance_id)
        if upload is not None and upload.status is UploadStatus.REFUSED:
            return page_count(upload.rows) or 1, partial(faults_of_page, self.files, upload.place)
        kept = self.files.get(f"{remittance_id}/refused")
        if kept is None:
            raise unknown_remittance()
        return 1, lambda _: [Fault.of_document(fault) for fault in kept["faults"]]

    def _lines(self, remittance_id: str, principal: Principal) -> Pages[MatchedLine]:
        remittance = remittance_of(self.remittances.passbooks.store, remittance_id)
        if remittance is not None:
            self.remittances.reached(remittance_id, principal)
            if remittance.file is None:
                return 1, lambda _: self._lines_of_body(remittance)
            return self._lines_of_file(remittance.file.validation, remittance.first_line, remittance.file.count)
        upload = upload_of(self.remittances.registry, remittance_id)
        if upload is None or upload.status is not UploadStatus.TESTED:
            raise unknown_remittance()
        principal.must_reach_employer(upload.employer_id)
        principal.must_reach_fund(upload.fund)
        return self._lines_of_file(upload.place, first_line_of(upload), upload.rows)

    def _lines_of_body(self, remittance: Remittance) -> Iterator[MatchedLine]:
        matched = matched_of(self.remittances.passbooks.store, remittance.remittance_id)
        stored = matched.get("lines", [])
        if "missing" in matched:
            stored = [*stored, *(self.files.get(missing_place(remittance.remittance_id, matched["missing"])) or [])]
        return _matched(remittance.first_line, remittance.lines, map(Match.of_document, stored))

    def _lines_of_file(self, place: str, first_line: int, rows: int) -> Pages[MatchedLine]:
        """The pages of rows, and after them those who are missing."""
        pages = page_count(rows)

        def page(at: int) -> Iterator[MatchedLine]:
            if at == pages:
                return _matched(first_line, (), map(Match.of_document, self.files.get(f"{place}/missing") or []))
            found = (self.files.get(f"{place}/checked/{at:04d}") or {"matches": []})["matches"]
            lines = [line_of(row) for row in self.files.page_of_rows(place, at)]
            return _matched(first_line + at * PAGE_ROWS, lines, map(Match.of_document, found))

        return pages + 1, page


def _asked_for(pages: Pages[MatchedLine], result: str | None) -> Pages[MatchedLine]:
    """The same pages with the lines of one result or flag alone; all of them where none is asked for."""
    number, page = pages
    return number, lambda at: (line for line in page(at) if result in (None, line.result, line.flag))


def _matched(first_line: int, rows: Iterable[RemittedLine], matches: Iterable[Match]) -> Iterator[MatchedLine]:
    """Rows, each with its match, and those who are missing."""
    of_line: dict[int, Match] = {}
    absent: list[Match] = []
    for match in matches:
        if match.line:
            of_line[match.line] = match
        else:
            absent.append(match)
    for line, row in enumerate(rows, start=first_line):
        yield _line(row, of_line.get(line, Match(line, row.participant_id)))
    for match in absent:
        yield _line(RemittedLine(match.participant_id, 0, INSTALLMENT), match)


def _line(row: RemittedLine, match: Match) -> MatchedLine:
    return MatchedLine(
        line=match.line,
        participant_id=row.participant_id,
        kind="installment" if row.kind == INSTALLMENT else "contribution",
        amount=row.amount_cents,
        salary=row.salary_cents,
        name=row.name,
        result=match.result,
        ordered=match.ordered_cents,
        flag=match.flag,
        expected=match.expected_cents,
    )


def _listed(pages: Pages[T], after: str | None, limit: int) -> tuple[list[T], str | None]:
    """So many of what is stored by pages, and the place (`page.position`) where the next begin; `None` at the end."""
    number, page_of = pages
    page, skip = _place(after)
    found: list[T] = []
    while page < number:
        for position, one in enumerate(islice(page_of(page), skip, None), start=skip):
            if len(found) == limit:
                return found, f"{page}.{position}"
            found.append(one)
        page, skip = page + 1, 0
    return found, None


def _place(after: str | None) -> tuple[int, int]:
    """Where a page of an answer begins. Raises 422."""
    if after is None:
        return 0, 0
    page, _, position = after.partition(".")
    if not (_PLACE_NUMBER.fullmatch(page) and _PLACE_NUMBER.fullmatch(position)):
        raise refused(
            "invalid_cursor",
            en="The cursor isn't one that a page before has given.",
            es="El cursor no es uno que haya dado una página anterior.",
            citation="Retiro API v1, lists",
            field="cursor",
        )
    return int(page), int(position)


def _file_error(fault: Fault, language: Language) -> FileError:
    return FileError(
        line=fault.line, column=fault.column, code=str(fault.edit), detail=spoken(fault.sentence, language)
    )


def _cells(line: MatchedLine) -> list[str]:
    """The line as cells: the name alone is a text of somebody else's."""
    return [
        count(line.line),
        Figure(line.participant_id),
        Figure(line.kind),
        amount(line.amount),
        _amount(line.salary),
        line.name,
        Figure(line.result or ""),
        _amount(line.ordered),
        Figure(line.flag or ""),
        _amount(line.expected),
    ]


def _amount(amount_cents: int | None) -> Figure:
    return Figure("") if amount_cents is None else amount(amount_cents)
