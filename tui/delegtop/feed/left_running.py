"""What sessions left running: processes that are still there though the session's own is gone, as notes on the session.

Only while time is real, and only what was seen to be the session's own.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from delegtop.base.clock import Clock, WallClock, monotonic, spent
from delegtop.base.origin import kernel
from delegtop.base.text import line, whole_words
from delegtop.kernel import process_source
from delegtop.model import process_words
from delegtop.model.events import Event, Noted, Started
from delegtop.model.notes import LEFT_RUNNING

if TYPE_CHECKING:
    from delegtop.kernel.open_call import OpenCall
    from delegtop.kernel.outliving import LeftProcess, Outliving

AT_FIRST = 1.0
"""Seconds before the first look: who reads once has nobody to compare with."""
EVERY = 3.0
"""Seconds between two looks."""
_SHARE = 0.001
"""Of one processor that looking may take."""
_GROWN = 1.25
"""What takes so much more memory than was told is told anew."""
_WORDS = 200


class LeftRunning:
    """Follows the processes of sessions, and tells what outlives them."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._is_live = isinstance(clock, WallClock) and process_source.can_tell()
        self._outliving: Outliving | None = None
        self._searched: set[OpenCall] = set()
        """The calls of sessions that are gone whose processes were looked for."""
        self._told: dict[tuple[str, int], LeftProcess] = {}
        self._next = monotonic() + AT_FIRST

    def seen(
        self, sessions: Iterable[Started], calls: "Sequence[OpenCall]" = (), *, at_once: bool = False
    ) -> Iterator[Event]:
        """What is new since the look before, if it is time for one. `sessions` are those whose process is there,
        `calls` those that sessions which are gone left open."""
        began = monotonic()
        if not self._is_live or (began < self._next and not at_once):
            return
        effort, following = spent(), {(start.id, start.pid) for start in sessions}
        new = [call for call in calls if call not in self._searched]
        if following or new or self._told or (self._outliving is not None and not self._outliving.is_empty):
            yield from self._look(following, new, began)
        self._next = began + max(EVERY, (spent() - effort) / _SHARE)

    def _look(
        self, following: "set[tuple[str, int | None]]", calls: "Sequence[OpenCall]", at: float
    ) -> Iterator[Event]:
        if self._outliving is None:
            from delegtop.kernel.outliving import Outliving  # in most of what is read nobody is at work

            self._outliving = Outliving()
        for id, pid in following:
            if pid is not None:
                self._outliving.follow(id, pid)
        if calls:
            self._search(self._outliving, calls)
        now = self._clock.now()
        left = {(each.session, each.pid): each for each in self._outliving.look(at)}
        for key, each in left.items():
            before = self._told.get(key)
            if before is None or before.command != each.command or each.memory > before.memory * _GROWN:
                self._told[key] = each
                said = process_words.left(line(whole_words(each.command, _WORDS), 2 * _WORDS), each.pid, each.memory)
                yield Noted(each.session, now, kernel(each.pid), LEFT_RUNNING, said)
        for key in [key for key in self._told if key not in left]:
            del self._told[key]
            yield Noted(key[0], now, kernel(key[1]), LEFT_RUNNING, "")

    def _search(self, outliving: "Outliving", calls: "Sequence[OpenCall]") -> None:
        from delegtop.kernel.call_process import left_by  # as above
        from delegtop.kernel.process_table import ProcessTable

        self._searched.update(calls)
        for call, pid in left_by(ProcessTable(), calls).items():
            outliving.adopt(call.id, pid)
