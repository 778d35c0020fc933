"""An observation of sources: the feed that reads them, the forest that grows from it, what is the matter in it, and the
time it is seen in. The dashboard, the commands and a person's own scripts all open their sources here."""

import gc
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple

from delegtop.base import text
from delegtop.base.clock import (
    Clock,
    FrozenClock,
    Millis,
    ReplayClock,
    StepWatch,
    WallClock,
    clock_at,
    monotonic,
    parse_time,
    sleep,
    slept,
)
from delegtop.feed.batch import Batch
from delegtop.feed.file_catalogue import STDIN, Sift
from delegtop.feed.followed_file import SourceStatus
from delegtop.feed.line_reading import Witness
from delegtop.feed.live_feed import Feed, Readable
from delegtop.model.forest import Forest
from delegtop.model.policy import Policy
from delegtop.observation.agent_limits import limits_near
from delegtop.observation.call_watch import CallWatch
from delegtop.observation.source_discovery import OpenError, Places, places
from delegtop.observation.unread_sources import unread
from delegtop.settings import Settings, load

if TYPE_CHECKING:
    from datetime import tzinfo

    from delegtop.diagnosis.appearances import Appearances
    from delegtop.diagnosis.assessments import Assessments
    from delegtop.diagnosis.verdicts import Certainty
    from delegtop.feed.fleet import Fleet, PastFleet
    from delegtop.feed.host_states import HostStatus
    from delegtop.feed.replay_feed import Replay
    from delegtop.feed.session_index import OpenIndex, SessionIndex
    from delegtop.model.call_durations import CallCounts
    from delegtop.model.events import Event
    from delegtop.model.states import State
    from delegtop.model.store.ledger import Handle

PACE = 0.2
"""Seconds between two looks, at least: a busy log is read in gulps."""
_PATIENCE = 1.0
"""Seconds between two looks when nothing stirs: deadlines pass by themselves."""

_LOOKS = (0.0, 0.6, 0.6)
"""Seconds before each of the first looks at processes."""

Heed = Callable[["Sequence[Event]"], None]
"""Is told the events as they are taken in, each once."""


class Changes(NamedTuple):
    """What one look brought."""

    touched: "set[Handle]"
    """All that changed."""
    lives: "set[Handle]"
    """Those of which more changed than what they do: they began, ended, moved, or are in another state."""
    assessed: "set[Handle]"
    """Those that are assessed otherwise."""

    def __bool__(self) -> bool:
        return bool(self.touched or self.assessed)


class Issue(NamedTuple):
    """What is the matter with one delegation, ready to be shown: what is foreign in it can do no harm."""

    id: str
    name: str
    state: "State"
    kind: str
    """What is the matter in a few words: a verdict, else the state."""
    certainty: "Certainty"
    since: Millis | None
    sentence: str
    """What is the matter, since when, and whom it holds up."""
    todo: tuple[str, ...]
    """What to do, ranked by use."""
    command: str | None
    """What to type. delegtop never runs it."""


