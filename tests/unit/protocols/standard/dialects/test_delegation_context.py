"""A delegation context in a file: work that was handed out, judged by the rules on that."""

import json
from pathlib import Path
from typing import Any

import pytest

from delegtop.base.origin import Origin
from delegtop.cli import main
from delegtop.cli.exit_codes import Exit
from delegtop.delegate import prepare
from delegtop.dialects import Sample
from delegtop.model.events import Deviation, Event, Started
from delegtop.protocols.standard.dialects.delegation_context import ContextFile
from delegtop.sources.records import Line, Unreadable

CONTEXT: dict[str, Any] = {
    "session_id": "sess_1772532120_h9w4dg",
    "delegation_depth": 1,
    "delegation_path": ["orchestrator", "implement", "task-executor"],
    "timeout": 3600,
    "caller": "implement",
    "task_context": {"task_number": 191, "language": "lean"},
}


def told(value: object) -> list[Event | Unreadable]:
    return list(ContextFile().read(Line(Origin("context.json", 1, 0), json.dumps(value).encode())))


def without(*names: str) -> dict[str, Any]:
    return {name: value for name, value in CONTEXT.items() if name not in names}


def sniffed(value: object) -> int:
    return ContextFile.sniff(Sample("context.json", json.dumps(value, indent=1).encode(), True))


def test_a_context_is_a_delegation_that_was_handed_out_nobody_knows_when() -> None:
    assert told(CONTEXT) == [
        Started(
            "sess_1772532120_h9w4dg",
            None,
            Origin("context.json", 1, 0),
            agent="task-executor",
            command="implement",
            caller="implement",
            task="191",
            path=("orchestrator", "implement", "task-executor"),
            depth=1,
            timeout=3_600_000,
            listed=True,
        )
    ]


@pytest.mark.parametrize(
    ("path", "caller", "agent"),
    [
        (["orchestrator", "implement"], None, None),
        (["orchestrator", "implement", "executor"], "implement", "executor"),
        (["orchestrator", "implement", "executor"], "executor", None),
    ],
)
def test_the_agent_is_the_end_of_the_path_unless_that_is_the_caller(
    path: list[str], caller: str | None, agent: str | None
) -> None:
    (started,) = told({**CONTEXT, "delegation_path": path, "caller": caller})
    assert isinstance(started, Started)
    assert started.agent == agent


def test_what_delegtop_run_hands_on_is_one() -> None:
    context = prepare.DelegationContext(
        session_id="sess_1772532120_h9w4dg",
        delegation_depth=0,
        delegation_path=("orchestrator", "research"),
        timeout=60,
        parent="sess_1772532000_aaaaaa",
    )
    value = json.loads(context.to_environment()[prepare.CONTEXT_VARIABLE])
    assert sniffed(value) > 0
    (started,) = told(value)
    assert isinstance(started, Started)
    assert (started.parent, started.command, started.depth) == ("sess_1772532000_aaaaaa", "research", 0)


@pytest.mark.parametrize("names", [(), *((name,) for name in CONTEXT), ("caller", "task_context", "session_id")])
def test_a_context_that_lacks_something_is_still_known(names: tuple[str, ...]) -> None:
    assert sniffed(without(*names)) > 0


@pytest.mark.parametrize(
    "value",
    [
        {},
        [CONTEXT],
        {"session_id": "s", "timeout": 5},
        {**CONTEXT, "status": "completed"},
        {**CONTEXT, "event": "register"},
        {"status": "completed", "summary": "x", "artifacts": [], "metadata": CONTEXT},
        {"sess_1772532120_h9w4dg": {**CONTEXT, "start_time": "2026-03-03T10:00:00Z"}},
    ],
)
def test_other_objects_are_no_context(value: object) -> None:
    assert sniffed(value) == 0


@pytest.mark.parametrize(
    ("value", "rule", "severity"),
    [
        (without("session_id"), "DEL-001", "error"),
        ({**CONTEXT, "session_id": 5}, "DEL-001", "error"),
        ({**CONTEXT, "session_id": "abc"}, "DEL-012", "warning"),
        (without("timeout"), "DEL-002", "warning"),
        ({**CONTEXT, "timeout": 0}, "DEL-002", "warning"),
        ({**CONTEXT, "timeout": "an hour"}, "DEL-002", "warning"),
        (without("delegation_depth"), "DEL-003", "warning"),
        (without("delegation_path"), "DEL-003", "warning"),
        ({**CONTEXT, "delegation_path": []}, "DEL-003", "warning"),
        ({**CONTEXT, "delegation_path": ["orchestrator", ""]}, "DEL-003", "warning"),
        ({**CONTEXT, "delegation_depth": 4}, "DEL-004", "error"),
        ({**CONTEXT, "delegation_depth": 2}, "DEL-006", "warning"),
        ({**CONTEXT, "delegation_path": ["orchestrator", "a", "b", "a"]}, "DEL-007", "error"),
        ({**CONTEXT, "caller": 5}, "LOG-002", "warning"),
        ({**CONTEXT, "task_context": "x"}, "LOG-002", "warning"),
    ],
)
def test_a_context_is_judged_by_the_rules_on_what_is_handed_out(
    value: dict[str, Any], rule: str, severity: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "context.json"
    path.write_text(json.dumps(value, indent=2))
    code = main(["check", str(path), "--json"])
    found = {each["rule"]: each for each in json.loads(capsys.readouterr().out)["findings"]}
    assert found[rule]["severity"] == severity
    (changed,) = [name for name in CONTEXT if value.get(name) != CONTEXT[name]]
    lines = path.read_text().splitlines()
    line = next((number for number, text in enumerate(lines, 1) if f'"{changed}"' in text), 1)
    assert {"source": str(path), "line": line} in found[rule]["evidence"]
    assert code == (Exit.FINDINGS if "error" in {each["severity"] for each in found.values()} else Exit.OK)


def test_a_good_context_has_no_findings_and_is_open(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "context.json").write_text(json.dumps({**CONTEXT, "note": "any key is welcome"}))
    assert main(["check", str(tmp_path)]) == Exit.OK
    assert capsys.readouterr().out.startswith("No findings: 1 delegation")


def test_the_log_of_the_same_delegation_says_when_it_began(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = {
        "event": "register",
        "at": "2026-03-03T10:00:00.000Z",
        "session_id": CONTEXT["session_id"],
        "delegation_depth": 1,
        "delegation_path": CONTEXT["delegation_path"],
        "subagent": "task-executor",
        "timeout": 3600,
    }
    (tmp_path / "log.jsonl").write_text(json.dumps(line) + "\n")
    (tmp_path / "context.json").write_text(json.dumps(CONTEXT))
    main(["tree", str(tmp_path), "--json"])
    (row,) = json.loads(capsys.readouterr().out)["delegations"]
    assert row["started_at"] == "2026-03-03T10:00:00.000Z"


def test_what_is_odd_beside_what_rules_tell_is_a_deviation() -> None:
    events = told({**CONTEXT, "caller": 5, "timeout": "x"})
    assert [event.detail.partition(":")[0] for event in events if isinstance(event, Deviation)] == ["caller"]
