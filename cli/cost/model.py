"""What a year of the system is, job by job, in the units that are paid for; and what that comes to.

Each job is a function that yields (price, amount). An amount becomes a whole number of units by the one rounding, so
that units × price is the line's dollars exactly; only what is shown is rounded again, to cents.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from cli.cost.prices import Price, prices
from cli.cost.units import unit
from retiro.registry.roster import SHARDS
from retiro.rules.forms import Sentence
from retiro.rules.money import round_half_away
from retiro.runs.worker import AT_ONCE
from retiro.runs.workshop import Sizes

Amount = Fraction | int
Amounts = Iterator[tuple[str, Amount]]

MB = 1024 * 1024
MONTHS = 12
DAYS = 365
PASSES = ("prepare", "post", "close")


@dataclass(frozen=True)
class Fleet:
    """Whom the system serves. `years`: how many years of lines the ledger holds, the one that is paid for included."""

    participants: int
    employers: int
    plans: int
    annuitants: int
    years: int = 10

    @classmethod
    def of(
        cls,
        participants: int,
        employers: int,
        *,
        plans: int | None = None,
        annuitants: int | None = None,
        years: int = 10,
    ) -> "Fleet":
        """A fleet with as many plans and annuitants as are usual, where nobody says how many."""

        def usual(name: str) -> int:
            return round_half_away(participants * unit(name) / 1000)

        return cls(
            participants,
            employers,
            usual("plans_a_thousand_participants") if plans is None else plans,
            usual("annuitants_a_thousand_participants") if annuitants is None else annuitants,
            years,
        )

    @property
    def remittances(self) -> int:
        """A remittance an employer a month."""
        return self.employers * MONTHS

    @property
    def credits(self) -> int:
        """A contribution a participant and an installment a plan, each month."""
        return (self.participants + self.plans) * MONTHS

    @property
    def credit_pages(self) -> int:
        """Transactions: each remittance has at least one, and on the mean half a page that isn't full."""
        return math.ceil(self.credits / unit("credit_page_rows")) + self.remittances // 2

    @property
    def run_lines(self) -> int:
        """Yields twice a year; orders and annuities each month."""
        return 2 * self.participants + (self.plans + self.annuitants) * MONTHS

    @property
    def changes(self) -> int:
        """What people change in a year."""
        return round_half_away(self.participants * unit("changes_a_thousand_participants") / 1000)

    @property
    def calls(self) -> int:
        """Requests at the API's doors."""
        reading = self.participants * unit("portal_calls_a_participant") + unit("office_calls")
        return int(reading) + self.changes + int(self.remittances * unit("remittance_calls"))

    @property
    def ledger_items(self) -> int:
        """Items that the ledger grows by in a year: lines, and a key and evidence for each transaction."""
        return self.credits + self.run_lines + 3 * self.credit_pages + 5 * self.remittances + 3 * self.changes

    @property
    def ledger_bytes(self) -> Fraction:
        """Bytes that the ledger grows by in a year, with what DynamoDB adds."""
        return (
            self.credits * (unit("credit_line_bytes") + unit("remitted_row_bytes"))
            + self.run_lines * unit("yield_line_bytes")
            + self.credit_pages * unit("credit_page_bytes")
            + self.changes * 1024
            + self.ledger_items * unit("item_overhead_bytes")
        )


# --- Lambda


def gb_seconds(milliseconds: Amount, memory: str) -> Fraction:
    """Time at a memory size, in the unit that is paid for."""
    return Fraction(milliseconds) / 1000 * unit(memory) / 1024


def waiting_ms(cpu_ms: Fraction) -> Fraction:
    """What an account takes where requests go one after the other, on a share of a processor."""
    return unit("request_ms") + cpu_ms / unit("function_processor")


def in_flight_ms(cpu_ms: Fraction) -> Fraction:
    """What an account takes of a worker with several requests in flight: its processor, or its share of the waiting."""
    return max(cpu_ms, (cpu_ms + unit("request_ms")) / AT_ONCE)


# --- Jobs


