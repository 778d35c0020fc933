"""What a reader knows about one file, for the people who watch it."""

from typing import Literal

import msgspec

from delegtop.base.clock import Millis

GAP = "possible gap"
"""How a detail begins that says where something may be missing."""
State = Literal["live", "loading", "stale", "rotated", "gone", "unreadable"]


def reason(error: Exception) -> str:
    """What is wrong, within a sentence: `permission denied`."""
    said = getattr(error, "strerror", None) or str(error)
    return said[:1].lower() + said[1:]


class FileStatus(msgspec.Struct, frozen=True):
    """One file as its reader sees it now."""

    path: str
    state: State
    detail: str = ""
    """For people: why it is unreadable, since when it is stale, where something may be missing."""
    size: int = 0
    read: int = 0
    changed_at: Millis | None = None
