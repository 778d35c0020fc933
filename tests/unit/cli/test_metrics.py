"""The figures for Prometheus: complete, well formed whatever the logs say, and few in number."""

import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.patience import until
from tests.telling import T0, at, ended, forest_at, place, started

from delegtop.base.clock import MINUTE
from delegtop.cli import main
from delegtop.cli.exit_codes import Exit
from delegtop.cli.metrics import write
from delegtop.diagnosis.verdicts import Kind
from delegtop.feed.followed_file import SourceStatus
from delegtop.feed.host_states import HostState, HostStatus
from delegtop.model.events import Event, Heard, Outcome, Phase
from delegtop.model.forest import Forest
from delegtop.model.states import State
from delegtop.report.prometheus import OTHER, escaped, lines

_LABEL = r'[a-z]+="(?:[^"\\\n]|\\\\|\\"|\\n)*"'
SAMPLE = re.compile(rf"delegtop_[a-z_]+(?:\{{{_LABEL}(?:,{_LABEL})*\}})? -?[0-9.e+-]+")
HOSTILE = 'a"} 1\ndelegtop_evil{x="\\\x1b[31m\u202e\ud800'


def figures(*events: Event, minute: float = 30, sources: tuple[SourceStatus, ...] = (), **how: Any) -> dict[str, float]:
    """Every sample by its name and labels, each once."""
    forest = forest_at(at(minute), events)
    found: dict[str, float] = {}
    for line in lines(forest, sources, **how):
        if line.startswith("#"):
            continue
        assert SAMPLE.fullmatch(line), line
        name, _, value = line.rpartition(" ")
        assert name not in found, "a series stands there twice"
        found[name.removeprefix("delegtop_")] = float(value)
    return found


def test_delegations_are_counted_by_state_and_those_that_are_not_there_are_0() -> None:
    found = figures(started("a"), started("b"), ended("b", 1, Outcome.FAILED), minute=1)
    assert found['delegations{state="failed"}'] == 1
    assert found['delegations{state="running"}'] == 1
    assert sum(name.startswith("delegations{") for name in found) == len(State)
    assert found['agent_delegations{agent="worker",product="codex",state="failed"}'] == 1


def test_verdicts_are_counted_by_kind() -> None:
    asks = Heard("a", at(1), place(), tool="Bash", phase=Phase.PERMISSION)
    found = figures(started("a"), asks, minute=2)
    assert found['verdicts{verdict="awaiting a permission"}'] == 1
    assert sum(name.startswith("verdicts{") for name in found) == len(Kind)


def test_ages_and_silences_are_those_of_the_oldest_open_one() -> None:
    found = figures(
        started("old", 0), started("new", 9), Heard("old", at(6), place()), started("x", -60), ended("x", 0), minute=10
    )
    labels = '{agent="worker",product="codex"}'
    assert found[f"oldest_open_age_seconds{labels}"] == 600
    assert found[f"oldest_silence_seconds{labels}"] == 240


def test_missed_deadlines_are_those_of_the_late_the_open_and_the_timed_out() -> None:
    limit = {"timeout": 10 * MINUTE}
    found = figures(
        started("open", **limit),
        started("late", **limit),
        ended("late", 12),
        started("gave up", **limit),
        ended("gave up", 9.9, Outcome.TIMEOUT),
        started("in time", **limit),
        ended("in time", 9),
        minute=15,
    )
    assert found['deadlines_missed{basis="timeout"}'] == 3
    assert found['deadlines_missed{basis="deadline"}'] == 0


def test_tokens_and_cost_are_summed_where_the_logs_tell_them() -> None:
    used = [Heard(id, at(1), place(), tokens=100, cost=0.25) for id in ("a", "b")]
    found = figures(started("a"), started("b"), started("c", agent="silent"), *used)
    assert found['tokens{agent="worker",product="codex"}'] == 200
    assert found['cost_dollars{agent="worker",product="codex"}'] == 0.5
    assert 'tokens{agent="silent",product="codex"}' not in found


def test_sources_are_counted_by_format_and_status_and_never_named() -> None:
    sources = (
        SourceStatus("/secret/place.jsonl", "codex", 10, 2, "live", deviations=1),
        SourceStatus("/secret/other.jsonl", "codex", 5, 1, "live"),
        SourceStatus("/secret/third", None, 0, 0, "missing"),
    )
    found = figures(sources=sources)
    assert found['sources{format="codex",status="live"}'] == 2
    assert found['sources{format="none",status="missing"}'] == 1
    assert found['unreadable_records{format="codex"}'] == 3
    assert found['records{format="codex"}'] == 15
    assert not any("secret" in name for name in found)


def test_hostile_names_stay_within_their_label() -> None:
    found = figures(started("a", agent=HOSTILE, product=HOSTILE))
    assert not any(name.startswith("evil") for name in found)
    assert all(name.isprintable() for name in found)


@pytest.mark.parametrize(
    ("value", "expected"), [('say "hi"', 'say \\"hi\\"'), ("a\\b", "a\\\\b"), ("a\nb", "a␊b"), ("\x1b[2J", "␛[2J")]
)
def test_labels_are_escaped_as_the_format_wants_it(value: str, expected: str) -> None:
    assert escaped(value) == expected


