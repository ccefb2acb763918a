"""Any sequence of events leaves every passbook in balance and verifiable; a refused one changes no byte."""

from collections.abc import Callable, Sequence
from datetime import date, timedelta
from typing import Any, cast

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from retiro.ledger import employers, savings
from retiro.ledger.keys import BusinessKey, KeyConflictError, KeyKind
from retiro.ledger.late_credits import AsPosted, Correction, Late, correction, late_credit, reversal_of
from retiro.ledger.lines import Draft, Line, LineKind, from_item, next_line, partition
from retiro.ledger.month_ends import IncompleteError
from retiro.ledger.passbooks import Part, Passbooks, balances_as_of
from retiro.ledger.retries import Retries
from retiro.ledger.savings import Origin, YieldPosting
from retiro.ledger.store import LedgerStore
from retiro.ledger.verify import Audit
from retiro.ledger.witness import Witness
from retiro.rules.calendar import Semester
from retiro.rules.refusals import Refusal
from retiro.rules.savings_accounts import average_monthly_balance_cents, option_percents, yield_cents
from tests.ledger.fake_dynamodb import FakeDynamoDB
from tests.ledger.makers import ANA, FIGURES, NOW, S1, TABLE, day

SEMESTERS = (S1, S1.next(), S1.next().next())
ALL_FIGURES = FIGURES | {
    "FY2026-S1": AsPosted({"fixed_income": {"monthly_percent": ["-3.00", "1", "2", "3", "-9.5", "0.01"]}})
}
PEOPLE = ("P-000001", "P-000002")
EMPLOYER = "E-001"

CENTS = st.integers(1, 10**9)
DAYS = st.dates(date(2024, 7, 1), date(2025, 12, 31))
PERSON = st.sampled_from(PEOPLE)
APART = st.sampled_from([0, 0, 0, 0, -1, 1])


