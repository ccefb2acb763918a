"""The frame that every HTTP handler stands in: a handler declares routes and says what each does.

    portal = Portal("participants")

    @portal.post("/participants", scopes="participants.write")
    def enrol(body: NewParticipant, principal: Principal) -> Participant:
        return world().enrol(body, principal)

    handler = portal.handler

In this order: the client and its party (401, 403), the acting user (400), the route's scopes (403, though the gateway
has asked too), the key (400), path, body and query (413, 415, 400, 422), and only then the function. Powertools'
resolver routes; its own validation stays off: it comes before any middleware, so before the scopes, and takes `[x]` for
`x` in a body.
"""

import json
import time
from collections.abc import Callable, Mapping
from functools import cached_property
from http import HTTPStatus
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from aws_lambda_powertools import Logger
from aws_lambda_powertools.event_handler import APIGatewayRestResolver, Response
from aws_lambda_powertools.event_handler.exceptions import NotFoundError

from retiro.ledger.evidence import EvidenceConflictError
from retiro.ledger.keys import KeyConflictError
from retiro.ledger.retries import BusyError
from retiro.portal import events
from retiro.portal.bodies import read_body, read_strings, write_answer
from retiro.portal.idempotency import Replies, Reply, checked_key
from retiro.portal.languages import Language, preferred
from retiro.portal.observed import correlation_id, log_request, report_own_fault
from retiro.portal.principals import Principal, principal_of
from retiro.portal.problems import CONTENT_TYPE, Problem, conflict, not_found, of_refusal, own_fault, unavailable
from retiro.portal.routes import JSON, Keys, Route
from retiro.registry import aws
from retiro.registry.environment import Environment
from retiro.registry.table import Table
from retiro.rules.refusals import Refusal

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent
    from aws_lambda_powertools.utilities.typing import LambdaContext

Function = TypeVar("Function", bound=Callable[..., Any])


class PortalEnvironment(Environment):
    """What the frame itself reads from the environment."""

    registry_table: str
    idempotency_table: str


