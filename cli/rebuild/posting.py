"""`--post`: the same lines in the ledger of a stack. It is a run, and may be stopped and begun again at any moment.

Each line has the mark of the rebuild: the history's hash and the row of the participant's history that was reached. So
the last line says where to go on. Many lines go in one transaction, on the condition that their places are free; what
became of a transaction without an answer is asked of the passbook itself. Participants are independent of one another.
"""

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from types import TracebackType
from typing import TYPE_CHECKING, Self

from cli.rebuild.approval import approved_evidence
from cli.rebuild.entries import EVIDENCE, Entries, Entry
from cli.rebuild.evidence import PostedHistory
from cli.rebuild.exceptions import Exceptions
from cli.rebuild.history import Participant
from cli.rebuild.readback import PostedStatements
from retiro.ledger import evidence as evidence_items
from retiro.ledger import lines as line_items
from retiro.ledger.encoding import Item, size_bytes
from retiro.ledger.evidence import Evidence
from retiro.ledger.lines import REBUILD_RUN, Line, next_line
from retiro.ledger.passbooks import RUN_LINE_BYTES_MAX, InvalidTransactionError, LineTooLargeError
from retiro.ledger.retries import BusyError
from retiro.ledger.store import LedgerStore, Outcome, UnansweredError
from retiro.registry.clock import Clock
from retiro.registry.participants import Profile, opening_items
from retiro.registry.runs import Run, RunBook, RunStatus
from retiro.registry.table import Table
from retiro.rules.calendar import Semester
from retiro.rules.forms import Sentence
from retiro.runs.kinds import PARTICIPANT_ERRORS, exception_of

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

FUND = "ERS"
THREADS = 8
TRANSACTION_ITEMS = 100
"""Items in a transaction: as many as DynamoDB takes."""

_OF_REBUILD = (RunStatus.APPROVED, RunStatus.POSTING, RunStatus.POSTED, RunStatus.FAILED)
"""Where a rebuild that somebody has approved may stand."""

_WAITING = 8 * THREADS
"""How many accounts are calculated before the oldest of them is posted."""

PASSBOOK_NOT_EMPTY = "passbook_not_empty"
OTHER_HISTORY = "other_history"
PASSBOOK_MOVED = "passbook_moved"
NOT_PROVED = "not_proved"
SENTENCES = {
    PASSBOOK_NOT_EMPTY: Sentence(
        "The passbook has lines that come from no history. A rebuild begins with an empty one; nothing is written.",
        "La libreta tiene líneas que no vienen de un historial. Una reconstrucción comienza con una vacía; no se "
        "escribe nada.",
    ),
    OTHER_HISTORY: Sentence(
        "The passbook was begun from another history, {other}. This one is {history}; nothing is written.",
        "La libreta se comenzó con otro historial, {other}. Este es {history}; no se escribe nada.",
    ),
    PASSBOOK_MOVED: Sentence(
        "Other lines came into the passbook before its history was at its end. A person has to decide.",
        "Entraron otras líneas en la libreta antes de que terminara su historial. Tiene que decidir una persona.",
    ),
    NOT_PROVED: Sentence(
        "The statements that the ledger gives are not those that were calculated.",
        "Los estados que da el libro mayor no son los que se calcularon.",
    ),
}


class NotTakenError(Exception):
    """A passbook that can't be rebuilt: a code of `SENTENCES`, and what a person reads."""

    def __init__(self, code: str, **facts: str) -> None:
        super().__init__(code)
        self.code = code
        self.sentence = SENTENCES[code].with_facts(**facts)


@dataclass(frozen=True)
class Ledger:
    """A stack's tables, and the clock that its lines are recorded by."""

    store: LedgerStore
    registry: Table
    clock: Clock


@dataclass(frozen=True)
class PostTo:
    """The ledger that a history is posted to, and the person who does it."""

    ledger: Ledger
    principal: str


