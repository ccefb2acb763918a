"""What every door says that asks for a second person: approved is what was looked at, and by one person once."""

from retiro.portal.problems import Problem, conflict

_CITATION = "Retiro API v1, two persons"


def stale_hash() -> Problem:
    """409: what waits for approval isn't what was looked at, or would not come out so any more."""
    return conflict(
        "stale_hash",
        en="What waits for approval isn't what this hash names: read it again, and approve what you then see.",
        es="Lo que espera aprobación no es lo que este código (hash) nombra: léalo otra vez y apruebe lo que vea.",
        citation=_CITATION,
        field="content_hash",
    )


def already_approved() -> Problem:
    """409: another person was first."""
    return conflict(
        "already_approved",
        en="It was approved already, by another person.",
        es="Ya fue aprobado, por otra persona.",
        citation=_CITATION,
    )
