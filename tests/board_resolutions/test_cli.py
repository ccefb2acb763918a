"""`retiro board` and `retiro clients`, on the real handlers and a registry on moto."""

from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from board_resolutions import api as handlers
from cli import board as board_cli
from cli import clients as clients_cli
from cli import stacks
from cli.api import ApiProblemError
from retiro.ledger.board import BoardBook
from retiro.ledger.store import LedgerStore
from retiro.registry.clients import Party, binding_of
from retiro.registry.employers import employer_of

ACT = """\
kind: resolution
body: Junta de Retiro
number: 2025-11
date: 2025-11-05
document_sha256: "%s"
"""


@dataclass
class Doors:
    """The API as `cli.api.Api` reaches it, without a network between."""

    call: Any
    client_id: str
    acting_user: str
    language: str

    def get(self, path):
        path, _, query = path.partition("?")
        pairs = dict(pair.split("=") for pair in query.split("&") if pair)
        return self._said("GET", path, query=pairs, scopes="board.read")

    def post(self, path, body):
        scopes = "board.approve" if path.endswith("/adoption") else "board.write"
        return self._said("POST", path, body=body, scopes=scopes)

    def _said(self, method, path, **request):
        with redirect_stdout(StringIO()):  # a function's log is no command's output
            answer = self.call(handlers.handler, method, path, client=self.client_id, user=self.acting_user, **request)
        if answer.status >= 400:
            raise ApiProblemError(answer.status, answer.body)
        return answer.body


@pytest.fixture
def retiro(call, stack, schedule, clock, monkeypatch):
    """Run a command of the group as a person would."""
    clock.advance(days=150)  # into December 2025, when the series that ships was out
    here = SimpleNamespace(
        client=lambda _service: stack.dynamodb,
        client_id=lambda party: party,
        outputs={"RegistryTable": stack.registry.name},
    )
    monkeypatch.setattr(stacks, "Stack", lambda *_, **__: here)
    monkeypatch.setattr(board_cli, "Api", lambda _stack, **who: Doors(call, **who))

    def ran(group, *arguments, **more):
        return CliRunner().invoke(group, [*arguments, "--stack", "here"], **more)

    return ran


@pytest.fixture
def act_file(tmp_path):
    file = tmp_path / "act.yaml"
    file.write_text(ACT % ("ab" * 32))
    return str(file)


def test_the_series_that_ships_is_proposed_and_adopted_by_two_people(retiro, act_file, stack):
    proposed = retiro(
        board_cli.board, "load-treasury", "--act", act_file, "--vintage", "2025-11-04", "--acting-user", "u-ana"
    )
    assert proposed.exit_code == 0, proposed.output
    resolution_id, status = proposed.output.split()[:2]
    assert status == "proposed"

    alone = retiro(board_cli.board, "adopt", resolution_id, "--acting-user", "u-ana", input="y\n")
    assert alone.exit_code == 1
    assert "same_person" in alone.output
    adopted = retiro(board_cli.board, "adopt", resolution_id, "--acting-user", "u-berta", input="y\n")
    assert adopted.exit_code == 0, adopted.output

    figures = BoardBook(LedgerStore(stack.dynamodb, "retiro-ledger")).adopted("ERS")
    # The file has 2000-01 to 2025-10: 25 years of twelve months, and ten.
    assert len(figures.entries[0].resolution.months) == 310
    listed = retiro(board_cli.board, "list", "--acting-user", "u-ana")
    assert listed.output.split()[1] == "adopted"


def test_months_that_were_not_over_on_the_vintages_day_are_left_out():
    months = {"2025-05": "3.92", "2025-06": "3.89", "2025-07": "3.88"}
    resolved = board_cli.treasury_resolution("ERS", {}, "2025-07-01", months)
    assert list(resolved["months"]) == ["2025-05", "2025-06"]


def test_loading_the_same_series_again_changes_nothing(retiro, act_file):
    arguments = ("load-treasury", "--act", act_file, "--vintage", "2025-11-04", "--acting-user", "u-ana")
    first = retiro(board_cli.board, *arguments)
    again = retiro(board_cli.board, *arguments)
    assert again.output == first.output


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "line 1"),
        ("month;percent\n", "line 1"),
        ("percent,month\n", "line 1"),
        ("month,percent\n2025-01,4.27,x\n", "line 2"),
        ("month,percent\n2025-01,4.27\n2025-01,4.28\n", "line 3"),
        ("month,percent\n2025-01\n", "line 2"),
    ],
)
def test_a_file_of_another_form_is_refused_by_its_line(retiro, act_file, tmp_path, text, line):
    series = tmp_path / "series.csv"
    series.write_text(text)
    arguments = ("--act", act_file, "--vintage", "2025-11-04", "--file", str(series), "--acting-user", "u-ana")

    refused = retiro(board_cli.board, "load-treasury", *arguments)

    assert refused.exit_code == 1
    assert line in refused.output


def test_a_percent_of_another_form_is_refused_by_the_api_with_its_month(retiro, act_file, tmp_path):
    series = tmp_path / "series.csv"
    series.write_text("month,percent\n2025-01,4.27\n2025-02,1e2\n")
    arguments = ("--act", act_file, "--vintage", "2025-11-04", "--file", str(series), "--acting-user", "u-ana")

    refused = retiro(board_cli.board, "load-treasury", *arguments)

    assert refused.exit_code == 1
    assert "months.2025-02" in refused.output


def test_a_client_is_bound_and_an_employer_registered_once(retiro, stack):
    arguments = ("bind", "client-9", "--party", "employer", "--employer-id", "E-009", "--fund", "ERS")
    for _ in range(2):
        assert retiro(clients_cli.clients, *arguments).exit_code == 0
    assert binding_of(stack.registry, "client-9").employer_id == "E-009"
    assert employer_of(stack.registry, "E-009").fund == "ERS"
    assert "employer E-009" in retiro(clients_cli.clients, "show", "client-9").output

    other = retiro(clients_cli.clients, "bind", "client-9", "--party", "board")
    assert other.exit_code == 1
    assert binding_of(stack.registry, "client-9").party is Party.EMPLOYER


@pytest.mark.parametrize(
    "arguments",
    [
        ("--party", "employer"),
        ("--party", "employer", "--employer-id", "E-009"),
        ("--party", "board", "--employer-id", "E-009", "--fund", "ERS"),
        ("--party", "fund"),
        ("--party", "stranger"),
    ],
)
def test_a_binding_that_makes_no_sense_is_refused(retiro, stack, arguments):
    assert retiro(clients_cli.clients, "bind", "client-9", *arguments).exit_code == 2
    assert binding_of(stack.registry, "client-9") is None
    assert employer_of(stack.registry, "E-009") is None