class Observation:
    """Sources that are looked at, once, as they grow, or in their own time. Made by `open`, `opened` and `replayed`."""

    def __init__(
        self,
        feed: Readable,
        clock: Clock,
        settings: Settings | None = None,
        *,
        policy: Policy | None = None,
        places: Places = Places([]),  # noqa: B008 -- a tuple, which nobody changes
        format: str | None = None,
        learns: bool = False,
        heed: Heed | None = None,
        calls: "CallCounts | None" = None,
    ) -> None:
        self.feed, self.clock = feed, clock
        self._steps = StepWatch(clock) if isinstance(clock, WallClock) else None
        self.settings = settings or Settings()
        self.policy = policy or self.settings.policy()
        """What the delegations are judged by."""
        self.places, self.format = places, format
        self.learns = learns
        """Whether what is usual on this machine counts: it says nothing of logs from elsewhere or of the past."""
        self._heed = heed
        self._call_counts = calls
        self._looked_at = float("-inf")
        self._calls = CallWatch(feed)
        self._moment: Millis | None = None
        """The moment of a recording that is seen; None for that of the clock."""
        self._closed: Sequence[SourceStatus] | None = None
        self._hosts: tuple[HostStatus, ...] = ()

    @property
    def sources(self) -> list[str]:
        return self.places.sources

    @property
    def fleet(self) -> "Fleet | None":
        """The hosts that are looked at, if there are others than this machine."""
        if not self.places.hosts:
            return None
        from delegtop.feed.fleet import Fleet  # few look at others

        return self.feed if isinstance(self.feed, Fleet) else self.replay.fleet if self.replay is not None else None

    @property
    def replay(self) -> "Replay | None":
        """The feed, if its time can be moved."""
        from delegtop.feed.replay_feed import Replay  # who reads once does not look at the past

        return self.feed if isinstance(self.feed, Replay) else None

    @cached_property
    def forest(self) -> Forest:
        return Forest(self.policy)

    @cached_property
    def assessments(self) -> "Assessments":
        """What is the matter with each delegation of the forest."""
        from delegtop.diagnosis.assessments import Assessments  # not every reader judges

        return Assessments(self.forest)

    @property
    def now(self) -> Millis:
        """The moment that is seen."""
        return self.clock.now() if self._moment is None else self._moment

    @property
    def statuses(self) -> Sequence[SourceStatus]:
        """How well each source is read."""
        return self.feed.statuses() if self._closed is None else self._closed

    @property
    def hosts(self) -> "tuple[HostStatus, ...]":
        """How each host stands, if others than this machine are looked at."""
        fleet = self.fleet if self._closed is None else None
        return self._hosts if fleet is None else fleet.hosts()

    @property
    def is_over(self) -> bool:
        """Nothing more can come: standard input was all there is and has ended, or a recording was played."""
        return self.feed.is_over

    def unread(self) -> list[SourceStatus]:
        """The sources that should have been read and could not be."""
        return unread(self.sources, self.statuses)

    # -- reading -----------------------------------------------------------------------------------------------------

    def _pass_time(self) -> "set[Handle]":
        """Bring all to the moment that is seen; of the present the kernel knows whether the machine slept before it."""
        if self._steps is not None and self._moment is None:
            self.forest.heed_kernel(slept())
        return self.forest.advance(self.now)

    def read(self, after_batch: Callable[[], None] | None = None, *, asks_kernel: bool = True) -> None:
        """Everything there is, once: to the end of standard input, and with last lines that lack their newline."""
        with _uncollected():
            self._take_in(self.feed.read_all(), after_batch)
        self.forest.expect_whole_looks()
        self._pass_time()
        if asks_kernel:
            self._ask_kernel()

    def catch_up(self, after_batch: Callable[[], None] | None = None) -> None:
        """Everything that is there now, of sources that are then followed, and what the kernel shows of it: what is so
        already is known from the first look on, and no news after it."""
        with _uncollected():
            if (fleet := self.fleet) is not None:
                self._take_in(fleet.meet(), after_batch)
            self._take_in(self._news(), after_batch)
            while self.feed.is_behind:
                self._take_in(self._news(), after_batch)
        self._pass_time()
        self._ask_kernel()
        self._judge_anew()

    def look(self) -> Changes:
        """Take in what is new and let time pass; returns what changed by either."""
        if self._steps is not None and (step := self._steps.step()) is not None:
            self.forest.step(step)
        touched, lives, leapt = self._take_in(self._news())
        self._looked_at = monotonic()
        lives |= self._pass_time()
        self._watch_calls()
        if leapt:
            everything = set(range(len(self.forest)))
            return Changes(everything, everything, self._judge_anew())
        self.assessments.touch(touched, lives)
        assessed = self.assessments.update()
        self.forest.press_words()
        return Changes(touched | lives, lives, assessed)

    def take_in(self, after_batch: Callable[[], None] | None = None) -> None:
        """The same without judging anything: for whoever passes on what is told, what the kernel shows included."""
        self._take_in(self._news(), after_batch)
        self._pass_time()
        self._watch_calls()

    def wait(self, seconds: float, rest: Callable[[float], object] = sleep) -> None:
        """Until something probably changed, at most that long. What changes often is looked at a few times a second;
        whoever has something else to do meanwhile tells how to `rest` until then."""
        self.feed.wait(max(seconds, 0.0))
        early = self._looked_at + PACE - monotonic()
        if early > 0:
            rest(min(early, PACE))

    def follow(self) -> Iterator[Changes]:
        """What changes from now on, each time something does; it ends where nothing more can come."""
        while True:
            over = self.is_over
            if not over:
                self.wait(_PATIENCE)
            if changes := self.look():
                yield changes
            if over:
                return

    def seek(self, at: Millis | str) -> Changes:
        """Go to another moment of a recording; returns what is otherwise there."""
        if self.replay is None:
            raise OpenError("only what is replayed has other moments")
        to = moment(at, self.settings.zone())
        if to is not None:
            self.replay.rewind(to)
        return self.look()

    def _watch_calls(self) -> None:
        if self._moment is None and isinstance(self.clock, WallClock):
            self._calls.tell(self.forest)

    def _ask_kernel(self) -> None:
        """Who has only now begun to look cannot wait for long: a few quick looks, if there is anything to look at."""
        self._watch_calls()
        feed = self.feed if self.fleet is None else self.fleet.local
        if not isinstance(feed, Feed):
            return
        if feed.has_calls:
            for nap in _LOOKS:
                sleep(nap)
                self._take_in(feed.ask_kernel())
                if feed.knows_calls:
                    break
            self._pass_time()
        self._take_in(feed.ask_left_running())

    def _news(self) -> Iterator[Batch]:
        # Of a stream that has ended the last line is whole, even without its newline.
        return self.feed.read_all() if self.is_over else self.feed.poll()

    def _take_in(
        self, batches: Iterable[Batch], after_batch: Callable[[], None] | None = None
    ) -> "tuple[set[Handle], set[Handle], bool]":
        """Grow the forest; returns who changed, of whom it is another life, and whether it is another forest."""
        touched: set[Handle] = set()
        lives: set[Handle] = set()
        leapt = False
        for batch in batches:
            if batch.forest is not None:
                self.forest.become(batch.forest)
                leapt = True
            self._moment = batch.at
            change = self.forest.apply(batch.events)
            touched |= change.touched
            lives.update(change.lives, change.added)
            if batch.ledger is not None:
                change = self.forest.absorb(batch.ledger)
                touched |= change.touched
                lives.update(change.lives, change.added)
            if self._heed is not None:
                self._heed(batch.events)
                self._heed(batch.moments)
            if self._call_counts is not None:
                self._call_counts.take(batch.events, batch.calls)
            if after_batch is not None:
                after_batch()
        return touched, lives, leapt

    def _judge_anew(self) -> "set[Handle]":
        self.assessments.begin_again()
        return self.assessments.update()

    # -- asking ------------------------------------------------------------------------------------------------------

    def problems(self, *, earlier: bool = False) -> list[Issue]:
        """What is the matter now, in the order of looking; with `earlier`, also what was the matter before."""
        from delegtop.model.query import parse

        self.assessments.update()
        found = self.assessments.problems() if earlier else self.assessments.now()
        shown = parse(self.places.only)
        return [self.issue(each.handle) for each in found if not shown or shown.matches(self.forest, each.handle)]

    def issue(self, handle: "Handle") -> Issue:
        """What is the matter with one delegation."""
        from delegtop.base.secrets import mask
        from delegtop.model.measures import label

        def shown(words: str) -> str:
            return text.line(mask(words) if self.settings.mask_secrets else words)

        facts, assessed = self.forest.delegation(handle), self.assessments.of(handle)
        steps = self.assessments.todo(handle) if assessed.problem else ()
        command = next((step.command for step in steps if step.command), None)
        return Issue(
            facts.id,
            shown(label(facts)),
            assessed.state,
            assessed.kind,
            assessed.certainty,
            assessed.since,
            shown(assessed.sentence(self.forest.now_of(handle))),
            tuple(shown(step.words) for step in steps),
            shown(command) if command else None,
        )

    # -- closing -----------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Let go of the sources; what was read stays."""
        if self._closed is None:
            self._hosts, self._closed = self.hosts, self.statuses
            self.feed.close()

    def __enter__(self) -> "Observation":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def open(
    *sources: str | os.PathLike[str],
    at: Millis | str | None = None,
    since: str | None = None,
    format: str | None = None,
    here: bool = False,
    settings: Settings | None = None,
) -> Observation:
    """Open sources and read what is there: those that are named, else what is found here and in the homes of the known
    agents, as `delegtop` itself does.

    With `at`, they are read once and seen as they were at that moment (an ISO 8601 time, or `now`). Without it they
    stay open and can be followed. `since` is a span such as `2h`, or `all`; `format` reads every source as that;
    `here` takes only sessions of this folder and below; without `settings`, those of the user and the project count.
    """
    settings = settings or load().settings
    clock = clock_at(moment(at, settings.zone()))
    found = places([os.fspath(source) for source in sources], settings, since=since, here=here)
    if at is None:
        return _begun(opened(found, settings, clock, format=format), Observation.catch_up)
    return _begun(opened(found.as_is(), settings, clock, format=format), Observation.read)


