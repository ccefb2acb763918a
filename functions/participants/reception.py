"""A file of enrolments at the door: all rows are checked before any is taken; each error is listed with its line."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from participants.enrolment import Enrolment, Enrolments
from participants.files import FileStore
from participants.models import FileControl, NewParticipantFile, ParticipantFile, RowError
from participants.person_keys import PersonKeys
from retiro.portal import FieldError, Language, Principal, Problem, conflict, not_found, spoken
from retiro.registry.jobs import Job, Jobs
from retiro.rules.forms import Sentence
from retiro.rules.money import format_cents
from retiro.rules.refusals import Refusal
from retiro.rules.savings_accounts import SECTION
from retiro.runs.jobs import JobStarter

_CITATION = f"{SECTION}(a)(1), (b)(1)"
_TWICE = Sentence("The participant stands twice in the file.", "El participante consta dos veces en el archivo.")


@dataclass(frozen=True)
class Reception:
    """Receives files, and says where they stand."""

    jobs: Jobs
    files: FileStore
    person_keys: PersonKeys
    starter: JobStarter

    def receive(
        self, body: NewParticipantFile, principal: Principal, enrolments: Enrolments, language: Language
    ) -> ParticipantFile:
        """Take the file and start working it off. The same file again is started again where it isn't done.

        Raises 403 for another agency's or another fund's rows, 422 with every error, 409 for another content under the
        same reference.
        """
        for employer_id in {row.employer_id for row in body.participants}:
            principal.must_reach_employer(employer_id)
        for fund in {row.fund for row in body.participants}:
            principal.must_reach_fund(fund)
        rows = [Enrolment.of(row, self.person_keys.of(row.person_identifier)) for row in body.participants]
        errors = [*_control_errors(body.control, rows), *_row_errors(rows, enrolments)]
        if errors:
            raise _refused(errors)
        file_id = f"{_sender(principal)}_{body.reference}"
        job = self._open(file_id, rows, principal)
        self.starter.start(file_id)
        return self._view(self.jobs.get(file_id) or job, language)

    def status(self, file_id: str, principal: Principal, language: Language) -> ParticipantFile:
        """Where the file stands. Raises 404, and 403 for another agency's file, or one of another fund."""
        job = self.jobs.get(file_id)
        if job is None:
            raise not_found(
                "unknown_file", en="No such file was received.", es="No se recibió tal archivo.", field="file_id"
            )
        if principal.employer_id is not None:
            principal.must_reach_employer(file_id.split("_", 1)[0])
        for fund in job.facts["funds"]:
            principal.must_reach_fund(fund)
        return self._view(job, language)

    def _open(self, file_id: str, rows: Sequence[Enrolment], principal: Principal) -> Job:
        digest = self.files.put(file_id, rows)
        facts = {"digest": digest, "principal": principal.label, "funds": sorted({row.fund for row in rows})}
        job = self.jobs.open(file_id, rows=len(rows), facts=facts)
        if job.facts["digest"] != digest:
            raise conflict(
                "file_reference_used",
                en="This reference was used for a file of another content.",
                es="Esta referencia se usó para un archivo de otro contenido.",
                field="reference",
            )
        return job

    def _view(self, job: Job, language: Language) -> ParticipantFile:
        cursors = self.jobs.cursors(job.job_id)
        return ParticipantFile(
            file_id=job.job_id,
            status=job.status.value,
            place=f"/participant-files/{job.job_id}",
            done=sum(cursor.done for cursor in cursors),
            of=job.rows,
            errors=[_row_note(note, language) for cursor in cursors for note in cursor.notes],
        )


def _sender(principal: Principal) -> str:
    """Whose references a file's is one of: the agency's, or the party's, of its fund where it is bound to one."""
    if principal.employer_id is not None:
        return principal.employer_id
    return str(principal.party) if principal.fund is None else f"{principal.party}-{principal.fund}"


def _row_note(note: Mapping[str, Any], language: Language) -> RowError:
    said = {name: value for name, value in note.items() if name not in set(Language)}
    return RowError(**said, detail=spoken(Sentence(note["en"], note["es"]), language))


def _control_errors(control: FileControl, rows: Sequence[Enrolment]) -> Iterator[FieldError]:
    if control.count != len(rows):
        yield _control_error("count", str(control.count), str(len(rows)))
    total_cents = sum(row.initial_transfer.amount for row in rows if row.initial_transfer is not None)
    if control.transfers_total != total_cents:
        yield _control_error("transfers_total", format_cents(control.transfers_total), format_cents(total_cents))


def _control_error(name: str, stated: str, found: str) -> FieldError:
    return FieldError(
        ("body", "control", name),
        "control_mismatch",
        Sentence(f"The control says {stated}, the rows {found}.", f"El control dice {stated}; las filas, {found}."),
    )


def _row_errors(rows: Sequence[Enrolment], enrolments: Enrolments) -> Iterator[FieldError]:
    times = Counter(row.participant_id for row in rows)
    for index, row in enumerate(rows):
        if times[row.participant_id] > 1:
            yield _row_error(index, "participant_id", "participant_twice", _TWICE)
        try:
            enrolments.check(row)
        except Refusal as refusal:
            yield _row_error(index, refusal.field or "", str(refusal.code), refusal.sentence)


def _row_error(index: int, field: str, code: str, sentence: Sentence) -> FieldError:
    line = index + 1
    return FieldError(
        ("body", "participants", index, *field.split(".")),
        code,
        Sentence(f"Line {line}: {sentence.en}", f"Línea {line}: {sentence.es}"),
    )


def _refused(errors: Sequence[FieldError]) -> Problem:
    return Problem(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        "file_refused",
        Sentence(
            f"Nothing of the file was taken: {len(errors)} error(s).",
            f"No se tomó nada del archivo: {len(errors)} error(es).",
        ),
        citation=_CITATION,
        errors=errors,
    )
