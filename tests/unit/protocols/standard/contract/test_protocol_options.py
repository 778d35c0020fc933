"""Where the documents contradict each other a setting decides, and the message still has both claims."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests import judging
from tests.telling import forest_at

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.cli import main
from delegtop.diagnosis.finding import Finding
from delegtop.diagnosis.rule_table import RULES
from delegtop.model.events import Artifact, Ended, Ending, Event, Fault, Outcome, Report, Started
from delegtop.model.policy import Policy
from delegtop.protocols.standard.contract.protocol_options import IdForm, ProtocolOptions, SessionIdPlace

NOW = Millis(1_770_109_200_000)
DAY_ID, EPOCH_ID = "sess_20260203_k3x9qa", "sess_1770105600_k3x9qa"
NAMES = ("orchestrator", "implement", "a", "b", "c", "d", "e")


def judged(events: list[Event], reading: ProtocolOptions, rule: str) -> list[Finding]:
    """What one rule says of the only delegation there is."""
    forest = forest_at(NOW, events, Policy(reading=reading))
    (handle,) = forest.walk()
    return list(judging.found(forest, handle, rules=[RULES[rule]]))


def started(id: str = DAY_ID, path: tuple[str, ...] = NAMES[:3], depth: int | None = None) -> Started:
    return Started(id, NOW, Origin("run.jsonl", 1, 0), agent=path[-1], path=path, depth=depth, timeout=60_000)


def returned(id: str = DAY_ID, **fields: Any) -> list[Event]:
    told = {"status": "completed", "summary": "One. Two.", "session_id": id, **fields}
    return [Ended(id, NOW, Origin("run.jsonl", 2, 90), Outcome.UNKNOWN, Ending.RETURN, Report(**told))]


def deep(levels: int) -> list[Event]:
    return [started(path=NAMES[: levels + 2], depth=levels)]


BUILD_ERROR = Fault("it broke", "build_error", "BUILD_ERROR", True, "try again")
BESIDE = returned(absent=("metadata.session_id",), beside=DAY_ID)
BOTH = returned(beside=DAY_ID)

CHOICES: list[tuple[str, list[Event], ProtocolOptions, ProtocolOptions]] = [
    # rule, what is judged, a reading that finds it, one that does not
    ("DEL-004", deep(4), ProtocolOptions(), ProtocolOptions(max_depth=4)),
    ("DEL-004", deep(3), ProtocolOptions(max_depth=2), ProtocolOptions()),
    ("DEL-004", [started(path=NAMES[:5])], ProtocolOptions(command_depth=1), ProtocolOptions()),
    ("DEL-005", deep(3), ProtocolOptions(), ProtocolOptions(max_depth=4)),
    ("DEL-006", [started(depth=1)], ProtocolOptions(command_depth=1), ProtocolOptions()),
    ("DEL-006", [started(depth=2)], ProtocolOptions(), ProtocolOptions(command_depth=1)),
    (
        "DEL-012",
        [started(DAY_ID)],
        ProtocolOptions(session_id_form=IdForm.EPOCH),
        ProtocolOptions(session_id_form=IdForm.DAY),
    ),
    (
        "DEL-012",
        [started(EPOCH_ID)],
        ProtocolOptions(session_id_form=IdForm.DAY),
        ProtocolOptions(session_id_form=IdForm.EPOCH),
    ),
    ("DEL-012", [started(DAY_ID)], ProtocolOptions(session_id_random=8), ProtocolOptions(session_id_random=6)),
    ("RET-003", returned(), ProtocolOptions(), ProtocolOptions(metadata=())),
    (
        "RET-005",
        BESIDE,
        ProtocolOptions(session_id_place=SessionIdPlace.METADATA),
        ProtocolOptions(session_id_place=SessionIdPlace.BESIDE),
    ),
    (
        "RET-005",
        returned(),
        ProtocolOptions(session_id_place=SessionIdPlace.BESIDE),
        ProtocolOptions(session_id_place=SessionIdPlace.METADATA),
    ),
    ("RET-008", returned(depth=1, path=NAMES[:3]), ProtocolOptions(command_depth=1), ProtocolOptions()),
    ("RET-010", returned(summary="One."), ProtocolOptions(), ProtocolOptions(summary_sentences_min=1)),
    (
        "RET-010",
        returned(summary="One. Two. Three. Four. Five. Six."),
        ProtocolOptions(),
        ProtocolOptions(summary_sentences_max=9),
    ),
    ("RET-011", returned(summary="x" * 401), ProtocolOptions(), ProtocolOptions(summary_tokens=101)),
    ("RET-011", returned(summary="x" * 400), ProtocolOptions(summary_tokens=99), ProtocolOptions()),
    (
        "RET-011",
        returned(summary="x" * 600),
        ProtocolOptions(),
        ProtocolOptions(summary_tokens=150, summary_characters=600),
    ),
    (
        "RET-020",
        returned(artifacts=(Artifact("a.md", "review"),)),
        ProtocolOptions(),
        ProtocolOptions(artifact_types=("review",)),
    ),
    ("RET-030", returned(status="blocked"), ProtocolOptions(), ProtocolOptions(errors_required=False)),
    ("RET-032", returned(errors=(BUILD_ERROR,)), ProtocolOptions(), ProtocolOptions(error_types=("build_error",))),
]


@pytest.mark.parametrize(("rule", "events", "finds", "lets_pass"), CHOICES)
def test_a_setting_decides(rule: str, events: list[Event], finds: ProtocolOptions, lets_pass: ProtocolOptions) -> None:
    assert judged(events, finds, rule)
    assert not judged(events, lets_pass, rule)


@pytest.mark.parametrize(
    ("rule", "events", "claims"),
    [
        ("DEL-004", deep(4), ("levels end at 3", "check already refuses 3")),
        ("DEL-005", deep(3), ("levels end at 3", "check already refuses 3")),
        ("RET-003", returned(), ("return format standard requires", "structure standard does not")),
        ("RET-005", returned(session_id=None), ("(return format standard)", "(structure standard)")),
        ("RET-010", returned(summary="One."), ("asks for 2 to 5", "structure standard's example has one")),
        ("RET-011", returned(summary="x" * 450), ("100 tokens", "delegation guide lets pass up to 500")),
        ("RET-020", returned(artifacts=(Artifact("a", "review"),)), ("the structure standard", "not of the return")),
        ("RET-030", returned(status="failed"), ("return format standard requires", "structure standard does not")),
        ("RET-032", returned(errors=(BUILD_ERROR,)), ("the delegation guide uses", 'standard would say "execution"')),
    ],
)
def test_the_message_has_both_claims(rule: str, events: list[Event], claims: tuple[str, str]) -> None:
    (finding,) = judged(events, ProtocolOptions(), rule)
    assert all(claim in finding.message for claim in claims), finding.message


def test_a_reading_that_was_set_is_named_in_the_message() -> None:
    (finding,) = judged(deep(3), ProtocolOptions(max_depth=2), "DEL-004")
    assert finding.message.endswith("(protocol.max_depth = 2).")
    (finding,) = judged(deep(4), ProtocolOptions(), "DEL-004")
    assert "protocol." not in finding.message


def test_either_place_is_taken_unless_one_is_asked_for() -> None:
    for events in (BESIDE, BOTH, returned()):
        assert not judged(events, ProtocolOptions(), "RET-005")
    for place in SessionIdPlace:
        assert not judged(BOTH, ProtocolOptions(session_id_place=place), "RET-005")


def test_two_session_ids_in_one_return_are_an_error() -> None:
    (finding,) = judged(returned(beside="sess_20260203_other1"), ProtocolOptions(), "RET-005")
    assert "names two sessions" in finding.message
    assert finding.severity == "error"


def test_a_setting_reaches_check_tree_and_lint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    record = {"event": "register", "at": "2026-02-03T09:00:00Z", "session_id": DAY_ID, "subagent": "b", "timeout": 60}
    record |= {"delegation_depth": 2, "delegation_path": list(NAMES[:4])}
    Path("run.jsonl").write_text(json.dumps(record) + "\n")
    Path("agent.md").write_text("---\nname: agent\nmode: subagent\ndelegation:\n  max_depth: 2\n---\n")
    at = ("--at", "2026-02-03T09:00:30Z")

    def told(*command: str) -> str:
        main(list(command))
        return capsys.readouterr().out

    commands = (
        ("check", "run.jsonl", *at, "--rule", "DEL-004"),
        ("tree", "run.jsonl", *at, "--json"),
        ("lint", "agent.md", "--rule", "AGT-015"),
    )
    assert not [command for command in commands if "protocol.max_depth" in told(*command)]
    Path("delegtop.toml").write_text("[protocol]\nmax_depth = 1\n")
    assert [command for command in commands if "protocol.max_depth = 1" in told(*command)] == list(commands)
