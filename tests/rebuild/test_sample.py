"""`retiro rebuild sample DIR`: a history made up, the same for a seed."""

from click.testing import CliRunner

from cli.main import main


def make(folder, *options):
    return CliRunner().invoke(main, ["rebuild", "sample", str(folder), "--participants", "12", *options])


def contents(folder):
    return {place.name: place.read_bytes() for place in folder.iterdir()}


def test_a_seed_makes_one_history(tmp_path):
    for name, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        assert make(tmp_path / name, "--seed", seed).exit_code == 0
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    assert contents(tmp_path / "a") != contents(tmp_path / "c")


def test_it_has_the_participants_asked_for_and_the_semesters_of_system_2000(tmp_path):
    make(tmp_path / "a")
    assert len((tmp_path / "a" / "participants.csv").read_text().splitlines()) == 13
    result = CliRunner().invoke(main, ["rebuild", str(tmp_path / "a")])
    assert result.exit_code == 0
    assert "through FY2013-S2, 0 exceptions" in result.output


def test_a_history_is_never_written_over(tmp_path):
    make(tmp_path / "a")
    before = contents(tmp_path / "a")
    result = make(tmp_path / "a", "--seed", "2")
    assert result.exit_code == 2
    assert "participants.csv: is there already" in result.output
    assert contents(tmp_path / "a") == before


def test_a_folder_named_as_the_command_is_reached_by_its_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make("sample")
    assert CliRunner().invoke(main, ["rebuild", "./sample"]).exit_code == 0


def test_the_help_says_what_stands_for_a_folder():
    output = CliRunner().invoke(main, ["rebuild", "--help"]).output
    assert "DIR" in output
    assert "sample" in output
