"""One host that ships to a hub: how it stands, by what is heard of it there, and what it told."""

import json
from collections import deque
from typing import NamedTuple

from delegtop.base.clock import MINUTE, SECOND, Millis, monotonic, wall
from delegtop.base.ssh_command import BEAT
from delegtop.base.text import line
from delegtop.dialects.recording.tape import VERSION, Damaged, Header, TapeBeat, frames, unframe
from delegtop.feed.host_states import NEXT_TRY, THERE, HostState, HostStatus
from delegtop.feed.incoming import TOO_LONG, HostStream

_STALE, _LOST = 3, 6
"""Beats that may be missing before it is stale, and before it is lost."""
_UNHEARD = 2
"""Beats that one is waited for who was there lately and has been called."""
_PRESENT = 3 * MINUTE
"""An entry in the list of hosts that is older is of one that is not there any more."""
_HELD = 16
_RUNS = 10_000
"""Starts of a shipper that are told apart: nobody starts one that often."""
_LONGEST_BEAT = 60_000


class HostPresence(NamedTuple):
    """What a host says of itself in the list of hosts."""

    run: str = ""
    at: Millis = Millis(0)
    told: Millis | None = None
    """By its clock, up to when all is told."""
    beat: int = BEAT * SECOND
    left: bool = False
    header: bytes = b""


def presence(data: bytes) -> HostPresence | None:
    """The entry of a host; None if it is none."""
    first, _, header = data.partition(b"\n")
    try:
        told = json.loads(first)
        entry = HostPresence(
            str(told["run"])[:32],
            Millis(int(told["at"])),
            None if told.get("told") is None else Millis(int(told["told"])),
            min(max(int(told.get("beat") or 0), SECOND), _LONGEST_BEAT),
            told.get("left") is True,
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError):
        return None
    return entry._replace(header=header) if _header(header) is not None else entry


def _header(data: bytes) -> Header | None:
    try:
        record = unframe(data.rstrip(b"\n"))
    except Damaged:
        return None
    return record if isinstance(record, Header) else None


