"""Telling somebody what the sources say, now and from now on, and answering: what `record -o -` and `ship` share.

Whatever carries it (`Carrier`), what is told and when is the same: all that is new, every few seconds that all is told,
and single lines to who asks for them (docs/fleet.md).
"""

from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Protocol

from delegtop import __version__
from delegtop.base import machine
from delegtop.base.clock import SECOND, WallClock, monotonic

if TYPE_CHECKING:
    from delegtop.dialects.recording.tape import Mark
    from delegtop.feed.outgoing import Outgoing, OutgoingBatch
    from delegtop.observation.observation import Observation
    from delegtop.observation.source_discovery import Places
    from delegtop.settings import Settings

PACE = 0.5
"""Seconds between two looks, at most."""
_MOST = 1 << 62
"""No question has a larger number: it could not be written in the answer."""


class Carrier(Protocol):
    """What brings a conversation to the other side."""

    @property
    def is_over(self) -> bool: ...
    def begin(self, header: bytes) -> None: ...
    def carry(self, batches: "Iterable[OutgoingBatch]") -> None: ...
    def beat(self, outgoing: "Outgoing", *, behind: bool) -> None: ...
    def requests(self) -> Iterator[tuple[dict[str, Any], Callable[[bytes], None]]]:
        """What is asked, each with what takes the answer."""
        ...

    def due_again(self) -> list[str]:
        """Sources that are to be told once more, as the other side forgets them."""
        ...

    def end(self, outgoing: "Outgoing") -> None: ...


def opened(
    arguments: Namespace,
    settings: "Settings",
    found: "Places",
    have: "dict[str, Mark]",
    *,
    lines: bool,
    masked: bool,
    prompt: int | None,
) -> "tuple[Outgoing, Observation]":
    """The sources, with somebody who takes all that they tell; `have` is what the other side has of it."""
    from delegtop.feed.live_feed import Feed
    from delegtop.feed.outgoing import Outgoing
    from delegtop.feed.outgoing_words import OutgoingWords
    from delegtop.feed.recorder import Recorder
    from delegtop.observation.observation import opened, policy_for

    clock, policy = WallClock(), policy_for(settings, found.sources)
    place, by = (machine.name(), machine.mark()), f"delegtop {__version__}"
    recorder = Recorder(clock, by, policy.agents, lines=lines, place=place)
    outgoing = Outgoing(recorder, clock, OutgoingWords(masked=masked, prompt=prompt), have=have, place=place[1])
    where = found.as_is() if vars(arguments).get("once") else found
    seen = opened(where, settings, format=arguments.format, policy=policy, witness=outgoing.take)
    if isinstance(seen.feed, Feed):
        outgoing.grows = seen.feed.grows
    return outgoing, seen


def read_again(
    arguments: Namespace, settings: "Settings", found: "Places", outgoing: "Outgoing", sources: list[str]
) -> None:
    """Read all once more for what some sources tell: not all of it is on the other side."""
    from delegtop.observation.observation import opened

    witness = outgoing.take_again(sources)
    with opened(found.as_is(), settings, format=arguments.format, witness=witness) as seen:
        for _ in seen.feed.read_all():
            pass


class StreamTalk:
    """Tells what is new, and answers. With a `beat` (seconds) it says so often that all is told."""

    def __init__(self, seen: "Observation", outgoing: "Outgoing", carrier: Carrier, beat: float) -> None:
        self._seen, self._outgoing, self._carrier, self._beat = seen, outgoing, carrier, beat
        self._beaten_at = monotonic()
        self._settled = False

    def begin(self, can: tuple[str, ...]) -> None:
        self._carrier.begin(self._outgoing.header(round(self._beat * SECOND), can))

    def end(self) -> None:
        self.flush()
        self._carrier.end(self._outgoing)

    def go_on(self, end: float, again: Callable[[list[str]], None]) -> None:
        """Until that moment, or nobody listens any more. `again` reads some sources once more."""
        feed = self._seen.feed
        while not self._carrier.is_over and monotonic() < end:
            try:
                self._seen.take_in(self._after_batch)
            except _Left:
                return
            if not feed.is_behind and not self._settled:
                if untold := self._outgoing.settle():
                    again(untold)
                self._settled, self._beaten_at = True, float("-inf")
            elif self._settled and (due := self._carrier.due_again()):
                again(due)
            self.flush()
            self._beat_if_due(behind=feed.is_behind)
            self._answer()
            if not feed.is_behind:
                feed.wait(max(0.0, min(PACE, end - monotonic(), self._until_beat())))
            if feed.is_over:
                return

    def _after_batch(self) -> None:
        self.flush()
        self._beat_if_due(behind=True)
        if self._carrier.is_over:
            raise _Left

    def flush(self) -> None:
        self._carrier.carry(self._outgoing.batches())

    def beat_soon(self) -> None:
        """Somebody wants to know now whether all is told."""
        self._beaten_at = float("-inf")

    def _until_beat(self) -> float:
        return self._beaten_at + self._beat - monotonic() if self._beat else PACE

    def _beat_if_due(self, *, behind: bool) -> None:
        if self._beat and self._until_beat() <= 0:
            self._carrier.beat(self._outgoing, behind=behind or not self._settled)
            self._beaten_at = monotonic()

    def _answer(self) -> None:
        from delegtop.base.origin import Origin  # whoever asks for help only needs none

        for request, answer in self._carrier.requests():
            want = request.get("want")
            if not (isinstance(want, list) and len(want) == 4):
                continue
            ask, source, line, offset = want
            if type(source) is str and all(type(each) is int for each in (ask, line, offset)) and abs(ask) < _MOST:
                answer(self._outgoing.line(ask, Origin(source, line, offset), self._seen.feed.raw))


class _Left(Exception):  # noqa: N818 - reads better where it is raised
    """Nobody reads any more, amid much to read."""
