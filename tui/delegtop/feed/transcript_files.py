"""In which files the conversation of one delegation stands, and how each is read."""

from collections.abc import Callable, Sequence
from pathlib import Path

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.feed.followed_file import FollowedFile
from delegtop.feed.spoken_pages import Chapter, LogChapter, SpokenPages, WholeChapter, of_events, sift, speaks, stamp
from delegtop.model.delegation import Delegation
from delegtop.model.events import Event
from delegtop.model.spoken import Utterance, Voice
from delegtop.sources.packed import Packed
from delegtop.sources.records import Line
from delegtop.sources.row_reader import RowReader
from delegtop.sources.snapshot import Snapshot

_ROWS, _DOCUMENT = 5_000, 64 * 1024 * 1024
"""Rows and packed lines of a conversation, and bytes of a document, that are read at most."""
_OTHERS = "It shares a file with others: this is its part of it."
_EVENTS = "No words of it are kept here: this is what its log tells."


def transcript_of(
    delegation: Delegation,
    files: Sequence[FollowedFile],
    history: Callable[[], list[tuple[Line, list[Event]]]],
    until: Millis | None,
) -> SpokenPages:
    """Its own files; else those of others, as far as they speak of it; else what the events of its history tell."""
    spoken = sorted((file for file in files if speaks(file.dialect)), key=_written)
    for own, told in ((True, ""), (False, _OTHERS)):
        chapters = [chapter for file in spoken if (chapter := _chapter(file, delegation.id, own=own)) is not None]
        if chapters and any(chapter.last().said for chapter in chapters):
            return SpokenPages(chapters, told=told, until=until, asked=_asked(delegation))
    paths = sorted({origin.source for origin in delegation.origins if not origin.is_kernel and not origin.host})
    events = WholeChapter(
        paths[0] if paths else "",
        lambda: of_events(history()) or _entry(delegation),
        lambda: [stamp(path) for path in paths],
    )
    return SpokenPages([events], told=_EVENTS, until=until, asked=_asked(delegation))


def _entry(delegation: Delegation) -> list[Utterance]:
    """That it is there, where nothing more is told."""
    facts = {"agent": delegation.agent, "command": delegation.command, "task": delegation.task}
    told = ", ".join(f"{what} {value}" for what, value in facts.items() if value)
    place = next(iter(delegation.origins), None)
    words = f"only that it is there is told{f': {told}' if told else ''}"
    return [] if place is None else [Utterance(Voice.NOTE, words, delegation.started_at, place)]


def _asked(delegation: Delegation) -> Utterance | None:
    """What it was asked to do as its caller tells it: not every file begins with its prompt."""
    place = delegation.started_origin or next(iter(delegation.origins), None)
    if not delegation.prompt or place is None:
        return None
    return Utterance(Voice.PROMPT, delegation.prompt, delegation.started_at, place)


def _chapter(reading: FollowedFile, id: str, *, own: bool) -> Chapter | None:
    """What one file holds of a conversation; None if it is of another delegation, or holds no words."""
    path, dialect, source = reading.path, reading.dialect, reading.source
    needle = dialect.needle(id, path)
    whole = sift(dialect, id, b"")
    if isinstance(source, RowReader):
        return WholeChapter(path, lambda: whole(source.about(id, _ROWS))) if own else None
    if isinstance(source, Snapshot):
        chapter = WholeChapter(path, lambda: whole([_document(path)]))
        return chapter if own and chapter.last().said else None
    if own is not (needle == b""):
        return None
    said = sift(dialect, id, needle)
    if isinstance(source, Packed):
        return WholeChapter(path, lambda: said(source.about(needle, _ROWS)))
    return LogChapter(path, said)


def _document(path: str) -> Line:
    with Path(path).open("rb") as file:
        return Line(Origin(path, 1, 0), file.read(_DOCUMENT))


def _written(file: FollowedFile) -> float:
    try:
        return Path(file.path).stat().st_mtime
    except OSError:
        return 0.0
