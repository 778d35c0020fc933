"""What only some delegations have: notes, a waiting parent, a process. One object each, made when needed."""

from collections.abc import Iterator

import msgspec
from msgspec.structs import replace

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.model.delegation import Note, Wait
from delegtop.model.events import Awaited, Ended, Erred, Noted, ProcessSeen, Resumed, Sighted

NOWHERE = Origin("", 0, 0)
"""Of what is kept without its place."""


class Details(msgspec.Struct, frozen=True, gc=False):
    """Every fold is a minimum or a maximum over (time, place), so the order of arrival does not matter.

    It does not change: a fold that tells something new gives another one.
    """

    told: tuple[Noted, ...] = ()
    """The notes, one of a kind and source."""
    awaited: Awaited | None = None
    sighted: Sighted | None = None
    process: ProcessSeen | None = None
    resumed_at: Millis | None = None
    """When it was last given work again."""

    def take(self, event: Noted | Awaited | Sighted | ProcessSeen) -> "Details":
        """Fold one event in; the same details if it tells nothing new."""
        if isinstance(event, Noted):
            return self._note(event)
        if isinstance(event, Sighted):
            known = self.sighted is not None and _order(self.sighted) >= _order(event)
            return self if known else replace(self, sighted=event)
        if isinstance(event, ProcessSeen):
            known = self.process is not None and _order(self.process) >= _order(event)
            return self if known else replace(self, process=event)
        if self.awaited is not None and _order(self.awaited) >= _order(event):
            return self
        return replace(self, awaited=event)

    def resume(self, event: Resumed) -> "Details":
        if self.resumed_at is not None and self.resumed_at >= event.at:
            return self
        return replace(self, resumed_at=event.at)

    def undoes(self, event: Ended | Erred) -> bool:
        """It was given work again since."""
        return self.resumed_at is not None and event.at is not None and event.at < self.resumed_at

    def _note(self, event: Noted) -> "Details":
        key = (event.kind, event.origin.file)
        known = next((note for note in self.told if (note.kind, note.origin.file) == key), None)
        if known is not None and (_order(known), known.text) >= (_order(event), event.text):
            return self
        return replace(self, told=(*(note for note in self.told if note is not known), event))

    def notes(self) -> tuple[Note, ...]:
        """All that were not withdrawn, in the order of their places."""
        if not self.told:
            return ()
        told = sorted((note for note in self.told if note.text), key=lambda note: (note.kind, note.origin))
        return tuple(Note(note.kind, note.text, note.origin, note.at) for note in told)

    def events(self, id: str) -> Iterator[Noted | Awaited | Sighted | ProcessSeen | Resumed]:
        """What tells all this of the delegation of that id; where it was told that it has work again is not kept."""
        yield from self.told
        yield from (each for each in (self.awaited, self.sighted, self.process) if each is not None)
        if self.resumed_at is not None:
            yield Resumed(id, self.resumed_at, NOWHERE)

    def says(self, kind: str) -> bool:
        """Is there a note of that kind?"""
        return any(note.kind == kind and note.text for note in self.told)

    def wait(self) -> Wait | None:
        return Wait(self.awaited.until, self.awaited.by, self.awaited.origin) if self.awaited else None

    def origins(self) -> list[Origin]:
        """The places that tell of notes, waits and processes; what it is called stands in many lines: left out."""
        found = [note.origin for note in self.told if note.text] if self.told else []
        return found + [each.origin for each in (self.awaited, self.process) if each is not None]


def _order(event: Noted | Awaited | Sighted | ProcessSeen) -> tuple[bool, int, Origin]:
    """The later word counts; one without a time is older than any other."""
    return (event.at is not None, event.at or 0, event.origin)


NO_DETAILS = Details()
"""Of a delegation that has none."""
