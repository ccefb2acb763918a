"""The participant that a path names, where whoever asks may reach it."""

from retiro.portal.principals import Principal
from retiro.portal.problems import not_found
from retiro.registry.participants import Profile, profile_of
from retiro.registry.table import Table


def reached(registry: Table, participant_id: str, principal: Principal) -> Profile:
    """The participant's profile. Raises 404 where there is none, 403 for another agency's or another fund's client."""
    profile = profile_of(registry, participant_id)
    if profile is None:
        raise not_found(
            "unknown_participant",
            en=f"There is no participant {participant_id}.",
            es=f"No existe el participante {participant_id}.",
            field="participant_id",
        )
    principal.must_reach_employer(profile.employer_id)
    principal.must_reach_fund(profile.fund)
    return profile
