"""What a prepared line costs to post: units of the table, and what the worker computes beside one bare request."""

import io
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import boto3

from bench import usual
from bench.accounts import PERCENTS
from bench.clerk import BUCKET, LEDGER, REGISTRY, Clerk, now, workshop
from bench.measures import Measure, at_most, exactly, interleaved, ratio, seconds
from bench.meter import Meter
from bench.population import fill, year_of_lines
from bench.transport import answer_here
from cli.cloud import Cloud
from retiro.ledger.encoding import Item
from retiro.ledger.lines import Line, to_item
from retiro.registry import aws, roster
from retiro.registry.runs import Chunk, Phase, Run, RunId, RunStatus
from retiro.rules.savings_accounts import FIXED_INCOME
from retiro.runs import posting
from retiro.runs.objects import Row
from retiro.runs.preparing import line_of
from retiro.runs.worker import AT_ONCE
from retiro.runs.workshop import Sizes, Watch, Workshop

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

ACCOUNTS = 2_000


def measure(count: int = ACCOUNTS) -> list[Measure]:
    """Units on the local table's own word, processor time of the client with the answers given in this process."""
    cloud = Cloud(f"bench-{os.getpid()}")
    try:
        cloud.start()
        return measure_on(cloud.client("dynamodb"), cloud.client("s3"), count)
    finally:
        cloud.stop()


def measure_on(dynamodb: "DynamoDBClient", s3: Any, count: int) -> list[Measure]:
    """The measures, on empty tables that are made here."""
    for name in (LEDGER, REGISTRY):
        make_table(dynamodb, name)
    s3.create_bucket(Bucket=BUCKET)
    histories = [year_of_lines(number) for number in range(1, count + 1)]
    fill(dynamodb, LEDGER, REGISTRY, histories)
    clerk = Clerk(workshop(dynamodb, s3, Sizes()))
    meter = Meter(dynamodb)
    run = clerk.prepare()
    preparing = meter.taken()
    rows = prepared_rows(clerk.shop, run)
    run = clerk.approve()
    meter.taken()
    clerk.post()
    posted = meter.taken()
    clerk.close()
    closing = meter.taken()
    a_line = f"a line of {count:,} posted to passbooks that had not moved"
    registry = {"read": 0.0, "write": 0.0}
    for taken in (preparing, posted, closing):
        for (table, _, verb), units in taken.items():
            registry[verb] += units if table == REGISTRY else 0
    an_account = f"an account of {count:,}, prepared, posted and closed: roster, cursors, looks at the run"
    return [
        Measure("posting.write_units", posted[LEDGER, "passbook", "write"] / count, "write units", a_line, exactly(1)),
        Measure("posting.read_units", posted[LEDGER, "passbook", "read"] / count, "read units", a_line, exactly(0)),
        Measure(
            "preparing.read_units",
            preparing[LEDGER, "passbook", "read"] / count,
            "read units",
            f"a line of {count:,} prepared",
            exactly(0.5),
        ),
        Measure(
            "closing.read_units",
            sum(closing[LEDGER, one, "read"] for one in ("passbook", "")) / count,
            "read units",
            f"a line of {count:,} read back",
        ),
        Measure("run.registry_read_units", registry["read"] / count, "read units", an_account),
        Measure("run.registry_write_units", registry["write"] / count, "write units", an_account),
        *_processor_time(rows, run, histories),
    ]


def make_table(dynamodb: "DynamoDBClient", name: str) -> None:
    """A table as the template has it: `pk` and `sk`, paid by request."""
    dynamodb.create_table(
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": key, "AttributeType": "S"} for key in ("pk", "sk")],
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
    )


def prepared_rows(shop: Workshop, run: Run) -> list[Row]:
    """All lines that a run has prepared."""
    return [row for chunk in shop.book.chunks(run.id) for part in chunk.parts for row in shop.objects.read(part)]