@dataclass(frozen=True)
class _Account:
    """A passbook to be written: the entries in order, and what goes into the transaction that opens it."""

    profile: Profile
    entries: Sequence[Entry]
    opening: Sequence["TransactWriteItemTypeDef"]


class RebuiltPassbooks:
    """Writes passbooks from entries, and reads back what is there."""

    def __init__(self, ledger: Ledger, history: str) -> None:
        self._ledger = ledger
        self._store = ledger.store
        self._history = history
        self._statements = PostedStatements(ledger.store)

    def post(self, account: _Account) -> int:
        """Write what isn't there yet of a passbook, and say how many lines it was.

        Raises `NotTakenError`, the errors of a participant (`PARTICIPANT_ERRORS`), `BusyError`.
        """
        last = begun = self._reached(account)
        failed = 0
        while following := list(self._next(account, last)):
            opening = account.opening if last is None else ()
            if self._written([*opening, *(self._store.insertion(item) for _, item in following)]):
                (last, _), failed = following[-1], 0
                continue
            if failed == self._store.retries.attempts_max:
                raise BusyError(f"{account.profile.participant_id} wasn't taken in {failed} attempts")
            self._store.retries.pause(failed)
            failed += 1
            last = self._reached(account)
        return (last.sequence if last else 0) - (begun.sequence if begun else 0)

    def statements(self, participant_id: str) -> list[str]:
        """The statements that the ledger gives for a passbook, of the lines that the rebuild has written."""
        lines = list(self._store.lines(participant_id))
        return list(self._statements.of(lines[: lines[-1].runs[REBUILD_RUN].sequence]))

    def _written(self, items: "Sequence[TransactWriteItemTypeDef]") -> bool:
        """Whether a transaction was done. If not, or nobody knows, the passbook says what is there."""
        try:
            reasons = self._store.transact(items)
        except UnansweredError:
            return False
        if any(reason.outcome is Outcome.INVALID for reason in reasons):
            raise InvalidTransactionError("; ".join(reason.message for reason in reasons))
        return not reasons

    def _reached(self, account: _Account) -> Line | None:
        """The last line of this history in the passbook, read consistently; `None` where the passbook is empty.

        Raises `NotTakenError` where it isn't this history's, or others have written before it was at its end.
        """
        last = self._store.last_line(account.profile.participant_id)
        if last is None:
            return None
        mark = last.runs.get(REBUILD_RUN)
        if mark is None:
            raise NotTakenError(PASSBOOK_NOT_EMPTY)
        if mark.period != self._history:
            raise NotTakenError(OTHER_HISTORY, other=mark.period, history=self._history)
        if mark.sequence == last.sequence:
            return last
        place = (last.passbook, mark.sequence)
        reached = self._store.get_lines([place]).get(place)
        if reached is None or any(self._next(account, reached)):
            raise NotTakenError(PASSBOOK_MOVED)
        return reached

    def _next(self, account: _Account, last: Line | None) -> Iterator[tuple[Line, Item]]:
        """The lines of the next transaction, each with its item."""
        first_row = last.runs[REBUILD_RUN].attempt if last else 0
        room = TRANSACTION_ITEMS - (0 if last else len(account.opening))
        now = self._ledger.clock()
        for row, entry in enumerate(account.entries[first_row:], start=first_row + 1):
            draft = entry(last)
            if draft is None:
                continue
            if not room:
                return
            last = next_line(
                last,
                replace(draft, rebuild=(self._history, row)),
                passbook=account.profile.participant_id,
                fund=FUND,
                recorded_at=now,
            )
            item = line_items.to_item(last)
            if (size := size_bytes(item)) > RUN_LINE_BYTES_MAX:
                raise LineTooLargeError(last, size, RUN_LINE_BYTES_MAX)
            room -= 1
            yield last, item


