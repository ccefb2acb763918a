"""What docs/rules.md shows is what happens."""

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli.cases import load, run
from cli.main import main
from retiro.rules import determinations

PAGE = (Path(__file__).parents[2] / "docs" / "rules.md").read_text("utf-8")
RULES = Path(determinations.__file__).parent


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("block", blocks("console"))
def test_a_command_prints_what_the_page_shows(block: str):
    command, shown = block.split("\n", maxsplit=1)
    words = shlex.split(command)
    assert words[:2] == ["$", "retiro"]
    assert words[-2] == "<<<"
    result = CliRunner().invoke(main, words[2:-2], input=words[-1])
    assert result.output == shown


def test_the_code_prints_what_the_page_shows(capsys):
    (code,) = blocks("python")
    exec(compile(code, "docs/rules.md", "exec"), {})  # noqa: S102
    (shown,) = blocks("text")
    assert capsys.readouterr().out == shown


def test_the_cases_of_the_page_pass(tmp_path: Path):
    (block,) = blocks("yaml")
    place = tmp_path / "cases.yaml"
    place.write_text(block, "utf-8")
    cases = load(str(place))
    assert len(cases) == 3
    assert [run(case) for case in cases] == [[], [], []]


def test_the_page_names_files_that_are_there():
    table = PAGE.split("## Where a thing lives")[1].split("##")[0]
    named = [
        name
        for row in table.splitlines()[4:]
        for name in re.findall(r"`([\w./]+)`", row.split("|")[1] if "|" in row else "")
    ]
    assert len(named) > 10
    for name in named:
        assert any((RULES / form).exists() for form in (name, f"{name}.py", f"{name}/__init__.py")), name
