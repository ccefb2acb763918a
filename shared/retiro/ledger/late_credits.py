"""What belongs to a semester that was posted already: late credits, corrections and reversals, by new lines.

A late credit is effective when it is recorded and names its legal date. The yield difference of each posted semester,
determined again as the rules have it, goes into the same line. These drafts are made from the whole passbook.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import TYPE_CHECKING, Any

from retiro.ledger.lines import YIELD_RUN, Draft, Line, LineError, LineKind, Posting, next_line
from retiro.ledger.month_ends import from_movements
from retiro.ledger.savings import (
    CONTRIBUTIONS,
    HISTORY,
    SECTION,
    TRANSFERS,
    YIELDS,
    Origin,
    Status,
    against,
    all_selections,
    check_takes_credits,
    is_late,
    movements,
    movements_of,
    posted_semester,
    selection_in_force,
    selections_since,
)
from retiro.rules import savings_accounts
from retiro.rules.calendar import Semester
from retiro.rules.money import format_cents
from retiro.rules.receipts import Act, part_name
from retiro.rules.refusals import Refusal, RefusalCode

if TYPE_CHECKING:
    from retiro.rules.savings_accounts import LateCredit, SemesterYieldGiven

LATE_LINE = "late_line"
"""The fact of a late credit that gives the yield of a line already recorded: that line's sequence."""


@dataclass(frozen=True, slots=True)
class AsPosted:
    """The figures that a semester was posted on, as `semester_yield` takes them; `acts` adopted the settings."""

    option_yields: Mapping[str, Any]
    settings: Mapping[str, str] = field(default_factory=dict)
    closure_days: Sequence[str] = ()
    acts: Mapping[str, Act] = field(default_factory=dict)

    @classmethod
    def of_body(cls, body: Mapping[str, Any]) -> "AsPosted":
        """From the body of a yield run's evidence."""
        acts = {
            name: Act(act["source"], date.fromisoformat(act["in_force_from"])) for name, act in body["acts"].items()
        }
        return cls(body["option_yields"], body["settings"], body["closure_days"], acts)


@dataclass(frozen=True, slots=True)
class Late:
    """A movement of savings on its legal date: signed cents against a contra account."""

    amount_cents: int
    legal_date: date
    recorded_on: date
    contra: str = CONTRIBUTIONS
    kind: LineKind = LineKind.LATE_CREDIT
    reverses: int | None = None


@dataclass(frozen=True, slots=True)
class Posted:
    """A semester that a late credit reaches: its yield line, `None` where the account had no credit then."""

    semester: Semester
    line: Line | None

    @property
    def determination(self) -> str | None:
        """Where the figures are that it was posted on."""
        return self.line.determination if self.line else None


def posted_semesters(history: Sequence[Line], legal_date: date) -> list[Posted]:
    """The posted semesters from that of the legal date on, in order: those whose figures `late_credit` needs."""
    mark = history[-1].runs.get(YIELD_RUN)
    posted = []
    while mark is not None:
        line = history[mark.sequence - 1]
        posted.append(Posted(posted_semester(line), line))
        mark = history[mark.sequence - 2].runs.get(YIELD_RUN)
    first = Semester.containing(legal_date)
    while posted and posted[-1].semester > first:
        posted.append(Posted(posted[-1].semester.previous(), None))
    return [one for one in reversed(posted) if one.semester >= first]


def late_credit(
    history: Sequence[Line], late: Late, figures: Mapping[str, AsPosted], origin: Origin
) -> "tuple[Draft, LateCredit]":
    """§ 786-7(a)(2), (3): the credit and the yield differences of every posted semester, and the determination.

    `figures` are by semester (`FY2025-S1`). Raises `Refusal`: what the determination does; `status_forbids`; and
    `needs_decision` where a semester's figures, taken again, don't give what was posted. `LineError` where the legal
    date lies in an open semester.
    """
    if not is_late(history[-1], late.legal_date):
        msg = f"{late.legal_date} lies in an open semester"
        raise LineError(msg)
    check_takes_credits(history[-1])
    result = _determined(history, (late.legal_date, late.amount_cents), figures)
    return _draft(late, result, origin, against(late.contra, late.amount_cents)), result


