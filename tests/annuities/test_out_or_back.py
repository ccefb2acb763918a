"""A month's payments go out in a file, or are taken back by a reversal: never both, whoever is first and whoever dies.

An annuity of 63,682.00 at 100.0000 months is 636.82 a month; of September, from the 10th on, 636.82 x 21/30 = 445.77.
Reversed, September is due again: in a file as well it would be paid twice, 891.54.
"""

import pytest

from retiro.ledger.store import LedgerStore
from retiro.registry.runs import RunBook
from retiro.runs.desk import Desk
from tests.annuities.conftest import JUDGE, TABLE

PLACE = "/annuity-payrolls/2026-09"
OTHER = "P-000202"


class DiedError(BaseException):
    """The function dies: nothing after this is done, and nobody is told."""


@pytest.fixture
def pensioners(program):
    """A judge who retired on 2026-09-10 on 636.82 a month; September is posted, and no file of it is made."""
    program.adopt("factor_table", **(TABLE | {"points": {"65y0m": "100", "70y0m": "100"}}))
    program.enrol(JUDGE, born="1961-02-10", balance=6_368_200)
    program.issue(JUDGE)
    program.pay("2026-09")
    return program


def ask_to_reverse(program, reason="Prepared by mistake."):
    """September's reversal, prepared: its hash."""
    answer = program.post(f"{PLACE}/reversal", {"reason": reason}, scopes="runs.approve")
    assert answer.status == 202, answer.text
    program.work_off()
    return program.payroll("2026-09")["reversal"]["hash"]


def approve(program, run_hash, user="u-luis"):
    return program.post(f"{PLACE}/approval", {"hash": run_hash}, user=user, scopes="runs.approve")


def make_file(program, attempt=None):
    query = {} if attempt is None else {"attempt": str(attempt)}
    return program.post(f"{PLACE}/payment-file", scopes="runs.approve", user="u-luis", query=query)


def read_file(program):
    return program.get(f"{PLACE}/payment-file", scopes="runs.prepare")


def once_after(monkeypatch, holder, name, happens, *, where=lambda *_: True):
    """Something else happens once, right after a call of that name: the caller goes on with what it was told."""
    real, waiting = getattr(holder, name), [happens]

    def called(*asked, **more):
        answer = real(*asked, **more)
        if waiting and where(*asked):
            waiting.pop()()
        return answer

    monkeypatch.setattr(holder, name, called)


def while_an_approval_looks(monkeypatch, happens):
    """Right after it has read the month's runs, the reversals last."""
    once_after(monkeypatch, RunBook, "attempts", happens, where=lambda _, kind, *__: kind == "annuity_reversal")


def die(*_, **__):
    raise DiedError


def die_before_the_approval(program, monkeypatch, run_hash):
    """An approval that has marked the run, and dies before it is one."""
    with monkeypatch.context() as patch:
        patch.setattr(Desk, "approve", die)
        with pytest.raises(DiedError):
            approve(program, run_hash)


def went_out_cents(program):
    """The net of every file that a door has given, by what the runs' items say."""
    runs = RunBook(program.stack.registry).attempts("annuity", "2026-09")
    return sum(run.details["payment_file"]["net"] for run in runs if "payment_file" in run.details)


def stands_cents(program, *judges):
    """What the passbooks say was paid and not taken back."""
    return sum(program.last(judge).balance_cents("cash") for judge in judges or (JUDGE,))


@pytest.mark.parametrize(("is_posted", "code"), [(False, "run_under_way"), (True, "not_posted")])
def test_no_file_is_made_of_what_is_taken_back_while_its_lines_are_read(pensioners, monkeypatch, is_posted, code):
    run_hash = ask_to_reverse(pensioners)

    def reverse():
        assert approve(pensioners, run_hash).status == 202
        if is_posted:
            pensioners.work_off()

    once_after(monkeypatch, LedgerStore, "get_lines", reverse)
    made = make_file(pensioners)

    assert (made.status, made.code, read_file(pensioners).code) == (409, code, code)
    pensioners.work_off()
    assert pensioners.payroll("2026-09")["status"] == "reversed"
    assert (make_file(pensioners).code, read_file(pensioners).code) == ("not_posted", "not_posted")
    assert (went_out_cents(pensioners), stands_cents(pensioners)) == (0, 0)

    pensioners.pay("2026-09")
    again = make_file(pensioners)
    assert (again.status, again.body["attempt"], again.body["net_total"]) == (201, 2, "445.77")
    assert went_out_cents(pensioners) == stands_cents(pensioners) == 44_577
    pensioners.check_sound()


def test_no_reversal_is_approved_of_what_goes_out_while_the_approval_looks(pensioners, monkeypatch):
    run_hash = ask_to_reverse(pensioners)
    made = []
    while_an_approval_looks(monkeypatch, lambda: made.append(make_file(pensioners).status))

    refused = approve(pensioners, run_hash)
    pensioners.work_off()

    assert (made, refused.status, refused.code) == ([201], 409, "payment_file_made")
    assert went_out_cents(pensioners) == stands_cents(pensioners) == 44_577
    assert read_file(pensioners).body["net_total"] == "445.77"


