"""What reports need to know of a source. The feed's statuses fit; reports do not import the feed."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from delegtop.base.clock import MINUTE, Millis
from delegtop.base.origin import Origin
from delegtop.model.events import Deviation

LATELY = 15 * MINUTE
"""A file that was written within this time is alive; any other is only read."""
UNREADABLE = "unreadable"
"""The status of a file or folder that is there and that nobody can open or look into."""
UNHEALTHY = frozenset({"gone", "missing", UNREADABLE, "unrecognised", "skipped"})
"""The statuses of a source that was to be read and is not."""


class Unread(Protocol):
    """Bytes that could not be read as a record."""

    @property
    def origin(self) -> Origin: ...
    @property
    def reason(self) -> str: ...
    @property
    def excerpt(self) -> str: ...


class Health(Protocol):
    """How reading one source went."""

    @property
    def path(self) -> str: ...
    @property
    def dialect(self) -> str | None: ...
    @property
    def records(self) -> int: ...
    @property
    def unreadable(self) -> int: ...
    @property
    def status(self) -> str: ...
    @property
    def detail(self) -> str: ...
    @property
    def deviations(self) -> int: ...
    @property
    def reasons(self) -> Mapping[str, int]: ...
    @property
    def examples(self) -> Sequence[Unread | Deviation]: ...


def ails(source: Health) -> bool:
    """Is there something the operator should look at?"""
    return source.status in UNHEALTHY or source.unreadable > 0


def unread(source: Health) -> bool:
    """Whether it is here, and nobody can open it or look into it."""
    return source.status == UNREADABLE and "://" not in source.path


def unread_words(source: Health) -> str:
    """That it cannot be read, and what follows from that, in one sentence."""
    why = f" ({source.detail})" if source.detail else ""
    return f"{source.path} cannot be read{why}, so agents it tells of may be missing or seem silent"


def standing(status: str, changed_at: Millis | None, now: Millis) -> str:
    """The word for people: `live` only for what is being written, `read` for what was read to its end."""
    if status != "live":
        return status
    return "live" if changed_at is not None and now - changed_at <= LATELY else "read"
