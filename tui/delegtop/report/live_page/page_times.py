"""Spans of time that go on: a block holds the moment they are counted from, and whoever shows it writes the span.

So a block says the same as long as nothing happens, and nothing has to be sent because a second has passed.
"""

import html
import re
from secrets import token_hex

from delegtop.base.clock import Millis, duration, iso
from delegtop.base.secrets import mask
from delegtop.base.text import line
from delegtop.diagnosis.sentence import Sentence

_FIRST = 0xE000
_MARKS = re.compile("([\ue000-\ue0ff])")
"""Each stands for a moment while a sentence is masked; those of strangers are taken out before."""
_EMPTY = re.compile(r'(data-at="(-?[0-9]+)">)(?=</time>)')


def since(at: Millis, now: Millis, *, goes_on: bool = True, offset: int = 0) -> str:
    """How long it is since then; if that does not go on, as it is at `now`. The clock of the page is `offset` ahead of
    the one that both are by."""
    if not goes_on:
        return duration(now - at)
    here = Millis(at + offset)
    return f'<time datetime="{iso(here)}" data-at="{here}"></time>'


class PageTimes:
    """The times of one delegation: by its own clock it is `now`; if that does not go on, they stand still."""

    def __init__(self, now: Millis, *, goes_on: bool, offset: int) -> None:
        self.now, self._goes_on, self._offset = now, goes_on, offset
        self._mark = token_hex(8)
        """Nobody can write it into a log who does not know it."""

    @property
    def shown_at(self) -> Millis:
        """Now, by the clock of the page."""
        return Millis(self.now + self._offset)

    def mark(self, at: Millis) -> str:
        """Stands for the time since then in a text that is not HTML yet."""
        return f"{self._mark}{at};"

    def written(self, told: str) -> str:
        """Such a text as HTML."""
        return re.sub(f"{self._mark}(-?[0-9]+);", lambda found: self._since(found[1]), html.escape(line(told)))

    def _since(self, at: str) -> str:
        return since(Millis(int(at)), self.now, goes_on=self._goes_on, offset=self._offset)

    def sentence(self, said: Sentence) -> str:
        return sentence(said, self.now, goes_on=self._goes_on, offset=self._offset)


def sentence(said: Sentence, now: Millis, *, goes_on: bool = True, offset: int = 0) -> str:
    """A sentence with such times, masked and escaped."""
    moments: dict[str, Millis] = {}
    parts: list[str] = []
    for part in said:
        if isinstance(part, str):
            parts.append(_MARKS.sub("", part))
        else:
            parts.append(chr(_FIRST + len(moments)))
            moments[parts[-1]] = part
    told = _MARKS.split(mask("".join(parts)))  # what was masked along with a secret is not there any more
    return "".join(
        since(moments[each], now, goes_on=goes_on, offset=offset) if each in moments else html.escape(line(each))
        for each in told
    )


def written_out(block: str, now: Millis) -> str:
    """The block with its spans as they are now, for whoever runs no script."""
    return _EMPTY.sub(lambda found: f"{found[1]}{duration(max(now - int(found[2]), 0))}", block)
