"""A process that starts a function, or the least one, and says what that took.

Before the clock runs it loads what it needs itself, the same for both. `record` says what a start loads, makes and
asks; `time` starts the function; `least` loads, makes and asks the same with nothing of ours.
"""

import importlib
import importlib.machinery
import json
import os
import sys
import time
from typing import Any

MODE, MODULE, EVENT, PLAN = sys.argv[1:]
OURS = (os.environ["LAMBDA_TASK_ROOT"], os.path.join(os.environ["LAYER_ROOT"], "python", "retiro"))  # noqa: PTH118
LAID = (os.environ["LAMBDA_TASK_ROOT"], os.environ["LAYER_ROOT"])


class Context:
    """What Lambda says of an invocation."""

    aws_request_id = "bench"
    function_name = "bench"
    memory_limit_in_mb = 1024
    invoked_function_arn = "arn:aws:lambda:us-east-1:000000000000:function:bench"

    def get_remaining_time_in_millis(self) -> int:
        return 29_000


class Recorder:
    """What a start compiles, which clients it makes, what it asks, and which modules it loads that aren't ours."""

    def __init__(self) -> None:
        self.before = set(sys.modules)
        self.compiled: list[str] = []
        self.clients: list[str] = []
        self.calls: list[tuple[str, str, Any]] = []
        self._watch_compiling()
        self._watch_clients()

    def _watch_compiling(self) -> None:
        loader: Any = importlib.machinery.SourceFileLoader
        to_code = loader.source_to_code

        def noted(this: Any, data: Any, path: str, **more: Any) -> Any:
            self.compiled.append(str(path))
            return to_code(this, data, path, **more)

        loader.source_to_code = noted

    def _watch_clients(self) -> None:
        from botocore.client import BaseClient, ClientCreator  # noqa: PLC0415

        base: Any = BaseClient
        creator: Any = ClientCreator
        call, create = base._make_api_call, creator.create_client  # noqa: SLF001

        def called(this: Any, operation: str, arguments: Any) -> Any:
            self.calls.append((this.meta.service_model.service_name, operation, arguments))
            return call(this, operation, arguments)

        def created(this: Any, **named: Any) -> Any:
            self.clients.append(named["service_name"])
            return create(this, **named)

        base._make_api_call, creator.create_client = called, created  # noqa: SLF001

    def found(self) -> dict[str, Any]:
        """What was seen. A module compiled counts where it is of the zips: the runtime's own aren't ours."""
        loaded = [name for name in sys.modules if name not in self.before]
        return {
            "compiled": sum(path.startswith(LAID) for path in self.compiled),
            "clients": self.clients,
            "calls": self.calls,
            "libraries": [name for name in loaded if not (_file(name) or "").startswith(OURS)],
        }


def _file(name: str) -> str | None:
    return getattr(sys.modules[name], "__file__", None)


def least(plan: dict[str, Any], event: Any) -> None:
    """A function of a dozen lines: its libraries, a model of its environment, a route, its clients, its requests."""
    for library in plan["libraries"]:
        importlib.import_module(library)
    if "pydantic.main" in plan["libraries"]:
        from pydantic import BaseModel  # noqa: PLC0415

        class Environment(BaseModel):
            LEDGER_TABLE: str
            REGISTRY_TABLE: str
            FILES_BUCKET: str

        Environment.model_validate(os.environ)
    if plan["clients"]:
        import boto3  # noqa: PLC0415

        clients = {service: boto3.client(service) for service in plan["clients"]}

    def ask() -> dict[str, Any]:
        for service, operation, arguments in plan["calls"]:
            clients[service]._make_api_call(operation, arguments)  # noqa: SLF001
        return {}

    if "aws_lambda_powertools.event_handler" in plan["libraries"]:
        from aws_lambda_powertools.event_handler import APIGatewayRestResolver  # noqa: PLC0415

        resolver = APIGatewayRestResolver(strip_prefixes=["/v1"])
        resolver.route(event["path"], event["httpMethod"])(ask)
        context: Any = Context()
        resolver.resolve(event, context)
    else:
        ask()


def main() -> None:
    """Do what the mode says, and print it."""
    event, plan = json.loads(EVENT), json.loads(PLAN)
    recorder = Recorder() if MODE == "record" else None
    answer = None
    began = time.process_time()
    if MODE == "least":
        least(plan, event)
    else:
        answer = importlib.import_module(MODULE).handler(event, Context())
    took = time.process_time() - began
    found = recorder.found() if recorder else {"compiled": 0, "clients": [], "calls": [], "libraries": []}
    # A hash in a request is bytes, and is as long in hexadecimal as it is on its way.
    print(json.dumps({"seconds": took, "answer": json.dumps(answer), **found}, default=bytes.hex))  # noqa: T201


main()
