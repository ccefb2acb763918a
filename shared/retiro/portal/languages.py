"""Spanish or English, as the caller's `Accept-Language` prefers (RFC 9110 § 12.5.4)."""

from enum import StrEnum


class Language(StrEnum):
    """The languages that a person is answered in."""

    EN = "en"
    ES = "es"


def preferred(accept_language: str | None) -> Language:
    """The language with the highest quality value; the first named wins a tie; English where nothing else is asked.

    The `*` stands for the languages that aren't named: who excludes one of them doesn't get it by that way.

    >>> preferred("es-PR, en;q=0.8")
    <Language.ES: 'es'>
    >>> preferred("en;q=0, *")
    <Language.ES: 'es'>
    """
    asked = [_asked(part) for part in (accept_language or "").split(",")]
    named = {primary for primary, _ in asked}
    unnamed = next((language for language in Language if language not in named), None)
    best, best_quality = Language.EN, 0.0
    for primary, quality in asked:
        language = unnamed if primary == "*" else primary
        if language in set(Language) and quality > best_quality:
            best, best_quality = Language(language), quality
    return best


def _asked(part: str) -> tuple[str, float]:
    """A range's primary tag and its quality value."""
    tag, _, parameters = part.strip().partition(";")
    return tag.split("-")[0].strip().lower(), _quality(parameters)


def _quality(parameters: str) -> float:
    name, _, value = parameters.strip().partition("=")
    if name.strip().lower() != "q":
        return 1.0
    try:
        return min(max(float(value), 0.0), 1.0)
    except ValueError:
        return 0.0
