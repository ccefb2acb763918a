"""The audit of the Board's books: every entry's place and hash, from the items as they stand in the table."""

from collections.abc import Iterable

from retiro.ledger import board, encoding
from retiro.ledger.encoding import GENESIS, Item, UnreadableError
from retiro.ledger.lines import sort_key
from retiro.ledger.verify import Finding, FindingCode


def verify_book(fund: str, items: Iterable[Item]) -> list[Finding]:
    """What is wrong in a fund's book, by entry. Empty where it verifies.

    A changed byte and a missing or exchanged entry show here; a missing last one by a witness of its number.
    """
    book = board.partition(fund)
    findings = []
    previous_hash = GENESIS
    for sequence, item in enumerate(items, start=1):
        try:
            document = encoding.from_item(item)
        except UnreadableError as unreadable:
            findings.append(Finding(book, sequence, FindingCode.UNREADABLE, str(unreadable)))
            previous_hash = b""
            continue
        digest = document.pop("hash", b"")
        if document.get("sk") != sort_key(sequence):
            findings.append(Finding(book, sequence, FindingCode.MISSING_LINE, f"{document.get('sk')} stands here"))
        if digest != encoding.chain_hash(previous_hash, document):
            findings.append(Finding(book, sequence, FindingCode.CHANGED, "its hash is another"))
        previous_hash = digest if isinstance(digest, bytes) else b""
    return findings