def as_posted(history: Sequence[Line], posted: Posted, figures: AsPosted) -> "SemesterYieldGiven":
    """What `semester_yield` takes to find a posted semester again, as it stands after the late credits since."""
    return savings_accounts.semester_yield.parse(_as_posted(history, posted, figures))


def late_yield(
    history: Sequence[Line], sequence: int, figures: Mapping[str, AsPosted], recorded_on: date, origin: Origin
) -> "tuple[Draft, LateCredit]":
    """The yield differences of a line that came between a run's preparation and its posting, so that no figure has it.

    The movement itself stands in that line; this one credits the difference alone. Raises as `late_credit` does, and
    `Refusal` `needs_decision` where a later semester was posted since, on an opening that has the movement already.
    """
    line = history[sequence - 1]
    if len(posted_semesters(history, line.legal_date)) > 1:
        raise _needs_decision(
            f"line {sequence} is in the opening of a later semester that was posted since",
            f"la línea {sequence} está en el balance inicial de un semestre posterior ya acreditado",
        )
    late = Late(line.savings_cents, line.legal_date, recorded_on)
    result = _determined(history, (late.legal_date, late.amount_cents), figures)
    origin = replace(origin, facts={**origin.facts, LATE_LINE: sequence})
    return _draft(late, result, origin, ()), result


def left_out(history: Sequence[Line]) -> list[Line]:
    """The lines dated in a posted semester that neither its figures nor a later difference has, in order."""
    given = {line.facts[LATE_LINE] for line in history if LATE_LINE in line.facts}
    posted = [one for one in posted_semesters(history, history[0].effective_on) if one.line is not None]
    return [
        line
        for line in history
        if line.savings_cents
        and line.kind not in (LineKind.SEMESTER_YIELD, LineKind.REVERSAL)
        and not line.differences
        and line.sequence not in given
        and any(_is_left_out(line, one.line) for one in posted if one.line)
    ]


@dataclass(frozen=True, slots=True)
class Correction:
    """Line `sequence` was wrong. `right` is what it should have been, cents and legal date; `None`: it shouldn't be."""

    sequence: int
    recorded_on: date
    right: tuple[int, date] | None = None


def correction(
    history: Sequence[Line], wrong: Correction, figures: Mapping[str, AsPosted], origin: Origin
) -> list[Draft]:
    """A credit put right by new lines: one that reverses it on its legal date, and the right one, if there is one.

    Each is a late credit, with its yield differences, where its semester is posted. Raises as `late_credit` does, and
    `Refusal` `needs_decision` where the line was reversed already, or is no credit.
    """
    line = history[wrong.sequence - 1]
    contra, cents = _credit_of(line)
    if any(other.reverses == line.sequence for other in history):
        raise _needs_decision(f"line {line.sequence} was reversed already", f"la línea {line.sequence} ya se reversó")
    reversing = Late(-cents, line.legal_date, wrong.recorded_on, contra, LineKind.CORRECTION, line.sequence)
    drafts = [_placed(history, reversing, figures, origin)]
    if wrong.right is not None:
        right_cents, legal_date = wrong.right
        reversed_line = next_line(
            history[-1],
            drafts[0],
            passbook=line.passbook,
            fund=line.fund,
            recorded_at=history[-1].recorded_at,
        )
        right = Late(right_cents, legal_date, wrong.recorded_on, contra)
        drafts.append(_placed([*history, reversed_line], right, figures, origin))
    return drafts


