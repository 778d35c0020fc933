"""Files that were cloned or copied: their own times are new, and what they tell is old."""

import json
import os
import random
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests import judging
from tests.telling import forest_at, handle_of
from tests.unit.protocols.proofchecker.test_folder_dialect import (
    MARKER,
    META,
    NOW,
    Folder,
    listed,
    marker,
    meta,
    project,
)
from tests.unit.protocols.proofchecker.test_proofchecker_sample import SAMPLE, TIMES, lines, summary

from delegtop.base.clock import DAY, HOUR, MINUTE, FrozenClock, Millis, iso
from delegtop.base.origin import Origin
from delegtop.dialects.kit.clones import Copies, tells_time
from delegtop.feed.live_feed import Feed
from delegtop.model import notes
from delegtop.model.events import Heard, Outcome
from delegtop.model.forest import Forest
from delegtop.model.states import ACTIVE, State
from delegtop.protocols.hyper.run_state import HyperRun
from delegtop.protocols.proofchecker.folder_dialect import ProofChecker
from delegtop.sources.records import Line, Unreadable

THEN = Millis(NOW - 300 * DAY)
OLD = f"sess_{THEN // 1000}_abc123"
OLD_ROW = f"{OLD}/42/implement"


def old(status: str = "in_progress", **more: Any) -> dict[str, Any]:
    told = meta(status, started_at=iso(Millis(THEN + 2 * HOUR)), **more)
    return {**told, "metadata": {**told["metadata"], "session_id": OLD}}


def findings(folder: Folder, id: str) -> dict[str, str]:
    handle = handle_of(folder.forest, id)
    return {each.rule: each.message for each in judging.found(folder.forest, handle)}


@pytest.fixture
def folder() -> Folder:
    return Folder()


# -- which times are told ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [
        "2026-01-29T10:00:00Z",
        "2026-01-29 10:00:00",
        "2026-01-29",
        "sess_1769695517_d6dd41",
        "sess_1769695517_d6dd41_146",
        "agent_system-1769695517",
        "evt_1769695517123_x1y2z3",
        "sess_20260129_abc123",
        "20260129-101500-a7b3c9",
        1769695517,
        1769695517.25,
        1769695517123,
        {"a": [{"b": "2026-01-29T10:00:00+02:00"}]},
    ],
)
def test_a_time_is_found_in_every_spelling(value: object) -> None:
    assert tells_time(value)
    told = Copies().told("x", value, NOW)
    assert told is not None
    assert iso(told).startswith("2026-01-29T")


@pytest.mark.parametrize(
    "value", ["", "42", "done on 2026-01-29", "v1.2.3", 42, True, None, 1e300, -1, "2026-13-45", "12345678901", {}, []]
)
def test_what_is_no_time_is_taken_for_none(value: object) -> None:
    assert not tells_time(value)
    assert Copies().told("x", value, NOW) is None


@pytest.mark.parametrize(
    ("latest", "copied"),
    [
        (NOW - MINUTE, False),
        (NOW - 20 * HOUR, False),
        (NOW - 25 * HOUR, True),
        (NOW - 300 * DAY, True),
        (NOW + HOUR, False),
    ],
)
def test_a_file_is_a_copy_if_everything_in_it_is_a_day_older(latest: int, copied: bool) -> None:
    value = {"then": iso(THEN), "latest": iso(Millis(latest)), "due": iso(Millis(NOW + 90 * DAY))}
    assert (Copies().told("x", value, NOW) is not None) is copied


def test_a_copy_that_is_written_again_is_a_moment_later() -> None:
    copies = Copies()
    assert copies.told("x", iso(THEN), NOW) == THEN
    assert copies.told("x", iso(THEN), NOW) == THEN
    assert copies.told("x", iso(THEN), Millis(NOW + 1)) == THEN + 1
    assert copies.told("y", iso(THEN), NOW) == THEN


# -- returns and markers -----------------------------------------------------------------------------------------------


def test_a_run_at_work_is_as_new_as_its_file(folder: Folder) -> None:
    folder.write(META, meta(), ago=MINUTE)
    (row,) = [id for id in folder.ids if "/" in id]
    assert (folder[row].heard_at, folder.state(row)) == (NOW - MINUTE, State.RUNNING)
    assert notes.COPIED not in folder.notes(row)


def test_a_long_run_whose_file_has_just_been_written_with_a_new_time_is_alive(folder: Folder) -> None:
    folder.write(META, old(updated_at=iso(Millis(NOW - 5 * MINUTE))), ago=MINUTE)
    assert folder[OLD_ROW].heard_at == NOW - MINUTE
    assert folder.state(OLD_ROW) is State.RUNNING


