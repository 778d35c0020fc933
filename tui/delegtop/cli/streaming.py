"""`delegtop record -o -`: what the sources say, now and from now on, to whoever reads standard output.

With a heartbeat it is one side of a conversation (docs/fleet.md): every few seconds it says that all is told, takes
requests from standard input, and ends with that. It writes no file.
"""

import json
import os
import sys
import threading
from argparse import Namespace
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from delegtop import __version__
from delegtop.base import machine
from delegtop.base.clock import SECOND, WallClock, monotonic
from delegtop.base.origin import Origin
from delegtop.cli import output, reading
from delegtop.cli.diagnostics import fail
from delegtop.cli.exit_codes import Exit

if TYPE_CHECKING:
    from delegtop.dialects.recording.tape import Mark
    from delegtop.feed.outgoing import Outgoing
    from delegtop.observation.observation import Observation
    from delegtop.observation.source_discovery import Places
    from delegtop.settings import Settings

PACE = 0.5
"""Seconds between two looks, at most."""
FIRST = 2.0
"""Seconds that are waited for what the other side has already."""
LONGEST = 16 * 1024 * 1024
"""Bytes of a request: the first may name many logs."""
_CHUNK = 64 * 1024
WAITING = 1_000
"""Requests that are kept; one who asks for more than can be answered is not heeded."""
_MOST = 1 << 62
"""No question has a larger number: it could not be written in the answer."""
CAN = ("have", "want")


class Stream:
    """Standard output as a pipe. Once nobody reads any more nothing is written."""

    def __init__(self) -> None:
        self._fd = sys.stdout.fileno()
        self.is_read = True

    def write(self, data: bytes) -> None:
        try:
            while data and self.is_read:
                data = data[os.write(self._fd, data) :]
        except OSError:  # most of all a broken pipe; whatever it is, nobody is there
            self.is_read = False

    def look(self) -> bool:
        """Whether somebody still reads."""
        self.is_read = self.is_read and output.is_read()
        return self.is_read


class Requests:
    """What comes from the other side, a JSON object a line, read in a thread until its end."""

    def __init__(self, fd: int) -> None:
        self.is_over = False
        self.wake: Callable[[], None] = lambda: None
        self._fd = fd
        self._found: deque[dict[str, Any]] = deque(maxlen=WAITING)
        self._stirred = threading.Event()
        threading.Thread(target=self._read, name="delegtop-requests", daemon=True).start()

    def first(self) -> dict[str, Any]:
        """The first request, if one comes soon."""
        self._stirred.wait(FIRST)
        return self.next() or {}

    def next(self) -> dict[str, Any] | None:
        try:
            return self._found.popleft()
        except IndexError:
            return None

    def _read(self) -> None:
        """Without Python's own buffer: a thread that waits in that when the program ends would stop it from ending."""
        rest = b""
        with suppress(OSError):
            while (data := os.read(self._fd, _CHUNK)) and len(rest) <= LONGEST:
                *lines, rest = (rest + data).split(b"\n")
                for line in lines:
                    self._take(line)
        self.is_over = True
        self._stir()

    def _take(self, line: bytes) -> None:
        with suppress(ValueError, RecursionError):
            request = json.loads(line)
            if isinstance(request, dict):
                self._found.append(request)
        self._stir()

    def _stir(self) -> None:
        self._stirred.set()
        self.wake()


def run(arguments: Namespace, settings: "Settings") -> int:
    if output.is_terminal():
        fail("-o -: standard output is a terminal, and a recording is not for people; pipe it into delegtop -")
    if sys.stdout is None or (sys.stdin is None and arguments.heartbeat is not None):
        fail("-o -: standard input or output is closed")
    found = reading.settle(arguments, settings, waits=not arguments.once)
    if arguments.heartbeat is not None and "-" in found.sources:
        fail("--heartbeat takes requests from standard input, which cannot be a SOURCE then")

    requests = Requests(sys.stdin.fileno()) if arguments.heartbeat is not None else None
    outgoing, seen = _opened(arguments, settings, found, _had(requests.first()) if requests is not None else {})
    beat = 0 if requests is None else round(arguments.heartbeat * SECOND)
    with seen:
        talk = _Conversation(seen, outgoing, requests, Stream(), beat)
        if requests is not None:
            requests.wake = seen.feed.wake
        end = float("inf") if arguments.timeout is None else monotonic() + arguments.timeout
        talk.begin()
        if arguments.once:
            seen.read(talk.flush)
        else:
            talk.go_on(end, lambda sources: _again(arguments, settings, found, outgoing, sources))
        talk.end()
    return Exit.UNREADABLE if reading.complain(seen.sources, seen.statuses) else Exit.OK


