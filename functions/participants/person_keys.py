"""The keyed hash that stands for a person: it links a person's memberships, and the identifier is kept nowhere."""

import hashlib
import hmac
from collections.abc import Callable
from functools import cached_property

from pydantic import SecretStr


class PersonKeys:
    """Hashes identifiers with a secret key, which is read once, when the first identifier comes."""

    def __init__(self, read_secret: Callable[[], str]) -> None:
        self._read_secret = read_secret

    def of(self, identifier: SecretStr | None) -> str | None:
        """HMAC-SHA-256 of the identifier, hyphens, spaces and case aside: one person written two ways is one key."""
        if identifier is None:
            return None
        plain = "".join(character for character in identifier.get_secret_value() if character.isalnum()).upper()
        return hmac.new(self._key, plain.encode(), hashlib.sha256).hexdigest()

    @cached_property
    def _key(self) -> bytes:
        return self._read_secret().encode()
