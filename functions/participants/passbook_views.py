"""What is shown of a passbook: the participant as of now, a page of lines, balances as of a day or a moment."""

from collections.abc import Mapping
from datetime import UTC, datetime

from participants.models import Credited, LineView, Participant, Passbook, PassbookQuery, PostingView, Selected
from participants.selections import fiscal_year_of
from retiro.ledger.lines import YIELD_RUN, Line
from retiro.ledger.passbooks import Passbooks, balances_as_of
from retiro.portal import cursor, refused
from retiro.registry.participants import Profile
from retiro.rules.calendar import Semester


def participant(profile: Profile, last: Line) -> Participant:
    """The participant as the last line has it."""
    mark = last.runs.get(YIELD_RUN)
    return Participant(
        participant_id=profile.participant_id,
        fund=profile.fund,
        employer_id=profile.employer_id,
        birth_date=profile.birth_date,
        enrolled_on=profile.enrolled_on,
        status=last.state["status"],
        savings=last.balance_cents("savings"),
        selections={day: dict(options) for day, options in last.state.get("selections", {}).items()},
        last_posted_semester=Semester.parse(mark.period) if mark else None,
        lines=last.sequence,
    )


def credited(line: Line) -> Credited:
    """A credit as its line has it."""
    return Credited(
        participant_id=line.passbook,
        sequence=line.sequence,
        kind=line.kind,
        amount=line.savings_cents - sum(line.differences.values()),
        effective_on=line.effective_on,
        belongs_on=line.belongs_on,
        differences=dict(line.differences),
        savings=line.balance_cents("savings"),
        determination=line.determination,
    )


def selected(line: Line) -> Selected:
    """A selection as its line has it."""
    return Selected(
        participant_id=line.passbook,
        sequence=line.sequence,
        requested_on=str(line.facts["requested_on"]),
        selection=dict(line.state["selections"][line.effective_on.isoformat()]),
        effective_on=line.effective_on,
        fiscal_year=fiscal_year_of(line),
        determination=line.determination,
    )


def passbook(passbooks: Passbooks, profile: Profile, query: PassbookQuery) -> Passbook:
    """The page of the passbook that the query asks for."""
    recorded = None if query.recorded_at is None else datetime.fromisoformat(query.recorded_at).astimezone(UTC)
    wanted = [
        line
        for line in passbooks.history(profile.participant_id)
        if (query.effective_on is None or line.effective_on <= query.effective_on)
        and (recorded is None or line.recorded_at <= recorded)
    ]
    after = _sequence(query)
    left = [line for line in wanted if line.sequence > after]
    page = left[: query.limit]
    return Passbook(
        participant_id=profile.participant_id,
        effective_on=query.effective_on,
        recorded_at=query.recorded_at,
        balances=balances_as_of(wanted),
        lines=[_line(line) for line in page],
        next_cursor=cursor(str(page[-1].sequence)) if len(left) > len(page) else None,
    )


def _sequence(query: PassbookQuery) -> int:
    """The sequence after which the page begins."""
    after = query.after or "0"
    if not (after.isascii() and after.isdigit()):
        raise refused(
            "invalid_cursor",
            en="The cursor isn't one that a page before has given.",
            es="El cursor no es uno que haya dado una página anterior.",
            citation="Retiro API v1, lists",
            field="cursor",
        )
    return int(after)


def _line(line: Line) -> LineView:
    return LineView(
        sequence=line.sequence,
        kind=line.kind,
        effective_on=line.effective_on,
        belongs_on=line.belongs_on,
        recorded_at=line.recorded_at.isoformat(timespec="microseconds").replace("+00:00", "Z"),
        postings=[PostingView(account=one.account, amount=one.amount_cents) for one in line.postings],
        balances=dict(line.balances),
        state=_plain(line.state),
        differences=dict(line.differences),
        facts=dict(line.facts),
        determination=line.determination,
        reverses=line.reverses,
        principal=line.principal,
        hash=line.hash.hex(),
    )


def _plain(state: Mapping[str, object]) -> dict[str, object]:
    """The state as plain JSON: its maps as dictionaries."""
    return {name: _plain(value) if isinstance(value, Mapping) else value for name, value in state.items()}
