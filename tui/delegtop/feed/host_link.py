"""The link to one host: it is connected to, listened to, missed, and tried again.

All of it happens in the thread of the fleet; whoever else wants to know how the host stands asks for its `status`.
"""

import json
import random
import subprocess
import threading
from collections.abc import Callable
from typing import Protocol

from delegtop.base.clock import SECOND, Clock, Millis, monotonic, wall
from delegtop.base.ssh_command import BEAT, MISSING, SshAddress
from delegtop.base.system_errors import reason_of
from delegtop.feed.host_states import (
    FINAL,
    NEXT_TRY,
    RETRIED,
    TELLS_VERSION,
    THERE,
    HostState,
    HostStatus,
    failure,
    own_words,
)
from delegtop.feed.incoming import TOO_LONG, HostStream
from delegtop.sources.ssh_process import SshProcess

FIRST_TRY, LAST_TRY = 1.0, 60.0
"""Seconds between two tries: each waits twice as long as the one before."""
_JITTER = 0.2
_STALE, _LOST = 3, 6
"""Beats that may be missing before it is stale, and before nobody waits any more."""
_GREETING = 30.0
"""Seconds for the first line: a host that asks for a password, or for nothing at all, never sends one."""
_ASK_VERSION = 15.0
_USAGE, _UNKNOWN_OPTION = 2, "--heartbeat"
"""The exit code of a delegtop that does not know an option, and the one it names then."""
_OF_SSH = 255
"""The exit code of ssh itself; all others are those of what it started."""


class HostConnection(Protocol):
    """What carries bytes from a host, as `SshProcess` does."""

    stdin: int
    stdout: int
    stderr: int

    @property
    def code(self) -> int | None: ...
    @property
    def words(self) -> list[str]: ...
    def read(self) -> bytes | None: ...
    def hear(self) -> bool: ...
    def say(self, data: bytes) -> None: ...
    @property
    def has_unsent(self) -> bool: ...
    def send(self) -> None: ...
    def end(self) -> None: ...


