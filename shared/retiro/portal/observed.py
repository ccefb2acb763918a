"""What the doors write down about a request: who, which route, how it ended. Never what it said.

Logged are the route's pattern (not its path), codes and opaque ids. An exception of ours is logged by its type and the
places in the code that it passed, without its text, which may quote the input.
"""

import re
import traceback
from collections.abc import Sequence
from typing import Any

from aws_lambda_powertools import Logger, single_metric
from aws_lambda_powertools.metrics import MetricUnit

METRICS_NAMESPACE = "Retiro"
OWN_FAULT = "OwnFault"

_CORRELATION_ID = re.compile(r"[A-Za-z][A-Za-z0-9-]{7,63}")


def correlation_id(came: Sequence[str], request_id: str) -> str:
    """The id under which a caller's other systems know this request, if one came in its form, else the gateway's."""
    return came[0] if len(came) == 1 and _CORRELATION_ID.fullmatch(came[0]) else request_id


def log_request(logger: Logger, **fields: Any) -> None:
    """One line a request."""
    logger.info("request", extra={name: value for name, value in fields.items() if value is not None})


def report_own_fault(logger: Logger, service: str, fault: BaseException) -> None:
    """Log a fault of ours without data, and count it for the alarm."""
    frames = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(fault.__traceback__)]
    logger.error("own fault", extra={"fault": type(fault).__name__, "frames": frames})
    with single_metric(name=OWN_FAULT, unit=MetricUnit.Count, value=1, namespace=METRICS_NAMESPACE) as metric:
        metric.add_dimension(name="service", value=service)