def replay(
    *sources: str | os.PathLike[str],
    speed: float = 1.0,
    since: str | None = None,
    format: str | None = None,
    settings: Settings | None = None,
) -> Observation:
    """Open sources at the first moment they tell of, in their own time: `seek` goes to another, and `follow` goes on
    as many times faster than they were written."""
    settings = settings or load().settings
    found = places([os.fspath(source) for source in sources], settings, since=since)
    return _begun(replayed(found.as_is(), settings, format=format, speed=speed), Observation.catch_up)


def opened(
    places: Places,
    settings: Settings,
    clock: Clock | None = None,
    *,
    format: str | None = None,
    policy: Policy | None = None,
    exclude: Sequence[str] = (),
    heed: Heed | None = None,
    calls: "CallCounts | None" = None,
    witness: Witness | None = None,
    rewinds: bool = False,
    patience: float | None = None,
    indexed: bool = False,
    sift: Sift | None = None,
    told_again: bool = False,
) -> Observation:
    """The sources of these places, of which nothing is read yet. `exclude` leaves out more than the settings do, `sift`
    those files that somebody knows. `witness` is told every line; `heed` what it tells, once unless it may be
    `told_again`, and `calls` how long calls took. With `rewinds` whoever looks at the present can go back in it. To
    read once is to wait for other hosts as many seconds as `patience` says. With `indexed`, for who need not hear of
    every sign of life, what is known from earlier runs is not read again until somebody goes back in time."""
    clock = clock or WallClock()
    is_plain = witness is None and format is None and isinstance(clock, WallClock)
    is_heard = heed is not None or calls is not None
    logs = not is_heard and not rewinds  # whose rows are to come while they are read
    known = session_index(settings, logs=logs, moments=heed is not None, calls=calls is not None, apart=rewinds)
    index = known if indexed and is_plain else None

    def feed(clock: Clock, index: "OpenIndex | None" = None) -> Feed:
        return Feed(
            places.sources,
            clock=clock,
            format=format,
            zone=settings.zone(),
            since=places.since,
            exclude=(*settings.exclude, *exclude),
            awaited=places.awaited,
            here=places.here,
            witness=witness,
            index=index,
            sift=sift,
        )

    learns = settings.learn and not places.named and not isinstance(clock, FrozenClock)
    policy = policy or policy_for(settings, places.sources, learned=learns)
    local = partial(feed, index=index)
    live = _fleet(places, settings, clock, local, witness, patience) if places.hosts else local(clock)
    if is_heard and not told_again:
        live.tell_once()
    if not is_heard and not rewinds and isinstance(live, Feed):  # the dashboard says how many come in a second
        live.tell_briefly()
    readable: Readable = live
    if rewinds and STDIN not in places.sources:  # a pipe cannot be read a second time
        from delegtop.feed.replay_feed import Replay  # as above

        past = ReplayClock(clock.now(), paused=True)
        again = clock if isinstance(clock, FrozenClock) else past

        def read() -> "Feed | PastFleet":
            return feed(again) if isinstance(live, Feed) else live.past(feed(again) if live.local is not None else None)

        readable = Replay(past, read, live=live, present=clock, policy=policy, observe=_appearances)
    return Observation(
        readable,
        clock,
        settings,
        policy=policy,
        places=places,
        format=format,
        learns=learns,
        heed=heed,
        calls=calls,
    )


