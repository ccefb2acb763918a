"""The keyed hash that stands for a person: it links a person's memberships, and the identifier is kept nowhere."""

import hashlib
import hmac
from collections.abc import Callable
from functools import cache, cached_property, partial

import boto3
from pydantic import SecretStr

from retiro.registry.environment import Environment


class PersonKeyEnvironment(Environment):
    """Where the secret key is."""

    person_key_secret_arn: str


class PersonKeys:
    """Hashes identifiers with a secret key, which is read once, when the first identifier comes."""

    def __init__(self, read_secret: Callable[[], str]) -> None:
        self._read_secret = read_secret

    def of(self, identifier: SecretStr | None) -> str | None:
        """HMAC-SHA-256 of the identifier, hyphens, spaces and case aside: one person written two ways is one key."""
        if identifier is None:
            return None
        plain = letters_and_digits(identifier).upper()
        return hmac.new(self._key, plain.encode(), hashlib.sha256).hexdigest()

    @cached_property
    def _key(self) -> bytes:
        return self._read_secret().encode()


def letters_and_digits(identifier: SecretStr) -> str:
    """What of an identifier tells persons apart."""
    return "".join(character for character in identifier.get_secret_value() if character.isalnum())


@cache
def keys_of_environment() -> PersonKeys:
    """The keys by the secret that the environment names."""
    return PersonKeys(partial(_secret, PersonKeyEnvironment.read().person_key_secret_arn))


def _secret(arn: str) -> str:
    return str(boto3.client("secretsmanager").get_secret_value(SecretId=arn)["SecretString"])
