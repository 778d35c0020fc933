"""What a reader knows about one file, for the people who watch it."""

from typing import Literal

import msgspec

from delegtop.base.clock import Millis

GAP = "possible gap"
"""How a detail begins that says where something may be missing."""
State = Literal["live", "loading", "stale", "rotated", "gone", "unreadable"]


class FileStatus(msgspec.Struct, frozen=True):
    """One file as its reader sees it now."""

    path: str
    state: State
    detail: str = ""
    """For people: why it is unreadable, since when it is stale, where something may be missing."""
    size: int = 0
    read: int = 0
    changed_at: Millis | None = None
