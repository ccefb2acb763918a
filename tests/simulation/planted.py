"""Bugs to be found: each a few words changed in a function of ours, and put back afterwards.

The function's own source is changed as text and compiled where it stands, and its code is swapped in place: whoever
holds the function runs the bug. A bug whose words aren't there any more says so.
"""

import inspect
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from cli.rebuild import approval
from cli.rebuild import posting as posting_history
from payroll_deductions import crediting, placing, returning, validation
from retiro.ledger import late_credits, lines, passbooks, store
from retiro.ledger.plans import drafting, figures, installments, payers
from retiro.registry import deduction_orders, runs
from retiro.registry import jobs as jobs_items
from retiro.runs import closing, desk, jobs, machine, population, posting, preparing, workshop
from retiro.runs import kinds as kind_items
from semester_yields import kinds


@dataclass(frozen=True)
class Bug:
    """What is changed, and where: `edits` are pairs of old and new words, each of the function at its place in `where`.

    `found_at` is a seed that finds it.
    """

    name: str
    where: tuple[Any, ...]
    edits: tuple[tuple[str, str], ...]
    invariants: frozenset[str]
    found_at: int = 0


def _bug(name: str, where: Any, old: str, new: str, *invariants: str, found_at: int = 0) -> Bug:
    return Bug(name, (where,), ((old, new),), frozenset(invariants), found_at)