def reversal_of(
    history: Sequence[Line], semester: Semester, origin: Origin, run: tuple[str, str, int] | None = None
) -> Draft:
    """The yield of the semester posted last taken back, with the differences that late credits have added to it since.

    It is effective on the original date, puts the mark of the semester before back, and opens the month-ends again.
    `run` marks the reversal itself, if a run does it. Raises `Refusal`: `not_posted`, `later_semester_stands`,
    `status_forbids` (settled since), or `needs_decision`.
    """
    last = history[-1]
    posted = _reversible(last, history, semester)
    name = str(semester)
    differences_cents = sum(line.differences.get(name, 0) for line in history[posted.sequence :])
    total_cents = posted.savings_cents + differences_cents
    before = history[posted.sequence - 2]
    if YIELD_RUN not in before.runs and any(
        Semester.parse(one) < semester for line in history for one in line.differences
    ):
        raise _needs_decision(
            f"a late credit has brought yield of semesters before {semester}, the first one posted",
            f"un crédito tardío trajo rendimiento de semestres anteriores a {semester}, el primero acreditado",
        )
    kept = selections_since(all_selections(history)["selections"], semester.starts_on)
    return Draft(
        LineKind.REVERSAL,
        posted.effective_on,
        origin.principal,
        postings=against(YIELDS, -total_cents),
        state={"selections": kept} if kept != last.state.get("selections", {}) else {},
        run=run,
        restores=(YIELD_RUN, before.runs.get(YIELD_RUN)),
        determination=origin.determination,
        reverses=posted.sequence,
        belongs_on=semester.ends_on,
        differences={name: -differences_cents} if differences_cents else {},
        facts=origin.facts,
        month_ends=from_movements(semester, [*movements(history), (semester.ends_on, -total_cents)]),
    )


def _reversible(last: Line, history: Sequence[Line], semester: Semester) -> Line:
    """The yield line to be reversed."""
    citation = f"{SECTION}(a)(3)"
    mark = last.runs.get(YIELD_RUN)
    if mark is None or Semester.parse(mark.period) < semester:
        raise Refusal(RefusalCode.NOT_POSTED, citation, semester=semester)
    if Semester.parse(mark.period) > semester:
        raise Refusal(RefusalCode.LATER_SEMESTER_STANDS, citation, semester=semester, later_semester=mark.period)
    status = Status(last.state["status"])
    if status in (Status.RETIRED, Status.CLOSED):
        raise Refusal(RefusalCode.STATUS_FORBIDS, citation, status=status)
    return history[mark.sequence - 1]


def _placed(history: Sequence[Line], late: Late, figures: Mapping[str, AsPosted], origin: Origin) -> Draft:
    """The movement as a late credit, or as an ordinary line where its semester is open."""
    if is_late(history[-1], late.legal_date):
        return late_credit(history, late, figures, origin)[0]
    ordinary = LineKind.INITIAL_TRANSFER if late.contra == TRANSFERS else LineKind.CONTRIBUTION
    return Draft(
        ordinary if late.reverses is None else late.kind,
        late.legal_date,
        origin.principal,
        postings=against(late.contra, late.amount_cents),
        determination=origin.determination,
        reverses=late.reverses,
        facts=origin.facts,
    )


def _draft(late: Late, result: "LateCredit", origin: Origin, movement: tuple[Posting, ...]) -> Draft:
    return Draft(
        late.kind,
        late.recorded_on,
        origin.principal,
        postings=movement + against(YIELDS, result.total_difference),
        determination=origin.determination,
        reverses=late.reverses,
        belongs_on=late.legal_date,
        differences={str(one.semester): one.amount for one in result.differences},
        facts=origin.facts,
    )