def test_a_cloned_return_that_was_never_finished_is_lost_and_says_both_times(folder: Folder) -> None:
    folder.write(META, old(), ago=MINUTE)
    assert folder[OLD_ROW].heard_at == THEN + 2 * HOUR
    assert folder.state(OLD_ROW) is State.LOST
    assert folder.notes(OLD_ROW)[notes.COPIED] == (
        "The file was written at 2026-09-14 09:59:00 UTC, later than anything in it tells, which is "
        "2025-11-18 12:00:00 UTC: copied?"
    )
    assert findings(folder, OLD_ROW)["LOG-003"] == folder.notes(OLD_ROW)[notes.COPIED]
    assert folder.state(OLD) is State.IDLE
    assert folder[OLD].heard_at == THEN + 2 * HOUR


def test_a_cloned_return_has_ended_nobody_knows_when_so_it_has_no_duration(folder: Folder) -> None:
    folder.write(META, old("implemented"), ago=MINUTE)
    facts = folder[OLD_ROW]
    assert (facts.outcome, facts.ended_at, facts.started_at) == (Outcome.COMPLETED, None, THEN)
    assert "LOG-003" not in findings(folder, OLD_ROW)


def test_a_clone_that_is_worked_on_again_is_no_copy_any_more(folder: Folder) -> None:
    folder.write(META, old(), ago=HOUR)
    folder.write(META, old(updated_at=iso(Millis(NOW - 5 * MINUTE))), ago=MINUTE)
    assert folder.state(OLD_ROW) is State.RUNNING
    assert notes.COPIED not in folder.notes(OLD_ROW)


def test_a_cloned_question_asks_nobody_any_more(folder: Folder) -> None:
    folder.write(META, old("awaiting_confirmation"), ago=MINUTE)
    told = findings(folder, OLD_ROW)
    assert "VER-002" not in told
    assert "DEL-021" in told


def test_a_question_of_today_is_still_asked(folder: Folder) -> None:
    folder.write(META, meta("awaiting_confirmation"), ago=MINUTE)
    (row,) = [id for id in folder.ids if "/" in id]
    assert "VER-002" in findings(folder, row)


def test_a_cloned_marker_opens_nothing_now(folder: Folder) -> None:
    folder.write(MARKER, marker(session_id=OLD, created=iso(THEN)), ago=MINUTE)
    assert (folder[OLD_ROW].started_at, folder[OLD_ROW].heard_at, folder.state(OLD_ROW)) == (THEN, THEN, State.LOST)


def test_a_cloned_session_file_has_no_process_here(folder: Folder) -> None:
    value = {"session_id": OLD, "pid": os.getpid(), "heartbeat_at": iso(THEN), "task_numbers": [42], "cwd": "/x"}
    folder.write("/work/specs/.sessions/a.json", value, ago=MINUTE)
    assert folder[OLD].pid is None
    fresh = f"sess_{NOW // 1000}_abc123"
    folder.write("/work/specs/.sessions/b.json", {**value, "session_id": fresh, "heartbeat_at": iso(NOW)}, ago=MINUTE)
    assert folder[fresh].pid == os.getpid()


@pytest.mark.parametrize("guard_first", [True, False])
def test_a_file_that_tells_no_time_is_as_old_as_what_it_was_cloned_with(folder: Folder, guard_first: bool) -> None:
    progress = ("/work/specs/042_sort_the_mail/progress/phase-1-progress.json", {"phase": 1, "objectives": []})
    for path, value in sorted([progress, (META, old())], reverse=guard_first):
        folder.write(path, value, ago=MINUTE)
    assert folder.state(OLD_ROW) is State.LOST
    assert folder[OLD_ROW].heard_at == THEN + 2 * HOUR


def test_a_file_that_tells_no_time_and_was_written_after_the_clone_is_news(folder: Folder) -> None:
    folder.write(META, old(), ago=12 * HOUR)
    fresh = f"sess_{(NOW - HOUR) // 1000}_abc124"
    folder.write(MARKER, marker(session_id=fresh), ago=HOUR)
    folder.write("/work/specs/042_sort_the_mail/progress/phase-1-progress.json", {"phase": 1, "objectives": []})
    assert folder[f"{fresh}/42/implement"].heard_at == NOW


