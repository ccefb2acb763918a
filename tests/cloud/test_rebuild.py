"""`retiro rebuild DIR --post` on a deployed stack: as a person calls it, against the real tables and their stream."""

from click.testing import CliRunner

from cli.main import main
from cli.rebuild.readback import PostedStatements
from retiro.ledger.lines import REBUILD_RUN
from retiro.ledger.trial_balance import trial_balance
from tests.cloud.waiting import until
from tests.rebuild.conftest import History

IDS = ("P-205001", "P-205002", "P-205003")
S1_PERCENTS, S2_PERCENTS = ["0.51"] * 6, ["0.62"] * 6


def retiro(*arguments):
    """What a command says."""
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    return result.output


def history_in(folder):
    """Three participants of FY2015: one brings a balance, one begins in its second half, one never has a credit."""
    history = History(folder)
    for one, enrolled_on in zip(IDS, ("2014-07-01", "2015-01-15", "2014-08-01"), strict=True):
        history.participant(one, enrolled_on=enrolled_on)
    history.add("transfers.csv", f"{IDS[0]},2014-07-01,10000.00")
    for month in range(2, 7):
        history.contribution(f"2015-{month:02d}-10", "214.36", IDS[0], pay_period=f"2015-{month - 1:02d}")
        history.contribution(f"2015-{month:02d}-12", f"100.0{month}", IDS[1], pay_period=f"2015-{month - 1:02d}")
    history.treasury(2014, 1, S1_PERCENTS)
    history.treasury(2015, 2, S2_PERCENTS)
    history.settings()


def test_a_history_is_posted_once_and_the_ledger_gives_its_statements(tmp_path, behind):
    """17 lines: 1 + 1 + 5 + 2 of the first, 1 + 5 + 1 of the second, 1 of the third; and nothing a second time."""
    history_in(tmp_path)
    retiro("rebuild", str(tmp_path))
    calculated = (tmp_path / "statements.csv").read_text("utf-8")
    options = ("--post", "--acting-user", "u-0042", "--cloud", behind.cloud.name)
    of_another = ("--post", "--acting-user", "u-0041", "--cloud", behind.cloud.name)
    assert "Nothing is posted yet: u-0041 has prepared" in retiro("rebuild", str(tmp_path), *of_another)
    assert ", 5 statements through FY2015-S2, 0 exceptions, 17 lines posted" in retiro(
        "rebuild", str(tmp_path), *options
    )

    assert (tmp_path / "statements.csv").read_text("utf-8") == calculated
    of_ledger = PostedStatements(behind.passbooks.store)
    lines = {one: behind.lines(one) for one in IDS}
    assert "".join(row for one in IDS for row in of_ledger.of(lines[one])) == calculated.partition("\n")[2]
    [run] = behind.runs.attempts(REBUILD_RUN, lines[IDS[0]][-1].runs[REBUILD_RUN].period)
    assert (run.status, run.details["result"]) == ("posted", {"lines": 17, "not_taken": {}})

    # The guard sees each of the lines, and the audit finds nothing wrong with any of them, nor with what they rest on.
    until(lambda: all(behind.witness(one).head == len(lines[one]) for one in IDS), "the witness of the last lines")
    for one in IDS:
        assert retiro("passbook", "verify", one, "--cloud", behind.cloud.name).startswith("clean: ")
    assert not {found["passbook"] for found in behind.audit()["named"]} & {*IDS}
    assert trial_balance(of_one[-1] for of_one in lines.values()).contributions_cents() == {}
    assert ", 0 lines posted" in retiro("rebuild", str(tmp_path), *options)
