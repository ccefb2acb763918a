"""Lists come in pages: at most `limit` items and an opaque cursor to the next page."""

import base64
import binascii
from typing import Annotated

from pydantic import Field

from retiro.portal.bodies import Query
from retiro.portal.problems import refused


class PageQuery(Query):
    """The query of a list. Subclass it to filter."""

    cursor: Annotated[str, Field(max_length=512, description="The `next_cursor` of the page before.")] | None = None
    limit: Annotated[int, Field(ge=1, le=200, description="How many items at most.")] = 50

    @property
    def after(self) -> str | None:
        """The sort key after which this page begins. Raises 422 for a cursor that isn't one of ours.

        None, and none that is filled in (`?cursor=`), is the first page: no sort key is empty.
        """
        return _decoded(self.cursor) if self.cursor else None


def cursor(after: str | None) -> str | None:
    """The opaque cursor of a page's end."""
    return None if after is None else base64.urlsafe_b64encode(after.encode()).decode().rstrip("=")


def _decoded(text: str) -> str:
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True).decode()
    except (binascii.Error, UnicodeDecodeError, ValueError):
        raise refused(
            "invalid_cursor",
            en="The cursor isn't one that a page before has given.",
            es="El cursor no es uno que haya dado una página anterior.",
            citation="Retiro API v1, lists",
            field="cursor",
        ) from None
