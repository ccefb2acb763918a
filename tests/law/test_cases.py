"""Every case of this folder, one test each."""

from pathlib import Path

import pytest

from cli.cases import Case, load, run

FILES = sorted(Path(__file__).parent.glob("*.yaml"))
CASES = [pytest.param(case, id=f"{place.stem}: {case.name}") for place in FILES for case in load(str(place))]


@pytest.mark.parametrize("case", CASES)
def test_the_law_is_kept(case: Case):
    assert run(case) == []


@pytest.mark.parametrize("place", FILES, ids=lambda place: place.stem)
def test_no_two_cases_of_a_file_say_the_same(place: Path):
    names = [case.name for case in load(str(place))]
    assert len(names) == len(set(names))