def session_index(
    settings: Settings, *, logs: bool, moments: bool, calls: bool, apart: bool = False
) -> "OpenIndex | None":
    """What opens the index of finished sessions, with `logs` that belong to none, with the `moments` of a timeline, or
    with how long `calls` took; `apart` for who stays when it is read. Times that do not say their zone are kept as
    UTC."""
    if not settings.index or settings.naive_times != "utc":
        return None

    def opened() -> "SessionIndex | None":
        from delegtop.feed.session_index import open_index  # few have so much to read that it is worth it

        return open_index(logs=logs, moments=moments, calls=calls, apart=apart)

    return opened


def _fleet(
    places: Places,
    settings: Settings,
    clock: Clock,
    feed: Callable[[Clock], Feed],
    witness: Witness | None,
    patience: float | None,
) -> "Fleet":
    from delegtop.feed.fleet import PATIENCE, Fleet  # few look at others

    local = feed(clock) if places.sources or not places.named else None
    waits = PATIENCE if patience is None else patience
    return Fleet(places.hosts, local, clock=clock, zone=settings.zone(), witness=witness, patience=waits)


def replayed(
    places: Places,
    settings: Settings,
    *,
    format: str | None = None,
    policy: Policy | None = None,
    speed: float = 1.0,
    start: Callable[[Millis], Millis] | None = None,
) -> Observation:
    """What the sources hold, in its own time. `start` finds the place to begin at from the first moment."""
    from delegtop.feed.replay_feed import Replay  # as above

    if places.hosts:
        raise OpenError("other hosts are looked at as they are; a recording of them can be replayed (delegtop record)")
    clock = ReplayClock(Millis(0), speed)
    policy = policy or policy_for(settings, places.sources)

    def feed() -> Feed:
        zone, exclude = settings.zone(), settings.exclude
        return Feed(places.sources, clock=clock, format=format, zone=zone, since=places.since, exclude=exclude)

    replay = Replay(clock, feed, policy=policy, observe=_appearances, start=start)
    return Observation(replay, clock, settings, policy=policy, places=places, format=format)


