"""The `retiro` command as a whole."""

import sys

import click
import pytest
from click.testing import CliRunner

from cli import main as main_module
from cli.main import COMMANDS, main


@pytest.mark.parametrize("name", COMMANDS)
def test_every_row_of_the_table_is_a_command(name):
    assert isinstance(main.get_command(click.Context(main), name), click.Command)


def test_the_help_lists_every_command_and_imports_none(monkeypatch):
    monkeypatch.setitem(COMMANDS, "absent", ("cli.absent", "absent", "It isn't there."))
    result = CliRunner().invoke(main, ["--help"])
    assert result.exit_code == 0
    for name in COMMANDS:
        assert f"  {name} " in result.stdout
    assert "cli.absent" not in sys.modules


def test_a_command_that_is_missing_keeps_no_other_from_working(monkeypatch):
    monkeypatch.setitem(COMMANDS, "absent", ("cli.absent", "absent", "It isn't there."))
    assert CliRunner().invoke(main, ["determine", "semester_calendar"], input="semester: FY2025-S2").exit_code == 0
    with pytest.raises(ModuleNotFoundError):
        main.get_command(click.Context(main), "absent")


def test_a_row_that_names_no_command_is_an_error_of_ours(monkeypatch):
    monkeypatch.setitem(COMMANDS, "wrong", (main_module.__name__, "COMMANDS", "Not a command."))
    with pytest.raises(TypeError, match="isn't a command"):
        main.get_command(click.Context(main), "wrong")


def test_an_unknown_command_exits_2():
    assert CliRunner().invoke(main, ["frobnicate"]).exit_code == 2


def test_the_version_is_the_packages():
    assert "0.1.0" in CliRunner().invoke(main, ["--version"]).stdout