class Events(RuleBasedStateMachine):
    """A small ledger under random events. `self.savings_cents` is what each participant should have, kept apart."""

    def __init__(self) -> None:
        super().__init__()
        self.dynamodb = FakeDynamoDB()
        self.now = NOW
        store = LedgerStore(
            cast("Any", self.dynamodb), TABLE, retries=Retries(sleep=lambda _: None, jitter=lambda: 0.0)
        )
        self.passbooks = Passbooks(store, lambda: self.now)
        self.events = 0
        self.answered: list[tuple[list[Part], BusinessKey, Any, tuple[Line, ...]]] = []
        self.savings_cents = dict.fromkeys(PEOPLE, 0)
        self.witnesses: dict[str, Witness] = {}

    def happens(self, *parts: tuple[str, Callable[[Line | None], Draft | Sequence[Draft]]]) -> tuple[Line, ...]:
        """An event of its own key: its lines, or none where it is refused, and then nothing may have changed."""
        self.events += 1
        self.now += timedelta(seconds=self.events % 3 - 1)  # a clock that stands, runs, and goes back
        key = BusinessKey(KeyKind.CORRECTION, f"event-{self.events}")
        asked = [Part(passbook, decide, "ERS") for passbook, decide in parts]
        before = self.dynamodb.snapshot()
        try:
            done = self.passbooks.append_together(asked, key=key, content=self.events)
        except Refusal:
            assert self.dynamodb.snapshot() == before
            assert self.passbooks.store.get_key(key) is None
            return ()
        self.answered.append((asked, key, self.events, done.lines))
        for line in done.lines:
            self.witnesses[line.passbook] = Witness(line.sequence, line.hash)
            if line.passbook in PEOPLE:
                self.savings_cents[line.passbook] += line.savings_cents
        return done.lines

    def history(self, person: str) -> list[Line]:
        return [from_item(item) for item in self.items_of(person)]

    def items_of(self, passbook: str) -> list[dict[str, Any]]:
        return self.dynamodb.of_partition(partition(passbook))

    @initialize()
    def people_and_an_employer(self) -> None:
        for person in PEOPLE:
            self.happens((person, lambda last: savings.enrolment(last, day("2024-07-01"), {"fixed_income": 100}, ANA)))
        self.happens((EMPLOYER, lambda _: employers.opening(day("2024-07-01"), ANA)))

    @rule(person=PERSON)
    def enrolled_again(self, person: str) -> None:
        assert not self.happens((person, lambda last: savings.enrolment(last, day("2024-07-01"), None, ANA)))

    @rule(person=PERSON, cents=CENTS, on=DAYS, lost=st.booleans())
    def remitted(self, person: str, cents: int, on: date, lost: bool) -> None:  # noqa: FBT001
        """A deposit, and its credit in one transaction with the employer's line; its answer may be lost."""
        remittance = f"R-{self.events}"
        self.happens((EMPLOYER, lambda _: employers.deposit(remittance, cents, on, ANA)))

        def credited(last: Line | None) -> Draft:
            assert last is not None
            if savings.is_late(last, on):
                late = Late(cents, on, self.now.date())
                return late_credit(self.history(person), late, ALL_FIGURES, ANA)[0]
            return savings.contribution(last, cents, on, ANA)

        def passed_on(last: Line | None) -> Draft:
            assert last is not None
            return employers.passing_on(last, remittance, cents, on, ANA)

        self.dynamodb.lose_next = lost
        self.happens((person, credited), (EMPLOYER, passed_on))

    @rule(person=PERSON, cents=CENTS, on=DAYS)
    def transferred(self, person: str, cents: int, on: date) -> None:
        def brought(last: Line | None) -> Draft:
            return savings.initial_transfer(last, cents, on, ANA)

        if not savings.is_late(self.passbooks.last(person), on):
            self.happens((person, brought))

    @rule(person=PERSON, apart=APART, attempt=st.integers(1, 3))
    def yield_posted(self, person: str, apart: int, attempt: int) -> None:
        """As a run posts it: mostly the semester that is open, now and then another, which is refused."""
        month_ends = self.history(person)[-1].month_ends
        semester = near(month_ends.oldest_open if month_ends else S1, apart)

        def earned(last: Line | None) -> Draft:
            assert last is not None
            history: list[Line] | None = None
            try:
                figures = savings.semester_figures(last, semester)
            except IncompleteError:
                history = self.history(person)
                figures = savings.semester_figures(last, semester, history)
            average = average_monthly_balance_cents(figures, "month_end")
            percent = option_percents(semester, ALL_FIGURES[str(semester)].option_yields, {})["fixed_income"]
            cents = yield_cents(average, percent, "post")
            posting = YieldPosting(semester, attempt, cents, semester.ends_on, last.sequence)
            return savings.semester_yield(last, posting, Origin("run", f"yield/{semester}/{attempt}"), history)

        self.happens((person, earned))

    @rule(person=PERSON, apart=APART)
    def yield_reversed(self, person: str, apart: int) -> None:
        mark = self.history(person)[-1].runs.get("yield")
        semester = near(Semester.parse(mark.period) if mark else S1, apart)
        self.happens((person, lambda _: reversal_of(self.history(person), semester, ANA)))

    @rule(person=PERSON, data=st.data())
    def corrected(self, person: str, data: st.DataObject) -> None:
        history = self.history(person)
        sequence = data.draw(st.integers(1, len(history)))
        right = data.draw(st.none() | st.tuples(CENTS, DAYS))
        wrong = Correction(sequence, self.now.date(), right)
        lines = self.happens((person, lambda _: correction(self.history(person), wrong, ALL_FIGURES, ANA)))
        passed_on = -sum(one.amount_cents for line in lines for one in line.postings if one.account == "contributions")
        if passed_on:
            self.happens((EMPLOYER, lambda last: made_to_agree(last, f"C-{self.events}", passed_on)))

    @rule(person=PERSON, on=DAYS, percent=st.sampled_from([0, 50, 100]))
    def selected(self, person: str, on: date, percent: int) -> None:
        """A change to the same option, so that the figures stay those of fixed income."""

        def chosen(last: Line | None) -> Draft:
            assert last is not None
            return savings.selection(
                last, {"fixed_income": 100}, requested_on=on, effective_on=date(on.year + 1, 7, 1), origin=ANA
            )

        if percent:
            self.happens((person, chosen))

    @rule(person=PERSON, kind=st.sampled_from([LineKind.DEATH_REPORT, LineKind.SEPARATION]), rarely=st.integers(0, 9))
    def status_changed(self, person: str, kind: LineKind, rarely: int) -> None:
        if rarely == 0:
            self.happens((person, lambda _: savings.status_change(kind, self.now.date(), ANA)))

    @precondition(lambda self: self.answered)
    @rule(data=st.data())
    def sent_again(self, data: st.DataObject) -> None:
        """The same key gets the first answer, whatever came since; with another content, a conflict."""
        parts, key, content, lines = data.draw(st.sampled_from(self.answered))
        before = self.dynamodb.snapshot()
        again = self.passbooks.append_together(parts, key=key, content=content)
        assert (again.lines, again.replayed) == (lines, True)
        try:
            self.passbooks.append_together(parts, key=key, content={"other": content})
        except KeyConflictError:
            pass
        else:
            raise AssertionError
        assert self.dynamodb.snapshot() == before

    @invariant()
    def every_passbook_verifies_and_the_fund_is_in_balance(self) -> None:
        audit = Audit()
        for passbook, witness in self.witnesses.items():
            audit.add(passbook, self.items_of(passbook), witness)
        assert audit.findings == []
        assert audit.is_clean
        totals = audit.trial_balance.totals_cents.get("ERS", {})
        assert totals.get("savings", 0) == sum(self.savings_cents.values())

    @invariant()
    def what_is_carried_is_what_was_posted(self) -> None:
        for person in PEOPLE:
            history = self.history(person)
            if history:
                assert history[-1].balance_cents("savings") == self.savings_cents[person]
                assert balances_as_of(history) == dict(history[-1].balances)

    @invariant()
    def the_open_semester_s_figures_are_those_of_its_days(self) -> None:
        """The month-ends from the last line alone, against a plain sum over the days of all lines."""
        for person in PEOPLE:
            history = self.history(person)
            carried = history[-1].month_ends if history else None
            if carried is None:
                continue
            semester = carried.oldest_open
            try:
                figures = carried.figures(semester)
            except IncompleteError:
                continue
            moved = savings.movements(history)
            ends = [semester.starts_on - timedelta(days=1)]
            ends += [last_day(month) for month in semester.months]
            assert figures == tuple(sum(cents for on, cents in moved if on <= end) for end in ends)


def made_to_agree(last: Line | None, remittance: str, passed_on: int) -> list[Draft]:
    """The employer's half of a correction: out of a deposit, or into clearing again."""
    assert last is not None
    on = NOW.date()
    if passed_on < 0:
        return [employers.taken_back(remittance, -passed_on, on, ANA)]
    held = next_line(
        last,
        deposit := employers.deposit(remittance, passed_on, on, ANA),
        passbook=EMPLOYER,
        fund="ERS",
        recorded_at=NOW,
    )
    return [deposit, employers.passing_on(held, remittance, passed_on, on, ANA)]


def near(semester: Semester, apart: int) -> Semester:
    """The semester so many away, of those that have figures."""
    index = SEMESTERS.index(semester) if semester in SEMESTERS else len(SEMESTERS) - 1
    return SEMESTERS[min(max(index + apart, 0), len(SEMESTERS) - 1)]


def last_day(month: str) -> date:
    following = date(int(month[:4]) + int(month[5:]) // 12, int(month[5:]) % 12 + 1, 1)
    return following - timedelta(days=1)


TestEvents = Events.TestCase
TestEvents.settings = settings(max_examples=60, stateful_step_count=20, deadline=None)
