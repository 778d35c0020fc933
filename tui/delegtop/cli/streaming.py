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
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from delegtop.base.clock import monotonic
from delegtop.cli import output, reading
from delegtop.cli.diagnostics import fail
from delegtop.cli.exit_codes import Exit
from delegtop.cli.stream_talk import StreamTalk, opened, read_again

if TYPE_CHECKING:
    from delegtop.dialects.recording.tape import Mark
    from delegtop.feed.outgoing import Outgoing, OutgoingBatch
    from delegtop.settings import Settings

FIRST = 2.0
"""Seconds that are waited for what the other side has already."""
LONGEST = 16 * 1024 * 1024
"""Bytes of a request: the first may name many logs."""
_CHUNK = 64 * 1024
WAITING = 1_000
"""Requests that are kept; one who asks for more than can be answered is not heeded."""
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


class PipeCarrier:
    """Carries a conversation by standard output, and what is asked by standard input."""

    def __init__(self, stream: Stream, requests: Requests | None) -> None:
        self._stream, self._requests = stream, requests

    @property
    def is_over(self) -> bool:
        return not self._stream.look() or (self._requests is not None and self._requests.is_over)

    def begin(self, header: bytes) -> None:
        self._stream.write(header)

    def carry(self, batches: "Iterable[OutgoingBatch]") -> None:
        for batch in batches:
            self._stream.write(batch.data)

    def beat(self, outgoing: "Outgoing", *, behind: bool) -> None:
        self._stream.write(outgoing.beat(behind=behind))

    def requests(self) -> Iterator[tuple[dict[str, Any], Callable[[bytes], None]]]:
        while self._requests is not None and (request := self._requests.next()) is not None:
            yield request, self._stream.write

    def due_again(self) -> list[str]:
        """Who reads a pipe keeps what was told."""
        return []

    def end(self, outgoing: "Outgoing") -> None:
        self._stream.write(outgoing.end())


def run(arguments: Namespace, settings: "Settings") -> int:
    if output.is_terminal():
        fail("-o -: standard output is a terminal, and a recording is not for people; pipe it into delegtop -")
    if sys.stdout is None or (sys.stdin is None and arguments.heartbeat is not None):
        fail("-o -: standard input or output is closed")
    from delegtop.feed.outgoing_words import PROMPT

    found = reading.settle(arguments, settings, waits=not arguments.once)
    if arguments.heartbeat is not None and "-" in found.sources:
        fail("--heartbeat takes requests from standard input, which cannot be a SOURCE then")

    requests = Requests(sys.stdin.fileno()) if arguments.heartbeat is not None else None
    have = _had(requests.first()) if requests is not None else {}
    prompt = PROMPT if arguments.no_lines else None
    outgoing, seen = opened(
        arguments, settings, found, have, lines=not arguments.no_lines, masked=arguments.mask, prompt=prompt
    )
    with seen:
        if requests is not None:
            requests.wake = seen.feed.wake
        end = float("inf") if arguments.timeout is None else monotonic() + arguments.timeout
        talk = StreamTalk(seen, outgoing, PipeCarrier(Stream(), requests), arguments.heartbeat or 0.0)
        talk.begin(CAN if requests is not None else ())
        if arguments.once:
            seen.read(talk.flush)
        else:
            talk.go_on(end, partial(read_again, arguments, settings, found, outgoing))
        talk.end()
    return Exit.UNREADABLE if reading.complain(seen.sources, seen.statuses) else Exit.OK


def _had(request: dict[str, Any]) -> "dict[str, Mark]":
    """What the other side says it has."""
    have = request.get("have")
    return {source: mark for source, each in have.items() if (mark := _mark(each))} if isinstance(have, dict) else {}


def _mark(told: object) -> "Mark | None":
    if isinstance(told, list) and len(told) == 3 and all(type(each) is int for each in told) and told[0] >= 0:
        return told[0], told[1], told[2]
    return None
