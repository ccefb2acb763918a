"""The doors of deduction orders: the month's run for the office, the order for its payer, as JSON and as CSV."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from http import HTTPStatus
from itertools import islice
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from payroll_deductions.models import Month
from payroll_deductions.order_runs import (
    MonthAheadError,
    NoRunError,
    NotPostedError,
    OrderEnvironment,
    OrderRuns,
    office_of,
)
from payroll_deductions.orders import FUND
from payroll_deductions.portal import portal
from retiro.portal import (
    Amount,
    Answer,
    Body,
    Language,
    PageQuery,
    Principal,
    Query,
    conflict,
    cursor,
    not_found,
    refused,
    spoken,
)
from retiro.portal.routes import CSV
from retiro.portal.run_problems import faulty_cursor, run_conflict
from retiro.portal.spreadsheets import Figure, amount, csv_text
from retiro.registry.clients import Party
from retiro.registry.deduction_orders import Order
from retiro.registry.participants import EmployerId, ParticipantId
from retiro.registry.runs import Run
from retiro.runs.desk import RunConflictError
from retiro.runs.exceptions import FaultyCursorError
from retiro.runs.progress import progress

_RUNS = (Party.OFFICE, Party.FUND, Party.BOARD)
_READS = (Party.EMPLOYER, Party.OFFICE, Party.FUND)

CSV_ROWS_MAX = 20_000
"""Rows of an order in one answer: it stays under 1 MB."""

RunHash = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$"), Field(examples=["0123456789abcdef" * 4])]


class MonthToOrder(Body):
    """The month whose orders are to be prepared."""

    period: Month


class OrderApproval(Body):
    """The prepared run that is approved, by the hash of all that it would write."""

    hash: RunHash


class OrderTotals(Answer):
    """What a prepared run orders: so many participants, and the total to be withheld."""

    orders: int
    total: Amount


class OrderReversal(Body):
    """Why a month's orders are taken back."""

    reason: Annotated[str, StringConstraints(min_length=10, max_length=500, strip_whitespace=True)]


class OrderExceptionsQuery(PageQuery):
    """A page of the exceptions of the latest run, or of the latest reversal."""

    kind: Literal["deduction_order", "deduction_order_reversal"] = "deduction_order"


class OrderCsvQuery(Query):
    """The participant after whom the rows begin; all of them where none is named."""

    after: ParticipantId | None = None


class OrderRunState(Answer):
    """A run, and how it stands. `orders`, those it makes or takes back, are there once it is prepared."""

    attempt: int
    status: str
    hash: str | None
    prepared_by: str
    approved_by: str | None
    looked_at: int
    done: int
    orders: OrderTotals | None
    exceptions: dict[str, int]
    withheld: dict[str, int]
    failure: str | None


class OrderRun(OrderRunState):
    """A month's latest run, and its reversal, if any."""

    period: Month
    reversal: OrderRunState | None


class OrderException(Answer):
    """A participant whom no order was made for, and why."""

    participant_id: ParticipantId
    code: str
    detail: str


class OrderExceptions(Answer):
    """A page of a run's exceptions."""

    items: list[OrderException]
    next_cursor: str | None


class OrderLine(Answer):
    """What to withhold from a participant: the month's installment and arrears, apart."""

    participant_id: ParticipantId
    installment: Amount
    arrears: Amount
    total: Amount


class DeductionOrder(Answer):
    """A payer's order of a month, a page of it."""

    payer_id: EmployerId
    period: Month
    items: list[OrderLine]
    next_cursor: str | None


@cache
def world() -> OrderRuns:
    """Built when the first request comes."""
    return office_of(OrderEnvironment.read())


@portal.post("/deduction-order-runs", scopes="runs.prepare", status=HTTPStatus.ACCEPTED)
def prepare_orders(body: MonthToOrder, principal: Principal) -> OrderRun:
    """Prepare a month's orders: what each payer is to withhold."""
    _must_run(principal)
    with _answered(body.period):
        world().prepare(body.period, principal.person)
        return _shown(body.period)


@portal.get("/deduction-order-runs/{period}", scopes=("runs.prepare", "runs.approve"))
def read_order_run(period: Month, principal: Principal) -> OrderRun:
    """How a month's run stands."""
    _must_run(principal)
    with _answered(period):
        return _shown(period)


@portal.get("/deduction-order-runs/{period}/exceptions", scopes=("runs.prepare", "runs.approve"))
def read_order_exceptions(
    period: Month, query: OrderExceptionsQuery, principal: Principal, language: Language
) -> OrderExceptions:
    """What is due and on nobody's order, and what is for a person."""
    _must_run(principal)
    with _answered(period):
        found, after = world().exceptions(period, query.after, query.limit, kind=query.kind)
    items = [
        OrderException(participant_id=one.passbook, code=one.code, detail=spoken(one.sentence, language))
        for one in found
    ]
    return OrderExceptions(items=items, next_cursor=cursor(after))


@portal.post("/deduction-order-runs/{period}/approval", scopes="runs.approve", status=HTTPStatus.ACCEPTED)
def approve_orders(period: Month, body: OrderApproval, principal: Principal) -> OrderRun:
    """Approve the prepared run, or reversal, that has this hash. The orders are issued, or taken back."""
    _must_run(principal)
    with _answered(period):
        world().approve(period, body.hash, principal.person)
        return _shown(period)


