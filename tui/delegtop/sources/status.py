"""What a reader knows about one file, for the people who watch it."""

from dataclasses import dataclass
from typing import Literal

from delegtop.clock import Millis

State = Literal["live", "loading", "stale", "rotated", "gone", "unreadable"]


@dataclass(frozen=True, slots=True)
class FileStatus:
    """One file as its reader sees it now."""

    path: str
    state: State
    detail: str = ""
    """For people: why it is unreadable, since when it is stale, where something may be missing."""
    size: int = 0
    read: int = 0
    changed_at: Millis | None = None
