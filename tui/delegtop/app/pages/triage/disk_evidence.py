"""What only the disk knows of a problem."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from delegtop.app.state.past_sessions import PastSessions
from delegtop.app.state.reader_thread import Reader
from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.diagnosis import recovery
from delegtop.model.delegation import Delegation
from delegtop.sources import artifact_files
from delegtop.sources.artifact_files import this_folder

if TYPE_CHECKING:
    from delegtop.search.seen_before import SeenBefore

FILES = 100
"""Files that are looked for, at most."""


class LookedUp(NamedTuple):
    """What was found there."""

    presence: Mapping[str, artifact_files.Presence]
    lines: Mapping[Origin, bytes | None]
    before: "SeenBefore | None"


def look_up(
    reader: Reader, facts: Delegation, evidence: tuple[Origin, ...], past: PastSessions, now: Millis
) -> LookedUp:
    """In a thread: which files are there, the very lines of the evidence, and whether it happened before."""
    paths = [each.path for each in recovery.salvage(facts) if each.path is not None]
    origins = [origin for origin in (facts.ended_origin, facts.started_origin) if origin]
    roots = [*this_folder(), *(Path(origin.source).parent for origin in origins[:1])]
    lines = {origin: reader.feed.raw(origin) for origin in evidence}
    presence = {} if facts.told_by else artifact_files.look(paths[:FILES], roots)
    return LookedUp(presence, lines, past.seen_before(facts, now))
