"""What is usual on this machine: learned from its history, kept in a file, judged by while delegations run."""

import json
import os
import time
from pathlib import Path

import pytest
from tests.bench.make_history import make_history
from tests.patience import until
from tests.telling import forest_at

from delegtop import learned_durations
from delegtop.app.history_learning import Learning
from delegtop.app.state.board import Board
from delegtop.base.clock import HOUR, MINUTE, FrozenClock, Millis, WallClock
from delegtop.base.origin import Origin
from delegtop.cli import main
from delegtop.cli.exit_codes import Exit
from delegtop.model.delegation import Basis
from delegtop.model.events import Ended, Ending, Event, Outcome, Started
from delegtop.model.forest import Forest
from delegtop.model.normal_durations import normal
from delegtop.model.policy import Policy
from delegtop.settings import Settings

NOW = Millis(1_766_743_200_000)
HERE = Origin("session.jsonl", 1, 0)
EXPLORER = ("claude-code", "explorer")


def started(id: str, at: int = NOW - 5 * MINUTE) -> Started:
    return Started(id, Millis(at), HERE, agent="explorer", product="claude-code")


def finished(number: int, took: int) -> list[Event]:
    id, at = f"done-{number}", NOW - 10 * HOUR
    return [started(id, at), Ended(id, Millis(at + took), HERE, Outcome.COMPLETED, Ending.RETURN)]


def forest_of(*events: Event, history: tuple[int, int] | None = None) -> Forest:
    return forest_at(NOW, events, Policy(usual={EXPLORER: (Millis(history[0]), history[1])} if history else {}))


def note(forest: Forest) -> str | None:
    deadline = forest.deadline(forest.find("now") or 0)
    assert deadline is None or deadline.basis is Basis.USUAL
    return None if deadline is None else f"{deadline.at - NOW + 5 * MINUTE} {deadline.note}"


def test_the_history_gives_a_countdown_where_the_sessions_in_view_are_too_few() -> None:
    assert note(forest_of(*finished(1, MINUTE), started("now"))) is None
    told = note(forest_of(*finished(1, MINUTE), started("now"), history=(3 * MINUTE, 57)))
    assert told == f"{3 * MINUTE} usual for explorer: 95 % of 57 on this machine"


@pytest.mark.parametrize(
    ("known", "told"),
    [
        (9, f"{8 * MINUTE} usual for explorer: 95 % of 10"),
        (11, f"{3 * MINUTE} usual for explorer: 95 % of 11 on this machine"),
    ],
)
def test_whoever_knows_more_of_them_says_what_is_usual(known: int, told: str) -> None:
    ten = [event for number in range(10) for event in finished(number, 8 * MINUTE)]
    assert note(forest_of(*ten, started("now"), history=(3 * MINUTE, known))) == told


def test_what_is_learned_while_delegations_run_counts_at_once() -> None:
    forest = forest_of(started("now"))
    assert note(forest) is None
    forest.reconsider({EXPLORER: (Millis(3 * MINUTE), 57)})
    forest.advance(NOW)
    assert note(forest) == f"{3 * MINUTE} usual for explorer: 95 % of 57 on this machine"


def test_what_is_kept_comes_back_as_it_was() -> None:
    known = {EXPLORER: (Millis(3 * MINUTE), 57), ("codex", "worker"): (Millis(HOUR), 8)}
    calls = {("codex", "model"): (1, 0, 20), ("codex", "exec_command: git"): (30,)}
    learned_durations.place().parent.mkdir(parents=True)
    learned_durations.place().write_bytes(learned_durations.dump(known, calls, NOW))
    assert learned_durations.load().usual() == known
    assert learned_durations.load().counts() == calls
    assert not learned_durations.load().is_stale(NOW)
    assert learned_durations.load().is_stale(Millis(NOW + learned_durations.STALE))
    assert learned_durations.load().is_stale(Millis(NOW - MINUTE)), "a file from the future is learned again"


def test_a_file_of_before_says_what_it_knows_and_is_soon_replaced() -> None:
    agents = [{"product": "claude-code", "agent": "explorer", "milliseconds": 180_000, "count": 57}]
    learned_durations.place().parent.mkdir(parents=True)
    learned_durations.place().write_text(json.dumps({"schema_version": 1, "learned_at": NOW, "agents": agents}))
    assert learned_durations.load().usual() == {EXPLORER: (Millis(180_000), 57)}
    assert learned_durations.load().counts() == {}
    assert learned_durations.load().is_stale(NOW)