def test_a_cloned_list_keeps_its_stuck_task_and_lets_it_go_when_it_is_written_again(folder: Folder) -> None:
    path, stuck = "/work/specs/state.json", project(last_updated=iso(THEN))
    copied = {**listed(stuck), "last_updated": iso(THEN)}
    folder.write(path, copied, ago=HOUR)
    assert folder.state("task 42/research") is State.LOST
    assert notes.COPIED in folder.notes("task 42/research")
    folder.write(path, {**copied, "active_projects": [{**stuck, "status": "researched"}]})
    assert folder.state("task 42/research") is State.UNKNOWN
    assert folder.notes("task 42/research") == {}


def test_a_cloned_batch_is_not_at_work(folder: Folder) -> None:
    value = {
        "session_id": OLD,
        "task_numbers": [1, 2],
        "waves": [[1, 2]],
        "current_statuses": {"1": "implementing", "2": "completed"},
        "dispatch_start_ts": {"1": THEN // 1000 + 60, "2": THEN // 1000},
    }
    folder.write("/work/specs/.orchestrator-multi-state.json", value, ago=MINUTE)
    assert {id: folder.state(id) for id in folder.ids} == {
        OLD: State.LOST,
        f"{OLD}_1": State.LOST,
        f"{OLD}_2": State.COMPLETED,
    }
    assert folder[f"{OLD}_2"].ended_at is None


# -- a whole tree ------------------------------------------------------------------------------------------------------

CLONED = Millis(NOW + 200 * DAY)


def test_nothing_in_a_fresh_clone_of_the_sample_is_alive(tmp_path: Path) -> None:
    cloned = shutil.copytree(SAMPLE / "specs", tmp_path / "specs")
    for path in cloned.rglob("*"):
        os.utime(path, ns=(CLONED * 1_000_000,) * 2)
    now = Millis(CLONED + 5 * MINUTE)
    forest = Forest()
    for batch in Feed([str(cloned)], clock=FrozenClock(now)).poll():
        forest.apply(batch.events)
    forest.advance(now)
    assert forest.counts[State.LOST] > 0
    assert {state: forest.counts[state] for state in ACTIVE if forest.counts[state]} == {}


@pytest.mark.parametrize("seed", range(12))
def test_the_order_of_the_files_of_a_clone_does_not_matter(tmp_path: Path, seed: int) -> None:
    def read(shuffled: random.Random | None) -> Forest:
        files = lines(tmp_path / "specs")
        if shuffled is not None:
            shuffled.shuffle(files)
        dialect, forest = ProofChecker(), Forest()
        for line in (line for file in files for line in file):
            told = Line(line.origin, line.data, None if line.at is None else CLONED)
            forest.apply(event for event in dialect.read(told) if not isinstance(event, Unreadable))
        forest.advance(Millis(CLONED + MINUTE))
        return forest

    assert len(TIMES) > 10
    assert summary(read(random.Random(seed))) == summary(read(None))


# -- hyper -------------------------------------------------------------------------------------------------------------

RUN = """# State
run: 20260115-143052-a7b3c9
program: build.prose
started: 2026-01-15T14:30:52Z
updated: {updated}

## Execution Trace

let a = session: scout "Look"  # <-- EXECUTING

## Call Stack
"""


@pytest.mark.parametrize("fresh", [True, False])
def test_a_run_is_as_new_as_its_file_unless_that_was_copied(fresh: bool) -> None:
    text = RUN.format(updated=iso(Millis(NOW - HOUR)) if fresh else "2026-01-15T14:35:00Z")
    events = list(HyperRun().read(Line(Origin("/r/.prose/runs/x/state.md", 1, 0), text.encode(), NOW)))
    heard = {event.at for event in events if isinstance(event, Heard)}
    assert [iso(at) for at in heard if at is not None] == [iso(NOW) if fresh else "2026-01-15T14:35:00.000Z"]
    forest = forest_at(NOW, (event for event in events if not isinstance(event, Unreadable)))
    handle = handle_of(forest, "20260115-143052-a7b3c9")
    assert forest.state(handle) is (State.WAITING if fresh else State.LOST)
    assert any(note.kind == notes.COPIED for note in forest.delegation(handle).notes) is not fresh


def test_json_of_a_copy_has_the_note(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from delegtop.cli import main

    file = tmp_path / "specs" / "042_sort_the_mail" / ".return-meta.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(old()))
    main(["tree", str(tmp_path), "--json"])
    told = {row["id"]: row for row in json.loads(capsys.readouterr().out)["delegations"]}
    assert [note["kind"] for note in told[OLD_ROW]["notes"]] == ["copied"]
