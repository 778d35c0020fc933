"""The reader thread: it hands over what the feed says, waits when nobody takes it, and ends promptly in any case."""

import gc
import sys
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence

import pytest
from tests.patience import PATIENCE, until

from delegtop.app.state import reader_thread as reading
from delegtop.app.state.reader_thread import Reader
from delegtop.base.clock import monotonic, sleep
from delegtop.base.origin import Origin
from delegtop.feed.batch import Batch
from delegtop.feed.followed_file import SourceStatus
from delegtop.feed.spoken_pages import SpokenPages
from delegtop.kernel.open_call import OpenCall
from delegtop.model.delegation import Delegation
from delegtop.model.events import Event
from delegtop.sources.records import Line


class EndlessFeed:
    """Always has another batch, counts how many were asked of it, and can be told to fail."""

    def __init__(self, batches: int = 1_000_000, error: Exception | None = None) -> None:
        self.given, self.batches, self.error = 0, batches, error
        self.is_behind = self.is_over = False
        self.closed = threading.Event()

    def poll(self) -> Iterator[Batch]:
        while self.given < self.batches:
            self.given += 1
            yield Batch([])
        if self.error:
            raise self.error

    read_all = poll

    def wake(self) -> None:
        """Nobody waits for long."""

    def rest_with(self, rest: Callable[[], None]) -> None:
        self.rest = rest

    def watch_calls(self, calls: Sequence[OpenCall]) -> None:
        """It has no processes."""

    waits = 0

    def wait(self, timeout: float) -> None:
        self.waits += 1
        sleep(min(timeout, 0.05))

    def statuses(self) -> tuple[SourceStatus, ...]:
        return ()

    def raw(self, origin: Origin) -> bytes | None:  # noqa: ARG002 -- part of the protocol
        return None

    def progress(self) -> tuple[int, int]:
        return self.given, self.batches

    def history(self, delegation: Delegation, limit: int = 200) -> list[tuple[Line, list[Event]]]:  # noqa: ARG002 -- part of the protocol
        return []

    def transcript(self, delegation: Delegation) -> SpokenPages:  # noqa: ARG002 -- part of the protocol
        return SpokenPages([])

    def is_first_hand(self, origin: Origin) -> bool:  # noqa: ARG002 -- part of the protocol
        return True

    def close(self) -> None:
        self.closed.set()


@pytest.fixture
def woken() -> threading.Event:
    return threading.Event()


def _full(feed: EndlessFeed, reader: Reader) -> int:
    """Wait until it reads no more; how many batches it has read by then."""
    until(lambda: reader._is_full)
    sleep(0.05)
    return feed.given


def _take_all(reader: Reader) -> int:
    """How many batches there were to take; the last time it is asked for one there is none."""
    taken = 0
    while reader.take() is not None:
        taken += 1
    return taken


def test_a_full_queue_stops_the_reader_until_someone_asks_for_more_than_is_in_it(woken: threading.Event) -> None:
    feed = EndlessFeed()
    reader = Reader(feed, woken.set)
    reader.start()
    assert _full(feed, reader) == reading._QUEUED
    for _ in range(reading._QUEUED):
        assert reader.take() is not None
    assert _full(feed, reader) == reading._QUEUED, "what was taken has to be worked off first"
    assert reader.waiting, "else nobody would ask"
    assert reader.take() is None
    until(lambda: feed.given > reading._QUEUED)
    assert reader.stop(PATIENCE)


def test_once_there_was_much_and_there_is_more_few_wait_at_a_time(woken: threading.Event) -> None:
    feed = EndlessFeed()
    reader = Reader(feed, woken.set)
    reader.start()
    taken = 0
    for _ in range(5):
        assert _full(feed, reader) <= max(reading._QUEUED, taken + reading._IN_TURN)
        taken += _take_all(reader)
    assert taken >= reading._QUEUED
    assert reader.stop(PATIENCE)