@pytest.mark.parametrize(
    "found",
    [
        b"",
        b"[",
        b"[" * 100_000,
        b"\xff\xfe",
        b'{"schema_version": 3}',
        b'{"schema_version": 2, "durations": [{"product": "p", "name": "n", "counts": [-1]}]}',
        b'{"agents": [{"product": "claude-code"}]}',
        b'{"agents": [{"product": "p", "agent": "a", "milliseconds": "1", "count": 1}]}',
    ],
)
def test_a_file_that_is_not_ours_says_nothing(found: bytes) -> None:
    learned_durations.place().parent.mkdir(parents=True)
    learned_durations.place().write_bytes(found)
    assert learned_durations.load().usual() == {}
    assert learned_durations.load().is_stale(NOW)


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine on which three sessions ran some days ago, seen from a folder that holds nothing."""
    make_history(tmp_path / "claude", 3, 5_000, WallClock().now())
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path


@pytest.mark.parametrize(
    "damaged",
    [
        {"durations": [{"product": "claude-code", "name": "Bash", "counts": [1] * 5_000}]},
        {"durations": [{"product": "claude-code", "name": "Bash", "counts": [10**400] * 70}]},
        {"agents": [{"product": "claude-code", "agent": "explorer", "milliseconds": -(10**15), "count": 50}]},
        {"agents": [{"product": "claude-code", "agent": "explorer", "milliseconds": 10**30, "count": 50}]},
        {"agents": [{"product": "claude-code", "agent": "explorer", "milliseconds": 1, "count": -50}]},
    ],
)
def test_a_file_with_numbers_that_nobody_can_have_learned_says_nothing(damaged: dict[str, object]) -> None:
    learned_durations.place().parent.mkdir(parents=True)
    learned_durations.place().write_text(json.dumps({"schema_version": 2, "learned_at": NOW} | damaged))
    known = learned_durations.load()
    assert (known.usual(), known.counts()) == ({}, {})
    assert normal("claude-code", ("tool", "Bash"), known.counts()).rare_after > 0


@pytest.mark.usefixtures("home")
def test_learn_keeps_how_long_each_kind_took_in_a_private_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["learn"]) == Exit.OK
    told = capsys.readouterr().out.splitlines()
    assert told[1:] == ["explorer (claude-code): 95 % of 9 within 3:20", f"kept in {learned_durations.place()}"]
    assert learned_durations.place().stat().st_mode & 0o777 == 0o600
    assert learned_durations.load().usual() == {EXPLORER: (Millis(200_100), 9)}


@pytest.mark.usefixtures("home")
def test_learn_reads_no_further_back_than_it_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["learn", "--since", "1d", "--quiet"]) == Exit.OK
    assert capsys.readouterr().out == ""
    assert learned_durations.load().usual() == {}


def test_learn_on_a_machine_without_agents_says_so_and_keeps_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["learn"]) == Exit.OK
    assert "no logs of agents are found on this machine" in capsys.readouterr().err
    assert not learned_durations.place().exists()


def deadline_in_tree(home: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> object:
    """The deadline of an agent that is at work since a minute ago."""
    session = "0000abcd-0000-4000-8000-00000000abcd"
    at = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(time.time() - 60))
    common = {"sessionId": session, "timestamp": at, "version": "2.1.0", "cwd": "/srv", "isSidechain": False}
    given = {"description": "look", "prompt": "look", "subagent_type": "explorer"}
    call = {"type": "tool_use", "id": "toolu_now", "name": "Agent", "input": given}
    lines = [
        {**common, "type": "user", "uuid": "1", "message": {"role": "user", "content": "go"}},
        {**common, "type": "assistant", "uuid": "2", "message": {"role": "assistant", "content": [call]}},
    ]
    path = home / "claude" / "projects" / "-srv" / f"{session}.jsonl"
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert main(["tree", "--json", *arguments]) == Exit.OK
    found = json.loads(capsys.readouterr().out)["delegations"]
    (agent,) = [each for each in found if each["agent"] == "explorer" and each["state"] != "completed"]
    return agent["deadline"]


def test_commands_without_a_source_judge_by_what_was_learned(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["learn", "--quiet"]) == Exit.OK
    assert deadline_in_tree(home, capsys) is not None


def test_named_sources_are_judged_by_themselves(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["learn", "--quiet"]) == Exit.OK
    assert deadline_in_tree(home, capsys, str(home / "claude" / "projects" / "-srv")) is None


def test_nothing_is_learned_where_the_settings_say_so(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["learn", "--quiet"]) == Exit.OK
    monkeypatch.setenv("DELEGTOP_LEARN", "false")
    assert deadline_in_tree(home, capsys) is None


@pytest.mark.usefixtures("home")
def test_the_dashboard_learns_in_a_process_of_its_own_once_it_has_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "delegtop.app.state.background_command._LAST", 0
    )  # on a busy machine it would never have its turn
    board = Board(Settings(), WallClock())
    learning = Learning(board, patience=0)
    learning.second()
    assert learning._process is None, "what is being read comes first"
    board.loaded()
    learning.second()

    def has_learned() -> bool:
        learning.second()
        return learning._process is None

    until(has_learned)
    assert board.forest.policy.usual == {EXPLORER: (Millis(200_100), 9)}
    learning.second()
    assert learning._process is None, "what was learned is good for a day"


@pytest.mark.usefixtures("home")
def test_who_learns_is_stopped_with_the_dashboard() -> None:
    board = Board(Settings(), FrozenClock(NOW))
    board.loaded()
    learning = Learning(board, patience=0)
    learning.second()
    process = learning._process
    assert process is not None
    until(lambda: os.getpriority(os.PRIO_PROCESS, process.pid) == 19, "letting everybody else go first")
    learning.close()
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)
