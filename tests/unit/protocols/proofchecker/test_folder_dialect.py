"""The files of the ProofChecker family: what each is told by, and what it tells."""

import json
from collections.abc import Iterable
from typing import Any

import pytest
from tests.samples import moment
from tests.telling import handle_of

from delegtop.base.clock import HOUR, MINUTE, Millis, iso
from delegtop.base.origin import Origin
from delegtop.model import notes
from delegtop.model.delegation import Delegation
from delegtop.model.events import Event, Noted, Outcome, Trust
from delegtop.model.forest import Forest
from delegtop.model.states import State
from delegtop.protocols.proofchecker.folder_dialect import ProofChecker
from delegtop.sources.records import Line, Unreadable

NOW = moment("2026-09-14T10:00:00Z")
SESSION = f"sess_{(NOW - HOUR) // 1000}_abc123"
FOLDER = "/work/specs/042_sort_the_mail"
META = f"{FOLDER}/.return-meta.json"
MARKER = f"{FOLDER}/.postflight-pending"
EVENTS = "/work/specs/events.jsonl"
ROW = f"{SESSION}/42/implement"


class Folder:
    """A folder of tasks as one dialect reads it, and the forest it makes."""

    def __init__(self) -> None:
        self.dialect = ProofChecker()
        self.forest = Forest()
        self.line = 0

    def write(self, path: str, value: object, ago: int = 0) -> list[Event | Unreadable]:
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        return self._take(self.dialect.read(Line(Origin(path, 1, 0), data, Millis(NOW - ago))))

    def log(self, event: str, message: str, ago: int, session: str = SESSION, task: int = 42, **more: object) -> None:
        self.line += 1
        value = {
            "event_id": f"evt_{self.line}",
            "event_type": event,
            "category": "milestone",
            "timestamp": iso(Millis(NOW - ago)),
            "session_id": session,
            "task": task,
            "message": message,
            "detail": {},
            **more,
        }
        self._take(self.dialect.read(Line(Origin(EVENTS, self.line, self.line * 300), json.dumps(value).encode())))

    def delete(self, path: str, ago: int = 0) -> None:
        self._take(self.dialect.vanished(Origin(path, 1, 0), Millis(NOW - ago)))

    def _take(self, told: Iterable[Event | Unreadable]) -> list[Event | Unreadable]:
        found = list(told)
        self.forest.apply(each for each in found if not isinstance(each, Unreadable))
        self.forest.advance(NOW)
        return found

    def __getitem__(self, id: str) -> Delegation:
        return self.forest.delegation(handle_of(self.forest, id))

    def state(self, id: str) -> State:
        return self.forest.state(handle_of(self.forest, id))

    def parent(self, id: str) -> str | None:
        handle = handle_of(self.forest, id)
        above = self.forest.parent(handle)
        return None if above is None else self.forest.delegation(above).id

    @property
    def ids(self) -> set[str]:
        return {self.forest.delegation(handle).id for handle in self.forest.walk()}

    def notes(self, id: str) -> dict[str, str]:
        return {note.kind: note.text for note in self[id].notes}


def meta(status: str = "in_progress", **more: Any) -> dict[str, Any]:
    return {
        "status": status,
        "started_at": "2026-09-14T09:00:00Z",
        "artifacts": [],
        "metadata": {
            "session_id": SESSION,
            "agent_type": "mail-agent",
            "delegation_depth": 1,
            "delegation_path": ["orchestrator", "implement", "mail-agent"],
        },
        **more,
    }


def marker(**more: Any) -> dict[str, Any]:
    return {"session_id": SESSION, "skill": "skill-implementer", "task_number": 42, "operation": "implement", **more}


@pytest.fixture
def folder() -> Folder:
    return Folder()


# -- returns -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "outcome"),
    [
        ("implemented", Outcome.COMPLETED),
        ("researched", Outcome.COMPLETED),
        ("planned", Outcome.COMPLETED),
        ("done", Outcome.COMPLETED),
        ("report_written", Outcome.COMPLETED),
        ("research_completed", Outcome.COMPLETED),
        ("partial", Outcome.PARTIAL),
        ("blocked", Outcome.BLOCKED),
        ("failed", Outcome.FAILED),
        ("purple", Outcome.UNKNOWN),
    ],
)
def test_a_status_means_an_outcome_and_its_word_is_kept(folder: Folder, word: str, outcome: Outcome) -> None:
    folder.write(META, meta(word))
    (row,) = [id for id in folder.ids if "/" in id]
    assert folder[row].outcome is outcome
    assert folder[row].report.status == word