def test_an_approval_that_died_halfway_is_given_again_and_takes_all_back(pensioners, monkeypatch):
    run_hash = ask_to_reverse(pensioners)
    die_before_the_approval(pensioners, monkeypatch, run_hash)

    assert approve(pensioners, run_hash).status == 202
    assert make_file(pensioners).code == "run_under_way"
    pensioners.work_off()

    assert pensioners.payroll("2026-09")["status"] == "reversed"
    assert (went_out_cents(pensioners), stands_cents(pensioners)) == (0, 0)


def test_who_makes_the_file_after_an_approval_that_died_halfway_is_first(pensioners, monkeypatch):
    """The mark that the dead approval has left doesn't keep the pensioners' money for ever."""
    run_hash = ask_to_reverse(pensioners)
    die_before_the_approval(pensioners, monkeypatch, run_hash)

    made = make_file(pensioners)
    refused = approve(pensioners, run_hash)
    pensioners.work_off()

    assert (made.status, made.body["net_total"], refused.code) == (201, "445.77", "payment_file_made")
    assert pensioners.payroll("2026-09")["reversal"]["status"] == "superseded"
    assert went_out_cents(pensioners) == stands_cents(pensioners) == 44_577


def test_a_file_asked_for_between_an_approvals_two_steps_is_first_and_the_approver_is_told(pensioners, monkeypatch):
    run_hash = ask_to_reverse(pensioners)
    made = []
    once_after(monkeypatch, RunBook, "note", lambda: made.append(make_file(pensioners).status))

    refused = approve(pensioners, run_hash)
    pensioners.work_off()

    assert (made, refused.status, refused.code) == ([201], 409, "payment_file_made")
    assert went_out_cents(pensioners) == stands_cents(pensioners) == 44_577


def test_a_file_whose_making_died_is_the_same_when_it_is_asked_for_again(pensioners, monkeypatch):
    with monkeypatch.context() as patch:
        once_after(patch, RunBook, "note", die)
        with pytest.raises(DiedError):
            make_file(pensioners)

    made = make_file(pensioners)

    assert (made.status, made.body["net_total"]) == (201, "445.77")
    assert made.body["sha256"] == read_file(pensioners).body["sha256"]
    assert went_out_cents(pensioners) == 44_577


def test_an_approval_of_a_reversal_that_another_has_replaced_takes_no_mark_away(pensioners, monkeypatch):
    """Held up until the second reversal was approved, it must not leave the run to a file."""
    first = ask_to_reverse(pensioners)

    def reverse_anew():
        second = ask_to_reverse(pensioners, "Prepared by mistake, and asked for anew.")
        assert approve(pensioners, second).status == 202

    while_an_approval_looks(monkeypatch, reverse_anew)
    assert approve(pensioners, first, user="u-leo").status == 409

    assert make_file(pensioners).code == "run_under_way"
    pensioners.work_off()
    assert pensioners.payroll("2026-09")["status"] == "reversed"
    assert (went_out_cents(pensioners), stands_cents(pensioners)) == (0, 0)


def with_a_second_attempt(program):
    """Another judge retires as the first, and a second attempt is prepared for September."""
    program.enrol(OTHER, born="1961-02-10", balance=6_368_200)
    program.issue(OTHER)
    assert program.prepare("2026-09")["run"]["lines"] == 1
    return program.payroll("2026-09")["run"]["hash"]


def test_where_the_file_of_one_attempt_is_first_the_others_go_out_as_well(pensioners, monkeypatch):
    """Two attempts of 445.77, and a reversal of both: it has marked the first when the second one's file is made."""
    assert approve(pensioners, with_a_second_attempt(pensioners)).status == 202
    pensioners.work_off()
    run_hash = ask_to_reverse(pensioners)
    made = []
    once_after(monkeypatch, RunBook, "note", lambda: made.append(make_file(pensioners, 2).status))

    assert (approve(pensioners, run_hash).code, made) == ("payment_file_made", [201])
    pensioners.work_off()

    assert make_file(pensioners, 1).status == 201
    assert went_out_cents(pensioners) == stands_cents(pensioners, JUDGE, OTHER) == 2 * 44_577


def test_a_reversal_takes_back_what_the_attempts_it_names_have_paid_and_nothing_of_a_later_one(pensioners):
    """The second attempt is posted while the reversal of the first is prepared: its file may be made afterwards."""
    later = with_a_second_attempt(pensioners)
    answer = pensioners.post(f"{PLACE}/reversal", {"reason": "Prepared by mistake."}, scopes="runs.approve")
    assert answer.status == 202
    held_up = pensioners.executions.waiting.pop()
    assert approve(pensioners, later).status == 202
    pensioners.work_off()
    pensioners.executions.waiting.append(held_up)
    pensioners.work_off()

    reversal = pensioners.payroll("2026-09")["reversal"]
    assert (reversal["lines"], reversal["exceptions"]) == (1, {})
    assert approve(pensioners, reversal["hash"]).status == 202
    pensioners.work_off()

    assert make_file(pensioners, 2).body["net_total"] == "445.77"
    assert (stands_cents(pensioners, JUDGE), stands_cents(pensioners, OTHER)) == (0, 44_577)
    assert went_out_cents(pensioners) == 44_577
