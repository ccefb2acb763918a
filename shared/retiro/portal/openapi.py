"""The API's description (OpenAPI 3.1), made from the routes that handlers declare. No handler imports this module."""

from collections.abc import Iterable, Iterator, Mapping
from http import HTTPStatus
from typing import Any

from pydantic import TypeAdapter

from retiro.portal.frame import Portal
from retiro.portal.idempotency import KEY_PATTERN
from retiro.portal.principals import ACTING_USER_PATTERN, SCOPE_PREFIX
from retiro.portal.problems import CONTENT_TYPE, ProblemDocument
from retiro.portal.routes import Keys, Route

_SCHEME = "clients"
_DEFAULT_PROBLEM = "#/components/responses/Problem"
_OF_PATH_AND_QUERY = ("path", "query")

_DESCRIPTION = """\
Money and percents are texts: a JSON number there is refused. Dates are `YYYY-MM-DD`. A refusal is a problem document \
(RFC 9457), in English or Spanish by `Accept-Language`. A write names the acting user; a POST that stores needs an \
`Idempotency-Key`."""


def document(portals: Iterable[Portal], version: str) -> dict[str, Any]:
    """The description of all routes of these portals, in the order of their paths."""
    routes = sorted(
        ((portal.name, route) for portal in portals for route in portal.routes),
        key=lambda one: (one[1].path, one[1].method),
    )
    schemas = _Schemas(route for _, route in routes)
    paths: dict[str, dict[str, Any]] = {}
    for name, route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(name, route, schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Retiro",
            "version": version,
            "description": _DESCRIPTION,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "https://{host}/v1", "variables": {"host": {"default": "api.example.org"}}}],
        "paths": paths,
        "components": {
            "schemas": schemas.components,
            "responses": {
                "Problem": {
                    "description": "Refused, or failed",
                    "content": {CONTENT_TYPE: {"schema": schemas.of_problem}},
                }
            },
            "securitySchemes": {_SCHEME: _security_scheme(route for _, route in routes)},
        },
    }


class _Schemas:
    """The JSON schemas of everything that the routes take and answer, with their shared definitions."""

    def __init__(self, routes: Iterable[Route]) -> None:
        inputs: list[tuple[str, Any, TypeAdapter[Any]]] = [("problem", "serialization", TypeAdapter(ProblemDocument))]
        for route in routes:
            inputs.append((_key(route, "path"), "validation", route.path_adapter))
            inputs += [
                (_key(route, name), "serialization" if name == "return" else "validation", adapter)
                for name, adapter in route.adapters.items()
                if name not in route.path_names
            ]
        found, definitions = TypeAdapter.json_schemas(inputs, ref_template="#/components/schemas/{model}")
        self._found = {key: schema for (key, _), schema in found.items()}
        self.components: dict[str, Any] = dict(sorted(definitions.get("$defs", {}).items()))
        self.of_problem = self._found["problem"]

    def of(self, route: Route, name: str) -> dict[str, Any]:
        return self._found[_key(route, name)]

    def fields(self, route: Route, name: str) -> Iterator[tuple[str, dict[str, Any], bool]]:
        """The fields of a model: name, schema, whether it is required."""
        schema = self.of(route, name)
        model = self.components[schema["$ref"].rsplit("/", 1)[1]] if "$ref" in schema else schema
        for field, of_field in model.get("properties", {}).items():
            yield field, of_field, field in model.get("required", [])


def _operation(name: str, route: Route, schemas: _Schemas) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": f"{name}_{route.function.__name__}",
        "tags": [name],
        "summary": (route.function.__doc__ or "").strip().split("\n")[0],
        "security": [{_SCHEME: [SCOPE_PREFIX + scope]} for scope in route.scopes],
        "parameters": [*_parameters(route, schemas), *_headers(route)],
        "responses": {
            str(route.status): {
                "description": HTTPStatus(route.status).phrase,
                "content": {route.media_type: {"schema": schemas.of(route, "return")}},
            },
            "default": {"$ref": _DEFAULT_PROBLEM},
        },
    }
    if route.takes("body"):
        operation["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": schemas.of(route, "body")}},
        }
    return operation


def _parameters(route: Route, schemas: _Schemas) -> Iterator[dict[str, Any]]:
    for place in _OF_PATH_AND_QUERY:
        if place == "query" and not route.takes("query"):
            continue
        for field, schema, required in schemas.fields(route, place):
            yield {"name": field, "in": place, "required": required, "schema": schema}


def _headers(route: Route) -> Iterator[dict[str, Any]]:
    yield _header("Accept-Language", {"type": "string", "examples": ["es-PR, en;q=0.8"]}, required=False)
    if route.writes:
        yield _header(
            "Acting-User", {"type": "string", "pattern": ACTING_USER_PATTERN, "examples": ["u-0042"]}, required=True
        )
    if route.keys is not Keys.NONE:
        key = {"type": "string", "pattern": KEY_PATTERN, "examples": ["6f1c0f5e-9c1e-4c57-a1b2-5a1d7d1d8e11"]}
        yield _header("Idempotency-Key", key, required=route.keys is Keys.REQUIRED)


def _header(name: str, schema: Mapping[str, Any], *, required: bool) -> dict[str, Any]:
    return {"name": name, "in": "header", "required": required, "schema": schema}


def _security_scheme(routes: Iterable[Route]) -> dict[str, Any]:
    scopes = sorted({SCOPE_PREFIX + scope for route in routes for scope in route.scopes})
    return {
        "type": "oauth2",
        "flows": {"clientCredentials": {"tokenUrl": "/oauth2/token", "scopes": dict.fromkeys(scopes, "")}},
    }


def _key(route: Route, name: str) -> str:
    return f"{route.method} {route.path} {name}"