def run(population: int, lines: int) -> Amounts:
    """A run of the engine that looks at so many passbooks and writes so many lines: prepare, post, close."""
    sizes = Sizes()
    shards = max(1, math.ceil(sizes.chunk_accounts * Fraction(SHARDS, max(population, 1))))
    chunks = math.ceil(Fraction(SHARDS, min(shards, SHARDS)))
    parts = max(chunks, math.ceil(Fraction(population, sizes.part_accounts)))
    done = {"prepare": population, "post": lines, "close": lines}
    yield "dynamodb_read", population * unit("prepare_read_units") + lines * unit("close_read_units")
    yield "dynamodb_write", lines * unit("post_write_units")
    # The roster is counted (eventually) and walked, each shard's last unit half empty at worst; looks read the run's
    # item; each move writes the chunk's.
    roster = population * unit("roster_item_bytes") / 4096
    looks = parts * 5 * math.ceil((unit("run_item_bytes") + chunks * unit("run_item_bytes_a_chunk")) / 4096)
    yield "dynamodb_read", (roster + SHARDS) * Fraction(3, 2) + looks
    references = Fraction(parts, chunks) * 2 * unit("part_reference_bytes")
    yield "dynamodb_write", parts * 4 * math.ceil((unit("chunk_item_bytes") + references * Fraction(3, 4)) / 1024)
    # Chunks are made, leases put and taken away, the run's item changed.
    yield "dynamodb_write", chunks * (1 + 2 * len(PASSES)) + 10
    working = sum(count * in_flight_ms(unit(f"{name}_cpu_ms")) for name, count in done.items())
    working += len(PASSES) * (parts * unit("part_ms") + (chunks + 2) * unit("invocation_ms"))
    yield "lambda_seconds", gb_seconds(working + min(chunks, 64) * unit("cold_start_ms"), "run_worker_mb")
    yield "lambda_requests", len(PASSES) * (chunks + 2)
    yield "state_transitions", len(PASSES) * (chunks * unit("transitions_a_chunk") + unit("transitions_a_phase"))
    yield "s3_put", 2 * parts
    yield "s3_get", 3 * parts


def times(count: int, amounts: Amounts) -> Amounts:
    """The same so many times a year."""
    for price, amount in amounts:
        yield price, amount * count


def yields(fleet: Fleet) -> Amounts:
    """§ 786-7: both semesters."""
    yield from times(2, run(fleet.participants, fleet.participants))


def orders(fleet: Fleet) -> Amounts:
    """§ 830q: the deduction orders of each month, over all passbooks, and the daily look at the plans."""
    yield from times(MONTHS, run(fleet.participants, fleet.plans))
    yield "dynamodb_read", DAYS * fleet.plans * 2
    yield "lambda_seconds", gb_seconds(DAYS * fleet.plans * waiting_ms(unit("post_cpu_ms")), "function_mb")


def annuities(fleet: Fleet) -> Amounts:
    """§ 242b: the payroll of each month."""
    yield from times(MONTHS, run(fleet.annuitants, fleet.annuitants))
    yield "dynamodb_read", MONTHS * fleet.participants * unit("roster_item_bytes") / 4096 * Fraction(3, 2)
    yield "s3_put", MONTHS


def remittances(fleet: Fleet) -> Amounts:
    """Files of employers, their deposits, and each line credited."""
    yield "dynamodb_write", fleet.credits * unit("credit_write_units")
    yield "dynamodb_read", fleet.credits * unit("credit_read_units")
    for price, name in (("dynamodb_write", "write"), ("dynamodb_read", "read")):
        yield price, fleet.credit_pages * unit(f"credit_page_{name}_units")
        yield price, fleet.remittances * unit(f"remittance_{name}_units")
    working = fleet.credits * waiting_ms(unit("credit_cpu_ms")) + fleet.credit_pages * 5 * unit("request_ms")
    working += fleet.remittances * (3 * unit("invocation_ms") + unit("cold_start_ms"))
    yield "lambda_seconds", gb_seconds(working, "function_mb")
    yield "lambda_requests", fleet.remittances * 3
    yield "state_transitions", fleet.remittances * (unit("transitions_a_chunk") + unit("transitions_a_phase"))
    yield "s3_put", fleet.remittances
    yield "s3_get", fleet.remittances * 3


def doors(fleet: Fleet) -> Amounts:
    """Statements, passbooks and everything else at the API."""
    yield "api_requests", fleet.calls
    yield "lambda_requests", fleet.calls
    yield "lambda_seconds", gb_seconds(fleet.calls * unit("api_ms"), "function_mb")
    yield "dynamodb_read", fleet.calls * unit("call_read_units")
    yield "dynamodb_write", fleet.calls * unit("call_write_units")
    yield "traces", fleet.calls
    yield "log_ingestion", fleet.calls * unit("call_log_bytes") / MB
    yield "transfer", fleet.calls * unit("call_answer_bytes") / MB
    yield "cognito_tokens", fleet.employers * unit("tokens_an_employer") + unit("tokens_of_the_house")


def audits(fleet: Fleet) -> Amounts:
    """Every passbook from its first line, each night, with the evidence that each line names; and the seal."""
    passbooks = fleet.participants + fleet.employers
    lines = (fleet.credits + fleet.run_lines) * fleet.years
    read = lines * unit("credit_line_bytes") / 4096 + passbooks * Fraction(1, 2)
    evidence = fleet.credits * fleet.years  # a page's evidence, seldom asked for twice by one page of passbooks
    pages = math.ceil(passbooks / unit("audit_page_passbooks"))
    yield "dynamodb_read", DAYS * (read + evidence + pages * unit("audit_page_read_units"))
    yield "dynamodb_write", DAYS * pages * unit("audit_page_write_units")
    working = lines * unit("audit_line_cpu_ms") / unit("function_processor")
    working += (evidence + passbooks) * waiting_ms(unit("post_cpu_ms") / 2)
    yield "lambda_seconds", gb_seconds(DAYS * working, "function_mb")
    invocations = unit("audit_chunks") + math.ceil(working / 870_000)
    yield "lambda_requests", DAYS * (invocations + 2)
    yield "state_transitions", DAYS * (invocations * unit("transitions_a_chunk") + unit("transitions_a_phase"))
    yield "s3_put", DAYS


