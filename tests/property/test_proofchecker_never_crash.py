"""Whatever stands in the files of the ProofChecker family, they are read, and what they tell is folded and judged."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests import judging

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.dialects import Sample
from delegtop.model.forest import Forest
from delegtop.protocols.proofchecker.folder_dialect import ProofChecker
from delegtop.sources.records import Line, Unreadable

FEW = settings(max_examples=40)
NOW = Millis(1_789_380_000_000)
SESSIONS = ["sess_1789376400_abc123", "sess_1789376400_abc123_7", "sess_$(date", "x", ""]
TEXTS = st.sampled_from(
    [
        *SESSIONS,
        "in_progress",
        "implemented",
        "partial",
        "purple",
        "2026-09-14T09:00:00Z",
        "2026-09-14",
        "Preflight stage completed for implement",
        "Postflight stage completed for implement (status: implemented)",
        "Artifact metadata written with status 'partial'",
        "Subagent stop for skill-planner (plan)",
        "lifecycle_stage",
        "artifact_write",
        "system_defect",
        "\ud800",
        "\x1b[2J",
        "[/]",
    ]
) | st.text(max_size=6)
SCALARS = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | TEXTS
WORDS = """
    status session_id task_number operation skill created reason artifacts path metadata agent_type delegation_path
    errors recoverable partial_progress stage details phases_completed phases_total next_steps summary
    requires_user_review review_reason teammate_results name team_execution task_numbers waves cycle_count max_cycles
    current_statuses dispatch_start_ts dependency_graph failed_tasks completed_tasks task_dirs defer_ledger task
    detected_defects defect_class detail infra_failures forward_progress_violated consecutive_no_dispatch_cycles
    continuation_count max_continuations acquired_at heartbeat_at pid command phase objectives current_objective
    approaches_tried new_tasks index dependencies active_projects next_project_number project_number project_name
    last_updated _schema_version context recovery event_id event_type timestamp message cwd cc_session_id blockers
    continuation_context next_action_hint tasks_completed tasks_failed multi_task_mode resume_hint 1 7
"""
KEYS = WORDS.split()
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=10,
)
SHAPES: list[dict[str, Any]] = [
    {"status": "partial", "metadata": {"session_id": SESSIONS[0]}, "partial_progress": {}},
    {"session_id": SESSIONS[0], "operation": "implement", "skill": "s", "task_number": 7},
    {"session_id": SESSIONS[0], "task_numbers": [7, 8], "waves": [[7], [8]], "cycle_count": 1},
    {"status": "partial", "session_id": SESSIONS[0], "metadata": {"tasks_completed": [7]}},
    {"session_id": SESSIONS[0], "cycle_count": 1, "max_cycles": 2},
    {"session_id": SESSIONS[0], "continuation_count": 1, "max_continuations": 2},
    {"session_id": SESSIONS[0], "acquired_at": "x", "heartbeat_at": "x"},
    {"session_id": SESSIONS[0], "pid": 3, "heartbeat_at": "x", "task_numbers": [7]},
    {"phase": 1, "objectives": [], "status": "done"},
    {"new_tasks": [{}]},
    {"status": "partial", "blockers": [], "phases_total": 3},
    {"errors": [{"context": {}}], "_schema_version": "2"},
    {"active_projects": [{"project_number": 7}], "next_project_number": 8},
    {
        "event_id": "e",
        "event_type": "artifact_write",
        "category": "c",
        "timestamp": "2026-09-14T09:00:00Z",
        "session_id": SESSIONS[1],
    },
]
DOCUMENTS = st.builds(
    lambda shape, more: {**shape, **more},
    st.sampled_from(SHAPES),
    st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=6),
)
PATHS = st.sampled_from(
    [
        "/w/specs/007_a/.return-meta.json",
        "/w/specs/007_a/.postflight-pending",
        "/w/specs/007_a/.orchestrator-handoff.json",
        "/w/specs/007_a/progress/phase-1-progress.json",
        "/w/specs/events.jsonl",
        "/w/specs/errors.json",
        "/x/ab__specs__8_b__.return-meta.json",
        "",
    ]
)


def encoded(value: object) -> bytes:
    return json.dumps(value).encode("utf-8", "surrogatepass")


@FEW
@given(st.lists(st.tuples(PATHS, DOCUMENTS, st.integers(0, 10**9)), max_size=6), st.lists(PATHS, max_size=2))
def test_any_files_in_any_order_are_read_folded_judged_and_told_again(
    files: list[tuple[str, dict[str, Any], int]], gone: list[str]
) -> None:
    dialect, forest = ProofChecker(), Forest()
    for path, value, ago in files:
        data = encoded(value)
        assert 0 <= ProofChecker.sniff(Sample(path, data, True)) <= 100
        ProofChecker.unit_of(Sample(path, data, False))
        line = Line(Origin(path, 1, 0), data, Millis(NOW - ago))
        forest.apply([event for event in dialect.read(line) if not isinstance(event, Unreadable)])
        list(dialect.retell(Line(Origin(path, 1, 0), data)))
    for path in gone:
        forest.apply(list(dialect.vanished(Origin(path, 1, 0), NOW)))
    forest.advance(NOW)
    list(judging.all_found(forest))


@FEW
@given(PATHS | st.just("/w/specs/007_a/.postflight-loop-guard"), st.binary(max_size=60))
def test_bytes_of_any_kind_are_answered(path: str, data: bytes) -> None:
    for whole in (True, False):
        assert 0 <= ProofChecker.sniff(Sample(path, data, whole)) <= 100
    list(ProofChecker().read(Line(Origin(path, 1, 0), data, NOW)))
