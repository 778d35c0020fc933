"""What only some delegations have: a title, a prompt, notes, a waiting parent. One object each, made when needed."""

from delegtop.clock import Millis
from delegtop.model.delegation import Note, Wait
from delegtop.model.events import Awaited, Described, Noted, Resumed
from delegtop.origin import Origin

_WORDS = ("title", "name", "model", "prompt", "cwd", "version")
_Order = tuple[bool, int, Origin]


class Details:
    """Every fold is a minimum or a maximum over (time, place), so the order of arrival does not matter."""

    __slots__ = ("_notes", "_wait", "_words", "resumed_at")

    def __init__(self) -> None:
        self._words: dict[str, tuple[_Order, str]] = {}
        self._notes: dict[tuple[str, str], Noted] = {}
        self._wait: Awaited | None = None
        self.resumed_at: Millis | None = None
        """When it was last given work again."""

    def take(self, event: Described | Noted | Awaited) -> bool:
        """Fold one event in; True if it changed something."""
        if isinstance(event, Described):
            return self._describe(event)
        if isinstance(event, Noted):
            return self._note(event)
        if self._wait is not None and _order(self._wait) >= _order(event):
            return False
        self._wait = event
        return True

    def resume(self, event: Resumed) -> bool:
        if self.resumed_at is not None and self.resumed_at >= event.at:
            return False
        self.resumed_at = event.at
        return True

    def _describe(self, event: Described) -> bool:
        """The earliest word stays; one without a time counts only where no other speaks."""
        order = (event.at is None, event.at or 0, event.origin)
        changed = False
        for field in _WORDS:
            value: str | None = getattr(event, field)
            known = self._words.get(field)
            if value and (known is None or (order, value) < known):
                self._words[field] = (order, value)
                changed = True
        return changed

    def _note(self, event: Noted) -> bool:
        key = (event.kind, event.origin.source)
        known = self._notes.get(key)
        if known is not None and (_order(known), known.text) >= (_order(event), event.text):
            return False
        self._notes[key] = event
        return True

    def word(self, field: str) -> str | None:
        known = self._words.get(field)
        return known[1] if known else None

    def notes(self) -> tuple[Note, ...]:
        """All that were not withdrawn, in the order of their places."""
        told = sorted((note for note in self._notes.values() if note.text), key=lambda note: (note.kind, note.origin))
        return tuple(Note(note.kind, note.text, note.origin, note.at) for note in told)

    def says(self, kind: str) -> bool:
        """Is there a note of that kind?"""
        return any(note.kind == kind and note.text for note in self._notes.values())

    def wait(self) -> Wait | None:
        return Wait(self._wait.until, self._wait.by, self._wait.origin) if self._wait else None

    def origins(self) -> list[Origin]:
        """The places that tell of notes and waits; what it is called stands in many lines and is left out."""
        return [note.origin for note in self._notes.values() if note.text] + ([self._wait.origin] if self._wait else [])


def _order(event: Noted | Awaited) -> _Order:
    """The later word counts; one without a time is older than any other."""
    return (event.at is not None, event.at or 0, event.origin)


NO_DETAILS = Details()
"""Of a delegation that has none; nothing is ever folded into it."""
