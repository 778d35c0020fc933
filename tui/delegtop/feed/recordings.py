"""What a recording says of itself: when it ended, and what the agent files said where it was made."""

import msgspec

from delegtop.base import machine
from delegtop.base.clock import Millis
from delegtop.dialects.recording import MAGIC
from delegtop.model.policy import AgentLimits
from delegtop.sources import history
from delegtop.sources.discover import is_packed
from delegtop.sources.text_identity.text_ends import ends


def recorded_limits(path: str) -> dict[str, AgentLimits]:
    """What the agent files said where a recording was made, if that is this place; nothing if the file is none.
    What they said elsewhere counts only there, and comes with the rest of it."""
    from delegtop.dialects.recording.tape import LARGEST, Damaged, Header, unframe  # few files are recordings
    from delegtop.sources import packed  # as above

    try:
        head, _ = (packed.head if is_packed(path) else history.head)(path, LARGEST)
        header = unframe(head.partition(b"\n")[0])
        is_here = isinstance(header, Header) and not machine.called(header.host, header.machine)
        limits = header.limits if isinstance(header, Header) and is_here else {}
        return msgspec.convert(limits, dict[str, AgentLimits])
    except (OSError, Damaged, ValueError):
        return {}


def recorded_at(path: str) -> Millis | None:
    """The moment at which a recording ends; None if the file is none, or was torn off."""
    try:
        found = ends(path)
    except OSError:
        return None
    if not found.head[16:].startswith(MAGIC):
        return None
    from delegtop.dialects.recording.tape import Damaged, End, unframe  # few files are recordings

    try:
        last = unframe(found.tail.rstrip(b"\n").rpartition(b"\n")[2])
    except Damaged:
        return None
    return last.at if isinstance(last, End) else None