@pytest.mark.parametrize("word", ["in_progress", "implementing"])
def test_a_return_that_says_in_progress_ends_nothing(folder: Folder, word: str) -> None:
    folder.write(META, meta(word, partial_progress={"stage": "phase_1", "details": "reads"}), ago=MINUTE)
    assert folder.state(ROW) is State.RUNNING
    assert folder[ROW].doing == "phase_1: reads"
    assert folder.state(SESSION) is State.WAITING


def test_the_operation_hangs_below_its_session_and_names_agent_task_and_command(folder: Folder) -> None:
    folder.write(META, meta())
    facts = folder[ROW]
    assert folder.parent(ROW) == SESSION
    assert (facts.agent, facts.command, facts.task, facts.title) == ("mail-agent", "implement", "42", "sort the mail")
    assert facts.product == folder[SESSION].product == "proofchecker"


def test_a_flat_return_with_bare_paths_a_list_of_steps_and_an_object_for_a_summary_is_understood(
    folder: Folder,
) -> None:
    folder.write(
        META,
        {
            "status": "implemented",
            "session_id": SESSION,
            "agent_type": "mail-agent",
            "delegation_path": ["orchestrator", "implement", "mail-agent"],
            "summary": {"done": "all", "left": 0},
            "artifacts": ["src/a.py", {"path": "src/b.py", "type": "implementation"}, 7],
            "next_steps": ["first", "second"],
        },
    )
    report = folder[ROW].report
    assert report.summary == "done: all\nleft: 0"
    assert [artifact.path for artifact in report.artifacts] == ["src/a.py", "src/b.py"]
    assert report.next_steps == folder.notes(ROW)[notes.NEXT] == "first\nsecond"
    assert folder.notes(ROW)[notes.BREACH].splitlines() == [
        "artifacts: 1 of 3 are bare paths",
        "completion: there is no completion_data.completion_summary",
    ]


def test_a_return_without_a_session_has_a_row_of_its_own(folder: Folder) -> None:
    folder.write(
        "/w/specs/look_around/.return-meta.json", meta("researched", metadata={"agent_type": "research-agent"})
    )
    assert folder.ids == {"look_around/research"}
    assert "session: there is no session id" in folder.notes("look_around/research")[notes.BREACH]


def test_everything_about_going_on_becomes_a_note(folder: Folder) -> None:
    folder.write(
        META,
        meta(
            "partial",
            requires_user_review=True,
            review_reason="Choose one.",
            next_steps="Run it again.",
            blocking_reason="No rule.",
            recommendations=["Ask."],
            continuation_context={"next_phase": 3},
            partial_progress={
                "stage": "s",
                "details": "d",
                "handoff_path": "h.md",
                "phases_completed": 1,
                "phases_total": 4,
            },
        ),
    )
    told = folder.notes(ROW)
    assert told[notes.REVIEW] == "Choose one."
    assert told[notes.NEXT] == "Run it again."
    assert told[notes.BLOCKER] == "No rule."
    assert told[notes.FOLLOWUP] == "Ask."
    assert told[notes.RESUME] == "next_phase: 3"
    assert told[notes.HANDOFF] == "h.md"
    assert told[notes.PROGRESS] == "s: d; 1 of 4 phases"


def test_what_a_rewritten_return_no_longer_says_is_withdrawn(folder: Folder) -> None:
    folder.write(META, meta("partial", requires_user_review=True, review_reason="Choose."), ago=HOUR)
    folder.write(META, meta("implemented"))
    assert notes.REVIEW not in folder.notes(ROW)
    assert folder[ROW].outcome is Outcome.COMPLETED


def test_teammates_are_rows_below_the_team(folder: Folder) -> None:
    team = [{"name": "a", "status": "completed"}, {"id": "b", "status": "partial", "summary": "half"}, "c"]
    folder.write(
        META,
        meta("implemented", teammate_results=team, team_execution={"teammates_spawned": 2, "teammates_completed": 1}),
    )
    assert folder.parent(f"{ROW}/a") == folder.parent(f"{ROW}/b") == ROW
    assert folder[f"{ROW}/b"].outcome is Outcome.PARTIAL
    assert "team of 2, 1 done" in folder.notes(ROW)[notes.PROGRESS]


