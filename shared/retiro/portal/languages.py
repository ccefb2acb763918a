"""Spanish or English, as the caller's `Accept-Language` prefers (RFC 9110 § 12.5.4)."""

from enum import StrEnum


class Language(StrEnum):
    """The languages that a person is answered in."""

    EN = "en"
    ES = "es"


def preferred(accept_language: str | None) -> Language:
    """The language with the highest quality value; the first named wins a tie; English where nothing else is asked.

    >>> preferred("es-PR, en;q=0.8")
    <Language.ES: 'es'>
    """
    best, best_quality = Language.EN, 0.0
    for part in (accept_language or "").split(","):
        tag, _, parameters = part.strip().partition(";")
        primary = tag.split("-")[0].lower()
        quality = _quality(parameters)
        if quality > best_quality:
            if primary in set(Language):
                best, best_quality = Language(primary), quality
            elif primary == "*":
                best, best_quality = Language.EN, quality
    return best


def _quality(parameters: str) -> float:
    name, _, value = parameters.strip().partition("=")
    if name.strip().lower() != "q":
        return 1.0
    try:
        return min(max(float(value), 0.0), 1.0)
    except ValueError:
        return 0.0
