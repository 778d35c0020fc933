"""A replay tells what the sources tell, in their own time; at its end it is where a look at the sources is."""

import importlib
import json
import os
import pkgutil
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.samples import forest_of

import delegtop
from delegtop.base import clock as clock_module
from delegtop.base.clock import Millis, ReplayClock, iso
from delegtop.base.origin import Origin
from delegtop.cli import main
from delegtop.cli.exit_codes import Exit
from delegtop.diagnosis.appearances import Appearances
from delegtop.feed.batch import Batch
from delegtop.feed.live_feed import Feed
from delegtop.feed.replay_feed import Replay
from delegtop.model.events import Deviation, Heard, Noted, Phase, Started, Surveyed
from delegtop.model.forest import Forest
from delegtop.model.history.timeline import Timeline
from delegtop.model.states import State

SAMPLES = Path(__file__).parents[3] / "sample_logs"
MOMENTS: dict[str, dict[str, Any]] = tomllib.loads((SAMPLES / "moments.toml").read_text())
RUNS = sorted(path for path in SAMPLES.iterdir() if path.is_dir())
REAL = Path(os.environ.get("DELEGTOP_REAL_LOGS", "/nowhere"))
REAL_RUNS = sorted(path for path in REAL.glob("*/*") if path.is_dir())