class HubHost:
    """One host. What it told is taken in the order of the stream; that all is told counts once all that is there."""

    def __init__(self, host: str, stream: HostStream) -> None:
        self.host, self.stream = host, stream
        self.state, self.why = HostState.CONNECTING, ""
        self.version = ""
        self._present = HostPresence()
        self._begun: tuple[str, bytes] | None = None
        """Of which start it told last, and how that began."""
        self._runs = 0
        self._heard_at = float("-inf")
        self._held: deque[tuple[int, bytes]] = deque(maxlen=_HELD)
        """Beats that came before what they are about: which message that is, and the beat."""
        self._since = self._missing_since = self._met_at = monotonic()

    @property
    def name(self) -> str:
        return self.stream.name

    @property
    def place(self) -> tuple[str, str]:
        """Which place it says it is."""
        header = self.stream.header
        return (header.host, header.machine) if header is not None else ("", "")

    # -- taking ----------------------------------------------------------------------------------------------------

    def enters(self, entry: HostPresence) -> None:
        """What stands in the list of hosts."""
        self._present = entry

    def take(self, run: str, data: bytes) -> None:
        """A piece of its recording. It is whole by itself; what is torn in it does not reach the next."""
        self._begin(run)
        self.stream.take(data if data.endswith(b"\n") else data + b"\n")

    def _begin(self, run: str) -> None:
        """Numbers of sources are those of one start of the shipper: each is a conversation of its own."""
        if self._begun is not None and self._begun[0] == run and self._begun[1] == self._beginning(run):
            return
        self._runs += 1
        if self._runs > _RUNS:
            self.stream.fault = "more starts than can be right"
            return
        accepted = self.stream.is_accepted or self._begun is None
        self._begun = (run, self._beginning(run))
        self.stream.begin()
        self.stream.take_late(self._begun[1])
        self.stream.is_accepted = accepted
        header = self.stream.header
        self.version = header.by.rpartition(" ")[2][:20] if header is not None else ""

    def _beginning(self, run: str) -> bytes:
        """The first line of its recording: its own, else one that says no more than that it is there."""
        if self._present.header and (self._present.run == run or self._begun is None or self._begun[0] != run):
            return self._present.header
        if self._begun is not None and self._begun[0] == run:
            return self._begun[1]
        return b"".join(frames(Header(VERSION, "delegtop", Millis(0), beat=self._present.beat)))

    def beats(self, run: str, sequence: int, data: bytes, through: int) -> None:
        """It says that all is told up to that message of the stream; `through` is how far that is read."""
        self._heard_at = monotonic()
        record = _beat(data)
        if record is None:
            return
        if self._begun is None:
            self._begin(run)
        self._held.append((sequence, b"".join(frames(TapeBeat(record.at, record.behind)))))
        self.let_go(through)

    def let_go(self, through: int) -> None:
        """The stream is read up to there."""
        while self._held and self._held[0][0] <= through:
            self.stream.take(self._held.popleft()[1])

    def is_read(self) -> None:
        """All that the hub has of it is here: what its entry says of the time counts now, if nothing later does."""
        told, news = self._present.told, self.stream.news_at
        if told is not None and (news is None or told > news):
            self._begin(self._begun[0] if self._begun is not None else self._present.run)
            self.stream.take_late(b"".join(frames(TapeBeat(told))))

    # -- letting time pass -----------------------------------------------------------------------------------------

    def look(self, now: Millis, *, is_read: bool, lost: str) -> bool:
        """How it stands now; True if that is otherwise than before. `lost` says why the hub itself is not there."""
        before = self.state
        if self.state not in (HostState.FLOOD, HostState.NEWER, HostState.SAME):
            self._judge(now, is_read=is_read, lost=lost)
        if self.state is before:
            return False
        self._since = monotonic()
        if before in THERE and self.state not in THERE:
            self._missing_since = self._since
        return True

    def _judge(self, now: Millis, *, is_read: bool, lost: str) -> None:
        beat, silence = self._present.beat / SECOND, monotonic() - self._heard_at
        self.why = ""
        if fault := self.stream.fault:
            newer = fault.startswith("form ")
            self.state, self.why = (HostState.NEWER if newer else HostState.FLOOD), fault
        elif lost:
            self.state, self.why = HostState.UNREACHABLE, lost
        elif not is_read:
            self.state = HostState.BEHIND
        elif self._heard_at == float("-inf"):
            self._judge_unheard(now, beat)
        elif self._present.left:
            self.state, self.why = HostState.UNREACHABLE, "delegtop ship has ended there"
        elif silence > _LOST * beat:
            self.state, self.why = HostState.UNREACHABLE, f"no word for {silence:.0f} s at the hub"
        elif silence > _STALE * beat:
            self.state = HostState.STALE
        else:
            self.state = HostState.BEHIND if self.stream.is_behind or self._held else HostState.LIVE

    def _judge_unheard(self, now: Millis, beat: float) -> None:
        """It was not heard of since we listen."""
        if self._present.left:
            self.state, self.why = HostState.UNREACHABLE, "delegtop ship has ended there"
        elif monotonic() - self._met_at > _UNHEARD * beat or now - self._present.at > _PRESENT:
            self.state, self.why = HostState.UNREACHABLE, "no word of it at the hub"
        else:
            self.state = HostState.CONNECTING

    def is_same(self, words: str) -> None:
        self.state, self.why = HostState.SAME, words

    def retry(self) -> bool:
        """Heed it again; False if it is heeded."""
        if self.state not in (HostState.FLOOD, HostState.NEWER, HostState.SAME):
            return False
        self.stream.fault, self._runs = "", 0
        self.state, self._begun = HostState.CONNECTING, None
        return True

    @property
    def is_settled(self) -> bool:
        """Whether nothing more is to be expected at once."""
        return self.state not in (HostState.CONNECTING, HostState.BEHIND) and not self.stream.has_more

    # -- telling ---------------------------------------------------------------------------------------------------

    def status(self) -> HostStatus:
        stream, now = self.stream, monotonic()
        seconds = now - (self._since if self.state in THERE else self._missing_since)
        text = self.why if self.state is HostState.SAME else f"{self.name}: {self._words(now)}"
        return HostStatus(self.name, self.state, text, stream.news_at, stream.offset, self.version, seconds)

    def _words(self, now: float) -> str:
        match self.state:
            case HostState.LIVE:
                return "live"
            case HostState.BEHIND:
                return "reading its history"
            case HostState.CONNECTING:
                return f"waiting for its word at the hub ({now - self._met_at:.0f} s)"
            case HostState.STALE:
                news = self.stream.news_at
                as_of = "" if news is None else f"; its rows are as of {wall(Millis(news + self.stream.offset))}"
                return f"no word for {now - self._heard_at:.0f} s{as_of}"
            case HostState.NEWER:
                return f"written in {self.why}, this reads form {VERSION}; update here"
            case HostState.FLOOD:
                return f"sends more than can be right ({self.why or TOO_LONG}); closed"
            case _:
                return f"cannot be reached: {self.why}"


def _beat(data: bytes) -> TapeBeat | None:
    try:
        record = unframe(data.rstrip(b"\n"))
    except Damaged:
        return None
    return record if isinstance(record, TapeBeat) else None


class HubItself:
    """A hub that knows of no host yet, in the place of its hosts."""

    def __init__(self, name: str, stream: HostStream) -> None:
        self.name, self.stream = name, stream
        self.state, self.why = HostState.CONNECTING, ""
        self.next_try = self._begun_at = self._since = monotonic()

    def enter(self, state: HostState, why: str = "") -> None:
        if state is not self.state:
            self._since = monotonic()
        self.state, self.why = state, why

    def tries(self) -> None:
        self._begun_at = monotonic()

    @property
    def seconds_left(self) -> float:
        return max(self.next_try - monotonic(), 0.0)

    @property
    def lost(self) -> str:
        """Why it is not there, as it is said of each of its hosts."""
        return f"the hub {self.name}: {self.why}{NEXT_TRY}{self.seconds_left:.0f} s (R tries now)"

    @property
    def is_settled(self) -> bool:
        return self.state not in (HostState.CONNECTING, HostState.BEHIND)

    def status(self) -> HostStatus:
        now = monotonic()
        match self.state:
            case HostState.CONNECTING:
                words = f"connecting ({now - self._begun_at:.0f} s)"
            case HostState.BEHIND:
                words = "reading its history"
            case HostState.LIVE:
                words = "no host ships to it"
            case HostState.REFUSED:
                words = line(self.why, 400)
            case _:
                words = f"cannot be reached: {line(self.why, 200)}{NEXT_TRY}{self.seconds_left:.0f} s (R tries now)"
        return HostStatus(self.name, self.state, f"{self.name}: {words}", seconds=now - self._since)