# -- clocks ------------------------------------------------------------------------------------------------------------


def test_the_second_in_the_session_id_is_the_start_unless_it_is_days_from_the_file(folder: Folder) -> None:
    folder.write(META, meta())
    assert (folder[ROW].started_at, folder[ROW].trust) == (NOW - HOUR, Trust.EPOCH)
    old = "sess_1740672300_abc123"
    folder.write("/w/specs/9_x/.return-meta.json", meta(metadata={"session_id": old, "agent_type": "plan-agent"}))
    assert (folder[f"{old}/9/plan"].started_at, folder[f"{old}/9/plan"].trust) == (
        moment("2026-09-14T09:00:00Z"),
        Trust.MODEL,
    )
    assert folder[old].started_at is None


def test_nothing_is_counted_down_from_a_time_a_model_wrote(folder: Folder) -> None:
    folder.write("/w/specs/9_x/.return-meta.json", meta(metadata={"agent_type": "plan-agent"}))
    handle = handle_of(folder.forest, "9_x/plan")
    assert folder["9_x/plan"].trust is Trust.MODEL
    assert folder.forest.deadline(handle) is None


@pytest.mark.parametrize("told", ["2026-09-14", "2026-09-14T12:00:00Z", "$(date -u)", 7])
def test_a_start_that_is_a_mere_day_or_after_the_file_is_no_start(folder: Folder, told: object) -> None:
    folder.write("/w/specs/9_x/.return-meta.json", meta(started_at=told, metadata={"agent_type": "plan-agent"}))
    assert (folder["9_x/plan"].started_at, folder["9_x/plan"].trust) == (None, Trust.MTIME)


def test_the_marker_starts_the_delegation_when_it_was_written_whatever_it_says(folder: Folder) -> None:
    folder.write(MARKER, marker(created="$(date -u +%Y-%m-%dT%H:%M:%SZ)"), ago=10 * MINUTE)
    folder.write(META, meta(), ago=9 * MINUTE)
    assert (folder[ROW].started_at, folder[ROW].trust) == (NOW - 10 * MINUTE, Trust.MTIME)
    assert folder.notes(ROW)[notes.BREACH].startswith("shell: created is $(date")
    assert folder[ROW].claims == ()


# -- markers -----------------------------------------------------------------------------------------------------------


def test_a_marker_that_is_deleted_closes_the_delegation(folder: Folder) -> None:
    folder.write(MARKER, marker(), ago=HOUR)
    assert notes.MARKER in folder.notes(ROW)
    folder.delete(MARKER)
    assert notes.MARKER not in folder.notes(ROW)
    assert folder.state(ROW) is State.UNKNOWN


def test_a_return_says_how_it_ended_when_the_marker_goes(folder: Folder) -> None:
    folder.write(MARKER, marker(), ago=HOUR)
    folder.write(META, meta("implemented"), ago=MINUTE)
    folder.delete(MARKER)
    assert folder.state(ROW) is State.COMPLETED
    assert notes.CLOSED in folder.notes(ROW)


def test_a_new_marker_opens_again_what_had_ended(folder: Folder) -> None:
    folder.write(META, meta("partial"), ago=HOUR)
    folder.write(MARKER, marker(), ago=MINUTE)
    assert folder.state(ROW) is State.RUNNING


def test_a_marker_that_is_only_rewritten_opens_nothing(folder: Folder) -> None:
    folder.write(MARKER, marker(), ago=HOUR)
    folder.write(META, meta("implemented"), ago=30 * MINUTE)
    folder.write(MARKER, marker(stop_hook_active=True), ago=MINUTE)
    assert folder.state(ROW) is State.COMPLETED


def test_an_empty_marker_still_says_that_something_is_open(folder: Folder) -> None:
    folder.write(MARKER, b"", ago=MINUTE)
    assert folder.state("042_sort_the_mail/work") is State.RUNNING