def test_of_what_comes_while_somebody_looks_more_may_wait(woken: threading.Event) -> None:
    feed = EndlessFeed(batches=0)
    reader = Reader(feed, woken.set)
    reader.start()
    until(lambda: reader.take() is None and not reader.loading)
    feed.batches = 1_000
    assert _full(feed, reader) == reading._QUEUED
    assert reader.stop(PATIENCE)


def test_who_asks_waits_for_the_next_batch_no_longer_than_it_wants_and_is_not_woken_for_it() -> None:
    feed, told = EndlessFeed(batches=0), list[int]()
    feed.is_behind = True
    reader = Reader(feed, lambda: told.append(feed.given))
    began = monotonic()
    assert reader.take(0.05) is None
    assert monotonic() - began >= 0.05
    threading.Timer(0.05, reader._put, [Batch([])]).start()
    assert reader.take(PATIENCE) is not None
    assert not told
    assert reader.stop(PATIENCE)


def test_it_ends_at_once_even_when_stuck(woken: threading.Event) -> None:
    feed = EndlessFeed()
    reader = Reader(feed, woken.set)
    reader.start()
    stuck_at = _full(feed, reader)
    assert reader.stop(PATIENCE)
    assert feed.closed.is_set()
    assert feed.given == stuck_at


def test_loading_is_over_once_everything_of_the_start_has_been_taken(woken: threading.Event) -> None:
    reader = Reader(EndlessFeed(batches=3), woken.set)
    reader.start()
    taken: list[bool] = []

    def is_over() -> bool:
        taken.append(reader.take() is not None)
        return not reader.loading

    until(is_over)
    assert sum(taken) == 3
    reader.stop()


def test_a_failure_becomes_words_and_closes_the_feed(woken: threading.Event) -> None:
    feed = EndlessFeed(batches=0, error=OSError("no such disk"))
    reader = Reader(feed, woken.set)
    reader.start()
    assert woken.wait(PATIENCE)
    assert reader.failure == "reading stopped: OSError: no such disk"
    assert feed.closed.wait(PATIENCE)
    assert reader.take() is None
    assert not reader.loading
    reader.stop()


def test_threads_switch_as_before_once_it_is_loaded_and_garbage_is_looked_for_as_before_once_nobody_types(
    woken: threading.Event,
) -> None:
    interval, usual = sys.getswitchinterval(), gc.get_threshold()
    reader = Reader(EndlessFeed(batches=1), woken.set)
    reader.start()
    reader.tidy()
    assert gc.get_threshold()[0] > usual[0]
    while reader.loading:
        reader.take()
    assert gc.isenabled()
    assert sys.getswitchinterval() == pytest.approx(interval)
    assert gc.get_threshold()[0] > usual[0]
    lost = _circle()
    reader.tidy()
    assert lost() is None
    assert gc.get_threshold() == usual
    lost = _circle()
    reader.tidy()  # once is enough
    assert lost() is not None
    reader.stop()


class _Circle:
    def __init__(self) -> None:
        self.itself = self


def _circle() -> "weakref.ref[_Circle]":
    """One that only the collector can free."""
    return weakref.ref(_Circle())


def test_a_page_that_is_closed_while_it_loads_does_not_stay_until_all_is_loaded(woken: threading.Event) -> None:
    reader = Reader(EndlessFeed(batches=1), woken.set)
    reader.start()
    lost = _circle()
    gc.collect(1)  # it has grown old, and nobody looks among the old while it loads
    open_page = _Circle()
    reader.page_closed()
    assert lost() is None
    lost = weakref.ref(open_page)
    del open_page
    until(lambda: reader.take() is None and not reader.loading)
    reader.tidy()
    assert lost() is None, "what was there when a page was closed may be garbage later"
    lost = _circle()
    reader.page_closed()
    assert lost() is None, "nor what lies over it later"
    reader.stop()