def _begun(seen: Observation, begin: Callable[[Observation], None]) -> Observation:
    """What was opened, with a first look taken; closed if that fails."""
    try:
        begin(seen)
    except BaseException:
        seen.close()
        raise
    return seen


def policy_for(settings: Settings, sources: Sequence[str], *, learned: bool = False) -> Policy:
    """What the delegations of these sources are judged by: the settings, the agents' own files, and with `learned`
    what is usual on this machine."""
    policy = settings.policy(limits_near(sources))
    if learned:
        from delegtop import learned_durations

        known = learned_durations.load()
        policy.usual.update(known.usual())
        policy.durations.update(known.counts())
    return policy


def moment(at: Millis | str | None, zone: "tzinfo") -> Millis | None:
    """The moment that is meant; None for now."""
    if at is None or at == "now":
        return None
    found = parse_time(at, zone) if isinstance(at, str) else at
    if found is None:
        raise OpenError(f"at {at}: that is no time; write it like 2025-12-26T10:00:00Z, or now", option=True)
    return found


def _appearances(forest: Forest) -> "Appearances":
    from delegtop.diagnosis.appearances import Appearances  # nobody needs it before the past is looked at

    return Appearances(forest)


@contextmanager
def _uncollected() -> Iterator[None]:
    """What is read stays, so collecting garbage meanwhile finds none."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()
