"""What can't be done with a run, as a person reads it: the same for every kind of run."""

from retiro.portal.problems import Problem, conflict, forbidden, refused
from retiro.rules.forms import Sentence

CITATION = "Retiro API v1, runs"

_CONFLICTS = {
    "run_under_way": Sentence(
        "Another run of this period is under way.", "Otra corrida de este periodo está en curso."
    ),
    "stale_hash": Sentence(
        "No run that waits for approval has this hash.", "Ninguna corrida por aprobar tiene este código (hash)."
    ),
    "already_approved": Sentence(
        "The run was approved already, by another person.", "La corrida ya fue aprobada, por otra persona."
    ),
    "not_under_way": Sentence(
        "The run isn't under way, so there is nothing to pause.", "La corrida no está en curso: no hay qué pausar."
    ),
    "not_resumable": Sentence(
        "The run is neither paused nor failed, so there is nothing to resume.",
        "La corrida no está en pausa ni ha fallado: no hay qué reanudar.",
    ),
}
_OF_THE_HASH = frozenset({"stale_hash", "already_approved"})


def run_conflict(code: str, period_field: str) -> Problem:
    """A command that doesn't go with how a run stands, by the desk's code. `period_field` names what it was asked of.

    403 for the person who prepared it, else 409.
    """
    if code == "same_person":
        return forbidden(
            code,
            en="Who prepared a run can't approve it, by whatever client.",
            es="Quien preparó una corrida no puede aprobarla, por ningún cliente.",
            citation="Retiro API v1, two persons",
            field="Acting-User",
        )
    sentence = _CONFLICTS[code]
    field = "hash" if code in _OF_THE_HASH else period_field
    return conflict(code, en=sentence.en, es=sentence.es, citation=CITATION, field=field)


def faulty_cursor() -> Problem:
    """A cursor that no page before has given."""
    return refused(
        "invalid_cursor",
        en="The cursor isn't one that a page before has given.",
        es="El cursor no es uno que haya dado una página anterior.",
        citation="Retiro API v1, lists",
        field="cursor",
    )
