"""Who asks: a client that the gateway's authorizer has let in, bound to a party, and the person that it vouches for."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from retiro.portal.problems import Problem, bad_request, forbidden
from retiro.registry.clients import Party, binding_of
from retiro.registry.table import Table
from retiro.rules.forms import Sentence

SCOPE_PREFIX = "retiro/"
# Opaque: with a letter and without @, so that neither a social security number nor an address is taken for an id.
ACTING_USER_PATTERN = r"^(?=[^A-Za-z]*[A-Za-z])[A-Za-z0-9][A-Za-z0-9._:-]{2,63}$"
_ACTING_USER = re.compile(ACTING_USER_PATTERN)


@dataclass(frozen=True)
class Principal:
    """A client, its party, its scopes, and the person who acts through it (`None` only where nothing is written).

    The person's id is in lower case, so that one person is one spelling.
    """

    client_id: str
    party: Party
    scopes: frozenset[str]
    acting_user: str | None = None
    employer_id: str | None = None
    fund: str | None = None

    @property
    def person(self) -> str:
        """The acting user: who prepared, proposed, approved."""
        if self.acting_user is None:
            raise _acting_user_missing()
        return self.acting_user

    @property
    def label(self) -> str:
        """Person and client in one text, as lines and evidence keep it."""
        return f"{self.person} via {self.client_id}"

    def must_not_be(self, person: str, *, en: str, es: str) -> None:
        """Raises 403 where the acting user is this person, by whatever client: who prepared can't approve."""
        if self.person == person:
            raise forbidden("same_person", en=en, es=es, citation="Retiro API v1, two persons", field="Acting-User")

    def must_have_scope(self, *scopes: str) -> None:
        """Raises 403 unless the client has one of the scopes."""
        if self.scopes.isdisjoint(scopes):
            wanted = " / ".join(scopes)
            raise forbidden(
                "scope_missing",
                en=f"This needs the scope {wanted}.",
                es=f"Esto requiere el permiso {wanted}.",
                citation="RFC 6750 § 3.1",
            )

    def must_be(self, *parties: Party) -> None:
        """Raises 403 unless the client belongs to one of the parties."""
        if self.party not in parties:
            wanted = ", ".join(parties)
            raise forbidden(
                "party_not_allowed",
                en=f"Only a client of these parties may do this: {wanted}.",
                es=f"Solo un cliente de estas partes puede hacer esto: {wanted}.",
            )

    def must_reach_employer(self, employer_id: str) -> None:
        """Raises 403 where an employer's client asks for another agency's things."""
        if self.party is Party.EMPLOYER and self.employer_id != employer_id:
            raise forbidden(
                "other_employer",
                en="This client reaches its own agency only.",
                es="Este cliente solo alcanza su propia agencia.",
                field="employer_id",
            )

    def must_reach_fund(self, fund: str) -> None:
        """Raises 403 where a client that is bound to a fund asks for another fund's things."""
        if self.fund is not None and self.fund != fund:
            raise forbidden(
                "other_fund",
                en="This client reaches its own fund only.",
                es="Este cliente solo alcanza su propio fondo.",
                field="fund",
            )


def principal_of(claims: Mapping[str, Any], acting_user: str | None, clients: Table, *, writes: bool) -> Principal:
    """The principal of a request: the authorizer's claims, the `Acting-User` header and the registry's binding.

    Raises 401 without a client, 403 for a client that is bound to no party, 400 without an acting user where something
    is written or with one that is no opaque id.
    """
    client_id = claims.get("client_id")
    if not isinstance(client_id, str) or not client_id:
        raise Problem(
            HTTPStatus.UNAUTHORIZED,
            "not_authenticated",
            Sentence("No client has been recognized.", "No se ha reconocido a ningún cliente."),
            citation="RFC 9110 § 15.5.2",
        )
    binding = binding_of(clients, client_id)
    if binding is None:
        raise forbidden(
            "client_not_bound",
            en="This client isn't bound to any party.",
            es="Este cliente no está vinculado a ninguna parte.",
        )
    scopes = str(claims.get("scope") or "").split()
    return Principal(
        client_id=client_id,
        party=binding.party,
        scopes=frozenset(scope.removeprefix(SCOPE_PREFIX) for scope in scopes if scope.startswith(SCOPE_PREFIX)),
        acting_user=_acting_user(acting_user, writes=writes),
        employer_id=binding.employer_id,
        fund=binding.fund,
    )


def _acting_user(header: str | None, *, writes: bool) -> str | None:
    if header is None:
        if writes:
            raise _acting_user_missing()
        return None
    if not _ACTING_USER.fullmatch(header):
        raise bad_request(
            "acting_user_malformed",
            en="Acting-User must be an opaque id of 3 to 64 letters, digits and . _ : - with at least one letter.",
            es="Acting-User debe ser un identificador opaco: de 3 a 64 letras, dígitos y . _ : - y al menos una letra.",
            citation="Retiro API v1, Acting-User",
            field="Acting-User",
        )
    return header.lower()


def _acting_user_missing() -> Problem:
    return bad_request(
        "acting_user_missing",
        en="Each write names the person who acts, in the header Acting-User.",
        es="Cada escritura nombra a la persona que actúa, en el encabezado Acting-User.",
        citation="Retiro API v1, Acting-User",
        field="Acting-User",
    )
