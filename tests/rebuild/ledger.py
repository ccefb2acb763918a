"""A stack's tables in memory, behind a client that can die at any call; and what a person asks of a rebuilt ledger."""

import threading
from collections import Counter
from types import SimpleNamespace

from botocore.exceptions import ReadTimeoutError

from cli.rebuild.posting import Ledger
from cli.rebuild.readback import PostedStatements
from cli.stacks import Stack
from retiro.ledger.lines import REBUILD_RUN, partition
from retiro.ledger.retries import Retries
from retiro.ledger.store import LedgerStore
from retiro.ledger.verify import Audit
from retiro.registry import roster
from retiro.registry.runs import RunBook, RunId
from retiro.registry.table import Table
from tests.simulation.dynamodb import ConditionalCheckFailedException, DynamoDB, TransactionCanceledException

LEDGER, REGISTRY = "ledger", "registry"
URL = "https://dynamodb.us-east-1.amazonaws.com/"


class KilledError(BaseException):
    """The process is dead: from here on none of its calls goes out."""


class Client:
    """DynamoDB's client. Its process may die at a call; transactions may lose their answers, or be refused.

    `before_transaction` is what others do before the next one.
    """

    def __init__(self, tables):
        self._tables = tables
        self._lock = threading.Lock()
        self.exceptions = SimpleNamespace(
            ConditionalCheckFailedException=ConditionalCheckFailedException,
            TransactionCanceledException=TransactionCanceledException,
        )
        self.calls = Counter()
        self.loses = self.refuses = 0
        self.before_transaction = None
        self.lives()

    def lives(self):
        self._dead, self._left, self._operation, self._undone = False, None, None, False

    def dies(self, at, operation=None, *, undone=False):
        """Die at the call of this number (of an operation): before it takes effect, or before its answer comes."""
        self._left, self._operation, self._undone = at, operation, undone

    def __getattr__(self, operation):
        effect = getattr(self._tables, operation)

        def call(**request):
            if operation == "transact_write_items" and self.before_transaction is not None:
                meanwhile, self.before_transaction = self.before_transaction, None
                meanwhile()
            with self._lock:  # the tables in memory know no threads
                return self._met(operation, effect, request)

        return call

    def _met(self, operation, effect, request):
        last = False
        if self._left is not None and self._operation in {None, operation}:
            self._left -= 1
            last = self._left == 0
        if self._dead or (last and self._undone):
            self._dead = True
            raise KilledError
        self.calls[operation] += 1
        of_transactions = operation == "transact_write_items"
        if of_transactions and self.refuses:
            self.refuses -= 1
            raise ReadTimeoutError(endpoint_url=URL)
        answer = effect(**request)
        if last:
            self._dead = True
            raise KilledError
        if of_transactions and self.loses:
            self.loses -= 1
            raise ReadTimeoutError(endpoint_url=URL)
        return answer


class FakeStack(Stack):
    """The stack of those tables."""

    def __init__(self):
        self.tables = DynamoDB((LEDGER, REGISTRY))
        self.dynamodb = Client(self.tables)
        super().__init__(lambda _service: self.dynamodb)
        self.outputs = {"LedgerTable": LEDGER, "RegistryTable": REGISTRY}

    @property
    def store(self):
        return LedgerStore(self.dynamodb, LEDGER, retries=Retries(sleep=lambda _: None))

    @property
    def registry(self):
        return Table(self.dynamodb, REGISTRY)

    def ledger(self, clock):
        return Ledger(self.store, self.registry, clock)

    def passbooks(self):
        return [entry.passbook_id for shard in range(roster.SHARDS) for entry in roster.entries(self.registry, shard)]

    def lines(self, passbook):
        return list(self.store.lines(passbook))

    def items(self):
        """All that both tables hold."""
        return {(table, *key): item for table in (LEDGER, REGISTRY) for key, item in self.tables.items(table).items()}

    def line_items(self):
        """What the ledger's passbooks hold."""
        return {key: item for key, item in self.tables.items(LEDGER).items() if key[0].startswith("passbook#")}

    def audit(self):
        """Every passbook recomputed, and what it rests on."""
        audit = Audit()
        for passbook in self.passbooks():
            audit.add(passbook, self.store.items(partition(passbook)), None, self.store.get_evidence)
        return audit

    def statements(self):
        """The statements of all passbooks, by the lines alone, in the order of statements.csv."""
        of_ledger = PostedStatements(self.store)
        return "".join(line for one in sorted(self.passbooks()) for line in of_ledger.of(self.rebuilt(one)))

    def rebuilt(self, passbook):
        """The lines that a rebuild has written."""
        lines = self.lines(passbook)
        return lines[: lines[-1].runs[REBUILD_RUN].sequence]

    def run(self, history):
        return RunBook(self.registry).get(RunId(REBUILD_RUN, history, 1))
