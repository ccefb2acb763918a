"""A history in a folder, built of lines, and rebuilt by the command."""

import csv
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli import stacks
from cli.main import main
from cli.rebuild import command
from cli.rebuild.command import EXIT_UNREADABLE
from tests.rebuild.ledger import FakeStack

NOW = datetime(2026, 8, 3, 16, 0, tzinfo=UTC)

# The Two-Year Treasury yields of January to June 2025 (Federal Reserve H.15). They sum to 24.04: ÷ 6 ÷ 2 = 2.003333…
TREASURY_2025_S2 = ("4.27", "4.21", "3.97", "3.78", "3.92", "3.89")

HEADERS = {
    "participants.csv": "participant_id,birth_date,employer_id,enrolled_on",
    "transfers.csv": "participant_id,credited_on,amount",
    "contributions.csv": "participant_id,remitted_on,amount,employer_id,pay_period",
    "selections.csv": "participant_id,requested_on,fixed_income,system_portfolio",
    "yields.csv": "option,period,figure,value",
}
FILES = (*HEADERS, "settings.csv")


@dataclass
class History:
    """A folder with the five files, each a header and the lines added to it. `begun`: they are there."""

    folder: Path
    begun: bool = False
    prepared: list[list[bytes]] = field(default_factory=list)

    def __post_init__(self):
        for name, header in HEADERS.items() if not self.begun else ():
            self.write(name, [header])

    def write(self, name, lines):
        (self.folder / name).write_text("".join(f"{line}\n" for line in lines), "utf-8")

    def add(self, name, *lines):
        with (self.folder / name).open("a", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)

    def participant(self, participant_id="P-1", enrolled_on="2025-01-01", selection="100,0"):
        self.add("participants.csv", f"{participant_id},1980-02-29,E-001,{enrolled_on}")
        if selection:
            self.add("selections.csv", f"{participant_id},{enrolled_on},{selection}")

    def contribution(self, remitted_on, amount, participant_id="P-1", pay_period="2025-01"):
        self.add("contributions.csv", f"{participant_id},{remitted_on},{amount},E-001,{pay_period}")

    def treasury(self, year=2025, half=2, percents=TREASURY_2025_S2):
        first = 1 if half == 2 else 7
        for month, percent in enumerate(percents, start=first):
            self.add("yields.csv", f"fixed_income,{year}-{month:02d},percent,{percent}")

    def rebuild(self, *options):
        return CliRunner().invoke(main, ["rebuild", str(self.folder), *options])

    def settings(self, in_force_from="2000-01-01", **others):
        """Each choice that § 786-7 leaves, at the readings' value or another."""
        chosen = {
            "average_balance_method": "month_end",
            "cmt_semester_conversion": "half",
            "portfolio_fee_treatment": "fees_before_share",
            "no_selection": "hold",
            "negative_yield": "post",
        } | others
        rows = [f"{name},{value},{in_force_from}" for name, value in chosen.items()]
        self.write("settings.csv", ["setting,value,in_force_from", *rows])

    def prepare(self):
        """As the first of two persons."""
        return self.rebuild("--post", "--acting-user", "u-eva")

    def post(self):
        """As the second one, after the first, who does it now where nobody has prepared these files."""
        files = [(self.folder / name).read_bytes() for name in FILES if (self.folder / name).exists()]
        if files not in self.prepared:
            prepared = self.prepare()
            if prepared.exit_code == EXIT_UNREADABLE:
                return prepared
            self.prepared.append(files)
        return self.rebuild("--post", "--acting-user", "u-ana")

    def statements(self):
        return _rows(self.folder / "statements.csv")

    def exceptions(self):
        return [(row["participant_id"], row["where"], row["code"]) for row in _rows(self.folder / "exceptions.csv")]


def _rows(place):
    with place.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def history(tmp_path):
    return History(tmp_path)


@pytest.fixture
def stack(monkeypatch):
    """A stack with empty tables, which `--post` finds."""
    stack = FakeStack()
    monkeypatch.setattr(stacks, "_stack", lambda *_names: stack)
    monkeypatch.setattr(command, "_ledger", lambda found: found.ledger(lambda: NOW))
    return stack