class Posting:
    """A run: every account as it is calculated, in a few threads. Used as a context, which ends with the run's item.

    `run`: approved, or under way, or over.
    """

    def __init__(
        self, ledger: Ledger, history: PostedHistory, run: Run, entries: Entries, exceptions: Exceptions
    ) -> None:
        self._ledger = ledger
        self._history = history
        self._entries = entries
        self._exceptions = exceptions
        self._passbooks = RebuiltPassbooks(ledger, history.hash)
        self._book = RunBook(ledger.registry)
        self._pool = ThreadPoolExecutor(THREADS)
        self._waiting: deque[tuple[str, Future[int]]] = deque()
        self._run = run
        self.lines = 0
        self._not_taken: Counter[str] = Counter()

    def __enter__(self) -> Self:
        """Begin to post, or go on with it: first the run's item, then what the lines rest on.

        Once it is under way neither its persons nor its rules change any more, and the evidence names them. Raises
        `RunChangedError` where somebody has prepared it anew this moment.
        """
        now = self._ledger.clock()
        self._run = self._book.change(self._run, *_OF_REBUILD, status=RunStatus.POSTING, started_at=now, result=None)
        for one in approved_evidence(self._history, self._run):
            self._ledger.store.put_evidence(one)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _error: BaseException | None, _at: TracebackType | None
    ) -> None:
        """End it. Where it was stopped it stands as `posting`, and the next one goes on."""
        try:
            while kind is None and self._waiting:
                self._settle()
        finally:
            self._pool.shutdown(cancel_futures=True)
        if kind is None:
            status = RunStatus.FAILED if NOT_PROVED in self._not_taken else RunStatus.POSTED
            result = {"lines": self.lines, "not_taken": dict(self._not_taken)}
            # Another process may have come to its end meanwhile.
            self._book.change(self._run, *_OF_REBUILD, status=status, result=result)

    def take(self, number: int, participant: Participant, statements: Sequence[str]) -> None:
        """Post an account, whose statements were calculated: of the semesters that have one, in a row."""
        self._waiting.append(
            (participant.participant_id, self._pool.submit(self._post, number, participant, statements))
        )
        if len(self._waiting) > _WAITING:
            self._settle()

    def _post(self, number: int, participant: Participant, statements: Sequence[str]) -> int:
        """Write the passbook, and prove it: the statements that it gives are those that were calculated."""
        account = self._account(number, participant, len(statements))
        lines = self._passbooks.post(account)
        if self._passbooks.statements(participant.participant_id) != list(statements):
            raise NotTakenError(NOT_PROVED)
        return lines

    def _account(self, number: int, participant: Participant, semesters: int) -> _Account:
        profile = Profile(
            participant.participant_id, FUND, participant.birth_date, participant.employer_id, participant.enrolled_on
        )
        yielding = [Semester.containing(participant.enrolled_on)]
        while len(yielding) < semesters:
            yielding.append(yielding[-1].next())
        registry = self._ledger.registry
        return _Account(
            profile,
            self._entries.of(number, participant, yielding[:semesters]),
            [
                *(registry.insertion(item) for item in opening_items(profile)),
                self._ledger.store.insertion(evidence_items.to_item(self._enrolment(profile))),
            ],
        )

    def _enrolment(self, profile: Profile) -> Evidence:
        body = {
            "participant_id": profile.participant_id,
            "fund": profile.fund,
            "birth_date": profile.birth_date.isoformat(),
            "employer_id": profile.employer_id,
            "enrolled_on": profile.enrolled_on.isoformat(),
            EVIDENCE: self._history.hash,
        }
        return Evidence("enrolment", profile.participant_id, body)

    def _settle(self) -> None:
        """Wait for the account that has waited longest."""
        participant_id, future = self._waiting.popleft()
        try:
            self.lines += future.result()
        except NotTakenError as error:
            self._was_not_taken(participant_id, error.code, error.sentence)
        except PARTICIPANT_ERRORS as error:
            found = exception_of(error)
            self._was_not_taken(participant_id, found.code, found.sentence)

    def _was_not_taken(self, participant_id: str, code: str, sentence: Sentence) -> None:
        self._not_taken[code] += 1
        self._exceptions.not_posted(participant_id, code, sentence)