class Seconds:
    """The seconds that pass for whoever asks the clock, by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(scope="session")
def _all_loaded() -> None:
    """A module that is loaded while the clock is another one would keep that for good."""
    for module in pkgutil.walk_packages(delegtop.__path__, "delegtop."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


@pytest.fixture
def seconds(monkeypatch: pytest.MonkeyPatch, _all_loaded: None) -> Seconds:
    seconds = Seconds()
    monkeypatch.setattr(clock_module, "monotonic", seconds)
    return seconds


def picture(forest: Forest) -> dict[str, Any]:
    """All there is to see, by id: two readings may number the delegations otherwise."""

    def name(handle: int | None) -> str | None:
        return None if handle is None else forest.id(handle)

    return {
        forest.id(handle): (
            forest.delegation(handle),
            forest.state(handle),
            forest.reason(handle),
            forest.deadline(handle),
            name(forest.parent(handle)),
            forest.link(handle),
            sorted(map(str, map(name, forest.children(handle)))),
        )
        for handle in forest.walk()
    }


def follow(forest: Forest, batches: Iterator[Batch]) -> None:
    """Take in what a replay tells, as a screen does."""
    for batch in batches:
        if batch.forest is not None:
            forest.become(batch.forest)
        forest.apply(batch.events)
        if batch.at is not None:
            forest.advance(batch.at)


def played(source: Path, seconds: Seconds, speed: float) -> tuple[Forest, Millis]:
    """The forest after all of a recording was played."""
    clock = ReplayClock(Millis(0), speed)
    replay = Replay(clock, lambda: Feed([str(source)], clock=clock))
    forest = Forest()
    follow(forest, replay.poll())
    assert clock.bounds is not None
    while replay.timeline is not None and not replay.timeline.studied:
        replay.wait(0)
    first, last = clock.bounds
    for _ in range(400):
        if not clock.playing:
            break
        seconds.now += (last - first) / 1000 / speed / 300 + 0.01
        follow(forest, replay.poll())
    replay.close()
    assert not clock.playing
    return forest, last


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.name)
def test_a_run_played_a_thousand_times_faster_ends_as_the_tree_of_that_moment(run: Path, seconds: Seconds) -> None:
    forest, last = played(run, seconds, 1000)
    assert forest.shown_at == last
    assert len(forest)
    assert picture(forest) == picture(forest_of(run, last))


@pytest.mark.skipif(not REAL_RUNS, reason="DELEGTOP_REAL_LOGS names no logs")
@pytest.mark.parametrize("run", REAL_RUNS, ids=lambda run: run.name)
def test_real_logs_played_a_thousand_times_faster_end_as_the_tree_of_that_moment(run: Path, seconds: Seconds) -> None:
    forest, last = played(run, seconds, 1000)
    assert picture(forest) == picture(forest_of(run, last))


@pytest.mark.parametrize("sample", MOMENTS)
def test_a_sample_shows_at_its_moment_what_a_look_at_that_moment_shows(sample: str) -> None:
    at = clock_module.parse_time(MOMENTS[sample]["at"])
    assert at is not None
    clock = ReplayClock(Millis(0), paused=True)
    replay = Replay(clock, lambda: Feed([str(SAMPLES / sample)], clock=clock))
    forest = Forest()
    follow(forest, replay.poll())
    clock.bounds = None  # a moment may lie after all that is told
    clock.seek(at)
    follow(forest, replay.poll())
    replay.close()
    assert picture(forest) == picture(forest_of(SAMPLES / sample, at))


@pytest.mark.parametrize("name", ["02_hang", "09_two_books", "claude-code", "codex", "opencode"])
def test_a_recording_of_a_run_replays_as_the_run_does(name: str, tmp_path: Path, seconds: Seconds) -> None:
    made = tmp_path / "run.delegtop"
    assert main(["record", str(SAMPLES / name), "--once", "-o", str(made)]) == Exit.OK
    recorded, last = played(made, seconds, 1000)
    forest, end = played(SAMPLES / name, seconds, 1000)
    assert last == end
    assert picture(recorded) == picture(forest)


# Where an event stands


def heard(line: int, at: int | None, source: str = "log", id: str = "sess_a") -> Heard:
    return Heard(id, None if at is None else Millis(at), Origin(source, line, 0))


def test_an_event_without_a_time_stands_where_the_record_before_it_stands() -> None:
    timeline = Timeline([heard(1, 100), heard(2, 300), heard(3, None), heard(4, 500), heard(9, 400, "other")])
    assert [(event.origin.line, at) for event, at in zip(timeline.events, timeline.times, strict=True)] == [
        (1, 100), (2, 300), (3, 300), (9, 400), (4, 500),
    ]  # fmt: skip


def test_an_event_without_a_time_at_the_top_of_its_file_stands_with_the_next_and_else_at_the_beginning() -> None:
    timeline = Timeline([heard(1, None), heard(2, 300), heard(1, None, "untimed"), heard(1, 100, "other")])
    assert [(event.origin.source, event.origin.line) for event in timeline.events] == [
        ("other", 1), ("untimed", 1), ("log", 1), ("log", 2),
    ]  # fmt: skip


def test_a_registry_seen_once_stands_where_its_last_delegation_started_not_where_its_file_was_copied() -> None:
    place = Origin("registry.json", 1, 0)
    started = Started("sess_a", Millis(100), place, listed=True)
    survey = Surveyed(Millis(9_000), place, ("sess_a",))
    assert list(Timeline([started, survey]).times) == [100, 100]
    again = Surveyed(Millis(9_500), place, ())
    assert list(Timeline([started, survey, again]).times) == [100, 9_000, 9_500]


def test_nothing_stands_later_than_the_moment_of_reading() -> None:
    timeline = Timeline([heard(1, 100), heard(2, 9_999)], until=Millis(500))
    assert list(timeline.times) == [100, 500]
    assert timeline.last == 500


def test_a_deviation_stands_with_its_record() -> None:
    place = Origin("log", 2, 0)
    timeline = Timeline([heard(1, 100), Deviation(place, "unknown key", "x"), heard(2, 200), heard(3, 300)])
    assert list(timeline.times) == [100, 200, 200, 300]


def test_a_recording_without_events_is_empty_and_can_still_be_asked() -> None:
    timeline = Timeline([])
    assert timeline.study(1)
    assert len(timeline.forest(Millis(5))) == 0
    assert timeline.next_event(Millis(0)) is timeline.previous_event(Millis(0)) is None
    assert timeline.next_problem(Millis(0)) is timeline.previous_problem(Millis(0)) is None


# Problems and steps


def test_a_problem_is_noted_at_its_very_moment_also_where_nothing_happens() -> None:
    started = Started("sess_a", Millis(1_000), Origin("log", 1, 0), timeout=5_000)
    timeline = Timeline([started, heard(2, 2_000), heard(3, 60_000)], observe=Appearances)
    timeline.study(5)
    assert timeline.problems == [(6_001, 0)]
    assert timeline.id(0) == "sess_a"
    assert timeline.forest(Millis(6_000)).state(0) is State.RUNNING
    assert timeline.forest(Millis(6_001)).state(0) is State.OVERDUE


def test_who_waits_for_a_person_is_a_problem_from_then_until_something_else_is_heard() -> None:
    def beat(line: int, at: int, phase: Phase) -> Heard:
        return Heard("sess_a", Millis(at), Origin("log", line, 0), phase=phase)

    started = Started("sess_a", Millis(1_000), Origin("log", 1, 0))
    phases = (Phase.TOOL, Phase.PERMISSION, Phase.PERMISSION, Phase.TOOL, Phase.ANSWER)
    timeline = Timeline(
        [started, *(beat(line, line * 1_000, phase) for line, phase in enumerate(phases, 2))], observe=Appearances
    )
    timeline.study(5)
    assert timeline.problems == [(3_000, 0), (6_000, 0)]


def test_a_person_who_must_look_is_a_problem_once() -> None:
    notes = [Noted("sess_a", Millis(at), Origin("log", at, 0), "review", "look at it") for at in (100, 200, 300)]
    timeline = Timeline(notes, observe=Appearances)
    timeline.study(5)
    assert timeline.problems == [(100, 0)]


def test_a_recording_goes_on_until_the_last_deadline_has_passed() -> None:
    timeline = Timeline([Started("sess_a", Millis(1_000), Origin("log", 1, 0), timeout=5_000)], observe=Appearances)
    assert timeline.last == 1_000
    timeline.study(5)
    assert timeline.last == 6_001
    assert timeline.problems == [(6_001, 0)]


def test_a_deadline_that_has_not_passed_when_the_recording_is_read_does_not_hide_one_that_has() -> None:
    soon = Started("sess_a", Millis(1_000), Origin("log", 1, 0), timeout=5_000)
    late = Started("sess_b", Millis(1_000), Origin("log", 2, 0), timeout=500_000)
    timeline = Timeline([soon, late], until=Millis(60_000), observe=Appearances)
    timeline.study(5)
    assert timeline.problems == [(6_001, 0)]
    assert timeline.last == 60_000
    silent = Timeline([soon], until=Millis(90_000), end=Millis(90_000), observe=Appearances)
    silent.study(5)
    assert (silent.last, silent.problems) == (90_000, [(6_001, 0)])


def test_when_memory_is_short_every_other_checkpoint_is_given_up_and_nothing_else_changes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    events = [heard(number, number * 100, id=f"sess_{number % 7}") for number in range(1, 200)]
    rich = Timeline(events, spacing=5)
    rich.study(10)
    monkeypatch.setattr("delegtop.model.history.timeline.BUDGET", 20_000)
    poor = Timeline(events, spacing=5)
    poor.study(10)
    assert 0 < len(poor._checkpoints) < len(rich._checkpoints)
    for at in (Millis(150), Millis(7_700), Millis(19_900)):
        assert picture(poor.forest(at)) == picture(rich.forest(at))


# Telling


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "session.jsonl"
    lines = [{"event": "register", "at": iso(Millis(1_772_532_000_000)), "session_id": "sess_1772532000_aaaaaa",
              "schema_version": 1, "subagent": "planner"}]  # fmt: skip
    lines += [
        {"event": "heartbeat", "at": iso(Millis(1_772_532_000_000 + number * 1_000)), "schema_version": 1,
         "session_id": "sess_1772532000_aaaaaa", "activity": f"step {number}"}
        for number in range(1, 61)
    ]  # fmt: skip
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def replay_of(log: Path) -> tuple[Replay, ReplayClock]:
    clock = ReplayClock(Millis(0))
    return Replay(clock, lambda: Feed([str(log)], clock=clock)), clock


def test_only_what_the_clock_has_reached_is_told(log: Path, seconds: Seconds) -> None:
    replay, _ = replay_of(log)
    forest = Forest()
    follow(forest, replay.poll())
    assert forest.delegation(0).doing is None
    seconds.now += 10.2
    follow(forest, replay.poll())
    assert forest.delegation(0).doing == "step 10"
    assert not list(replay.poll()), "nothing is told twice"
    replay.close()


@pytest.mark.usefixtures("seconds")
def test_a_leap_back_tells_the_whole_picture_and_a_short_way_ahead_only_the_events(log: Path) -> None:
    replay, clock = replay_of(log)
    list(replay.poll())
    clock.seek(Millis(1_772_532_000_000 + 30_000))
    [ahead] = replay.poll()
    assert ahead.forest is None
    assert len(ahead.events) == 30
    clock.seek(Millis(1_772_532_000_000 + 5_000))
    [back] = replay.poll()
    assert back.forest is not None
    assert back.forest.delegation(0).doing == "step 5"
    replay.close()


@pytest.mark.usefixtures("seconds")
def test_the_history_of_a_delegation_ends_at_the_moment(log: Path) -> None:
    replay, clock = replay_of(log)
    list(replay.poll())
    clock.seek(Millis(1_772_532_000_000 + 7_000))
    [there] = replay.poll()
    forest = Forest()
    follow(forest, iter([Batch([], at=there.at, forest=replay.timeline.forest(there.at))]))  # type: ignore[union-attr, arg-type]  # both are there after a poll
    told = replay.history(forest.delegation(0), 3)
    assert [json.loads(line.data)["activity"] for line, _ in told] == ["step 5", "step 6", "step 7"]
    replay.close()
