"""Records and registries of any shape end as delegations, deviations or unreadable lines; never as a crash."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from tests import judging
from tests.samples import observed

from delegtop.base.clock import FrozenClock, Millis, parse_time
from delegtop.report import tree_json, tree_text

NOW = parse_time("2026-03-03T11:00:00Z") or Millis(0)
ODD: list[Any] = [
    *(None, True, 0, -1, 10**18, 10**30, -(10**30), 1e308, 1.5, float("nan")),
    *("", "\ud800", "\x1b]52;c;x\x07", "2026-03-03T10:00:00Z", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z"),
    *("sess_1_a", "a" * 5000, "2026-03-03T10:00:00", [], {}, [[]], [{}], [None], ["orchestrator", "x"], ["a"] * 200),
]
RECORD = [
    "parent_session_id",
    "command",
    "subagent",
    "caller",
    "task_number",
    "task_context",
    "timeout",
    "deadline",
    "delegation_depth",
    "delegation_path",
    "pid",
    "host",
    "activity",
    "tool",
    "tokens",
    "cost",
    "return",
    "artifacts",
    "error",
    "reason",
    "schema_version",
]
RETURN = [
    "status",
    "summary",
    "artifacts",
    "errors",
    "metadata",
    "next_steps",
    "type",
    "message",
    "code",
    "recoverable",
    "recommendation",
    "path",
    "session_id",
    "duration_seconds",
    "delegation_depth",
    "delegation_path",
]
ENTRY = [
    "command",
    "subagent",
    "task_number",
    "start_time",
    "timeout",
    "deadline",
    "status",
    "delegation_depth",
    "delegation_path",
    "return",
]


class Chaos:
    """Values nobody would write on purpose."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def value(self, level: int = 0) -> Any:
        chance = self.random.random()
        if level < 3 and chance < 0.25:
            return {key: self.value(level + 1) for key in self.random.sample(RETURN, self.random.randint(0, 5))}
        if level < 3 and chance < 0.4:
            return [self.value(level + 1) for _ in range(self.random.randint(0, 4))]
        return self.random.choice(ODD)

    def record(self) -> dict[str, Any]:
        record = {key: self.value() for key in self.random.sample(RECORD, self.random.randint(1, 10))}
        likely = {
            "event": self.random.choice(["register", "heartbeat", "return", "timeout", "error", "cancel"]),
            "session_id": f"sess_1766743200_abc{self.random.randint(100, 110)}",
            "at": f"2026-03-03T10:{self.random.randint(0, 59):02d}:00Z",
        }
        return record | {key: value if self.random.random() < 0.8 else self.value() for key, value in likely.items()}

    def registry(self) -> dict[str, Any]:
        return {f"sess_1766743200_abc{n}": {key: self.value() for key in ENTRY} for n in range(100, 120)}


@pytest.mark.parametrize("seed", range(6))
def test_whatever_is_in_a_log_or_a_registry_can_be_read_and_shown(seed: int, tmp_path: Path) -> None:
    chaos = Chaos(seed)
    log, registry = tmp_path / "session.jsonl", tmp_path / "registry.json"
    healthy = {"event": "register", "at": "2026-03-03T10:00:00Z", "session_id": "sess_1766743200_abc123"}
    lines = [healthy, *(chaos.record() for _ in range(200))]
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    registry.write_text(json.dumps(chaos.registry()))
    seen = observed(log, registry, clock=FrozenClock(NOW))
    seen.read()
    feed, forest = seen.feed, seen.forest
    for moment in (NOW, Millis(0), Millis(10**15), NOW):
        forest.advance(moment)
        printed = "\n".join(tree_text.tree(forest, feed.statuses()))
        assert "\x1b" not in printed
        document = json.loads("\n".join(tree_json.tree(forest, feed.statuses())))
        assert len(document["delegations"]) == len(forest)
        findings = judging.all_found(forest, lambda _path: False)
        assert all(finding.message and finding.subject for finding in findings)
    for handle in forest.walk():
        feed.history(forest.delegation(handle))
    statuses = {Path(status.path).name: status for status in feed.statuses()}
    seen.close()
    assert statuses["session.jsonl"].records == len(lines)
    assert not any("the format failed" in reason for status in statuses.values() for reason in status.reasons)