def guard(fleet: Fleet) -> Amounts:
    """The stream of the ledger: a witness of each line on the roster. Reading a stream by Lambda is free."""
    lines = fleet.credits + fleet.run_lines + fleet.credit_pages + fleet.changes
    yield "dynamodb_write", lines * unit("guard_write_units")
    yield "lambda_seconds", gb_seconds(lines * waiting_ms(unit("guard_cpu_ms")), "function_mb")
    yield "lambda_requests", math.ceil(fleet.ledger_items / unit("guard_batch"))


def schedules(_: Fleet) -> Amounts:
    """What the scheduler calls: yields, plans, the audit, annuities."""
    yield "scheduler", unit("schedules_a_year")
    yield "lambda_requests", unit("schedules_a_year")
    started = unit("schedules_a_year") * (unit("invocation_ms") + unit("cold_start_ms"))
    yield "lambda_seconds", gb_seconds(started, "function_mb")


def kept(fleet: Fleet) -> Amounts:
    """What is kept for ever: the ledger with its backups, the registry, the runs' objects, the seals."""
    ledger = fleet.ledger_bytes * fleet.years + fleet.participants * unit("registry_bytes_a_participant")
    yield "dynamodb_storage", ledger * MONTHS / MB
    yield "dynamodb_backup", ledger * MONTHS / MB
    objects = fleet.run_lines * (unit("prepared_row_bytes") + unit("outcome_row_bytes"))
    seals = DAYS * (fleet.participants + fleet.employers) * unit("head_bytes")
    yield "s3_storage", (objects + seals) * fleet.years * MONTHS / MB


def fixed(fleet: Fleet) -> Amounts:
    """What is paid for being there: clients, keys, secrets, alarms, metrics."""
    clients = unit("clients") - unit("employer_clients_in_the_template") + fleet.employers
    yield "cognito_clients", clients * MONTHS
    yield "kms_keys", unit("keys") * unit("key_versions") * MONTHS
    yield "kms_requests", unit("functions") * unit("tables_with_the_key") * unit("key_calls_a_year")
    yield "secrets", unit("secret_count") * MONTHS
    yield "secret_requests", unit("functions") * DAYS
    yield "alarms", unit("alarm_count") * MONTHS
    route_metrics = unit("routes") * unit("metrics_a_route") * unit("metric_hours_part")
    yield "metrics", (unit("own_metrics") + route_metrics) * MONTHS
    yield "log_storage", fleet.calls * unit("call_log_bytes") / MB * unit("log_months")
    yield "queues", 0
    yield "topics", 0


JOBS: dict[str, tuple[Sentence, Callable[[Fleet], Amounts]]] = {
    "yields": (Sentence("Semester yields", "Rendimientos semestrales"), yields),
    "remittances": (Sentence("Remittances and crediting", "Remesas y su acreditación"), remittances),
    "orders": (Sentence("Deduction orders", "Órdenes de descuento"), orders),
    "annuities": (Sentence("Annuity payrolls", "Nóminas de anualidades"), annuities),
    "doors": (Sentence("Statements and the API", "Estados de cuenta y la API"), doors),
    "audits": (Sentence("Nightly audits and seals", "Auditorías nocturnas y sellos"), audits),
    "guard": (Sentence("The ledger's guard", "El guardián del libro"), guard),
    "schedules": (Sentence("Schedules", "Horarios"), schedules),
    "kept": (Sentence("What is kept, and its backups", "Lo que se conserva, y sus copias"), kept),
    "fixed": (Sentence("Being there", "Partes fijas"), fixed),
}


@dataclass(frozen=True)
class Line:
    """A job's units of one price in a year."""

    job: str
    price: Price
    units: int

    @property
    def usd(self) -> Fraction:
        """Dollars, exactly."""
        return self.price.of(self.units)


def lines_of(job: str, amounts: Amounts) -> list[Line]:
    """A job's amounts, a line a price, in whole units."""
    sums: dict[str, Fraction] = {}
    for name, amount in amounts:
        sums[name] = sums.get(name, Fraction(0)) + amount
    return [Line(job, prices()[name], round_half_away(amount)) for name, amount in sums.items()]


def year(fleet: Fleet) -> list[Line]:
    """Every line of a year."""
    return [line for job, (_, amounts) in JOBS.items() for line in lines_of(job, amounts(fleet))]


def total(lines: list[Line]) -> Fraction:
    """Dollars of these lines, exactly."""
    return sum((line.usd for line in lines), Fraction(0))


MILLION = 1_000_000


def million_postings() -> list[Line]:
    """The lines of a yield run over a million accounts: prepare, post and close together."""
    return lines_of("yields", run(MILLION, MILLION))
