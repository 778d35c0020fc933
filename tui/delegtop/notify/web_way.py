"""What a way of sending messages away has of its own: how they are written there, and what says that one was taken."""

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from delegtop.notify.http_post import Accepts, Letter
from delegtop.notify.outbox import Taken


class WebWay(NamedTuple):
    """One way."""

    name: str
    where: str
    """The address, masked."""
    write: Callable[[Taken], Letter]
    accepts: Accepts


def encoded(message: Any) -> bytes:
    """JSON in ASCII: nothing on the way can misread it."""
    return json.dumps(message).encode()


def is_object_with(field: str, body: bytes) -> bool:
    """Whether an answer is a JSON object that has this field."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and field in found
