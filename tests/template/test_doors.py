"""No route is open, and the gateway asks for the same scopes as the handler behind it."""

import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def operations(resources):
    """(method, path) → the operation as the gateway gets it."""
    paths = resources["Api"]["Properties"]["Body"]["paths"]
    return {(method.upper(), path): one for path, methods in paths.items() for method, one in methods.items()}


def test_every_route_asks_the_authorizer_for_a_scope_that_exists(operations, resources):
    server = resources["Scopes"]["Properties"]
    scopes = {f"{server['Identifier']}/{one['ScopeName']}" for one in server["Scopes"]}
    assert operations
    for route, operation in operations.items():
        (requirement,) = operation["security"]
        assert set(requirement) == {"Clients"}, route
        assert requirement["Clients"], route
        assert set(requirement["Clients"]) <= scopes, route


def test_no_route_is_greedy_and_none_takes_any_method(operations):
    for method, path in operations:
        assert "+" not in path
        assert method in {"GET", "POST", "PUT"}


def test_the_authorizer_is_this_stacks_user_pool(resources):
    (scheme,) = resources["Api"]["Properties"]["Body"]["components"]["securitySchemes"].values()
    assert scheme["x-amazon-apigateway-authorizer"]["providerARNs"] == [{"Fn::GetAtt": ["UserPool", "Arn"]}]
    assert scheme["x-amazon-apigateway-authtype"] == "cognito_user_pools"


def test_the_gateway_and_the_handlers_name_the_same_routes_and_scopes(operations, functions):
    modules = {
        name: one["Handler"].removesuffix(".handler")
        for name, one in functions.items()
        if one["Handler"].endswith(".api.handler")
    }
    assert set(modules.values()) == {f"{file.parent.name}.api" for file in (ROOT / "functions").glob("*/api.py")}
    declared = {}
    for function, module in modules.items():
        for route in importlib.import_module(module).portal.routes:
            scopes = {f"retiro/{scope}" for scope in route.scopes}
            declared[route.method, route.path] = (function, scopes)
    wired = {}
    for route, operation in operations.items():
        (requirement,) = operation["security"]
        uri = operation["x-amazon-apigateway-integration"]["uri"]["Fn::Sub"]
        wired[route] = (uri.partition("functions/${")[2].partition(".Arn")[0], set(requirement["Clients"]))
    assert wired == declared


def test_clients_get_tokens_only_as_themselves(resources):
    clients = [one["Properties"] for one in resources.values() if one["Type"] == "AWS::Cognito::UserPoolClient"]
    assert len(clients) == 5
    for client in clients:
        assert client["AllowedOAuthFlows"] == ["client_credentials"]
        assert client["GenerateSecret"] is True


@pytest.mark.parametrize("pair", [("board.write", "participants.write"), ("payroll.confirm", "payroll.remit")])
def test_no_party_holds_both_of_two_powers_that_check_each_other(resources, pair):
    for one in resources.values():
        if one["Type"] == "AWS::Cognito::UserPoolClient":
            held = {scope.removeprefix("retiro/") for scope in one["Properties"]["AllowedOAuthScopes"]}
            assert not set(pair) <= held


def test_the_stage_limits_the_rate_and_keeps_an_access_log(resources):
    stage = resources["Apiv1Stage"]["Properties"]
    (settings,) = stage["MethodSettings"]
    assert settings["ResourcePath"] == "/*"
    assert settings["ThrottlingRateLimit"] > 0
    assert settings["ThrottlingBurstLimit"] > 0
    assert settings["DataTraceEnabled"] is False
    assert stage["AccessLogSetting"]["DestinationArn"] == {"Fn::GetAtt": ["AccessLog", "Arn"]}


def test_the_access_log_has_no_path_value_and_no_body(resources):
    written = resources["Apiv1Stage"]["Properties"]["AccessLogSetting"]["Format"]
    assert "$context.resourcePath" in written
    for personal in ("$context.path", "$context.identity", "requestOverride", "$input"):
        assert f'{personal}"' not in written
