"""The usual design, on PynamoDB: query the entries, then put one and update the balance in a transaction."""

from collections.abc import Sequence

from pynamodb.attributes import NumberAttribute, UnicodeAttribute
from pynamodb.connection import Connection
from pynamodb.models import Model
from pynamodb.transactions import TransactWrite


class _Meta:
    region = "us-east-1"
    aws_access_key_id = "bench"
    aws_secret_access_key = "bench"  # noqa: S105  # nothing leaves this process


class Entry(Model):
    """An entry of an account, of whole cents."""

    class Meta(_Meta):
        table_name = "usual-entries"

    account = UnicodeAttribute(hash_key=True)
    number = UnicodeAttribute(range_key=True)
    kind = UnicodeAttribute()
    effective_on = UnicodeAttribute()
    amount_cents = NumberAttribute()
    recorded_at = UnicodeAttribute()
    principal = UnicodeAttribute()


class Balance(Model):
    """The balance of an account, which each entry updates."""

    class Meta(_Meta):
        table_name = "usual-balances"

    account = UnicodeAttribute(hash_key=True)
    amount_cents = NumberAttribute()
    entries = NumberAttribute()


def connection() -> Connection:
    """What both models speak through."""
    for model in (Entry, Balance):
        model._get_connection()  # noqa: SLF001  # PynamoDB has no other door to the client that it makes
    shared: Connection = Entry._get_connection().connection  # noqa: SLF001
    return shared


def post(connection: Connection, account: str, numerator: int, denominator: int) -> int:
    """Post a semester's yield: an exact percent of the mean of the last six balances. The cents."""
    entries: Sequence[Entry] = list(Entry.query(account, consistent_read=True))
    balances = [0]
    for entry in entries:
        balances.append(balances[-1] + int(entry.amount_cents))
    cents = sum(balances[-6:]) * numerator // (6 * denominator)
    entry = Entry(
        account,
        f"{len(entries) + 1:08d}",
        kind="semester_yield",
        effective_on="2025-06-30",
        amount_cents=cents,
        recorded_at="2025-07-10T16:00:00.000000Z",
        principal="run",
    )
    with TransactWrite(connection=connection) as transaction:
        transaction.save(entry, condition=Entry.number.does_not_exist())
        transaction.update(
            Balance(account),
            actions=[Balance.amount_cents.add(cents), Balance.entries.set(len(entries) + 1)],
            condition=Balance.entries == len(entries),
        )
    return cents
