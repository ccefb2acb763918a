"""A deployed stack, wherever it is: its outputs, its AWS clients, its API's address and tokens.

Operators' commands take `--stack NAME` for one in the person's AWS account (the usual credentials and region); without
it they speak to the local cloud.
"""

import functools
from collections.abc import Callable
from typing import Any

import boto3
import click
import urllib3
from botocore.config import Config

DEFAULT_STACK = "retiro"
PARTIES = ("portal", "employer", "fund", "board", "office")


class StackError(click.ClickException):
    """The stack isn't there, or doesn't answer as one."""


class Stack:
    """One stack. `client` makes a boto3 client of a service; `endpoint` is the local cloud's address, or none."""

    def __init__(self, client: Callable[[str], Any], *, name: str = DEFAULT_STACK, endpoint: str | None = None) -> None:
        self.client = functools.cache(client)
        self.name = name
        self.endpoint = endpoint

    @functools.cached_property
    def outputs(self) -> dict[str, str]:
        """What the template puts out, by name.

        Raises:
            StackError: there is no such stack.
        """
        cloudformation = self.client("cloudformation")
        try:
            (stack,) = cloudformation.describe_stacks(StackName=self.name)["Stacks"]
        except cloudformation.exceptions.ClientError as missing:
            raise StackError(f"there is no stack {self.name}: {missing}") from missing
        return {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}

    @property
    def api_url(self) -> str:
        """The base of the API's routes."""
        if self.endpoint is None:
            return self.outputs["ApiUrl"]
        return f"{self.endpoint}/_aws/execute-api/{self.outputs['ApiId']}/v1"

    @property
    def token_url(self) -> str:
        """Where a client asks for its token."""
        return self.outputs["TokenUrl"] if self.endpoint is None else f"{self.endpoint}/oauth2/token"

    def client_id(self, party: str) -> str:
        """The API client that the template makes for a kind of party."""
        return self.outputs[f"{party.capitalize()}ClientId"]

    def token(self, client_id: str) -> str:
        """An access token of an API client, with all its scopes.

        Raises:
            StackError: the client gets none.
        """
        described = self.client("cognito-idp").describe_user_pool_client(
            UserPoolId=self.outputs["UserPoolId"], ClientId=client_id
        )["UserPoolClient"]
        answer = urllib3.request(
            "POST",
            self.token_url,
            body="grant_type=client_credentials",
            headers={
                **urllib3.make_headers(basic_auth=f"{client_id}:{described['ClientSecret']}"),
                "Content-Type": "application/x-www-form-urlencoded",
            },
        )
        if "access_token" not in (said := answer.json()):
            raise StackError(f"no token for {described['ClientName']}: {said}")
        return str(said["access_token"])


def client_config(service: str) -> Config:
    """A client's. Of DynamoDB's, botocore looks at no item's values: our own code makes them, of types that it checks.

    A rebuild writes ten million.
    """
    return Config(parameter_validation=service != "dynamodb")


def _account_client(service: str) -> Any:
    return boto3.client(service, config=client_config(service))  # type: ignore[call-overload]  # the stubs list services


def stack_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a command the argument `stack`."""

    @stack_option_if_used
    @functools.wraps(command)
    def with_stack(*args: Any, stack: Callable[[], Stack], **kwargs: Any) -> Any:
        return command(*args, stack=stack(), **kwargs)

    return with_stack


def stack_option_if_used(command: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a command the argument `stack`, to be called for the stack: not every use of the command needs one."""

    @click.option("--stack", "stack_name", help="A stack of your AWS account. [default: the local cloud]")
    @click.option("--cloud", "cloud_name", default="demo", show_default=True, help="Which local cloud.")
    @functools.wraps(command)
    def with_stack(*args: Any, stack_name: str | None, cloud_name: str, **kwargs: Any) -> Any:
        return command(*args, stack=functools.partial(_stack, stack_name, cloud_name), **kwargs)

    return with_stack


def _stack(stack_name: str | None, cloud_name: str) -> Stack:
    if stack_name is not None:
        return Stack(_account_client, name=stack_name)
    from cli.cloud import Cloud  # noqa: PLC0415  the cloud's module knows this one

    return Cloud(cloud_name).stack
