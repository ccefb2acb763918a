"""The doors of the annuity payrolls, their payment files, and the payments that come back."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date

from annuities import payment_files
from annuities.payroll import (
    MonthNotBegunError,
    NoPayrollError,
    NotPostedError,
    PaymentFileTakenError,
    Payrolls,
)
from annuities.payroll_answers import (
    PaymentFileMade,
    PaymentFileQuery,
    PaymentMoved,
    PaymentReissued,
    PaymentReturned,
    Payroll,
    PayrollApproval,
    PayrollException,
    PayrollExceptions,
    PayrollExceptionsQuery,
    PayrollReversal,
    PayrollToPrepare,
)
from annuities.portal import portal
from annuities.returns import Returns
from annuities.world import world
from retiro.portal import Language, Principal, conflict, cursor, not_found, refused
from retiro.portal.run_problems import CITATION, faulty_cursor, run_conflict
from retiro.registry.clients import Party
from retiro.rules.calendar import Month, format_month
from retiro.rules.judiciary_hybrid import SECTION, SYSTEM
from retiro.runs.desk import RunConflictError
from retiro.runs.exceptions import FaultyCursorError

_PARTIES = (Party.OFFICE, Party.FUND, Party.BOARD)


@portal.post("/annuity-payrolls", scopes="runs.prepare", status=202)
def prepare_payroll(body: PayrollToPrepare, principal: Principal) -> Payroll:
    """Prepare a month's payroll."""
    office = _office(principal)
    with _answered(body.period):
        office.prepare(body.period, principal.person)
    return _standing(office, body.period)


@portal.get("/annuity-payrolls/{period}", scopes=("runs.prepare", "runs.approve"))
def read_payroll(period: Month, principal: Principal) -> Payroll:
    """How a month's payroll stands, and what ends soon."""
    return _standing(_office(principal), period)


@portal.get("/annuity-payrolls/{period}/exceptions", scopes=("runs.prepare", "runs.approve"))
def payroll_exceptions(
    period: Month, query: PayrollExceptionsQuery, principal: Principal, language: Language
) -> PayrollExceptions:
    """The pensioners of the latest run to whom nothing is paid, or of whom something is to be known."""
    office = _office(principal)
    with _answered(period):
        of_reversal = query.kind == "annuity_reversal"
        found, after = office.exceptions(period, query.after, query.limit, of_reversal=of_reversal)
    return PayrollExceptions(items=[PayrollException.of(one, language) for one in found], next_cursor=cursor(after))


@portal.post("/annuity-payrolls/{period}/approval", scopes="runs.approve", status=202)
def approve_payroll(period: Month, body: PayrollApproval, principal: Principal) -> Payroll:
    """Approve the prepared payroll, or reversal, that has this hash. It starts the posting."""
    office = _office(principal)
    with _answered(period):
        office.approve(period, body.hash, principal.person)
    return _standing(office, period)


@portal.post("/annuity-payrolls/{period}/pause", scopes="runs.prepare", status=202)
def pause_payroll(period: Month, principal: Principal) -> Payroll:
    """Pause the run that is under way."""
    office = _office(principal)
    with _answered(period):
        office.pause(period)
    return _standing(office, period)


@portal.post("/annuity-payrolls/{period}/resume", scopes="runs.prepare", status=202)
def resume_payroll(period: Month, principal: Principal) -> Payroll:
    """Go on with the run that is paused, has failed, or whose execution was lost."""
    office = _office(principal)
    with _answered(period):
        office.resume(period)
    return _standing(office, period)


@portal.post("/annuity-payrolls/{period}/reversal", scopes="runs.approve", status=202)
def reverse_payroll(period: Month, body: PayrollReversal, principal: Principal) -> Payroll:
    """Prepare the reversal of a payroll of which no payment file was made; another person approves it by its hash."""
    office = _office(principal)
    with _answered(period):
        office.reverse(period, body.reason, principal.person)
    return _standing(office, period)


@portal.post("/annuity-payrolls/{period}/payment-file", scopes="runs.approve")
def make_payment_file(period: Month, query: PaymentFileQuery, principal: Principal) -> PaymentFileMade:
    """Make the payment file of a posted payroll, once, with its control totals. From then on it isn't reversed."""
    office = _office(principal)
    with _answered(period):
        made = payment_files.make(office, period, query.attempt)
    return PaymentFileMade.of(made, period, payment_files.link(office, made))


@portal.get("/annuity-payrolls/{period}/payment-file", scopes=("runs.prepare", "runs.approve"))
def read_payment_file(period: Month, query: PaymentFileQuery, principal: Principal) -> PaymentFileMade:
    """The payment file that was made, and a link to it."""
    office = _office(principal)
    with _answered(period):
        made = payment_files.find(office, period, query.attempt)
    if made is None:
        raise not_found(
            "payment_file_not_made",
            en=f"No payment file of {format_month(period)} was made.",
            es=f"No se ha hecho el archivo de pagos de {format_month(period)}.",
            field="period",
        )
    return PaymentFileMade.of(made, period, payment_files.link(office, made))


@portal.post("/annuity-payrolls/{period}/returns", scopes="runs.prepare")
def note_return(period: Month, body: PaymentReturned, principal: Principal) -> PaymentMoved:
    """Note that the month's payment to a pensioner came back."""
    _office(principal)
    world().judge(body.participant_id, principal)
    return Returns(world()).note(period, body, principal)


@portal.post("/annuity-payrolls/{period}/reissues", scopes="runs.approve")
def reissue(period: Month, body: PaymentReissued, principal: Principal) -> PaymentMoved:
    """Make a payment that came back again."""
    _office(principal)
    world().judge(body.participant_id, principal)
    return Returns(world()).reissue(period, body, principal)


def _office(principal: Principal) -> Payrolls:
    """The office of payrolls, where the principal may go there."""
    principal.must_be(*_PARTIES)
    principal.must_reach_fund(SYSTEM)
    return world().payrolls


def _standing(office: Payrolls, month: date) -> Payroll:
    standing = office.standing(month)
    told = [*standing.attempts[-1:], *standing.reversals[-1:]]
    return Payroll.of(standing, {str(run.id): office.chunks(run) for run in told})


@contextmanager
def _answered(month: date) -> Iterator[None]:
    """What the office can't do, as a problem that a person reads."""
    period = format_month(month)
    try:
        yield
    except RunConflictError as at_odds:
        raise run_conflict(str(at_odds.code), "period") from at_odds
    except NoPayrollError:
        raise not_found(
            "run_not_found",
            en=f"{period} has no such run.",
            es=f"{period} no tiene esa corrida.",
            field="period",
        ) from None
    except MonthNotBegunError:
        raise refused(
            "month_not_begun",
            en=f"{period} is still to come.",
            es=f"{period} está por venir.",
            citation=f"{SECTION}(d)",
            field="period",
        ) from None
    except NotPostedError:
        raise conflict(
            "not_posted",
            en=f"Nothing is posted for {period}.",
            es=f"No hay nada pagado en {period}.",
            citation=CITATION,
        ) from None
    except PaymentFileTakenError:
        raise conflict(
            "payment_file_made",
            en="Its payment file was made: a payment comes back as a returned payment, not by a reversal.",
            es="Ya se hizo su archivo de pagos: un pago vuelve como pago devuelto, no por una reversión.",
            citation=CITATION,
            field="period",
        ) from None
    except FaultyCursorError:
        raise faulty_cursor() from None
