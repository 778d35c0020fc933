"""A recording tells what its sources told: all of it, at every moment, and after a crash a beginning of it."""

import json
import random
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.samples import forest_of

from delegtop.base.clock import Millis, WallClock, parse_time
from delegtop.feed.live_feed import Feed
from delegtop.feed.recorder import Recorder, Tape
from delegtop.model.events import Event
from delegtop.model.forest import Forest
from delegtop.report import tree_json

SAMPLES = Path(__file__).parents[2] / "sample_logs"
RUNS = sorted(path.name for path in SAMPLES.iterdir() if path.is_dir())
MOMENTS = [parse_time(text) for text in ("2026-03-03T10:59:40Z", "2026-03-17T12:12:30Z", "2026-11-02T10:00:40Z")]
LATER = Millis(4_000_000_000_000)


def record(source: Path, path: Path) -> None:
    """Everything the source tells, as the command records it."""
    tape, recorder = Tape(path), Recorder(WallClock(), "delegtop test")
    feed = Feed([str(source)], clock=WallClock(), witness=lambda line, told: tape.write(recorder.record(line, told)))
    tape.write(recorder.header())
    for _ in feed.read_all():
        tape.flush()
    tape.write(recorder.end())
    tape.close()
    feed.close()


def tree(source: Path, at: Millis) -> Any:
    """The delegations, as `delegtop tree --json --prompts` prints them; without what the kernel said while recording,
    which stands nowhere else, and without the reason for not seeing a process, which it gives."""
    text = "\n".join(tree_json.tree(forest_of(source, at), (), prompts=True))
    printed = json.loads(re.sub(r"cannot be seen from here \([^)]*\)", "cannot be seen from here", text))["delegations"]
    for each in printed:
        each["notes"] = [note for note in each["notes"] if not note["source"].startswith("kernel:")]
    return printed


def events(path: Path) -> list[Event]:
    feed = Feed([str(path)], clock=WallClock())  # a frozen one would hold back what has no time
    found = [event for batch in feed.read_all() for event in batch.events]
    feed.close()
    return found


@pytest.mark.parametrize("run", RUNS)
def test_the_recording_of_a_sample_shows_the_same_tree_at_every_moment(run: str, tmp_path: Path) -> None:
    path = tmp_path / "run.delegtop"
    record(SAMPLES / run, path)
    for at in (*MOMENTS, LATER):
        assert at is not None
        assert tree(path, at) == tree(SAMPLES / run, at)


@pytest.mark.parametrize("run", RUNS)
def test_the_recording_of_a_recording_tells_the_same(run: str, tmp_path: Path) -> None:
    first, second = tmp_path / "first.delegtop", tmp_path / "second.delegtop.gz"
    record(SAMPLES / run, first)
    record(first, second)
    assert events(second) == events(first)


@pytest.mark.parametrize("run", ["02_hang", "09_two_books", "12_malformed", "claude-code", "proofchecker"])
def test_whenever_the_writer_is_killed_a_beginning_of_the_events_is_left_and_nothing_else(
    run: str, tmp_path: Path
) -> None:
    chance = random.Random(run)
    whole = tmp_path / "whole.delegtop"
    record(SAMPLES / run, whole)
    data, told = whole.read_bytes(), events(whole)
    cuts = {len(data) - 1, *(chance.randrange(len(data)) for _ in range(30))}
    lengths = set()
    for cut in sorted(cuts):
        path = tmp_path / f"{cut}.delegtop"
        path.write_bytes(data[:cut])
        left = events(path)
        assert left == told[: len(left)]
        lengths.add(len(left))
    assert lengths - {0, len(told)}


def test_of_a_compressed_recording_a_kill_leaves_what_was_flushed_before(tmp_path: Path) -> None:
    whole = tmp_path / "whole.delegtop.gz"
    record(SAMPLES / "02_hang", tmp_path / "plain.delegtop")
    tape = Tape(whole)
    sizes = [0]
    for row in (tmp_path / "plain.delegtop").read_bytes().splitlines(keepends=True):
        tape.write(row)
        tape.flush(whole=True)
        sizes.append(tape.size)
    tape.close()
    told, data = events(whole), whole.read_bytes()
    for cut in (sizes[5], sizes[5] + 10, sizes[-2] + 1):
        path = tmp_path / f"{cut}.delegtop.gz"
        path.write_bytes(data[:cut])
        left = events(path)
        assert left
        assert left == told[: len(left)]


def test_what_is_written_over_what_was_torn_does_not_hide_it(tmp_path: Path) -> None:
    whole = tmp_path / "whole.delegtop"
    record(SAMPLES / "02_hang", whole)
    rows = whole.read_bytes().splitlines(keepends=True)
    glued = tmp_path / "glued.delegtop"
    glued.write_bytes(b"".join([*rows[:5], rows[5][:40], *rows[6:]]))
    told, left = events(whole), events(glued)
    assert [event for event in told if event in left] == left
    assert len(left) == len(told) - 2


def test_a_file_that_vanishes_while_it_is_recorded_is_gone_in_the_recording_too(tmp_path: Path) -> None:
    source = tmp_path / "specs"
    shutil.copytree(SAMPLES / "proofchecker" / "specs", source)
    tape, recorder = Tape(tmp_path / "run.delegtop"), Recorder(WallClock(), "delegtop test")
    feed = Feed([str(source)], clock=WallClock(), witness=lambda line, told: tape.write(recorder.record(line, told)))
    forest = Forest()
    tape.write(recorder.header())
    for batch in feed.read_all():
        forest.apply(batch.events)
    for marker in source.rglob(".postflight-pending"):
        marker.unlink()
    for _ in range(3):
        for batch in feed.poll():
            forest.apply(batch.events)
    tape.close()
    feed.close()
    forest.advance(LATER)
    live = json.loads("\n".join(tree_json.tree(forest, (), prompts=True)))["delegations"]
    assert tree(tape.path, LATER) == live
    assert tree(tape.path, LATER) != tree(SAMPLES / "proofchecker" / "specs", LATER)