def test_who_leaves_while_it_loads_leaves_garbage_collection_as_it_was(woken: threading.Event) -> None:
    usual = gc.get_threshold()
    reader = Reader(EndlessFeed(), woken.set)
    reader.start()
    reader.stop()
    assert gc.get_threshold() == usual


def test_a_failure_in_the_middle_of_a_history_ends_the_haste(woken: threading.Event) -> None:
    usual = gc.get_threshold()
    feed = EndlessFeed(batches=0)
    feed.is_behind = True
    reader = Reader(feed, woken.set)
    reader.start()
    until(lambda: reader.take() is None and not reader.loading)
    assert reader.busy
    feed.error = OSError("no such disk")
    until(lambda: reader.failure)
    assert reader.take() is None
    assert not reader.busy
    reader.tidy()
    assert gc.get_threshold() == usual
    reader.stop()


def test_between_two_files_the_feed_waits_as_long_as_the_operator_needs(woken: threading.Event) -> None:
    feed = EndlessFeed()
    reader = Reader(feed, woken.set)
    began = monotonic()
    reader.rest(0.1)
    feed.rest()
    assert monotonic() - began >= 0.1
    reader.rest(3_600)
    reader.stop()
    feed.rest()  # who leaves needs nothing any more


def test_after_the_first_rows_the_reader_rests_only_if_more_lies_behind(woken: threading.Event) -> None:
    for behind in (True, False):
        feed = EndlessFeed()
        feed.is_behind = behind
        reader = Reader(feed, woken.set)
        reader._put(Batch([]))
        assert (reader._rest_until > float("-inf")) is behind


def test_what_a_look_finds_for_which_somebody_waited_is_told_in_one() -> None:
    feed, told = EndlessFeed(batches=1), list[int]()
    reader = Reader(feed, lambda: told.append(feed.given))
    reader.start()
    until(lambda: feed.waits)
    told.clear()
    reader.look_after(0.2)
    feed.batches = 6
    until(lambda: feed.given == 6 and bool(told))
    assert told == [6]
    assert reader.stop(PATIENCE)


def test_a_look_that_fills_the_queue_is_told_of_before_it_is_done(woken: threading.Event) -> None:
    feed = EndlessFeed(batches=1)
    reader = Reader(feed, woken.set)
    reader.start()
    until(lambda: feed.waits)
    reader.take()
    woken.clear()
    reader.look_after(0.2)
    feed.batches = 1_000
    assert woken.wait(PATIENCE), "else both wait for each other"
    assert reader.stop(PATIENCE)


def test_the_reader_looks_no_earlier_than_somebody_draws(woken: threading.Event) -> None:
    feed = EndlessFeed(batches=1)
    reader = Reader(feed, woken.set)
    reader.look_after(3_600)
    reader.start()
    until(lambda: feed.waits)
    assert feed.given == 1, "what is there at the start is read at once"
    feed.batches = 2
    reader._thread.join(0.2)  # four times as long as it waits for news
    assert (feed.waits, feed.given) == (1, 1)
    assert reader.stop(5), "who leaves waits for no look"


def test_how_the_sources_are_is_asked_for_little_of_the_time_and_progress_twice_a_second_while_it_loads(
    woken: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, asked = [100.0], list[float]()

    class ManyFiles(EndlessFeed):
        def statuses(self) -> tuple[SourceStatus, ...]:
            asked.append(now[0])
            now[0] += 0.02
            return ()

    feed = ManyFiles()
    reader = Reader(feed, woken.set)
    monkeypatch.setattr(reading, "monotonic", lambda: now[0])
    for feed.given in range(100):
        reader._publish()
        assert reader.progress[0] >= feed.given - 5
        now[0] += 0.16
    assert [round(at - 100.0, 2) for at in asked] == [0.0, 6.1, 12.2]
    reader.loading = False
    before, feed.given = reader.progress, 120
    now[0] += 60
    reader._publish()
    assert (len(asked), reader.progress) == (4, before), "nobody sees it any more"