class HostLink:
    """One host. `is_due` says when it wants to connect; `look` lets time pass."""

    def __init__(
        self,
        address: SshAddress,
        stream: HostStream,
        clock: Clock,
        connect: Callable[[list[str]], HostConnection] = SshProcess,
    ) -> None:
        self.address, self.stream = address, stream
        self._clock, self._connect = clock, connect
        self.connection: HostConnection | None = None
        self.state, self.why = HostState.CONNECTING, ""
        self.version = ""
        self._since = self._begun_at = self._missing_since = monotonic()
        self._wait = FIRST_TRY
        self._next_try = self._since
        self._requests: list[object] = []
        self._lock = threading.Lock()
        self._asking: threading.Thread | None = None

    @property
    def name(self) -> str:
        return self.address.name

    # -- connecting ------------------------------------------------------------------------------------------------

    @property
    def is_connecting(self) -> bool:
        """Whether somebody is on the way to it."""
        return self.connection is not None and self.stream.header is None

    @property
    def is_due(self) -> bool:
        """Whether it is time to connect."""
        return self.connection is None and self.state not in FINAL and monotonic() >= self._next_try

    @property
    def seconds_left(self) -> float:
        """Until the next try."""
        return max(self._next_try - monotonic(), 0.0)

    def connect(self) -> None:
        self.stream.begin()
        self._begun_at = monotonic()
        if self.state in RETRIED or self.state in FINAL:
            self._enter(HostState.CONNECTING)
        try:
            self.connection = self._connect(self.address.stream())
        except OSError as error:
            self._fail(HostState.UNREACHABLE, f"ssh cannot be started: {reason_of(error)}")
            return
        self._say({"have": self.stream.marks})

    def retry(self) -> bool:
        """Try again now; False if it is there."""
        if self.connection is not None:
            return False
        self._enter(HostState.CONNECTING)
        self._wait, self._next_try = FIRST_TRY, monotonic()
        return True

    # -- listening -------------------------------------------------------------------------------------------------

    def read(self) -> bool:
        """Take what it tells; False once it tells no more."""
        data = self.connection.read() if self.connection is not None else b""
        if data:
            met = self.stream.header is not None
            self.stream.take(data)
            if not met and self.stream.header is not None:
                self.version = self.stream.header.by.rpartition(" ")[2][:20]
                self.stream.send = self._request if self.address.lines == "ask" else None
        return data is None or bool(data)

    def accept(self) -> None:
        """It is a place of its own: what it tells is told."""
        self.stream.is_accepted = True

    def is_same(self, words: str) -> None:
        """It is one that is shown already."""
        self._fail(HostState.SAME, words)

    def _request(self, request: object) -> None:
        """Any thread may ask."""
        with self._lock:
            self._requests.append(request)

    def _say(self, request: object) -> None:
        if self.connection is not None:
            self.connection.say(json.dumps(request).encode() + b"\n")

    # -- letting time pass -----------------------------------------------------------------------------------------

    def look(self) -> None:
        """How it stands now."""
        stream = self.stream
        with self._lock:
            requests, self._requests = self._requests, []
        for request in requests:
            self._say(request)
        if stream.fault:
            self._give_up()
        elif self.connection is None:
            return
        elif stream.header is None:
            if monotonic() - self._begun_at > _GREETING:
                self._fail(HostState.UNREACHABLE, f"no word for {_GREETING:.0f} s")
        else:
            self._judge_silence(monotonic() - stream.heard_at, (stream.header.beat or BEAT * SECOND) / SECOND)

    def _judge_silence(self, silence: float, beat: float) -> None:
        if silence > _LOST * beat:
            self._fail(HostState.UNREACHABLE, f"no word for {silence:.0f} s")
        elif silence > _STALE * beat:
            self._enter(HostState.STALE)
        else:
            self._enter(HostState.BEHIND if self.stream.is_behind else HostState.LIVE)
            if self.state is HostState.LIVE:
                self._wait = FIRST_TRY

    def ended(self) -> None:
        """Its connection has ended."""
        connection = self.connection
        if connection is None:
            return
        connection.hear()
        code, words = connection.code, connection.words
        if self.stream.fault:
            self._give_up()
        elif self.stream.header is not None or code is None:
            self._fail(HostState.UNREACHABLE, failure(words)[1])
        elif code == MISSING:
            self._fail(HostState.NO_DELEGTOP, "")
        elif code == _USAGE and any(_UNKNOWN_OPTION in each for each in words):
            self._fail(HostState.TOO_OLD, "")
            self._ask_version()
        elif code not in (0, _OF_SSH) and code > 0:
            self._fail(HostState.FAILS, own_words(words))
        else:
            self._fail(*failure(words))

    def _give_up(self) -> None:
        fault, self.stream.fault = self.stream.fault, ""
        self._fail(HostState.NEWER if fault.startswith("form ") else HostState.FLOOD, fault)

    def _ask_version(self) -> None:
        """In a thread of its own: it may take a while, and only the words are better for it."""

        def ask() -> None:
            try:
                told = subprocess.run(  # noqa: S603 -- as above
                    self.address.version(),
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    timeout=_ASK_VERSION,
                    check=False,
                    start_new_session=True,
                )
            except (OSError, subprocess.SubprocessError):
                return
            words = told.stdout.decode("utf-8", "replace").split()
            if words[:1] == ["delegtop"] and len(words) == 2:
                self.version = words[1][:20]

        self._asking = threading.Thread(target=ask, name="delegtop-version", daemon=True)
        self._asking.start()

    @property
    def is_settled(self) -> bool:
        """Whether nothing more is to be expected at once."""
        asks = self._asking is not None and self._asking.is_alive()
        return not asks and self.state not in (HostState.CONNECTING, HostState.BEHIND) and not self.stream.has_more

    def _fail(self, state: HostState, why: str) -> None:
        self.close()
        self._enter(state, why)
        self._next_try = monotonic() + self._wait * random.uniform(1 - _JITTER, 1 + _JITTER)  # noqa: S311 -- no secret
        self._wait = min(2 * self._wait, LAST_TRY)

    def _enter(self, state: HostState, why: str = "") -> None:
        if state is not self.state:
            self._since = monotonic()
            if self.state in THERE and state not in THERE:
                self._missing_since = self._since
        self.state, self.why = state, why

    def close(self) -> None:
        if self.connection is not None:
            self.connection.end()
            self.connection = None
        self.stream.ended()

    # -- telling ---------------------------------------------------------------------------------------------------

    def status(self) -> HostStatus:
        stream = self.stream
        state, now = self.state, monotonic()
        seconds = now - (self._since if state in THERE else self._missing_since)
        text = f"{self.name}: {self._words(state, now - self._begun_at)}" if state is not HostState.SAME else self.why
        return HostStatus(self.name, state, text, stream.news_at, stream.offset, self.version, seconds)

    def _words(self, state: HostState, seconds: float) -> str:
        ssh = self.address.shell_target
        match state:
            case HostState.LIVE:
                return "live"
            case HostState.BEHIND:
                return "reading its history"
            case HostState.CONNECTING:
                return f"connecting ({seconds:.0f} s)"
            case HostState.STALE:
                silence, news = monotonic() - self.stream.heard_at, self.stream.news_at
                as_of = "" if news is None else f"; its rows are as of {wall(Millis(news + self.stream.offset))}"
                return f"no word for {silence:.0f} s{as_of}"
            case HostState.UNREACHABLE:
                return f"cannot be reached: {self.why}{NEXT_TRY}{self.seconds_left:.0f} s (R tries now)"
            case HostState.FAILS:
                return f"delegtop fails there: {self.why}{NEXT_TRY}{self.seconds_left:.0f} s (R tries now)"
            case HostState.REFUSED:
                return f'ssh refuses the key ({self.why}); "ssh {ssh} true" must work without a question'
            case HostState.UNKNOWN_KEY:
                return f'its host key is not known; run "ssh {ssh}" once and compare it'
            case HostState.CHANGED_KEY:
                return "its HOST KEY CHANGED; not tried again until R"
            case HostState.NO_DELEGTOP:
                install = f'"ssh {ssh} uv tool install delegtop"'
                return f'delegtop is not installed there; {install}, or command = "uvx delegtop"'
            case HostState.TOO_OLD:
                return f"delegtop {self.version or 'there'} cannot stream ({TELLS_VERSION} or later can)"
            case HostState.NEWER:
                return f"written in {self.why}, this reads form 1; update here"
            case HostState.FLOOD:
                return f"sends more than can be right ({self.why or TOO_LONG}); closed"
            case HostState.SAME:
                return self.why