def test_the_count_of_refused_stops_waits_for_the_file_that_says_whose_it_is(folder: Folder) -> None:
    guard = f"{FOLDER}/.postflight-loop-guard"
    assert folder.write(guard, b"3\n", ago=MINUTE) == []
    folder.write(MARKER, marker(), ago=2 * MINUTE)
    assert folder.notes(ROW)[notes.LOOP] == "stop refused 3 of 3 times"
    folder.delete(guard)
    assert notes.LOOP not in folder.notes(ROW)


def test_a_counter_is_a_loop_only_at_its_limit(folder: Folder) -> None:
    guard = {"session_id": SESSION, "cycle_count": 2, "max_cycles": 5, "current_state": "planned"}
    folder.write(f"{FOLDER}/.orchestrator-loop-guard", guard, ago=MINUTE)
    assert folder.notes(SESSION) == {notes.PROGRESS: "the task is planned; cycle 2 of 5"}
    folder.write(f"{FOLDER}/.orchestrator-loop-guard", {**guard, "cycle_count": 5})
    assert folder.notes(SESSION)[notes.LOOP] == "cycle 5 of 5"


def test_a_lock_is_a_note_with_the_time_of_its_heartbeat_until_it_is_gone(folder: Folder) -> None:
    lock = f"{FOLDER}/.lock/holder.json"
    holder = {
        "session_id": SESSION,
        "task_number": 42,
        "operation": "implement",
        "acquired_at": iso(Millis(NOW - HOUR)),
        "heartbeat_at": iso(Millis(NOW - HOUR)),
        "command": "/orchestrate 42",
    }
    folder.write(lock, holder)
    (note,) = folder[SESSION].notes
    assert (note.kind, note.at) == (notes.LOCK, NOW - HOUR)
    assert folder[SESSION].command == "orchestrate"
    folder.delete(lock)
    assert folder[SESSION].notes == ()


def test_a_live_session_has_its_process_and_leaves_when_its_file_does(folder: Folder) -> None:
    path = f"/work/specs/.sessions/{SESSION}.json"
    live = {"session_id": SESSION, "pid": 77, "heartbeat_at": iso(Millis(NOW - MINUTE)), "task_numbers": [42]}
    folder.write(path, live, ago=MINUTE)
    assert (folder[SESSION].pid, folder[SESSION].task, folder.state(SESSION)) == (77, "42", State.RUNNING)
    folder.delete(path)
    assert folder.state(SESSION) is State.UNKNOWN


# -- batches -----------------------------------------------------------------------------------------------------------


