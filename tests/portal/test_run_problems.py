"""What can't be done with a run is said once for all kinds of run."""

import pytest

from retiro.portal.languages import Language
from retiro.portal.run_problems import faulty_cursor, run_conflict
from retiro.runs.desk import ConflictCode


@pytest.mark.parametrize("code", ConflictCode)
def test_every_conflict_of_the_desk_is_a_problem_with_its_field(code):
    problem = run_conflict(str(code), "semester")
    said = problem.document(Language.ES, "urn:x")
    forbidden = code is ConflictCode.SAME_PERSON
    assert (said["status"], said["code"]) == (403 if forbidden else 409, str(code))
    of_the_hash = code in {ConflictCode.STALE_HASH, ConflictCode.ALREADY_APPROVED}
    assert said["field"] == ("Acting-User" if forbidden else "hash" if of_the_hash else "semester")
    assert said["detail"] != problem.document(Language.EN, "urn:x")["detail"]


def test_a_cursor_of_another_list_names_its_field():
    assert faulty_cursor().document(Language.EN, "urn:x")["field"] == "cursor"
