"""Where delegations stood still, and which files they touched.

It is gathered while logs are read: of all signs of life only the last is kept.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from delegtop.base.clock import MINUTE, Millis
from delegtop.model.events import Ended, Erred, Event, Heard, Phase, Resumed

LONG = 10 * MINUTE
"""Milliseconds without a word inside a call, or before an answer of the model: `suspect_after` as it is built in."""
FILES = 200
"""Files of one delegation."""
_PLACE = 260
_COMMANDS = frozenset({"bash", "shell", "exec_command", "exec", "local_shell", "run_terminal_cmd", "execute"})
"""Tools whose words are a command line: of these only what looks like a path is a file."""
_PATH = re.compile(r"(?:[\w.~@+-]*/)+[\w.@+-]+|[\w-]+\.[A-Za-z][A-Za-z0-9]{0,5}\b")
_STILL = frozenset({Phase.TOOL, Phase.MODEL, Phase.PERMISSION, Phase.ANSWER})


class StandStill(NamedTuple):
    """One time that nothing came of a delegation for long."""

    at: Millis
    """Its last word before."""
    phase: Phase
    tool: str
    doing: str
    until: Millis
    ended: str
    """What came then, in a word: `went on`, `resumed`, or how it ended."""


class _Last(NamedTuple):
    at: Millis
    phase: Phase | None
    tool: str
    doing: str


def still_phase(phase: Phase | None, tool: str | None, doing: str | None) -> Phase | None:
    """What it stands still in, if it does; who only says what it does is inside that."""
    if phase is None:
        return Phase.TOOL if tool or doing else None
    return phase if phase in _STILL else None


class Gathering:
    """Is told events as they are read, in any order of sessions and also more than once."""

    def __init__(self) -> None:
        self.stills: dict[str, dict[int, StandStill]] = {}
        """By the id of a delegation, and when each began."""
        self.files: dict[str, dict[str, None]] = {}
        """By the id of a delegation, in the order in which they were touched."""
        self._last: dict[str, _Last] = {}

    def heed(self, events: Iterable[Event]) -> None:
        for event in events:
            if isinstance(event, Heard):
                self._heard(event)
            elif isinstance(event, Ended):
                self._came(event.id, event.at, event.outcome.value)
            elif isinstance(event, Resumed):
                self._came(event.id, event.at, "resumed")
            elif isinstance(event, Erred):
                self._came(event.id, event.at, "went on")

    def last(self, id: str) -> tuple[Millis, Phase, str, str] | None:
        """What it was in the middle of when it was last heard of: when, and inside which tool with what."""
        known = self._last.get(id)
        if known is None or known.phase is None:
            return None
        return known.at, known.phase, known.tool, known.doing

    def _heard(self, sign: Heard) -> None:
        if sign.tool and sign.doing:
            self._touched(sign.id, sign.tool, sign.doing)
        at = sign.at
        if at is None:
            return
        known = self._last.get(sign.id)
        if known is not None and at - known.at >= LONG:
            self._came(sign.id, at, "went on")
        if known is None or at >= known.at:
            # The model may be asked again and again while it does not answer: that is one wait.
            begun = min(sign.since, at) if sign.since is not None and sign.phase in _STILL else at
            if known is not None and sign.phase is known.phase is Phase.MODEL and sign.asked and sign.asked > 1:
                begun = known.at
            phase = still_phase(sign.phase, sign.tool, sign.doing)
            self._last[sign.id] = _Last(Millis(begun), phase, sign.tool or "", sign.doing or "")

    def _came(self, id: str, at: Millis | None, what: str) -> None:
        """Something came after a silence."""
        known = self._last.get(id)
        if at is None or known is None or known.phase is None or at - known.at < LONG:
            return
        self.stills.setdefault(id, {})[known.at] = StandStill(known.at, known.phase, known.tool, known.doing, at, what)

    def _touched(self, id: str, tool: str, doing: str) -> None:
        """The files that a call names."""
        is_command = tool.lower() in _COMMANDS or " " in doing.strip()
        found = _PATH.findall(doing) if is_command else [doing] if "/" in doing or "." in doing else []
        if not found:
            return
        known = self.files.setdefault(id, {})
        for path in found:
            if len(known) < FILES and len(path) <= _PLACE and "://" not in path and not path.startswith("//"):
                known.setdefault(path)
