"""Dollars wherever a user meets them: told as they are, estimated with a `~`, and nothing where nobody knows."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from delegtop.cli import main
from delegtop.cli.exit_codes import Exit

SESSION, CALL, AGENT = "0c4f3f0e-1111-4222-8333-444455556666", "toolu_1", "a1b2c3d"
MILLION = 1_000_000


def record(second: int, kind: str, content: Any, message: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    role = {"role": kind, "content": content} | (message or {})
    time = f"2026-11-01T09:00:{second:02d}.000Z"
    return {
        "type": kind,
        "sessionId": SESSION,
        "cwd": "/w",
        "timestamp": time,
        "uuid": f"u{second}",
        "message": role,
    } | more


def used(id: str, model: str, **usage: int) -> dict[str, Any]:
    return {"id": id, "model": model, "usage": usage}


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """A session that used a million tokens of input, and its agent, which used a million of output."""
    project = tmp_path / "projects" / "-w"
    below = project / SESSION / "subagents"
    below.mkdir(parents=True)
    task = {"type": "tool_use", "id": CALL, "name": "Task", "input": {"description": "d", "prompt": "p"}}
    result = [{"type": "tool_result", "tool_use_id": CALL, "content": [{"type": "text", "text": "ok"}]}]
    trunk = [
        record(0, "user", "go"),
        record(1, "assistant", [task], used("m1", "claude-opus-4-6", input_tokens=MILLION)),
        record(9, "user", result, toolUseResult={"status": "completed", "agentId": AGENT, "content": []}),
    ]
    child = [
        record(2, "user", "p", isSidechain=True, agentId=AGENT),
        record(3, "assistant", "ok", used("m2", "claude-haiku-4-5-20251001", output_tokens=MILLION), agentId=AGENT),
    ]
    write(project / f"{SESSION}.jsonl", trunk)
    write(below / f"agent-{AGENT}.jsonl", child)
    return tmp_path


def write(path: Path, records: list[dict[str, Any]]) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.writelines(f"{json.dumps(each)}\n" for each in records)


def tell(logs: Path, dollars: float) -> None:
    """Let the session tell what it cost with all its agents."""
    told = {"type": "cost-state", "totalCostUSD": dollars, "sessionId": SESSION}
    write(logs / "projects" / "-w" / f"{SESSION}.jsonl", [told])


def printed(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert main([str(each) for each in arguments]) in (Exit.OK, 1)
    return capsys.readouterr().out


def costs(text: str) -> list[str]:
    return re.findall(r"~?\$[0-9.,]+", text)


def test_the_tree_has_a_column_that_says_what_is_estimated(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert costs(printed(capsys, "tree", logs, "--columns", "cost")) == ["~$5.00", "~$5.00"]
    tell(logs, 10.5)
    assert costs(printed(capsys, "tree", logs, "--columns", "cost")) == ["$10.50", "~$5.00"]


def test_the_document_has_the_dollars_whether_they_are_told_and_what_was_used(
    logs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    top, agent = json.loads(printed(capsys, "tree", logs, "--json"))["delegations"]
    assert (top["cost"], top["cost_estimated"], top["subtree_cost"], top["subtree_cost_estimated"]) == (
        5,
        True,
        10,
        True,
    )
    assert [(each["model"], each["output"]) for each in agent["usage"]] == [("claude-haiku-4-5-20251001", MILLION)]
    tell(logs, 10.5)
    top, agent = json.loads(printed(capsys, "tree", logs, "--json"))["delegations"]
    assert (top["cost"], top["cost_estimated"], top["subtree_cost"], top["subtree_cost_estimated"]) == (
        10.5, False, 10.5, False,
    )  # fmt: skip
    assert (agent["cost"], agent["cost_estimated"]) == (5, True)


def test_ones_own_prices_go_before_the_list_and_a_model_without_one_has_none(
    logs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DELEGTOP_PRICES", "claude-opus-*=1/1")
    assert costs(printed(capsys, "tree", logs, "--columns", "cost")) == ["~$1.00", "~$5.00"]
    path = logs / "projects" / "-w" / f"{SESSION}.jsonl"
    path.write_text(path.read_text("utf-8").replace("claude-opus-4-6", "claude-opus-99"), "utf-8")
    monkeypatch.delenv("DELEGTOP_PRICES")
    assert costs(printed(capsys, "tree", logs, "--columns", "cost")) == ["~$5.00"]


@pytest.mark.parametrize(
    ("query", "count"), [("cost:>4.5", 2), ("cost>5", 0), ("cost>=5", 2), ("cost:5", 2), ("cost<5", 0)]
)
def test_one_filters_by_dollars(query: str, count: int, logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(costs(printed(capsys, "tree", logs, "--columns", "cost", "--filter", query))) == count


def test_one_sorts_by_dollars_told_or_estimated(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(logs / "projects" / "-w" / "s2.jsonl", [
        record(0, "user", "other", sessionId="s2"),
        record(1, "assistant", "ok", used("m9", "claude-opus-4-6", input_tokens=3 * MILLION), sessionId="s2"),
    ])  # fmt: skip
    assert costs(printed(capsys, "tree", logs, "--columns", "cost", "--sort", "cost"))[0] == "~$15.00"
    tell(logs, 20)
    assert costs(printed(capsys, "tree", logs, "--columns", "cost", "--sort", "cost"))[0] == "$20.00"


def test_the_rows_of_the_statistics_add_up_to_what_was_told(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tell(logs, 12)
    stats = json.loads(printed(capsys, "stats", logs, "--json"))
    assert sorted((agent["cost"], agent["cost_estimated"]) for agent in stats["agents"]) == [(5, True), (7, True)]
    assert [(each["model"], each["count"], each["cost"]) for each in stats["models"]] == [
        ("claude-haiku-4-5-20251001", 1, 5),
        ("claude-opus-4-6", 1, 5),
    ]
    text = printed(capsys, "stats", logs)
    assert sorted(costs(text)) == ["~$5.00", "~$5.00", "~$5.00", "~$7.00"]
    assert "CACHE READ" in text


def test_the_report_says_what_all_cost_and_each(logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for form in ("md", "html", "json"):
        printed(capsys, "report", logs, "-o", tmp_path / f"r.{form}")
    told = json.loads((tmp_path / "r.json").read_text("utf-8"))
    assert (told["cost"], told["cost_estimated"], [node["cost"] for node in told["tree"]]) == (10, True, [5, 5])
    assert "~$10.00" in (tmp_path / "r.html").read_text("utf-8")
    assert r"\~\$10.00 (\~ by list prices where no log tells dollars)" in (tmp_path / "r.md").read_text("utf-8")


def test_told_and_estimated_dollars_are_two_metrics_that_may_be_added(
    logs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def sums() -> list[float]:
        text = printed(capsys, "metrics", logs)
        return [sum(map(float, re.findall(rf"^delegtop_{name}{{.*}} (\S+)$", text, re.MULTILINE))) for name in names]

    names = ("cost_dollars", "estimated_cost_dollars")
    assert sums() == [0, 10]
    tell(logs, 12)
    assert sums() == [12, 0]


@pytest.mark.parametrize("absurd", [1 << 63, 10**38, -(1 << 70)])
def test_numbers_beyond_belief_stop_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str], absurd: int) -> None:
    log = tmp_path / f"{SESSION}.jsonl"
    usage = {"input_tokens": absurd, "output_tokens": 7, "cache_creation_input_tokens": absurd}
    said = record(1, "assistant", [{"type": "text", "text": "x"}], used("m", "claude-opus-5", **usage))
    log.write_text("\n".join(json.dumps(each) for each in (record(0, "user", "go"), said)) + "\n", "utf-8")
    assert main(["tree", str(log), "--json", "--at", "2026-11-01T09:01:00Z"]) == Exit.OK
    (found,) = json.loads(capsys.readouterr().out)["delegations"]
    assert found["tokens"] == 7


def test_sums_that_no_column_holds_stop_nothing_either(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / f"{SESSION}.jsonl"
    content = [{"type": "text", "text": "x"}]
    most = 10**15 - 1
    lines = [json.dumps(record(0, "user", "go"))]
    lines += [
        json.dumps(
            record(1, "assistant", content, used(f"m{n}", "claude-opus-5", input_tokens=most, output_tokens=most))
        )
        for n in range(5000)
    ]
    log.write_text("\n".join(lines) + "\n", "utf-8")
    assert main(["tree", str(log), "--json", "--at", "2026-11-01T09:01:00Z"]) == Exit.OK
    (found,) = json.loads(capsys.readouterr().out)["delegations"]
    assert found["tokens"] == 1 << 62


def test_more_prices_than_there_are_kinds_of_tokens_are_an_error_and_not_left_out(
    logs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DELEGTOP_PRICES", "claude-*=1/2/3/4/5/6")
    assert main(["tree", str(logs)]) == Exit.USAGE
    assert "it should have 5 prices at most" in capsys.readouterr().err