def _processor_time(rows: list[Row], run: Run, histories: list[list[Line]]) -> list[Measure]:
    """All that a worker computes to post a line, beside a bare put of its item, and beside the usual design."""
    ours = _client(config=aws.DYNAMODB_CONFIG)
    bare = _client()
    other = usual.connection()
    for client in (ours, bare):
        answer_here(client, {})
    answer_here(other.client, {"Query": _entries(histories)})
    pass_over = Pass(ours, run, rows)
    items = [to_item(line_of(row, run.started_at)) for row in rows]
    accounts = [history[-1].passbook for history in histories]
    percent = PERCENTS[FIXED_INCOME] / 100
    timed = interleaved(
        [
            pass_over.post,
            lambda: _put_all(bare, items),
            lambda: [usual.post(other, one, percent.numerator, percent.denominator) for one in accounts],
        ]
    )
    return [
        Measure("posting.cpu", 1e6 * seconds(timed, 0) / len(rows), "µs", "a line, on this machine"),
        Measure(
            "posting.cpu_vs_bare",
            ratio(timed, 0, 1),
            "ratio",
            "bare botocore, as it comes, putting the same ready-made item",
            at_most(1.3),
        ),
        Measure(
            "posting.cpu_vs_usual",
            ratio(timed, 0, 2),
            "ratio",
            "PynamoDB: query the entries, put one and update the balance in a transaction",
            at_most(0.4),
        ),
    ]


def _client(**more: Any) -> "DynamoDBClient":
    return boto3.client(
        "dynamodb",
        region_name="us-east-1",
        aws_access_key_id="bench",
        aws_secret_access_key="bench",  # noqa: S106  # nothing leaves this process
        **more,
    )


class Pass:
    """The post pass over one chunk, as a worker does it: the part read, lines put by several hands, results stored.

    Where the run stands and what the bucket holds is kept in memory, so that nothing but the worker is timed.
    """

    def __init__(self, client: "DynamoDBClient", run: Run, rows: Sequence[Row]) -> None:
        self.bodies: dict[str, bytes] = {}
        bucket: Any = self
        self.shop = workshop(client, bucket, Sizes(at_once=AT_ONCE))
        size = self.shop.sizes.part_accounts
        parts = [
            self.shop.objects.store(run.id, 0, f"part-{first:06d}", rows[first : first + size], {})
            for first in range(0, len(rows), size)
        ]
        self.run = replace(run, status=RunStatus.POSTING)
        self.standing = Chunk(0, 0, roster.SHARDS, len(rows), prepared=True, parts=tuple(parts))

    def post(self) -> None:
        """Post all lines."""
        book: Any = self
        shop = replace(self.shop, book=book)
        watch = Watch(shop, self.run.id, self.run.number, Phase.POST, now() + timedelta(minutes=15))
        (kind,) = shop.kinds.values()
        if not posting.work(shop, kind, 0, watch):
            raise RuntimeError("the pass came to no end")

    # What the bucket's client does

    def put_object(self, *, Key: str, Body: bytes, **_: Any) -> None:  # noqa: N803  # as boto3 names them
        self.bodies[Key] = Body

    def get_object(self, *, Key: str, **_: Any) -> Mapping[str, Any]:  # noqa: N803
        return {"Body": io.BytesIO(self.bodies[Key])}

    # What the book of runs does

    def get(self, _run: RunId) -> Run:
        return self.run

    def chunk(self, _run: RunId, _index: int) -> Chunk:
        return self.standing

    def move(self, _run: RunId, chunk: Chunk, **changes: Any) -> Chunk:
        return replace(chunk, step=chunk.step + 1, **changes)

    def saw(self, _run: RunId, _chunk: Chunk, _lines: int) -> None:
        return


def _put_all(client: "DynamoDBClient", items: Sequence[Item]) -> None:
    for item in items:
        client.put_item(
            TableName=LEDGER,
            Item=item,
            ConditionExpression="attribute_not_exists(pk)",
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )


def _entries(histories: list[list[Line]]) -> Callable[[Mapping[str, Any]], Mapping[str, Any]]:
    """Answers a query for an account's entries: what the lines move, as the usual design keeps it."""
    pages = {}
    for history in histories:
        items = [
            {
                "account": {"S": line.passbook},
                "number": {"S": f"{line.sequence:08d}"},
                "kind": {"S": str(line.kind)},
                "effective_on": {"S": line.effective_on.isoformat()},
                "amount_cents": {"N": str(line.savings_cents)},
                "recorded_at": {"S": line.recorded_at.isoformat()},
                "principal": {"S": line.principal},
            }
            for line in history
        ]
        pages[history[-1].passbook] = {"Items": items, "Count": len(items), "ScannedCount": len(items)}

    def answer(request: Mapping[str, Any]) -> Mapping[str, Any]:
        (value,) = request["ExpressionAttributeValues"].values()
        return pages[value["S"]]

    return answer