def registry(**more: Any) -> dict[str, Any]:
    return {
        "session_id": SESSION,
        "task_numbers": [1, 2, 3],
        "waves": [[1, 3], [2]],
        "dependency_graph": {"2": [1]},
        "cycle_count": 1,
        "max_cycles": 9,
        "failed_tasks": [],
        "completed_tasks": [],
        "current_statuses": {"1": "implementing", "2": "not_started", "3": "planned"},
        "dispatch_start_ts": {"1": (NOW - 5 * MINUTE) // 1000},
        **more,
    }


STATE_FILE = "/work/specs/.orchestrator-multi-state.json"


def test_a_batch_is_the_parent_of_its_tasks_and_each_says_what_it_waits_for(folder: Folder) -> None:
    folder.write(STATE_FILE, registry())
    one, two = f"{SESSION}_1", f"{SESSION}_2"
    assert folder.parent(one) == folder.parent(two) == SESSION
    assert (folder[one].started_at, folder[one].task) == (NOW - 5 * MINUTE, "1")
    assert folder.state(two) is State.IDLE
    assert folder[two].doing == "not started, wave 2 of 2, waits for 1"
    assert folder.state(SESSION) is State.WAITING
    assert "wave 1: 0 of 2" in folder.notes(SESSION)[notes.PROGRESS]
    assert folder[SESSION].started_at == NOW - HOUR


def test_completed_and_failed_tasks_end_and_so_does_the_batch(folder: Folder) -> None:
    failed = [{"task": 2, "reason": "no disk"}]
    folder.write(STATE_FILE, registry(completed_tasks=[1, 3], failed_tasks=failed, current_statuses={}))
    assert [folder[f"{SESSION}_{n}"].outcome for n in (1, 2, 3)] == ["completed", "failed", "completed"]
    assert folder[f"{SESSION}_2"].errors[0].message == "no disk"
    assert folder[SESSION].outcome is Outcome.PARTIAL


def test_a_task_ends_when_the_registry_first_says_so(folder: Folder) -> None:
    folder.write(STATE_FILE, registry(completed_tasks=[1], dispatch_start_ts={}), ago=30 * MINUTE)
    folder.write(STATE_FILE, registry(completed_tasks=[1, 3], dispatch_start_ts={}), ago=MINUTE)
    assert folder[f"{SESSION}_1"].ended_at == NOW - 30 * MINUTE
    assert folder[f"{SESSION}_1"].claims == ()


def test_defects_and_deferrals_are_notes_of_their_task(folder: Folder) -> None:
    folder.write(
        STATE_FILE,
        registry(
            detected_defects=[{"task": 3, "defect_class": "OFF_SCHEMA_STATUS", "detail": "odd"}],
            defer_ledger=[{"task": 3, "defer_reason": "collision", "detail": "with 1"}],
            forward_progress_violated=True,
        ),
    )
    assert folder.notes(f"{SESSION}_3") == {notes.DEFECT: "OFF_SCHEMA_STATUS: odd", notes.DEFERRED: "collision: with 1"}
    assert folder.notes(SESSION)[notes.LOOP] == "no progress"


def test_the_return_of_a_batch_ends_it_with_the_way_to_resume_it(folder: Folder) -> None:
    inner = {"tasks_completed": [1], "multi_task_mode": True, "paused_by_user": True, "resume_hint": "/orchestrate 2 3"}
    folder.write(
        "/work/specs/.return-meta-multi-x.json", {"status": "partial", "session_id": SESSION, "metadata": inner}
    )
    assert folder[SESSION].outcome is Outcome.PARTIAL
    assert folder.notes(SESSION)[notes.RESUME] == "/orchestrate 2 3"
    assert folder[f"{SESSION}_1"].outcome is Outcome.COMPLETED


# -- the log -----------------------------------------------------------------------------------------------------------


def test_a_preflight_opens_and_a_postflight_closes_an_operation(folder: Folder) -> None:
    folder.log("lifecycle_stage", "Preflight stage completed for plan", 20 * MINUTE)
    assert folder.state(f"{SESSION}/42/plan") in (State.RUNNING, State.SILENT)
    folder.log("lifecycle_stage", "Postflight stage completed for plan (status: planned)", 15 * MINUTE)
    facts = folder[f"{SESSION}/42/plan"]
    assert (facts.started_at, facts.ended_at, facts.outcome) == (NOW - 20 * MINUTE, NOW - 15 * MINUTE, "completed")
    assert folder.notes(facts.id)[notes.CLOSED] == "planned"


def test_the_run_time_of_a_hook_is_not_taken_for_the_operations(folder: Folder) -> None:
    folder.log("lifecycle_stage", "Preflight stage completed for plan", 20 * MINUTE, duration_seconds=0.7)
    folder.log("lifecycle_stage", "Postflight stage completed for plan (status: planned)", MINUTE, duration_seconds=0.7)
    facts = folder[f"{SESSION}/42/plan"]
    assert facts.report.duration is None
    assert facts.ended_at == NOW - MINUTE


def test_a_written_return_ends_the_operation_that_runs(folder: Folder) -> None:
    folder.log("lifecycle_stage", "Preflight stage completed for implement", 20 * MINUTE)
    folder.log("artifact_write", "Artifact metadata written with status 'in_progress'", 19 * MINUTE)
    assert folder[ROW].doing == "return says in_progress"
    folder.log("artifact_write", "Artifact metadata written with status 'partial'", 10 * MINUTE)
    assert (folder[ROW].outcome, folder[ROW].ended_at) == (Outcome.PARTIAL, NOW - 10 * MINUTE)


def test_a_third_dispatch_of_the_same_operation_is_a_loop_and_opens_it_again(folder: Folder) -> None:
    for ago in (40, 30, 20):
        folder.log("lifecycle_stage", "Preflight stage completed for implement", ago * MINUTE)
    assert folder.notes(ROW)[notes.LOOP] == "dispatched 3 times"
    assert folder[ROW].resumed_at == NOW - 20 * MINUTE


def test_a_child_session_hangs_below_its_batch_even_if_that_never_speaks(folder: Folder) -> None:
    folder.log("session_stop", "Session stop observed for task 42", 2 * MINUTE, session=f"{SESSION}_42")
    assert folder.parent(f"{SESSION}_42") == SESSION
    assert folder.state(SESSION) is State.IDLE
    assert folder[SESSION].started_at == NOW - HOUR
    assert folder[f"{SESSION}_42"].started_at == NOW - 2 * MINUTE


def test_an_agent_that_names_the_batch_is_heard_for_its_own_session(folder: Folder) -> None:
    child = f"{SESSION}_42"
    folder.log("lifecycle_stage", "Preflight stage completed for plan", 9 * MINUTE, session=child)
    folder.log("artifact_write", "Artifact metadata written with status 'planned'", 5 * MINUTE, session=SESSION)
    assert folder[f"{child}/plan"].outcome is Outcome.COMPLETED
    assert folder.ids == {SESSION, child, f"{child}/plan"}


def test_a_turn_that_ends_without_a_return_is_parked_until_the_return_comes(folder: Folder) -> None:
    folder.log("lifecycle_stage", "Preflight stage completed for implement", 20 * MINUTE)
    folder.log("subagent_stop", "Subagent stop for skill-implementer (implement)", 10 * MINUTE)
    assert "without a return" in folder.notes(ROW)[notes.PARKED]
    folder.log("artifact_write", "Artifact metadata written with status 'implemented'", 5 * MINUTE)
    assert notes.PARKED not in folder.notes(ROW)


def test_two_defects_of_one_row_stand_together(folder: Folder) -> None:
    folder.log("lifecycle_stage", "Preflight stage completed for implement", 20 * MINUTE)
    for name in ("OFF_SCHEMA_STATUS", "HANDOFF_MISLOCATED"):
        folder.log("system_defect", f"about {name}", 9 * MINUTE, detail={"defect_class": name})
    assert len(folder.notes(ROW)[notes.DEFECT].splitlines()) == 2


def test_a_line_told_again_is_about_the_same_operation_and_changes_nothing(folder: Folder) -> None:
    folder.log("lifecycle_stage", "Preflight stage completed for implement", 20 * MINUTE)
    folder.log("artifact_write", "Artifact metadata written with status 'in_progress'", 19 * MINUTE)
    value = {
        "event_id": "evt_2",
        "event_type": "artifact_write",
        "timestamp": iso(Millis(NOW - 19 * MINUTE)),
        "session_id": SESSION,
        "task": 42,
        "message": "Artifact metadata written with status 'in_progress'",
        "category": "milestone",
    }
    line = Line(Origin(EVENTS, 2, 600), json.dumps(value).encode())
    told = {getattr(event, "id", None) for event in folder.dialect.retell(line)}
    assert ROW in told
    assert folder.dialect.needle(ROW, EVENTS) == SESSION.encode()


def test_a_line_without_a_session_is_a_deviation(folder: Folder) -> None:
    folder.log("session_stop", "x", 0, session="")
    assert folder.ids == set()


# -- files that name no session ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("handoff_first", [True, False])
def test_a_handoff_belongs_to_the_session_of_its_task_in_any_order(folder: Folder, handoff_first: bool) -> None:
    handoff = {
        "status": "partial",
        "summary": "Half.",
        "blockers": [{"description": "no key", "severity": "hard"}],
        "next_action_hint": "continue_implement",
        "phases_completed": 1,
        "phases_total": 2,
        "continuation_context": {"handoff_path": "h.md"},
    }
    writes = [(f"{FOLDER}/.orchestrator-handoff.json", handoff, 5 * MINUTE), (MARKER, marker(), 20 * MINUTE)]
    for path, value, ago in writes if handoff_first else reversed(writes):
        folder.write(path, value, ago)
    assert folder[ROW].outcome is Outcome.PARTIAL
    told = folder.notes(ROW)
    assert (told[notes.BLOCKER], told[notes.NEXT], told[notes.HANDOFF]) == (
        "no key (hard)",
        "continue_implement",
        "h.md",
    )


def test_the_progress_of_a_phase_is_a_sign_of_life_and_a_done_one_is_work_on_disk(folder: Folder) -> None:
    folder.write(MARKER, marker(), ago=HOUR)
    one = {"phase": "1a", "status": "done", "objectives": [{"name": "x", "status": "done"}]}
    two = {"phase": 2, "status": "in_progress", "current_objective": "Read", "objectives": {"a": {"status": "open"}}}
    folder.write(f"{FOLDER}/progress/phase-1a-progress.json", one, ago=30 * MINUTE)
    folder.write(f"{FOLDER}/progress/phase-2-progress.json", two, ago=MINUTE)
    assert folder[ROW].heard_at == NOW - MINUTE
    assert folder[ROW].doing == "phase 2: Read"
    assert folder.notes(ROW)[notes.SALVAGE] == "phase 1a done"


def test_spawned_tasks_hang_below_the_session_that_asks_for_them(folder: Folder) -> None:
    new = [{"index": 1, "title": "First"}, {"index": 2, "title": "Second", "dependencies": [1]}, "third"]
    folder.write(f"{FOLDER}/.spawn-return.json", {"new_tasks": new})
    folder.write(MARKER, marker())
    assert folder.parent(f"{SESSION}/new-2") == SESSION
    assert (folder[f"{SESSION}/new-2"].title, folder[f"{SESSION}/new-2"].doing) == ("Second", "new task, needs 1")
    assert folder.state(f"{SESSION}/new-1") is State.IDLE


def test_a_session_of_weeks_ago_is_not_taken_for_the_writer_of_a_handoff(folder: Folder) -> None:
    folder.write(f"{FOLDER}/.orchestrator-handoff.json", {"status": "partial", "blockers": [], "phases_total": 3})
    folder.log(
        "lifecycle_stage", "Preflight stage completed for implement", 30 * 24 * HOUR, session="sess_1786000000_old000"
    )
    assert folder["sess_1786000000_old000/42/implement"].outcome is None
    folder.log("lifecycle_stage", "Preflight stage completed for implement", HOUR)
    assert folder[ROW].outcome is Outcome.PARTIAL


# -- lists -------------------------------------------------------------------------------------------------------------


def errors(**more: Any) -> dict[str, Any]:
    return {
        "type": "git_commit_failure",
        "message": "locked",
        "timestamp": iso(Millis(NOW - MINUTE)),
        "context": {"session_id": SESSION, "command": "plan", "task": 42, "checkpoint": "COMMIT"},
        "recovery": {"suggested_action": "unlock", "auto_recoverable": False},
        "fix_status": "unfixed",
        **more,
    }


@pytest.mark.parametrize("shape", [{"_schema_version": "2.0.0", "errors": [errors()]}, [errors()]])
def test_recorded_errors_are_the_sessions_in_both_shapes(folder: Folder, shape: object) -> None:
    folder.write("/work/specs/errors.json", shape)
    (fault,) = folder[SESSION].errors
    assert (fault.message, fault.recommendation, fault.code) == ("locked", "unlock", "COMMIT")
    assert folder.state(SESSION) is State.IDLE


def test_the_description_of_compiler_errors_and_errors_that_were_mended_tell_of_nothing(folder: Folder) -> None:
    schema = {"$schema": "x", "properties": {"errors": {}, "error_count": {}}}
    folder.write("/any/errors.json", schema)
    folder.write("/any/errors.json", [errors(fix_status="fixed")])
    assert folder.ids == set()


def project(**more: Any) -> dict[str, Any]:
    return {"project_number": 42, "project_name": "sort_the_mail", "status": "researching", **more}


def listed(*projects: dict[str, Any]) -> dict[str, Any]:
    """A list that was written a moment ago."""
    return {"next_project_number": 50, "active_projects": [*projects], "last_updated": iso(Millis(NOW - HOUR))}


def test_a_task_that_is_in_work_for_days_by_the_list_alone_has_a_row(folder: Folder) -> None:
    folder.write("/work/specs/state.json", listed(project(last_updated="2026-09-01T08:12:44Z")))
    facts = folder["task 42/research"]
    assert (facts.trust, facts.command, folder.notes(facts.id)[notes.LISTED]) == (
        Trust.MODEL,
        "research",
        "researching",
    )


def test_a_task_that_the_list_no_longer_has_in_work_is_over(folder: Folder) -> None:
    path, old = "/work/specs/state.json", "2026-09-01T08:12:44Z"
    folder.write(path, listed(project(last_updated=old)), ago=HOUR)
    assert folder.state("task 42/research") is State.SILENT
    folder.write(path, listed(project(status="researched", last_updated=old)))
    assert folder.state("task 42/research") is State.UNKNOWN
    assert folder.notes("task 42/research") == {}


def test_a_task_that_just_began_or_is_not_in_work_has_none(folder: Folder) -> None:
    fresh = project(last_updated=iso(Millis(NOW - MINUTE)))
    done = project(project_number=43, status="completed", last_updated="2026-09-01T08:12:44Z")
    folder.write("/work/specs/state.json", {"next_project_number": 50, "active_projects": [fresh, done, "odd"]})
    assert folder.ids == set()


def test_the_list_says_why_a_task_with_a_row_is_blocked(folder: Folder) -> None:
    folder.write(META, meta("blocked"))
    blocked = project(status="blocked", session_id=SESSION, blocked_reason="no budget")
    folder.write("/work/specs/state.json", {"next_project_number": 50, "active_projects": [blocked]})
    assert folder.notes(SESSION)[notes.BLOCKER] == "no budget"


# -- hostile input -----------------------------------------------------------------------------------------------------

_ODD: list[Any] = [
    None,
    0,
    -1,
    1.5,
    True,
    "",
    "x",
    [],
    {},
    [None],
    {"a": None},
    "$(date)",
    [[1]],
    {"task": [1]},
    "\x1b[2J",
]
_WHOLE = [
    (META, meta("partial", errors=[], teammate_results=[], partial_progress={}, next_steps="", team_execution={})),
    (MARKER, marker(created="", reason="")),
    (STATE_FILE, registry(detected_defects=[], defer_ledger=[], infra_failures={}, task_dirs={})),
    (
        "/work/specs/.return-meta-multi-x.json",
        {"status": "partial", "session_id": SESSION, "metadata": {"tasks_completed": []}},
    ),
    (
        f"{FOLDER}/.orchestrator-loop-guard",
        {"session_id": SESSION, "cycle_count": 1, "max_cycles": 5, "infra_failures": 0},
    ),
    (f"{FOLDER}/.orchestrator-handoff.json", {"status": "partial", "blockers": [], "phases_total": 3, "artifacts": []}),
    (f"{FOLDER}/progress/p.json", {"phase": 1, "status": "done", "objectives": [], "approaches_tried": []}),
    (f"{FOLDER}/.spawn-return.json", {"new_tasks": [{"index": 1, "dependencies": []}]}),
    ("/work/specs/errors.json", {"_schema_version": "2.0.0", "errors": [errors()]}),
    ("/work/specs/state.json", {"next_project_number": 50, "active_projects": [project(last_updated="x")]}),
    (f"{FOLDER}/.lock/holder.json", {"session_id": SESSION, "acquired_at": "x", "heartbeat_at": "x", "command": ""}),
    ("/work/specs/.sessions/x.json", {"session_id": SESSION, "pid": 1, "heartbeat_at": "x", "task_numbers": []}),
    (
        EVENTS,
        {
            "event_id": "e",
            "event_type": "artifact_write",
            "category": "success",
            "timestamp": "x",
            "session_id": SESSION,
            "task": 1,
            "message": "m",
        },
    ),
]


@pytest.mark.parametrize(("path", "value"), _WHOLE, ids=[path.rpartition("/")[2] for path, _ in _WHOLE])
def test_no_field_of_any_file_can_break_the_reading(path: str, value: dict[str, Any]) -> None:
    for key in value:
        for odd in _ODD:
            folder = Folder()
            folder.write(MARKER, marker(), ago=MINUTE)
            told = folder.write(path, {**value, key: odd})
            assert not [each for each in told if isinstance(each, Unreadable) and "failed" in each.reason]
            folder.forest.advance(Millis(NOW + 100 * HOUR))


def test_half_a_list_of_errors_is_unreadable(folder: Folder) -> None:
    assert isinstance(folder.write("/work/specs/errors.json", b'[{"type": ')[0], Unreadable)


def test_the_same_file_read_twice_tells_the_same(folder: Folder) -> None:
    folder.write(META, meta("partial", requires_user_review=True), ago=MINUTE)
    before = folder[ROW]
    told = folder.write(META, meta("partial", requires_user_review=True), ago=MINUTE)
    assert folder[ROW] == before
    assert any(isinstance(event, Noted) and event.text for event in told)
