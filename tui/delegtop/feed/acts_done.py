"""What delegtop did about delegations, as its act log tells: events like any others, whichever delegtop did it."""

import os
from collections.abc import Collection, Iterator

from delegtop import act_log
from delegtop.base.clock import Clock, WallClock
from delegtop.base.origin import Origin
from delegtop.model.events import Event, Noted
from delegtop.model.notes import ACTED


class ActsDone:
    """Reads the act log as it grows; only while time is real, and only what is said of logs that are read here."""

    def __init__(self, clock: Clock) -> None:
        self._is_live = isinstance(clock, WallClock)
        self._path = str(act_log.place())
        self._offset = self._number = 0
        self._waiting: list[tuple[act_log.ActLine, Origin]] = []
        """Of logs that nobody reads yet."""
        self._logs = 0

    def seen(self, logs: Collection[str]) -> Iterator[Event]:
        """What is new since the look before, of delegations that these logs tell of."""
        if not self._is_live:
            return
        is_new = self._read()
        if not self._waiting or not (is_new or len(logs) != self._logs):
            return
        self._logs = len(logs)
        known = {os.path.abspath(log) for log in logs}  # noqa: PTH100 -- a Path would follow links
        waiting, self._waiting = self._waiting, []
        for line, origin in waiting:
            if line.log in known:
                yield Noted(line.id, line.at, origin, ACTED, line.words)
            else:
                self._waiting.append((line, origin))

    def _read(self) -> bool:
        """Whether there is something new."""
        path = self._path
        try:
            if os.stat(path).st_size == self._offset:  # noqa: PTH116 -- at every look
                return False
        except OSError:
            return False
        for end, begin, data in act_log.lines(self._offset):
            self._offset, self._number = end, self._number + 1
            if (line := act_log.parsed(data)) is not None:
                self._waiting.append((line, Origin(path, self._number, begin)))
        return True

    def raw(self, origin: Origin) -> bytes | None:
        """The very line of the act log; None if that is not where it stands."""
        if origin.source != self._path:
            return None
        return next((data for _, begin, data in act_log.lines(origin.offset) if begin == origin.offset), None)