class Portal:
    """The routes of one function, and its Lambda handler.

    A domain with many doors has them in several modules. `doors` names the module by the first word of its paths: it is
    loaded when somebody comes to one of these, so that a cold start pays for the doors that it opens alone.
    """

    def __init__(self, name: str, doors: Mapping[str, str] = MappingProxyType({})) -> None:
        self.name = name
        self.doors = doors
        self._routes: list[Route] = []
        self._resolver = APIGatewayRestResolver(strip_prefixes=[events.STAGE])
        self._resolver.exception_handler(Exception)(self._failed)

    def get(
        self, path: str, *, scopes: str | tuple[str, ...], media_type: str = JSON
    ) -> Callable[[Function], Function]:
        """Declare a GET: it changes nothing. Any one of the scopes is enough.

        With another media type (`routes.CSV`) the function answers a text, which is sent as it is.
        """
        return self._declare("GET", path, scopes, HTTPStatus.OK, Keys.NONE, media_type)

    def post(
        self, path: str, *, scopes: str | tuple[str, ...], status: int = HTTPStatus.CREATED, stores: bool = True
    ) -> Callable[[Function], Function]:
        """Declare a POST. It needs an `Idempotency-Key` and an acting user, unless it stores nothing (a quote)."""
        return self._declare("POST", path, scopes, status, Keys.REQUIRED if stores else Keys.NONE)

    def put(
        self, path: str, *, scopes: str | tuple[str, ...], status: int = HTTPStatus.OK
    ) -> Callable[[Function], Function]:
        """Declare a PUT. It needs an acting user; an `Idempotency-Key` is heeded where one comes."""
        return self._declare("PUT", path, scopes, status, Keys.HEEDED)

    @property
    def routes(self) -> list[Route]:
        """All routes, those of doors that nobody has come to among them."""
        for module in self.doors.values():
            import_module(module)
        return self._routes

    def handler(self, event: dict[str, Any], context: "LambdaContext") -> dict[str, Any]:
        """Answer an API Gateway proxy event."""
        if (module := self.doors.get(events.first_word(event))) is not None:
            import_module(module)
        return self._resolver.resolve(event, context)

    def forget(self) -> None:
        """Forget tables and clients, so that the next request reads the environment again."""
        for name in ("_environment", "_clients", "_replies"):
            self.__dict__.pop(name, None)

    def _declare(  # noqa: PLR0913, PLR0917  # what a route is
        self,
        method: str,
        path: str,
        scopes: str | tuple[str, ...],
        status: int,
        keys: Keys,
        media_type: str = JSON,
    ) -> Callable[[Function], Function]:
        def declared(function: Function) -> Function:
            wanted = (scopes,) if isinstance(scopes, str) else scopes
            route = Route(method, path, wanted, int(status), function, keys, media_type)
            self._routes.append(route)

            def answered(**path_values: str) -> Response[str]:
                return self._answered(route, path_values)

            self._resolver.route(path.replace("{", "<").replace("}", ">"), method)(answered)
            return function

        return declared

    def _answered(self, route: Route, path_values: Mapping[str, str]) -> Response[str]:
        event = self._resolver.current_event
        seen = self._seen()
        seen |= {"method": route.method, "route": route.path}
        acting_user = events.header(event, "Acting-User")
        principal = principal_of(events.claims(event), acting_user, self._clients, writes=route.writes)
        seen |= {"client_id": principal.client_id, "acting_user": principal.acting_user}
        principal.must_have_scope(*route.scopes)
        key = self._key(route, event)
        given = self._given(route, path_values, event, principal)

        def act() -> Reply:
            answer = route.function(**given)
            return Reply(
                route.status,
                write_answer(answer, route.adapters["return"]) if route.media_type == JSON else str(answer),
            )

        if key is None:
            reply = act()
        else:
            scope = f"{principal.client_id} {route.method} {route.path}"
            payload = route.canonical(given) | {"acting_user": principal.acting_user}
            reply = self._replies.once(scope, key, payload, self._resolver.lambda_context, act)
        self._log(status=reply.status)
        return Response(reply.status, route.media_type, _encodable(reply.body))

    def _key(self, route: Route, event: "APIGatewayProxyEvent") -> str | None:
        if route.keys is Keys.NONE:
            return None
        return checked_key(events.header(event, "Idempotency-Key"), required=route.keys is Keys.REQUIRED)

    def _given(
        self, route: Route, path_values: Mapping[str, str], event: "APIGatewayProxyEvent", principal: Principal
    ) -> dict[str, Any]:
        """What the route's function takes, validated."""
        given: dict[str, Any] = dict(read_strings("path", path_values, route.path_adapter))
        if route.takes("body"):
            given["body"] = read_body(
                events.body_text(event), events.header(event, "Content-Type"), route.adapters["body"]
            )
        if route.takes("query"):
            given["query"] = read_strings("query", events.query(event), route.adapters["query"])
        if route.takes("principal"):
            given["principal"] = principal
        if route.takes("language"):
            given["language"] = self._language()
        return given

    def _failed(self, failure: Exception) -> Response[str]:
        """Every exception's way out: a problem document. What isn't the caller's is ours, and is counted."""
        problem = _problem_of(failure)
        if problem is None:
            report_own_fault(self._logger, self.name, failure)
            problem = own_fault()
        self._log(status=int(problem.status), code=problem.code)
        language = self._language()
        document = problem.document(language, f"urn:retiro:request:{self._seen()['correlation_id']}")
        headers: dict[str, str | list[str]] = {"Content-Language": str(language), "Vary": "Accept-Language"}
        text = _encodable(json.dumps(document, ensure_ascii=False))
        return Response(int(problem.status), CONTENT_TYPE, text, headers)

    def _seen(self) -> dict[str, Any]:
        """What the log may say of this request."""
        seen: dict[str, Any] | None = self._resolver.context.get("seen")
        if seen is None:
            event = self._resolver.current_event
            request_id = events.request_id(event)
            seen = {
                "request_id": request_id,
                "correlation_id": correlation_id(events.header_values(event, "X-Correlation-Id"), request_id),
                "started": time.perf_counter(),
            }
            self._resolver.context["seen"] = seen
        return seen

    def _log(self, **ended: Any) -> None:
        seen = dict(self._seen())
        elapsed_ms = round((time.perf_counter() - seen.pop("started")) * 1000)
        log_request(self._logger, **seen, **ended, elapsed_ms=elapsed_ms)

    def _language(self) -> Language:
        # A list header: sent in parts it means the same as sent whole (RFC 9110 § 5.3).
        return preferred(", ".join(events.header_values(self._resolver.current_event, "Accept-Language")))

    @cached_property
    def _logger(self) -> Logger:
        return Logger(service=self.name)

    @cached_property
    def _environment(self) -> PortalEnvironment:
        return PortalEnvironment.read()

    @cached_property
    def _clients(self) -> Table:
        return Table(aws.dynamodb(), self._environment.registry_table)

    @cached_property
    def _replies(self) -> Replies:
        return Replies(aws.dynamodb(), self._environment.idempotency_table)


def _encodable(text: str) -> str:
    """The text with a question mark for each lone surrogate, which JSON can escape and UTF-8 can't hold."""
    return text.encode(errors="replace").decode()


def _problem_of(failure: Exception) -> Problem | None:
    """The caller's problem, or `None` where the failure is ours."""
    problem: Problem | None = None
    match failure:
        case Problem():
            problem = failure
        case Refusal():
            problem = of_refusal(failure)
        case KeyConflictError():
            reference = failure.record.key.reference
            problem = conflict(
                "key_conflict",
                en=f"The reference {reference} stands for other content already.",
                es=f"La referencia {reference} ya consta con otro contenido.",
                field="reference",
            )
        case EvidenceConflictError():
            identifier = failure.existing.id
            problem = conflict(
                "evidence_conflict",
                en=f"{identifier} is on record with other content.",
                es=f"{identifier} ya consta con otro contenido.",
            )
        case BusyError():
            problem = unavailable()
        case NotFoundError():
            problem = not_found("no_such_route", en="There is no such route.", es="No existe esa ruta.")
    return problem
