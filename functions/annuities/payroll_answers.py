"""What the doors of the annuity payrolls take and answer."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field, StringConstraints

from annuities.payment_files import PaymentFile
from annuities.payroll import Standing
from retiro.portal import Amount, Answer, Body, Language, PageQuery, Query, spoken
from retiro.registry.participants import ParticipantId, Reference
from retiro.registry.runs import Chunk, Run
from retiro.rules.calendar import Date, Month
from retiro.runs.exceptions import Found
from retiro.runs.progress import notices, progress

Reason = Annotated[str, StringConstraints(min_length=10, max_length=500, strip_whitespace=True)]
RunHash = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$"), Field(examples=["0123456789abcdef" * 4])]


class PayrollToPrepare(Body):
    """The month that is to be prepared."""

    period: Month


class PayrollApproval(Body):
    """The hash of the run that is approved: what stands there and nothing else."""

    hash: RunHash


class PayrollReversal(Body):
    """Why what was posted is taken back."""

    reason: Reason


class PayrollExceptionsQuery(PageQuery):
    """A page of the exceptions of the latest run, or of the latest reversal."""

    kind: Literal["annuity", "annuity_reversal"] = "annuity"


class PaymentFileQuery(Query):
    """Which posted attempt; the latest where none is named."""

    attempt: Annotated[int, Field(ge=1, le=9999)] | None = None


class PaymentReturned(Body):
    """A payment that came back. `reference` is the bank's, or the fund's."""

    participant_id: ParticipantId
    returned_on: Date
    reference: Reference


class PaymentReissued(Body):
    """A payment that came back, made again. `reference` is the fund's."""

    participant_id: ParticipantId
    paid_on: Date
    reference: Reference


class PayrollState(Answer):
    """A run, and how it stands. `notices` are lines that are written all the same, and why a person should know."""

    kind: str
    attempt: int
    status: str
    hash: str | None
    prepared_by: str
    approved_by: str | None
    pensioners: int
    looked_at: int
    lines: int
    done: int
    net_total: Amount | None
    posted: int | None
    withheld: dict[str, int]
    exceptions: dict[str, int]
    notices: dict[str, int]
    failure: str | None

    @classmethod
    def of(cls, run: Run, chunks: list[Chunk]) -> Self:
        """The state of a run."""
        details: Mapping[str, Any] = run.details
        far = progress(chunks)
        result: Mapping[str, Any] = details.get("result", {})
        return cls(
            kind=run.id.kind,
            attempt=run.id.attempt,
            status=str(run.status),
            hash=details.get("hash"),
            prepared_by=run.requested_by,
            approved_by=details.get("approved_by"),
            pensioners=far.population,
            looked_at=far.looked_at,
            lines=far.prepared,
            done=far.done,
            net_total=result.get("cents", details.get("totals", {}).get("cents")),
            posted=result.get("posted"),
            withheld=result.get("withheld", {}),
            exceptions=details.get("exceptions", {}),
            notices=notices(chunks),
            failure=details["failure"]["code"] if "failure" in details else None,
        )


class PayrollAttempt(Answer):
    """One of a month's runs."""

    attempt: int
    status: str


class EndingWarning(Answer):
    """What ends on a day, that one not included, with nothing adopted after it."""

    name: str
    until: Date


class Payroll(Answer):
    """How a month stands: its latest run, `open` before any; its reversal; and what ends soon."""

    period: Month
    paid_on: Date
    status: str = Field(examples=["open", "preparing", "prepared", "posting", "posted"])
    run: PayrollState | None
    attempts: list[PayrollAttempt]
    reversal: PayrollState | None
    warnings: list[EndingWarning]

    @classmethod
    def of(cls, standing: Standing, chunks_of: Mapping[str, list[Chunk]]) -> Self:
        """The state of a month; `chunks_of` are the chunks of the runs that it tells of, by the runs' names."""
        latest = standing.attempts[-1] if standing.attempts else None
        reversal = standing.reversals[-1] if standing.reversals else None
        return cls(
            period=standing.month,
            paid_on=standing.paid_on,
            status=str(latest.status) if latest else "open",
            run=PayrollState.of(latest, chunks_of[str(latest.id)]) if latest else None,
            attempts=[PayrollAttempt(attempt=run.id.attempt, status=str(run.status)) for run in standing.attempts],
            reversal=PayrollState.of(reversal, chunks_of[str(reversal.id)]) if reversal else None,
            warnings=[EndingWarning(name=one.name, until=one.until) for one in standing.warnings],
        )


class PayrollException(Answer):
    """A pensioner to whom nothing is paid, or something has come of, and why."""

    participant_id: ParticipantId
    code: str
    detail: str
    late_lines: list[int]

    @classmethod
    def of(cls, found: Found, language: Language) -> Self:
        """An exception in the language that is asked for."""
        detail = spoken(found.sentence, language)
        return cls(participant_id=found.passbook, code=found.code, detail=detail, late_lines=list(found.late))


class PayrollExceptions(Answer):
    """A page of a run's exceptions."""

    items: list[PayrollException]
    next_cursor: str | None


class PaymentFileMade(Answer):
    """The payment file of a posted run: its control totals, and a link to it, good for fifteen minutes."""

    period: Month
    attempt: int
    payments: int
    gross_total: Amount
    deductions_total: Amount
    net_total: Amount
    sha256: str
    url: str

    @classmethod
    def of(cls, made: PaymentFile, period: Month, url: str) -> Self:
        """A file that was made."""
        return cls(
            period=period,
            attempt=made.attempt,
            payments=made.payments,
            gross_total=made.gross_cents,
            deductions_total=made.deductions_cents,
            net_total=made.net_cents,
            sha256=made.sha256,
            url=url,
        )


class PaymentMoved(Answer):
    """A payment that came back, or was made again: the line that says so, and the payment's own."""

    participant_id: ParticipantId
    sequence: int
    kind: Literal["payment_returned", "payment_reissued"]
    payment: int
    period: Month
    amount: Amount
    effective_on: Date
