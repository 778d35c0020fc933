"""What may leave a host of the lines that are read and of what they tell."""

from collections.abc import Sequence

from msgspec.structs import replace

from delegtop.model.events import Described, Event
from delegtop.model.masked_words import masked_event, masked_text
from delegtop.sources.records import Line, Unreadable

PROMPT = 200
"""Characters of a prompt that leave where not all of it may."""


class OutgoingWords:
    """Hides secrets in free text if that is to be `masked`; of what agents were asked to do only so many characters
    leave as `prompt` says, all of them if it says nothing."""

    def __init__(self, *, masked: bool, prompt: int | None = None) -> None:
        self._masked, self._prompt = masked, prompt

    def line(self, line: Line | None) -> Line | None:
        return line if line is None or not line.data else Line(line.origin, self.data(line.data), line.at)

    def data(self, data: bytes) -> bytes:
        """The bytes of a line."""
        if not self._masked:
            return data
        return (masked_text(data.decode("utf-8", "replace")) or "").encode("utf-8", "replace")

    def told(self, told: Sequence[Event | Unreadable]) -> Sequence[Event | Unreadable]:
        return told if not self._masked and self._prompt is None else [self._one(each) for each in told]

    def _one(self, told: Event | Unreadable) -> Event | Unreadable:
        if isinstance(told, Unreadable):
            return replace(told, excerpt=masked_text(told.excerpt) or "") if self._masked else told
        shown = masked_event(told) if self._masked else told
        if isinstance(shown, Described) and self._prompt is not None and len(shown.prompt or "") > self._prompt:
            if not self._prompt:
                return replace(shown, prompt=None)
            # Masked before it is cut: half a secret is not known for one.
            return replace(shown, prompt=f"{(masked_text(shown.prompt) or '')[: self._prompt]}…")
        return shown
