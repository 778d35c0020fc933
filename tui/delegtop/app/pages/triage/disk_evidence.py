"""What only the disk knows of a problem."""

from collections.abc import Mapping
from pathlib import Path

from delegtop.app.state.reader_thread import Reader
from delegtop.base.origin import Origin
from delegtop.diagnosis import recovery
from delegtop.model.delegation import Delegation
from delegtop.sources import artifact_files
from delegtop.sources.artifact_files import this_folder

FILES = 100
"""Files that are looked for, at most."""


def look_up(
    reader: Reader, facts: Delegation, evidence: tuple[Origin, ...]
) -> tuple[Mapping[str, artifact_files.Presence], Mapping[Origin, bytes | None]]:
    """In a thread: which files are there, and the very lines of the evidence."""
    paths = [each.path for each in recovery.salvage(facts) if each.path is not None]
    origins = [origin for origin in (facts.ended_origin, facts.started_origin) if origin]
    roots = [*this_folder(), *(Path(origin.source).parent for origin in origins[:1])]
    lines = {origin: reader.feed.raw(origin) for origin in evidence}
    return ({} if facts.told_by else artifact_files.look(paths[:FILES], roots)), lines