def _opened(
    arguments: Namespace, settings: "Settings", found: "Places", have: "dict[str, Mark]"
) -> "tuple[Outgoing, Observation]":
    from delegtop.feed.live_feed import Feed
    from delegtop.feed.outgoing import Outgoing
    from delegtop.feed.outgoing_words import OutgoingWords
    from delegtop.feed.recorder import Recorder
    from delegtop.observation.observation import opened, policy_for

    clock, policy = WallClock(), policy_for(settings, found.sources)
    place, by = (machine.name(), machine.mark()), f"delegtop {__version__}"
    recorder = Recorder(clock, by, policy.agents, lines=not arguments.no_lines, place=place)
    words = OutgoingWords(masked=arguments.mask, prompts=not arguments.no_lines)
    outgoing = Outgoing(recorder, clock, words, have=have, place=place[1])
    where = found.as_is() if arguments.once else found
    seen = opened(where, settings, format=arguments.format, policy=policy, witness=outgoing.take)
    if isinstance(seen.feed, Feed):
        outgoing.grows = seen.feed.grows
    return outgoing, seen


def _again(
    arguments: Namespace, settings: "Settings", found: "Places", outgoing: "Outgoing", sources: list[str]
) -> None:
    """Read all once more for what some sources tell: not all of it was told before."""
    from delegtop.observation.observation import opened

    witness = outgoing.take_again(sources)
    with opened(found.as_is(), settings, format=arguments.format, witness=witness) as seen:
        for _ in seen.feed.read_all():
            pass


def _had(request: dict[str, Any]) -> "dict[str, Mark]":
    """What the other side says it has."""
    have = request.get("have")
    return {source: mark for source, each in have.items() if (mark := _mark(each))} if isinstance(have, dict) else {}


def _mark(told: object) -> "Mark | None":
    if isinstance(told, list) and len(told) == 3 and all(type(each) is int for each in told) and told[0] >= 0:
        return told[0], told[1], told[2]
    return None


class _Conversation:
    """Writes what is new, and answers."""

    def __init__(
        self, seen: "Observation", outgoing: "Outgoing", requests: Requests | None, stream: Stream, beat: int
    ) -> None:
        self._seen, self._outgoing, self._requests, self._stream = seen, outgoing, requests, stream
        self._beat = beat
        self._beaten_at = monotonic()
        self._settled = False

    def begin(self) -> None:
        self._stream.write(self._outgoing.header(self._beat, CAN if self._requests is not None else ()))

    def end(self) -> None:
        self.flush()
        self._stream.write(self._outgoing.end())

    def go_on(self, end: float, again: Callable[[list[str]], None]) -> None:
        """Until that moment, or nobody listens any more. `again` reads some sources once more."""
        feed = self._seen.feed
        while not self._is_over and monotonic() < end:
            try:
                self._seen.take_in(self._after_batch)
            except _Left:
                return
            if not feed.is_behind and not self._settled:
                if untold := self._outgoing.settle():
                    again(untold)
                self._settled, self._beaten_at = True, float("-inf")
            self.flush()
            self._beat_if_due(behind=feed.is_behind)
            self._answer()
            if not feed.is_behind:
                feed.wait(max(0.0, min(PACE, end - monotonic(), self._until_beat())))
            if feed.is_over:
                return

    @property
    def _is_over(self) -> bool:
        return not self._stream.look() or (self._requests is not None and self._requests.is_over)

    def _after_batch(self) -> None:
        self.flush()
        self._beat_if_due(behind=True)
        if self._is_over:
            raise _Left

    def flush(self) -> None:
        for batch in self._outgoing.batches():
            self._stream.write(batch.data)

    def _until_beat(self) -> float:
        return self._beaten_at + self._beat / SECOND - monotonic() if self._beat else PACE

    def _beat_if_due(self, *, behind: bool) -> None:
        if self._beat and self._until_beat() <= 0:
            self._stream.write(self._outgoing.beat(behind=behind or not self._settled))
            self._beaten_at = monotonic()

    def _answer(self) -> None:
        while self._requests is not None and (request := self._requests.next()) is not None:
            want = request.get("want")
            if not (isinstance(want, list) and len(want) == 4):
                continue
            ask, source, line, offset = want
            if type(source) is str and all(type(each) is int for each in (ask, line, offset)) and abs(ask) < _MOST:
                self._stream.write(self._outgoing.line(ask, Origin(source, line, offset), self._seen.feed.raw))


class _Left(Exception):  # noqa: N818 - reads better where it is raised
    """Nobody reads any more, amid much to read."""