def _determined(history: Sequence[Line], movement: tuple[date, int], figures: Mapping[str, AsPosted]) -> "LateCredit":
    legal_date, cents = movement
    posted = posted_semesters(history, legal_date)
    semesters = [_as_posted(history, one, figures[str(one.semester)]) for one in posted]
    given = savings_accounts.late_credit.parse({"movement": _movement(legal_date, cents), "semesters": semesters})
    for one, semester_given in zip(posted, given.semesters, strict=True):
        _check_reproduced(history, one, semester_given)
    acts = {
        part_name(one.semester, name): act for one in posted for name, act in figures[str(one.semester)].acts.items()
    }
    return savings_accounts.late_credit(given, acts=acts)


def _as_posted(history: Sequence[Line], posted: Posted, figures: AsPosted) -> dict[str, Any]:
    """What `semester_yield` takes, as the semester was posted: earlier late credits and their differences in it.

    Counted are the lines that its figures rest on, and each later one that has brought a difference of it.
    """
    semester, name = posted.semester, str(posted.semester)
    through = posted.line.facts["through"] if posted.line else 0
    brought = {line.facts[LATE_LINE] for line in history if LATE_LINE in line.facts and name in line.differences}
    opening_cents = 0
    within: list[dict[str, str]] = []
    for line in history:
        if not (line.sequence <= int(through) or name in line.differences or line.sequence in brought):
            continue
        for day, cents in _without_own_difference(line, semester):
            if day < semester.starts_on:
                opening_cents += cents
            elif day <= semester.ends_on:
                within.append(_movement(day, cents))
    return {
        "semester": name,
        "opening_balance": format_cents(opening_cents),
        "movements": within,
        "selection": selection_in_force(_state_when_posted(history, posted), semester.ends_on),
        "option_yields": figures.option_yields,
        "settings": dict(figures.settings),
        "closure_days": list(figures.closure_days),
    }


def _without_own_difference(line: Line, semester: Semester) -> list[tuple[date, int]]:
    """A line's movements without its difference of this very semester, which is in no average of it."""
    own = (semester.ends_on, line.differences.get(str(semester), 0))
    found = movements_of(line)
    if own in found:
        found.remove(own)
    return found


def _state_when_posted(history: Sequence[Line], posted: Posted) -> Mapping[str, Any]:
    """Before the first credit nothing was posted on any selection: all that there ever was is looked at."""
    return history[posted.line.sequence - 1].state if posted.line else all_selections(history)


def _check_reproduced(history: Sequence[Line], posted: Posted, given: "SemesterYieldGiven") -> None:
    """The figures, taken again, must give what stands in the passbook; else a difference from them would be wrong."""
    name = str(posted.semester)
    since = posted.line.sequence if posted.line else 0
    stands_cents = sum(line.differences.get(name, 0) for line in history[since:])
    if posted.line:
        stands_cents += posted.line.savings_cents
    again_cents = savings_accounts.semester_yield(given).yield_amount
    if stands_cents != again_cents:
        stands, again = format_cents(stands_cents), format_cents(again_cents)
        raise _needs_decision(
            f"the yield of {name} stands at {stands}, and its figures give {again}",
            f"el rendimiento de {name} consta en {stands}, y sus cifras dan {again}",
        )


def _is_left_out(line: Line, posted: Line) -> bool:
    through = int(posted.facts["through"])
    return through < line.sequence < posted.sequence and line.legal_date <= posted_semester(posted).ends_on


def _credit_of(line: Line) -> tuple[str, int]:
    """The contra account of a credit, and the cents that it credits, without any yield differences."""
    for posting in line.postings:
        if posting.account in (CONTRIBUTIONS, HISTORY, TRANSFERS):
            return posting.account, -posting.amount_cents
    raise _needs_decision(f"line {line.sequence} is no credit", f"la línea {line.sequence} no es un crédito")


def _movement(day: date, cents: int) -> dict[str, str]:
    return {"date": day.isoformat(), "amount": format_cents(cents)}


def _needs_decision(reason_en: str, reason_es: str) -> Refusal:
    return Refusal(RefusalCode.NEEDS_DECISION, SECTION, reason_en=reason_en, reason_es=reason_es)