@portal.post("/deduction-order-runs/{period}/pause", scopes="runs.prepare", status=HTTPStatus.ACCEPTED)
def pause_orders(period: Month, principal: Principal) -> OrderRun:
    """Pause the run that is under way."""
    _must_run(principal)
    with _answered(period):
        world().pause(period)
        return _shown(period)


@portal.post("/deduction-order-runs/{period}/resume", scopes="runs.prepare", status=HTTPStatus.ACCEPTED)
def resume_orders(period: Month, principal: Principal) -> OrderRun:
    """Go on with the run that is paused, has failed, or whose execution was lost."""
    _must_run(principal)
    with _answered(period):
        world().resume(period)
        return _shown(period)


@portal.post("/deduction-order-runs/{period}/reversal", scopes="runs.approve", status=HTTPStatus.ACCEPTED)
def reverse_orders(period: Month, body: OrderReversal, principal: Principal) -> OrderRun:
    """Prepare the reversal of a month's orders; another person approves it by its hash."""
    _must_run(principal)
    with _answered(period):
        world().reverse(period, body.reason, principal.person)
        return _shown(period)


@portal.get("/deduction-orders/{payer_id}/{period}", scopes="payroll.remit")
def read_order(payer_id: EmployerId, period: Month, query: PageQuery, principal: Principal) -> DeductionOrder:
    """What a payer is to withhold in a month: installments, and arrears apart."""
    _must_read(principal, payer_id)
    with _answered(period):
        found, after = world().orders(payer_id, period, query.after, query.limit)
    return DeductionOrder(
        payer_id=payer_id, period=period, items=[_line(order) for order in found], next_cursor=cursor(after)
    )


@portal.get("/deduction-orders/{payer_id}/{period}/csv", scopes="payroll.remit", media_type=CSV)
def read_order_csv(payer_id: EmployerId, period: Month, query: OrderCsvQuery, principal: Principal) -> str:
    """The order as CSV, for a spreadsheet: twenty thousand participants, the next ones `after` the last of these."""
    _must_read(principal, payer_id)
    with _answered(period):
        orders = list(islice(world().all_orders(payer_id, period, after=query.after), CSV_ROWS_MAX))
    header = ["payer_id", "period", "participant_id", "installment", "arrears", "total"]
    return csv_text(header, (_row(payer_id, period, order) for order in orders))


def _row(payer_id: str, period: str, order: Order) -> list[str]:
    ids = [Figure(payer_id), Figure(period), Figure(order.participant_id)]
    return [*ids, amount(order.installment_cents), amount(order.arrears_cents), amount(order.total_cents)]


def _line(order: Order) -> OrderLine:
    return OrderLine(
        participant_id=order.participant_id,
        installment=order.installment_cents,
        arrears=order.arrears_cents,
        total=order.total_cents,
    )


def _shown(period: str) -> OrderRun:
    """How the month stands now."""
    run, reversal = world().latest(period), world().latest_reversal(period)
    state = None if reversal is None else OrderRunState(**_state(reversal))
    return OrderRun(period=period, reversal=state, **_state(run))


def _state(run: Run) -> dict[str, Any]:
    details = run.details
    far = progress(world().chunks(run))
    return {
        "attempt": run.id.attempt,
        "status": str(run.status),
        "hash": details.get("hash"),
        "prepared_by": run.requested_by,
        "approved_by": details.get("approved_by"),
        "looked_at": far.looked_at,
        "done": far.done,
        "orders": _totals(details.get("totals")),
        "exceptions": details.get("exceptions", {}),
        "withheld": details.get("result", {}).get("withheld", {}),
        "failure": details["failure"]["code"] if "failure" in details else None,
    }


def _totals(totals: Mapping[str, Any] | None) -> OrderTotals | None:
    return None if totals is None else OrderTotals(orders=totals["lines"], total=totals["cents"])


def _must_run(principal: Principal) -> None:
    principal.must_be(*_RUNS)
    principal.must_reach_fund(FUND)


def _must_read(principal: Principal, payer_id: str) -> None:
    """A payer sees its own order alone."""
    principal.must_be(*_READS)
    principal.must_reach_employer(payer_id)
    principal.must_reach_fund(FUND)


@contextmanager
def _answered(period: str) -> Iterator[None]:
    """What the office can't do, as the caller's problem."""
    try:
        yield
    except NoRunError:
        raise not_found(
            "run_not_found",
            en=f"There are no orders of {period}.",
            es=f"No hay órdenes de {period}.",
            field="period",
        ) from None
    except NotPostedError:
        raise conflict(
            "not_posted",
            en=f"No orders of {period} are posted.",
            es=f"No hay órdenes emitidas de {period}.",
            citation="3 L.P.R.A. § 830q(e)",
            field="period",
        ) from None
    except MonthAheadError:
        raise refused(
            "month_ahead",
            en=f"The orders of {period} are prepared from the month before on.",
            es=f"Las órdenes de {period} se preparan desde el mes anterior.",
            citation="3 L.P.R.A. § 830q(e)",
            field="period",
        ) from None
    except FaultyCursorError:
        raise faulty_cursor() from None
    except RunConflictError as conflicting:
        raise run_conflict(str(conflicting.code), "period") from None