def test_rare_agents_are_counted_as_other() -> None:
    many = [started(f"s{number}", agent=f"agent-{number}") for number in range(100)]
    found = figures(*many, started("one more", agent="agent-0"), agents=5)
    agents = {name for name in found if name.startswith("agent_delegations")}
    assert len(agents) == 6
    assert found[f'agent_delegations{{agent="{OTHER}",product="{OTHER}",state="silent"}}'] == 95
    assert found['agent_delegations{agent="agent-0",product="codex",state="silent"}'] == 2


def test_ids_are_never_labels() -> None:
    told = "".join(figures(started("sess_20260101_abc123", agent=None), started("sess_20260101_def456", agent=None)))
    assert "sess_" not in told
    assert 'agent="unknown"' in told


def test_every_metric_has_its_help_and_type_before_its_samples() -> None:
    forest = Forest()
    forest.advance(T0)
    kinds: list[str] = []
    for line in lines(forest, ()):
        if line.startswith("# HELP"):
            kinds.append(line.split()[2])
            assert line.endswith(".")
        elif line.startswith("# TYPE"):
            assert line == f"# TYPE {kinds[-1]} gauge"
        else:
            assert re.match(r"[a-z_]+", line)[0] == kinds[-1]  # type: ignore[index]  # a line without a name may fail
    assert len(kinds) == len(set(kinds))


def test_the_page_names_every_metric(project: Path) -> None:
    forest = Forest()
    forest.advance(T0)
    there = HostStatus("gpu1", HostState.LIVE, "gpu1: live", T0)
    names = {line.split()[2] for line in lines(forest, (), hosts=[there]) if line.startswith("# HELP")}
    page = (project / "docs" / "metrics.md").read_text("utf-8")
    assert set(re.findall(r"^\| `(delegtop_\w+)`", page, re.MULTILINE)) == names


class TestCommand:
    @pytest.fixture(autouse=True)
    def _log(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        record = {"event": "register", "at": "2026-01-01T10:00:00Z", "session_id": "sess_1", "subagent": "planner"}
        Path("run.jsonl").write_text(json.dumps(record) + "\n")

    def test_it_prints_once(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["metrics", "run.jsonl", "--at", "2026-01-01T10:01:00Z"]) == Exit.OK
        assert 'delegtop_delegations{state="running"} 1\n' in capsys.readouterr().out

    def test_a_source_that_is_missing_is_exit_4(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["metrics", "nowhere.jsonl"]) == Exit.UNREADABLE
        assert 'delegtop_sources{format="none",status="missing"} 1' in capsys.readouterr().out

    def test_a_file_is_replaced_whole_and_others_may_read_it(self) -> None:
        target = Path("out.prom")
        target.write_text("old")
        assert main(["metrics", "run.jsonl", "-o", "out.prom"]) == Exit.OK
        assert target.read_text().startswith("# HELP delegtop_")
        assert stat.S_IMODE(target.stat().st_mode) & 0o044
        assert sorted(path.name for path in Path().iterdir()) == ["out.prom", "run.jsonl"]

    def test_a_link_that_somebody_left_beside_it_leads_nowhere(self) -> None:
        other = Path("precious")
        other.write_text("mine")
        Path(f".out.prom.{os.getpid()}.tmp").symlink_to(other)
        assert main(["metrics", "run.jsonl", "-o", "out.prom"]) == Exit.OK
        assert other.read_text() == "mine"
        assert not Path("out.prom").is_symlink()

    def test_a_write_that_fails_leaves_the_old_file_and_no_rest(self) -> None:
        target = Path("out.prom")
        target.write_text("old")

        def failing() -> Any:
            yield "one line"
            raise OSError(28, "No space left on device")

        with pytest.raises(OSError, match="No space"):
            write(target, failing())
        assert target.read_text() == "old"
        assert sorted(path.name for path in Path().iterdir()) == ["out.prom", "run.jsonl"]

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["-o", "/nowhere/x.prom"], "/nowhere/x.prom: there is no folder /nowhere"),
            (["--every", "5"], "--every goes on writing to a file: give one with -o, and no --at"),
            (["--every", "0", "-o", "x"], "--every 0: that is no time above 0"),
        ],
    )
    def test_what_cannot_be_is_one_sentence(
        self, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["metrics", "run.jsonl", *arguments]) == Exit.USAGE
        assert capsys.readouterr().err.startswith(f"delegtop: {message}")

    def test_it_goes_on_writing_what_is_new(self) -> None:
        command = [sys.executable, "-m", "delegtop", "metrics", "run.jsonl", "-o", "out.prom", "--every", "0.2"]
        with subprocess.Popen(command) as process:
            try:
                _until('delegtop_delegations{state="failed"} 0')
                end = {"status": "failed", "summary": "no"}
                record = {"event": "return", "at": "2026-01-01T10:05:00Z", "session_id": "sess_1", "return": end}
                with Path("run.jsonl").open("a") as log:
                    log.write(json.dumps(record) + "\n")
                _until('delegtop_delegations{state="failed"} 1')
            finally:
                process.terminate()


def _until(line: str) -> None:
    until(lambda: Path("out.prom").exists() and line in Path("out.prom").read_text(), line)
