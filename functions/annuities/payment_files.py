"""The payment file of a posted payroll: CSV, one row a payment, with control totals that foot with the run's.

It is made from the lines as they stand in the passbooks, never from what was prepared. The run names the file that was
made of it: from then on a payment comes back by itself, and the run isn't reversed.
"""

import csv
import hashlib
import io
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any

from annuities.payroll import PAYMENT_FILE, Payrolls
from retiro.ledger.annuities import Payment, payment_of
from retiro.ledger.lines import Line
from retiro.registry.runs import Run
from retiro.rules.calendar import format_month
from retiro.rules.money import format_cents

COLUMNS = (
    "record",
    "participant_id",
    "reference",
    "since",
    "through",
    "paid_on",
    "base",
    "correction",
    "gross",
    "deductions",
    "net",
)
_LINK_SECONDS = 900
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


class NotFootingError(Exception):
    """The lines don't sum to what the run has posted: the ledger or the run is damaged. No file is made."""


@dataclass(frozen=True)
class PaymentFile:
    """A file that was made, and what it comes to. `key` and `sha256` say where and what it is."""

    attempt: int
    key: str
    sha256: str
    payments: int
    gross_cents: int
    deductions_cents: int
    net_cents: int

    def to_detail(self) -> dict[str, Any]:
        """As the run's item has it."""
        return {
            "key": self.key,
            "sha256": self.sha256,
            "payments": self.payments,
            "gross": self.gross_cents,
            "deductions": self.deductions_cents,
            "net": self.net_cents,
        }

    @classmethod
    def of_run(cls, run: Run) -> "PaymentFile | None":
        """The file that was made of a run."""
        detail = run.details.get(PAYMENT_FILE)
        if detail is None:
            return None
        return cls(
            run.id.attempt,
            detail["key"],
            detail["sha256"],
            detail["payments"],
            detail["gross"],
            detail["deductions"],
            detail["net"],
        )


def make(office: Payrolls, month: date, attempt: int | None) -> PaymentFile:
    """Make the file of a posted run, once: asked again, it is the one that is there.

    Raises `NotPostedError`, and `RunConflictError` while the month is being reversed: also by a reversal that was
    approved while the lines were read.
    """
    office.check_not_reversing(month)
    run = office.posted(month, attempt)
    standing = PaymentFile.of_run(run)
    if standing is not None:
        return standing
    lines = list(_lines(office, run))
    payments = [payment_of(line) for line in lines]
    net_cents = sum(payment.net_cents for payment in payments)
    result = run.details["result"]
    if (len(lines), net_cents) != (result["posted"], result["cents"]):
        raise NotFootingError(f"{run.id}: {len(lines)} payments of {net_cents} cents, {result}")
    body = text_of(lines).encode()
    digest = hashlib.sha256(body).hexdigest()
    key = f"files/annuity-payrolls/{format_month(month)}/{run.id.attempt:04d}-{digest[:16]}.csv"
    objects = office.objects
    objects.client.put_object(Bucket=objects.bucket, Key=key, Body=body, ContentType="text/csv; charset=utf-8")
    made = PaymentFile(
        run.id.attempt,
        key,
        digest,
        len(lines),
        sum(payment.gross_cents for payment in payments),
        sum(payment.deductions_cents for payment in payments),
        net_cents,
    )
    return PaymentFile.of_run(office.pay_out(run, made.to_detail())) or made


def find(office: Payrolls, month: date, attempt: int | None) -> PaymentFile | None:
    """The file that was made of a posted run. Raises as `make` does."""
    office.check_not_reversing(month)
    return PaymentFile.of_run(office.posted(month, attempt))


def link(office: Payrolls, made: PaymentFile) -> str:
    """A link to the file, for fifteen minutes."""
    objects = office.objects
    return objects.client.generate_presigned_url(
        "get_object", Params={"Bucket": objects.bucket, "Key": made.key}, ExpiresIn=_LINK_SECONDS
    )


def text_of(lines: list[Line]) -> str:
    """The file: a header, a row a payment, and the control row, whose sums are those of the columns above."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    payments = [(line, payment_of(line)) for line in lines]
    for line, payment in payments:
        writer.writerow(
            [
                "payment",
                cell(line.passbook),
                cell(f"{line.passbook}-{line.sequence}"),
                format_month(payment.since),
                format_month(payment.through),
                line.effective_on.isoformat(),
                *_amounts(payment),
            ]
        )
    sums = [sum(cents) for cents in zip(*(_cents(payment) for _, payment in payments), strict=True)]
    totals = [format_cents(cents) for cents in sums or [0] * len(COLUMNS[6:])]
    writer.writerow(["control", len(lines), "", "", "", "", *totals])
    return written.getvalue()


def cell(text: str) -> str:
    """A text as a cell that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(_FORMULA) else text


def _amounts(payment: Payment) -> list[str]:
    return [format_cents(cents) for cents in _cents(payment)]


def _cents(payment: Payment) -> tuple[int, ...]:
    return (
        payment.base_cents,
        payment.correction_cents,
        payment.gross_cents,
        payment.deductions_cents,
        payment.net_cents,
    )


def _lines(office: Payrolls, run: Run) -> Iterator[Line]:
    """The lines that the run has posted, in the order of its chunks."""
    for chunk in office.chunks(run):
        for result in chunk.results:
            rows = [row for row in office.objects.read(result) if row["outcome"] == "posted"]
            places = [(row["passbook"], row["sequence"]) for row in rows]
            found = office.ledger.get_lines(places)
            yield from (found[place] for place in places)
