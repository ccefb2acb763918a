"""The two kinds of run of this domain: a month's annuities, and their reversal before anything of it went out."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from retiro.ledger import annuities, hybrid
from retiro.ledger.annuities import ANNUITY_REVERSAL_RUN, ANNUITY_RUN
from retiro.ledger.evidence import Evidence
from retiro.ledger.hybrid import CASH
from retiro.ledger.lines import Draft, Line, LineKind, RunMark
from retiro.ledger.savings import Origin
from retiro.registry.roster import Holder
from retiro.registry.runs import Run
from retiro.rules.calendar import format_month, parse_month
from retiro.rules.judiciary_hybrid import SECTION, SYSTEM
from retiro.rules.money import format_cents
from retiro.rules.refusals import Refusal, RefusalCode
from retiro.runs.kinds import ParticipantException, Passbook, Prepared, exception_of


@dataclass(frozen=True)
class AnnuityKind:
    """§ 242b(d): one line a pensioner, for every month through the run's that wasn't paid yet.

    The mark of the last month paid is in the passbook itself, so that no month is paid twice. A death report withholds
    from the month of death on; for the months before it the line is written, and the report is named beside it.
    """

    name: str = ANNUITY_RUN
    holder: Holder = Holder.PARTICIPANT
    fund: str = SYSTEM

    def evidence(self, run: Run) -> Sequence[Evidence]:
        """The run, under the name that the lines give as their determination."""
        return [_evidence_of(run)]

    def prepare(self, passbook: Passbook, run: Run) -> Prepared | ParticipantException | None:
        """The payment on the passbook's last line; `None` for who has no annuity, or none that has begun."""
        last = passbook.last
        if last is None or not annuities.is_annuitant(last):
            return None
        paid = annuities.due(last, parse_month(run.id.period))
        if paid is None:
            return None
        shown = {
            "since": format_month(paid.since),
            "through": format_month(paid.through),
            "base": format_cents(paid.base_cents),
            "correction": format_cents(paid.correction_cents),
            "gross": format_cents(paid.gross_cents),
            "deductions": format_cents(paid.deductions_cents),
            "net": format_cents(paid.net_cents),
        }
        return Prepared(_draft(paid, run), shown, paid.net_cents, _notice(last))

    def remake(self, passbook: Passbook, draft: Draft, run: Run) -> Draft:
        """The payment on a passbook that has moved. Where its amounts aren't the approved ones, it is withheld."""
        del draft  # it is made from the last line each time
        last = passbook.last
        paid = annuities.due(last, parse_month(run.id.period)) if last is not None else None
        if paid is None:
            raise Refusal(RefusalCode.NO_ANNUITY, f"{SECTION}(d)")
        return _draft(paid, run)

    def is_late(self, line: Line, run: Run) -> bool:
        """Whether a line is a death report: what was paid over one, for the months before the death, is named."""
        del run
        return line.kind is LineKind.DEATH_REPORT

    def settle_late(self, passbook: Passbook, posted: Line, late: Sequence[Line], run: Run) -> Line | None:
        """Nothing: a death is settled by persons."""
        del passbook, posted, late, run
        return None


@dataclass(frozen=True)
class AnnuityReversalKind:
    """The payments of a period that never went out, taken back: their months are due again.

    Of the attempts that the reversal names. What a later one has paid since isn't marked as taken back, and may go out.
    """

    name: str = ANNUITY_REVERSAL_RUN
    holder: Holder = Holder.PARTICIPANT
    fund: str = SYSTEM

    def evidence(self, run: Run) -> Sequence[Evidence]:
        """The reason, and the attempts that are reversed."""
        return [_evidence_of(run)]

    def prepare(self, passbook: Passbook, run: Run) -> Prepared | ParticipantException | None:
        """The line that takes the payment back, on its own day; `None` for who was never paid, or by a later run."""
        last = passbook.last
        if last is None or ANNUITY_RUN not in last.runs or _is_of_later(last.runs[ANNUITY_RUN], run):
            return None
        draft = self._draft(passbook, run)
        amount_cents = sum(one.amount_cents for one in draft.postings if one.account == CASH)
        return Prepared(draft, {"reverses": draft.reverses, "amount": format_cents(amount_cents)}, amount_cents)

    def remake(self, passbook: Passbook, draft: Draft, run: Run) -> Draft:
        """The reversal on a passbook that has moved."""
        del draft  # it is made from the whole passbook each time
        return self._draft(passbook, run)

    def is_late(self, line: Line, run: Run) -> bool:
        """Nothing is late for a reversal."""
        del line, run
        return False

    def settle_late(self, passbook: Passbook, posted: Line, late: Sequence[Line], run: Run) -> Line | None:
        """Nothing to settle."""
        del passbook, posted, late, run
        return None

    def _draft(self, passbook: Passbook, run: Run) -> Draft:
        mark = (self.name, run.id.period, run.id.attempt)
        return annuities.payment_reversal(passbook.lines(), run.id.period, mark, _origin(run))


def _draft(paid: annuities.Payment, run: Run) -> Draft:
    return annuities.payment(paid, date.fromisoformat(run.context["paid_on"]), run.id.attempt, _origin(run))


def _is_of_later(mark: RunMark, reversal: Run) -> bool:
    """Whether the period was paid by an attempt after those that a reversal names."""
    return mark.period == reversal.id.period and mark.attempt > max(reversal.context["reverses"]["attempts"])


def _notice(last: Line) -> ParticipantException | None:
    """A death report that stands, of a death after the months that are paid."""
    death = hybrid.death_of(last)
    if death is None:
        return None
    return exception_of(Refusal(RefusalCode.DEATH_REPORTED, f"{SECTION}(d)", death_date=death))


def _origin(run: Run) -> Origin:
    return Origin(run.requested_by, determination=str(run.id))


def _evidence_of(run: Run) -> Evidence:
    body: dict[str, Any] = {**run.context, "run_hash": run.details["hash"]}
    return Evidence(run.id.kind, f"{run.id.period}/{run.id.attempt}", body)
