"""What Codex calls things."""

import re

from delegtop.base.clock import Millis

DEFAULT_ROLE = "default"
"""What Codex itself calls an agent for which no role was named."""

_THREAD_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def is_thread_id(text: str) -> bool:
    return _THREAD_ID.fullmatch(text) is not None


def thread_id_in(path: str) -> str | None:
    """The thread that the name of a rollout names; a reverted one has another id after it."""
    name = path.replace("\\", "/").rpartition("/")[2]
    found = _THREAD_ID.search(name) if name.startswith("rollout-") else None
    return found[0] if found else None


def is_older(turn: object, thread: str) -> bool:
    """Whether a turn began before the thread did, as their ids tell."""
    return isinstance(turn, str) and _tells_time(turn) and _tells_time(thread) and turn < thread


def made_at(id: str) -> Millis | None:
    """When a thread was made: its id begins with the milliseconds."""
    return Millis(int(id[:8] + id[9:13], 16)) if _tells_time(id) else None


def _tells_time(id: str) -> bool:
    """Ids of version 7 begin with the time they were made, and so sort by it."""
    return is_thread_id(id) and id[14] == "7"
