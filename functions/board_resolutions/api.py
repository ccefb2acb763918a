"""The doors of the Board's resolutions: propose, adopt, read."""

import json
from functools import cache
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints

from board_resolutions.proposals import Proposal, Proposals
from retiro.ledger.board import BoardBook
from retiro.ledger.resolutions import Fund, Kind, Resolution, Sha256
from retiro.ledger.store import LedgerStore
from retiro.portal import Answer, Body, PageQuery, Portal, Principal, cursor
from retiro.registry import aws, clock
from retiro.registry.environment import Environment
from retiro.registry.table import Table

ResolutionId = Annotated[
    str, StringConstraints(pattern=r"^RB-[0-9]{8}-[0-9a-f]{12}$"), Field(examples=["RB-20250701-0123456789ab"])
]


class ResolutionsEnvironment(Environment):
    """What this function reads from its environment."""

    ledger_table: str
    registry_table: str
    yield_schedule_arn: str


class Adoption(Body):
    """What is adopted: the content that this hash was shown for."""

    content_hash: Sha256


class ResolutionState(Answer):
    """A resolution, how far it has come, and through whom."""

    resolution_id: ResolutionId
    fund: Fund
    kind: Kind
    status: Literal["proposed", "adopted"]
    content_hash: Sha256
    proposed_by: str
    proposed_at: str
    adopted_by: str | None
    adopted_at: str | None

    @classmethod
    def of(cls, proposal: Proposal, **more: Resolution) -> Self:
        """The state of a proposal."""
        return cls.model_validate(
            {
                "resolution_id": proposal.resolution_id,
                "fund": proposal.resolution.fund,
                "kind": Kind(proposal.resolution.kind),
                "status": proposal.status,
                "content_hash": proposal.content_hash,
                "proposed_by": proposal.proposed_by,
                "proposed_at": proposal.proposed_at,
                "adopted_by": proposal.adopted_by,
                "adopted_at": proposal.adopted_at,
                **more,
            }
        )


class WholeResolution(ResolutionState):
    """A resolution with what it says."""

    resolution: Resolution


class ResolutionList(Answer):
    """A page of resolutions, those of the newest acts first."""

    items: list[ResolutionState]
    next_cursor: str | None


class ResolutionQuery(PageQuery):
    """A list of resolutions, of one kind or of all."""

    kind: Kind | None = None


@cache
def world() -> Proposals:
    """Everything that the routes act on."""
    environment = ResolutionsEnvironment.read()
    functions = aws.lambda_functions()

    def prepare_what_is_complete(resolution_id: str) -> None:
        # It prepares every semester whose last missing figure this was; asking twice changes nothing.
        functions.invoke(
            FunctionName=environment.yield_schedule_arn,
            InvocationType="Event",
            Payload=json.dumps({"adopted": resolution_id}),
        )

    return Proposals(
        table=Table(aws.dynamodb(), environment.registry_table),
        book=BoardBook(LedgerStore(aws.dynamodb(), environment.ledger_table)),
        clock=clock.utc_now,
        adopted=prepare_what_is_complete,
    )


portal = Portal("board_resolutions")


@portal.post("/board-resolutions", scopes="board.write")
def propose(body: Resolution, principal: Principal) -> ResolutionState:
    """Propose a resolution."""
    return ResolutionState.of(world().propose(body, principal))


@portal.post("/board-resolutions/{resolution_id}/adoption", scopes="board.approve", status=200)
def adopt(resolution_id: ResolutionId, body: Adoption, principal: Principal) -> ResolutionState:
    """Adopt a resolution that another person proposed."""
    return ResolutionState.of(world().adopt(resolution_id, body.content_hash, principal))


@portal.get("/board-resolutions", scopes="board.read")
def resolutions(query: ResolutionQuery, principal: Principal) -> ResolutionList:
    """List resolutions."""
    found, after = world().page(principal, kind=query.kind, after=query.after, limit=query.limit)
    return ResolutionList(items=[ResolutionState.of(one) for one in found], next_cursor=cursor(after))


@portal.get("/board-resolutions/{resolution_id}", scopes="board.read")
def resolution(resolution_id: ResolutionId, principal: Principal) -> WholeResolution:
    """Read one resolution."""
    found = world().get(resolution_id, principal)
    return WholeResolution.of(found, resolution=found.resolution)


handler = portal.handler