BUGS = (
    _bug(
        "a put without its condition",
        store.LedgerStore.insert,
        'ConditionExpression="attribute_not_exists(pk)",',
        "",
        "inserted_only",
    ),
    _bug(
        "a transaction's put without its condition",
        store.LedgerStore.insertion,
        '"ConditionExpression": "attribute_not_exists(pk)",',
        "",
        "inserted_only",
        found_at=8,
    ),
    _bug(
        "a retry at the next place that isn't decided again",
        posting._post_moved,
        "remade = _remade(kind, passbook, row, run)",
        "remade = __import__('dataclasses').replace(line_of(row, run.started_at), sequence=since[-1].sequence + 1)",
        "key_with_line",
        "hash_chain",
    ),
    _bug(
        "a key written after the line",
        passbooks.Passbooks.append_together,
        "reasons = self.store.transact(transaction.items(self.store, key, content_hash))",
        "first, *rest = transaction.items(self.store, key, content_hash)\n"
        "                reasons = self.store.transact(rest)\n"
        "                reasons = (Reason(Outcome.NONE), *reasons) if reasons else ()\n"
        "                if not reasons: self.store.insert(first['Put']['Item'])",
        "key_with_line",
    ),
    _bug(
        "a cursor off by one",
        jobs.JobWorker._work,
        "Cursor(cursor.done + len(page), ",
        "Cursor(min(cursor.done + len(page) + 1, len(rows)), ",
        "done",
        "totals",
        "no_own_fault",
    ),
    _bug(
        "a shard passed over",
        population.walk,
        "else (shard + 1, '')".replace("'", '"'),
        "else (shard + 1 + (shard == 2), '')".replace("'", '"'),
        "is_finished",
        "totals",
    ),
    _bug(
        "a stale worker not fenced",
        workshop.Watch.may_work,
        "run.number == self.number and ",
        "",
        "fenced",
        found_at=5,
    ),
    _bug(
        "month-ends forgotten on a late credit",
        lines._carried_month_ends,
        "    if not cents:",
        "    if not cents or draft.belongs_on is not None:",
        "month_ends",
        found_at=1,
    ),
    _bug(
        "paused while workers may still write",
        desk.settle_pause,
        "if any(until > now for until in book.leases(run.id)):",
        "if False:",
        "after_paused",
        found_at=20,
    ),
    Bug(
        "a close that trusts the counters, and a throttle that counts as posted",
        (closing._findings, posting._outcome),
        (
            ("if line is None or not is_own(line, kind, run):", "if False:"),
            (
                'return {"passbook": row["passbook"], "outcome": THROTTLED}',
                'return {"passbook": row["passbook"], "outcome": "posted", "sequence": row["head"]["sequence"] + 1}',
            ),
        ),
        frozenset({"accounted", "no_own_fault", "is_finished"}),
    ),
    _bug(
        "a throttle taken for a line that exists",
        store.LedgerStore.insert,
        "self.retries.pause(attempt)",
        "return item",
        "is_finished",
        "refused",
        "evidence_with_line",
        found_at=1,
    ),
    _bug(
        "a run that starts to post without its evidence",
        machine._start_posting,
        "shop.ledger.put_evidence(evidence)",
        "pass",
        "evidence_with_line",
    ),
    _bug(
        "who prepared may approve",
        desk.Desk.approve,
        "if run.requested_by == by:",
        "if False:",
        "two_persons",
    ),
    _bug(
        "recorded before the line before it",
        lines._recorded,
        "return max(now.astimezone(UTC), previous.recorded_at) if previous else now.astimezone(UTC)",
        "return now.astimezone(UTC)",
        "recorded_order",
        found_at=11,
    ),
    _bug(
        "a reversal that leaves the late credits' yield",
        late_credits.reversal_of,
        "total_cents = posted.savings_cents + differences_cents",
        "total_cents = posted.savings_cents",
        "month_ends",
        "totals",
        "no_own_fault",
    ),
    _bug(
        "what came late left without its yield",
        posting._posted,
        "settling = kind.settle_late(passbook, own, late, run)",
        "settling = None",
        "late_is_settled",
        found_at=1,
    ),
    _bug(
        "a prepared line posted as it was on a passbook that has moved",
        kinds.YieldKind.remake,
        "if opening_moved or _selection_moved(passbook, last, through, figures.semester):",
        "if False:",
        "totals",
        "late_is_named",
        found_at=95,
    ),
    _bug(
        "a history read eventually",
        kind_items.Passbook.lines,
        "self.store.through(self.last, first=first)",
        "[x for x in self.store.lines(self.id, first=first, consistent=False) if x.sequence <= self.last.sequence]",
        "month_ends",
        "totals",
        "no_own_fault",
        found_at=123,
    ),
    _bug(
        "an own update, whose answer was lost, taken for a newer worker",
        jobs_items.Jobs.advance,
        'if changed.existing is not None and changed.existing["number"] == number:',
        "if False:",
        "no_own_fault",
        found_at=40,
    ),
    _bug(
        "a request that was just done by its double taken for a fault",
        passbooks.Passbooks.append_together,
        "except (Refusal, LineError):",
        "except Refusal:",
        "no_own_fault",
        found_at=47,
    ),
    _bug(
        "a cent less passed on than is credited",
        crediting._Page._pass_on,
        "(held.amount_cents if held else 0)",
        "(held.amount_cents if held else 1)",
        "passed_on",
        "no_own_fault",
    ),
    _bug(
        "a resumed run under the number it had",
        desk.Desk.resume,
        '"number": run.number + 1',
        '"number": run.number',
        "is_finished",
        "comes_to_an_end",
    ),
    _bug(
        "a chunk of which the last part is left",
        preparing._prepare_part,
        "prepared=taken.ended, parts=parts",
        "prepared=taken.ended, parts=parts if len(chunk.parts) < 1 else chunk.parts",
        "is_finished",
        "totals",
    ),
    _bug(
        "an arrear that a short line doesn't open",
        figures.Plan.order_cents,
        "- arrears_cents, arrears_cents",
        "- arrears_cents, 0",
        "plan_order",
        found_at=7,
    ),
    _bug(
        "a page credited again after a lost answer",
        crediting.RemittanceKind.take,
        "key=BusinessKey(KeyKind.REMITTANCE_CREDIT, page.identifier),",
        "key=BusinessKey(KeyKind.REMITTANCE_CREDIT, page.identifier if not self.passbooks.store\n"
        "            .get_evidence(CREDITING, page.identifier) else page.identifier + '9'),",
        "plan_lines",
        "plan_as_asked",
        "no_own_fault",
        found_at=9,
    ),
    _bug(
        "a return of the first page alone",
        returning.ReturnKind.rows,
        "for page in range(pages)",
        "for page in range(min(pages, 1))",
        "returned_whole",
        found_at=7,
    ),
    Bug(
        "a last installment that isn't cut to what is owed",
        (installments.installment_credit, drafting.paid_postings, drafting.paid_postings),
        (
            (
                "if amount_cents > (due_cents := plan.due_cents(through)):",
                "if plan.balance_cents > (due_cents := plan.due_cents(through)) < amount_cents:",
            ),
            ("if amount_cents > plan.balance_cents:", "if False:"),
            (
                "min(left_cents, open_cents)",
                "(min(left_cents, open_cents), left_cents)[number == len(plan.debts_cents)]",
            ),
        ),
        frozenset({"plan_lines", "plan_debts", "no_own_fault"}),
        found_at=7,
    ),
    _bug(
        "a pension whose first month nobody withholds",
        payers.payer_on,
        "pension.starts_on <= day:",
        "pension.starts_on <= day.replace(day=1):",
        "plan_ordered",
        "plan_order",
        found_at=29,
    ),
    _bug(
        "a validation that was overtaken and ends as if it weren't",
        jobs.JobWorker._answer,
        "self.jobs.check_newest(event.period, event.number)",
        "pass",
        "no_own_fault",
        found_at=7,
    ),
    _bug(
        "a placement from the clearing of a deposit that the bank took back",
        placing.Placing._post,
        "except ClearingError:",
        "except ZeroDivisionError:",
        "no_own_fault",
        found_at=17,
    ),
    _bug(
        "a paid plan that a returned installment doesn't open again",
        installments.installment_returned,
        '"status": PlanStatus.PAYING.value',
        '"status": plan.status.value',
        "plan_lines",
        "plan_total",
        "plan_ordered",
        found_at=127,
    ),
    _bug(
        "an order taken back that its payer still reads",
        deduction_orders.withdraw_order,
        '{"withdrawn": True}',
        '{"withdrawn": False}',
        "plan_index",
        found_at=27,
    ),
    _bug(
        "an own change of a run, whose answer was lost, taken for another's",
        runs.RunBook.note,
        "if there is None or not changed.stands(details, remove):",
        "if True:",
        "refused_changes_nothing",
        found_at=3,
    ),
    _bug(
        "a month that looks filed before the remittance stands",
        validation.accept,
        "store.put_evidence(",
        "store.transact([index_entry(table, remittance)]); store.put_evidence(",
        "refused_changes_nothing",
    ),
    _bug(
        "who prepared a history may post it",
        approval.run_of,
        " or run.requested_by == person:",
        ":",
        "two_persons",
        found_at=13,
    ),
    _bug(
        "a history gone on with a row too early",
        posting_history.RebuiltPassbooks._next,
        "account.entries[first_row:], start=first_row + 1",
        "account.entries[first_row - (first_row > 1) :], start=first_row + 1",
        "row_once",
        "rebuilt",
        "no_own_fault",
        found_at=13,
    ),
    _bug(
        "a refused transaction of a history taken for done",
        posting_history.RebuiltPassbooks._written,
        "return not reasons",
        "return True",
        "sequence",
        "rebuilt",
        "no_own_fault",
        found_at=53,
    ),
    _bug(
        "a passbook that somebody opened taken for the history's own",
        posting_history.RebuiltPassbooks._reached,
        "raise NotTakenError(PASSBOOK_NOT_EMPTY)",
        "return last",
        "rebuilt",
        "no_own_fault",
        found_at=93,
    ),
    _bug(
        "a payoff that is a cent off",
        installments.payoff,
        "if amount_cents != plan.balance_cents:",
        "if not 0 <= amount_cents - plan.balance_cents <= 1:",
        "plan_lines",
        "refused",
        "no_own_fault",
        found_at=7,
    ),
)


@contextmanager
def planted(bug: Bug) -> Iterator[None]:
    """The bug is in our code, until the end."""
    edits: dict[FunctionType, list[tuple[str, str]]] = {}
    for where, edit in zip(bug.where, bug.edits, strict=True):
        edits.setdefault(_function(where), []).append(edit)
    sound = {function: function.__code__ for function in edits}
    for function, of_function in edits.items():
        function.__code__ = _changed(function, of_function)
    try:
        yield
    finally:
        for function, code in sound.items():
            function.__code__ = code


def _function(where: Any) -> FunctionType:
    assert isinstance(where, FunctionType), where
    return where


def _changed(function: FunctionType, edits: list[tuple[str, str]]) -> Any:
    source = inspect.getsource(function)
    for old, new in edits:
        assert source.count(old) == 1, f"{function.__qualname__} has {old!r} {source.count(old)} times"
        source = source.replace(old, new)
    namespace: dict[str, Any] = {}
    text = textwrap.dedent(source)
    exec(compile(text, function.__code__.co_filename, "exec"), function.__globals__, namespace)  # noqa: S102
    changed: FunctionType = namespace[function.__name__]
    return changed.__code__
