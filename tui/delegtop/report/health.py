"""What reports need to know of a source. The feed's statuses fit; reports do not import the feed."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from delegtop.model.events import Deviation
from delegtop.origin import Origin


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
