"""The files of the ProofChecker family are known by their shape, and their place by their path."""

import json

import pytest
from tests.unit.protocols.proofchecker.test_folder_dialect import EVENTS, FOLDER, MARKER, META, SESSION, marker, meta

from delegtop.dialects import Sample, Unit
from delegtop.protocols.proofchecker import vocabulary
from delegtop.protocols.proofchecker.folder_dialect import ProofChecker
from delegtop.protocols.standard.contract import resume_commands


def sniff(path: str, value: object) -> int:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return ProofChecker.sniff(Sample(path, data, True))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (META, meta()),
        ("/x/0a1b__specs__7_a_b__.return-meta.json", meta("researched")),
        (MARKER, marker()),
        (MARKER, b""),
        (f"{FOLDER}/.postflight-loop-guard", b"2\n"),
        (f"{FOLDER}/.orchestrator-loop-guard", {"session_id": SESSION, "cycle_count": 1, "max_cycles": 5}),
        (
            f"{FOLDER}/.continuation-loop-guard",
            {"session_id": SESSION, "continuation_count": 0, "max_continuations": 3},
        ),
        ("/any/name.json", {"session_id": SESSION, "task_numbers": [1], "waves": [[1]], "cycle_count": 0}),
        ("/any/holder.json", {"session_id": SESSION, "acquired_at": "x", "heartbeat_at": "x"}),
        ("/any/s.json", {"session_id": SESSION, "pid": 1, "heartbeat_at": "x", "task_numbers": [1]}),
        ("/any/p.json", {"phase": 1, "status": "done", "objectives": []}),
        ("/any/.spawn-return.json", {"new_tasks": []}),
        ("/any/state.json", {"active_projects": [], "next_project_number": 2}),
        ("/any/errors.json", {"_schema_version": "1.0.0", "errors": []}),
        ("/any/errors.json", b"[]"),
        ("/any/errors.json", {"$schema": "x", "properties": {"errors": {}, "error_count": {}}}),
        ("/any/.orchestrator-handoff.json", {"status": "partial", "blockers": [], "phases_total": 3}),
        (EVENTS, b'{"event_id":"e","event_type":"x","timestamp":"t","session_id":"s","category":"c"}\n{"event_id":"e"'),
    ],
)
def test_every_file_of_the_system_is_known_by_its_shape(path: str, value: object) -> None:
    assert sniff(path, value) >= 45


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("/any/.return-meta.json", {"colour": "blue"}),
        ("/any/.return-meta.json", b"3"),
        ("/any/return.json", {"status": "completed", "summary": "s", "artifacts": [], "metadata": {"session_id": "x"}}),
        *(
            ("/any/return.json", {"status": word, "summary": "s", "artifacts": [], "metadata": {"session_id": "x"}})
            for word in ("in_progress", "researched")
        ),
        ("/any/package.json", {"name": "x", "version": "1"}),
        ("/any/guard", b"3"),
        ("/any/errors.json", [{"line": 3}]),
        ("/any/job.json", {"status": "done", "id": 3}),
        ("/any/log.jsonl", b'{"event_id":"e","event_type":"click","timestamp":"t"}\n{"event_id":"f"}\n'),
        ("/any/log.jsonl", b'{"event":"register"}\n{"event":"return"}\n'),
        ("/any/empty.json", b""),
    ],
)
def test_what_only_bears_its_name_or_a_status_is_left_alone(path: str, value: object) -> None:
    assert sniff(path, value) == 0


def test_the_log_is_read_by_lines_a_bare_number_as_text_and_the_rest_whole() -> None:
    def unit(path: str, data: bytes) -> Unit:
        return ProofChecker.unit_of(Sample(path, data, True))

    assert (
        unit(EVENTS, b'{"event_id":"e","event_type":"x","timestamp":"t","session_id":"s","category":"c"}\n{}')
        is Unit.LINES
    )
    assert unit(f"{FOLDER}/.postflight-loop-guard", b"3") is Unit.TEXT
    assert unit("/any/errors.json", b"[]") is Unit.TEXT
    assert unit(META, json.dumps(meta()).encode()) is Unit.DOCUMENT


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (META, "/work/specs"),
        (f"{FOLDER}/progress/phase-1-progress.json", "/work/specs"),
        ("/work/specs/archive/007_x/.lock/holder.json", "/work/specs"),
        (EVENTS, "/work/specs"),
        ("/tmp/042_x/.return-meta.json", "/tmp"),
        ("/tmp/ab__specs__042_x__.return-meta.json", "/tmp/ab__specs__042_x__.return-meta.json"),
    ],
)
def test_the_files_of_one_specs_folder_are_one_family(path: str, expected: str) -> None:
    assert ProofChecker.family(path) == expected


@pytest.mark.parametrize(
    ("path", "task"),
    [
        (META, "42"),
        (f"{FOLDER}/progress/phase-1-progress.json", "42"),
        ("/x/ab12__specs__058_a_b__.return-meta.json", "58"),
        ("/x/ab12__specs__notes__.return-meta.json", None),
        ("/work/1780974016__7fc4.json", None),
    ],
)
def test_the_task_is_the_number_of_its_folder(path: str, task: str | None) -> None:
    assert vocabulary.place(path).task == task


@pytest.mark.parametrize(
    ("said", "command"),
    [
        ("Run /implement 970 to resume from Phase 5", "/implement 970"),
        ("/orchestrate 151 152", "/orchestrate 151 152"),
        ("then `/plan 7`.", "/plan 7"),
        ("/implement 7; rm -rf /", "/implement 7"),
        ("rm -rf /implement", None),
        ("/implement $(reboot)", None),
        ("see docs/plan 3", None),
    ],
)
def test_a_command_is_taken_from_somebodys_words_only_with_task_numbers(said: str, command: str | None) -> None:
    assert resume_commands.typable(said) == command
