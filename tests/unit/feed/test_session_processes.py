"""Dead or alive: the process of a session is found as its program is known to run, and its absence is noticed."""

import os
import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests import stand_ins
from tests.patience import until
from tests.stand_ins import running

import delegtop
from delegtop.base.clock import DAY, SECOND, FrozenClock, Millis, WallClock
from delegtop.base.origin import Origin
from delegtop.cli import wait
from delegtop.feed import process_search, process_watch
from delegtop.feed.session_processes import SessionProcesses
from delegtop.kernel import process_table, writer_sight
from delegtop.kernel.program_process import ProgramProcess
from delegtop.model.events import LOCALHOST, Described, Ended, Heard, Noted, Phase, Started
from delegtop.model.notes import OUT_OF_SIGHT
from delegtop.model.states import State
from delegtop.observation.observation import Observation

pytestmark = pytest.mark.skipif(process_table.moment(0) is None, reason="this system does not show its processes")

Write = Callable[..., Path]

PROGRAMS: list[tuple[Write, tuple[str, ...]]] = [
    (stand_ins.claude, ("claude", "-p")),
    (stand_ins.codex, ("/opt/@openai/codex/vendor/codex", "exec")),
    (stand_ins.opencode, ("opencode", "run")),
    (stand_ins.qwen, ("qwen", "-y")),
    (stand_ins.gemini, ("gemini", "-p")),
    (stand_ins.copilot, ("/opt/@github/copilot-linux-x64/copilot", "-p")),
    (stand_ins.kimi, ("kimi-code",)),  # it gives itself that name, and hides its words
]
KEPT_OPEN = (stand_ins.codex, stand_ins.opencode)
every_program = pytest.mark.parametrize(("write", "words"), PROGRAMS, ids=[write.__name__ for write, _ in PROGRAMS])


@pytest.fixture(autouse=True)
def _looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_watch, "EVERY", 0.0)
    monkeypatch.setattr(process_search, "EVERY", 0.0)
    monkeypatch.setattr(process_search, "SELDOM", 0.0)
    monkeypatch.setattr(process_search, "hidden", lambda _log: "")  # wherever these tests run


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "proj"
    folder.mkdir()
    return folder


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def standing(seen: Observation) -> list[tuple[State, int | None]]:
    """The state and the process of each, parents first."""
    return [(seen.forest.state(each), seen.forest.delegation(each).pid) for each in seen.forest.walk()]


def looks_until(seen: Observation, holds: Callable[[], bool], what: str) -> None:
    """Look until it holds, whichever look shows it."""

    def look() -> bool:
        seen.look()
        return holds()

    until(look, what)


def look_at(log: Path) -> list[tuple[State, int | None]]:
    with delegtop.open(log) as seen:
        return standing(seen)


def comes_to(log: Path, *expected: tuple[State, int | None]) -> None:
    """What it stands at, if not at once: while a process of another test ends, nobody can say whose it was."""
    until(lambda: look_at(log) == list(expected), f"{expected}")


def at_work(write: Write, words: tuple[str, ...], home: Path, project: Path) -> tuple[Path, stand_ins.StandIn]:
    """A session of the program, and its process, which was there first."""
    if write in KEPT_OPEN:
        log = write(home, project)
        return log, stand_ins.StandIn(words, project, [log])
    process = stand_ins.StandIn(words, project)
    return write(home, project), process


@every_program
def test_the_process_of_a_session_at_work_is_found(
    write: Write, words: tuple[str, ...], home: Path, project: Path
) -> None:
    log, process = at_work(write, words, home, project)
    try:
        comes_to(log, (State.RUNNING, process.pid))
    finally:
        process.die()


@every_program
@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGTERM])
def test_whoever_looks_after_the_process_went_finds_the_session_lost(
    write: Write, words: tuple[str, ...], by: signal.Signals, home: Path, project: Path
) -> None:
    log, process = at_work(write, words, home, project)
    process.die(by)
    comes_to(log, (State.LOST, None))


@every_program
def test_whoever_watches_sees_the_process_go(write: Write, words: tuple[str, ...], home: Path, project: Path) -> None:
    log, process = at_work(write, words, home, project)
    with delegtop.open(log) as seen:
        assert standing(seen) == [(State.RUNNING, process.pid)]
        process.die()
        looks_until(seen, lambda: standing(seen) == [(State.LOST, process.pid)], "the loss")
        assert [note.kind for note in seen.forest.delegation(0).notes] == ["vanished"]
        (issue,) = seen.problems()
        assert "its process is gone" in issue.sentence


def test_the_origin_of_what_the_system_says_is_the_system(home: Path, project: Path) -> None:
    log = stand_ins.codex(home, project)
    with running("codex", folder=project, holds=[log]) as process, delegtop.open(log) as seen:
        facts = seen.forest.delegation(0)
        assert facts.host == "localhost"
        assert [str(origin) for origin in facts.origins if origin.is_kernel] == [f"kernel:{process.pid}"]
        assert "proc_start" in dict(facts.refs)
        assert facts.claims == ()


def test_a_session_whose_turn_is_over_is_idle_whatever_became_of_its_process(home: Path, project: Path) -> None:
    log = stand_ins.codex(home, project)
    stand_ins.codex_done(log)
    comes_to(log, (State.IDLE, None))


# -- what does not tell ----------------------------------------------------------------------------------------------


def test_a_log_of_a_folder_that_is_not_here_tells_nothing_of_this_machine(home: Path, project: Path) -> None:
    log = stand_ins.qwen(home, project / "elsewhere")
    assert look_at(log) == [(State.RUNNING, None)]


def test_a_log_that_does_not_lie_where_the_program_writes_tells_nothing(tmp_path: Path, project: Path) -> None:
    log = stand_ins.qwen(tmp_path, project)
    moved = log.rename(tmp_path / "collected.jsonl")
    assert look_at(moved) == [(State.RUNNING, None)]


def test_a_version_that_lists_no_processes_is_not_missed_in_the_list(home: Path, project: Path) -> None:
    assert look_at(stand_ins.claude(home, project, version="1.0.80")) == [(State.RUNNING, None)]
    (home / ".claude/sessions").rmdir()
    assert look_at(stand_ins.claude(home, project, version="2.1.325"))[0][0] is State.RUNNING


@pytest.mark.parametrize("version", ["2.1.119", "2.1.197", "2.1.326"])
def test_a_version_that_lists_its_processes_is_missed_in_the_list(version: str, home: Path, project: Path) -> None:
    comes_to(stand_ins.claude(home, project, version=version), (State.LOST, None))


def test_a_version_of_thousands_of_digits_is_a_version_like_any_other(home: Path, project: Path) -> None:
    comes_to(stand_ins.claude(home, project, version="9" * 5_000), (State.LOST, None))


def test_an_agent_of_which_no_time_is_known_did_not_work_in_a_process_before(home: Path, project: Path) -> None:
    with running("cline", "Do the work", folder=project) as process:
        log = stand_ins.cline(home, project)
        comes_to(log, (State.WAITING, process.pid), (State.RUNNING, None))


def test_a_server_that_its_program_leaves_behind_works_on_no_session(home: Path, project: Path) -> None:
    with running("cline", "--cline-hub-daemon", "--cwd", str(project), folder=project):
        comes_to(stand_ins.cline(home, project), (State.LOST, None), (State.LOST, None))


def test_where_other_machines_may_write_the_log_that_is_said_and_nothing_else(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_search, "hidden", lambda _log: "its log lies on a network")
    with delegtop.open(stand_ins.qwen(home, project)) as seen:
        assert standing(seen) == [(State.RUNNING, None)]
        assert [(note.kind, note.text) for note in seen.forest.delegation(0).notes] == [
            ("out of sight", "its log lies on a network")
        ]


@pytest.mark.parametrize(
    ("mounts", "namespace", "told"),
    [
        ("27 1 254:0 / / rw - ext4 /dev/vda rw", "pid:[4026531836]", ""),
        ("27 1 254:0 / / rw - overlay overlay rw", "pid:[4026532501]", ""),
        ("27 1 254:0 / / rw - ext4 a rw\n28 27 0:9 / /home rw - nfs4 srv:/home rw", "pid:[4026531836]", "nfs4"),
        ("27 1 254:0 / / rw - overlay a rw\n28 27 8:1 /x /home/ann rw - ext4 b rw", "pid:[4026532501]", "container"),
    ],
)
def test_who_writes_a_file_is_seen_unless_it_may_be_another_machine_or_the_host_of_a_container(
    mounts: str, namespace: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mountinfo").write_text(mounts + "\n")
    monkeypatch.setattr(writer_sight, "_MOUNTS", str(tmp_path / "mountinfo"))
    monkeypatch.setattr(writer_sight, "_sees_all", lambda: namespace == "pid:[4026531836]")
    assert told in writer_sight.elsewhere("/home/ann/.codex")
    assert bool(told) == bool(writer_sight.elsewhere("/home/ann/.codex"))


def test_nobody_asks_the_present_about_a_moment_of_the_past(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = stand_ins.qwen(home, project)
    now = WallClock().now()

    def never(_table: object) -> None:
        raise AssertionError("the processes of today were asked for")

    monkeypatch.setattr(process_table.ProcessTable, "__init__", never)
    with delegtop.open(log, at=now) as seen:
        assert standing(seen) == [(State.RUNNING, None)]
    with delegtop.replay(log) as seen:
        seen.seek(now)
        assert standing(seen) == [(State.RUNNING, None)]


# -- several of them -------------------------------------------------------------------------------------------------


def test_of_two_sessions_with_one_database_the_one_whose_folder_has_no_process_is_lost(
    home: Path, project: Path, tmp_path: Path
) -> None:
    log = stand_ins.opencode(home, project)
    other = tmp_path / "other"
    other.mkdir()
    with running("opencode", folder=project, holds=[log]) as process:
        stand_ins.opencode(home, other, id="ses_other")
        stand_ins.opencode(home, project)

        def is_told_apart() -> bool:  # at once, unless a server of another test may have it
            with delegtop.open(log) as seen:
                found = {seen.forest.id(each): seen.forest.state(each) for each in seen.forest.walk()}
            return found == {stand_ins.OPENCODE_ID: State.RUNNING, "ses_other": State.LOST}

        until(is_told_apart, "that the other is lost")
        with delegtop.open(log) as seen:
            assert seen.forest.delegation(seen.forest.find(stand_ins.OPENCODE_ID) or 0).pid == process.pid


@pytest.mark.parametrize("more", [("serve",), ("../proj",), ("--dir=../proj",)])
def test_a_process_elsewhere_may_serve_any_folder_or_be_told_which(
    more: tuple[str, ...], home: Path, project: Path, tmp_path: Path
) -> None:
    log = stand_ins.opencode(home, project)
    with running("opencode", *more, folder=tmp_path / "elsewhere", holds=[log]) as server:
        stand_ins.opencode(home, project)
        comes_to(log, (State.RUNNING, server.pid))


def test_two_processes_in_one_folder_may_each_be_the_one(home: Path, project: Path) -> None:
    with running("qwen", folder=project), running("qwen", folder=project):
        assert look_at(stand_ins.qwen(home, project)) == [(State.RUNNING, None)]


def test_once_one_of_two_that_may_be_its_own_is_gone_the_session_is_told_of_without_delay(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_search, "SELDOM", 600.0)
    with running("qwen", folder=project) as one, running("qwen", folder=project) as other:
        log = stand_ins.qwen(home, project)
        with delegtop.open(log) as seen:
            looks_until(seen, lambda: bool(seen.forest.delegation(0).notes), "that two may be its own")
            one.die()
            looks_until(seen, lambda: standing(seen) == [(State.RUNNING, other.pid)], "the one that is left")


@pytest.mark.parametrize(
    ("words", "found"),
    [(("node", "--max-old-space-size=8", "/opt/qwen", "-y"), 12), (("node", "/opt/qwen", "-p", "other"), None)],
)
def test_a_program_that_started_itself_once_more_is_there_once_however_slow_the_machine(
    words: tuple[str, ...], found: int | None, home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, at = str(stand_ins.qwen(home, project)), WallClock().now()
    outer = ProgramProcess(11, 1, 100, Millis(at - 60 * SECOND), ("node", "/opt/qwen", "-y"))
    inner = ProgramProcess(12, 11, 200, Millis(at - 30 * SECOND), words)
    for each in (outer, inner):
        vars(each).update(is_open=True, folders=(str(project),), files=frozenset(), has_terminal=False)
    monkeypatch.setattr(process_search, "programs", lambda _table: [outer, inner])
    minded = SessionProcesses(WallClock(), lambda _origin: True)
    here = Origin(log, 1, 0)
    minded.take([Started("s", at, here, depth=0, product="qwen"), Described("s", at, here, cwd=str(project))])
    (answer,) = minded.ask().answers
    assert (answer.process.pid if answer.process else None) == found


def test_a_process_that_started_later_did_not_write_the_log(home: Path, project: Path) -> None:
    log = stand_ins.qwen(home, project, ago=60)
    with running("qwen", folder=project):
        comes_to(log, (State.LOST, None))


def test_who_only_reads_a_log_is_not_its_process(home: Path, project: Path) -> None:
    log = stand_ins.codex(home, project)
    with log.open("rb"), delegtop.open(log) as seen:
        assert standing(seen) == [(State.LOST, None)]


def test_a_lock_names_the_process_of_a_session(home: Path, project: Path) -> None:
    with running("copilot", folder=project) as first, running("copilot", folder=project):
        log = stand_ins.copilot(home, project)
        (log.parent / f"inuse.{first.pid}.lock").touch()
        comes_to(log, (State.RUNNING, first.pid))
        first.die()
        assert look_at(log)[0][0] is State.RUNNING  # the other may be it


def test_a_process_that_a_lock_names_for_another_session_frees_nobody(home: Path, project: Path) -> None:
    with running("copilot", folder=project) as other:
        log = stand_ins.copilot(home, project)
        busy = log.parent.parent / "b0abe576-5725-46b6-a58f-247ff3b224ae"
        busy.mkdir()
        (busy / f"inuse.{other.pid}.lock").touch()
        comes_to(log, (State.LOST, None))


def test_an_entry_in_the_registry_for_another_session_frees_nobody(home: Path, project: Path) -> None:
    with running("claude", folder=project) as other:
        log = stand_ins.claude(home, project)
        stand_ins.claude_entry(home, project, other.pid, id="66061391-9c10-4d23-b53b-5bcf255777e9")
        comes_to(log, (State.LOST, None))
        stand_ins.claude_entry(home, project, other.pid)
        comes_to(log, (State.RUNNING, other.pid))


# -- the last lines, and the past before a resume --------------------------------------------------------------------


def test_the_last_lines_are_read_before_a_process_that_went_is_judged(home: Path, project: Path) -> None:
    log = stand_ins.codex(home, project)
    process = stand_ins.StandIn(("codex",), project, [log])
    told = set[State]()
    with delegtop.open(log) as seen:
        stand_ins.codex_done(log)
        process.die()
        for _ in range(5):
            seen.look()
            told.add(standing(seen)[0][0])
            assert wait.has_ended(seen.forest, 0), "nobody will go on with it"
    assert told == {State.IDLE}


def test_a_registry_entry_that_goes_is_judged_after_the_process_and_its_last_lines(home: Path, project: Path) -> None:
    with running("claude", folder=project) as process:
        log = stand_ins.claude(home, project)
        entry = stand_ins.claude_entry(home, project, process.pid)
        with delegtop.open(home / ".claude") as seen:
            assert standing(seen) == [(State.RUNNING, process.pid)]
            entry.unlink()
            for _ in range(3):
                seen.look()
            assert standing(seen)[0][0] is State.RUNNING  # it may still write
            stand_ins.claude_done(log, project)
            seen.look()
            assert not wait.has_ended(seen.forest, 0), "it may be asked something else"
            process.die(signal.SIGTERM)
            told = set[State]()
            looks_until(seen, lambda: seen.forest.is_gone(0), "the end of the process")
            told.add(standing(seen)[0][0])
    assert told == {State.IDLE}


@pytest.mark.parametrize("ahead", [0.3, 30.0])
def test_whose_log_is_ahead_of_the_clock_is_lost_all_the_same(ahead: float, home: Path, project: Path) -> None:
    """Somebody set the clock back: what it said last is no sign of life after its process went."""
    log, process = at_work(stand_ins.qwen, ("qwen", "-y"), home, project)
    with delegtop.open(log) as seen:
        assert standing(seen) == [(State.RUNNING, process.pid)]
        stand_ins.qwen(home, project, ago=-ahead)
        process.die()
        looks_until(seen, lambda: standing(seen) == [(State.LOST, process.pid)], "the loss")
    comes_to(log, (State.LOST, None))


def test_what_a_dead_process_left_open_holds_nobody_up_once_the_session_goes_on(home: Path, project: Path) -> None:
    """The session was taken up again, and its turn is over; its agent of before says `running` for ever."""
    stand_ins.opencode(home, project, ago=600)
    log = stand_ins.opencode(home, project, ago=590, id="ses_child", parent=stand_ins.OPENCODE_ID)
    with running("opencode", folder=project, holds=[log]) as resumed:
        stand_ins.opencode(home, project, done=True)
        comes_to(log, (State.IDLE, resumed.pid), (State.LOST, None))
    comes_to(log, (State.IDLE, None), (State.LOST, None))


def test_an_agent_that_is_heard_of_after_all_was_not_lost_with_the_process_before(home: Path, project: Path) -> None:
    stand_ins.opencode(home, project, ago=600)
    log = stand_ins.opencode(home, project, ago=590, id="ses_child", parent=stand_ins.OPENCODE_ID)
    with running("opencode", folder=project, holds=[log]):
        stand_ins.opencode(home, project, done=True)
        with delegtop.open(log) as seen:
            assert standing(seen)[1][0] is State.LOST
            stand_ins.opencode(home, project, ago=-0.01, id="ses_child", parent=stand_ins.OPENCODE_ID)
            looks_until(seen, lambda: standing(seen)[1][0] is State.RUNNING, "its sign of life")


def test_of_a_codex_session_that_was_taken_up_again_the_agents_of_before_are_lost(home: Path, project: Path) -> None:
    root = stand_ins.codex(home, project, ago=600)
    stand_ins.codex(home, project, ago=590, id="01a1e86d-491b-7f92-9846-08ee112ab380", parent=stand_ins.CODEX_ID)
    stand_ins.codex_done(root)
    comes_to(home / ".codex/sessions", (State.IDLE, None), (State.LOST, None))


def test_a_session_last_heard_of_long_ago_is_not_looked_for(home: Path, project: Path) -> None:
    log = stand_ins.qwen(home, project, ago=2 * DAY / SECOND)
    until(lambda: look_at(log)[0][0] is State.LOST, "that it is missed")
    with delegtop.open(log) as seen:
        assert "nothing heard" in seen.forest.reason(0)


def test_who_is_heard_of_after_it_was_missed_is_not_missed_again(home: Path, project: Path) -> None:
    """It runs in a way that nobody here knows: its log is right."""
    log = stand_ins.qwen(home, project)
    with delegtop.open(log) as seen:
        assert standing(seen) == [(State.LOST, None)]
        stand_ins.qwen(home, project, ago=-0.01)  # not in the same millisecond
        looks_until(seen, lambda: standing(seen) == [(State.RUNNING, None)], "its sign of life")
        for _ in range(5):
            seen.look()
        assert standing(seen) == [(State.RUNNING, None)]
        with running("qwen", folder=project) as process:
            looks_until(seen, lambda: standing(seen) == [(State.RUNNING, process.pid)], "its process")
        looks_until(seen, lambda: standing(seen) == [(State.LOST, process.pid)], "its loss")


# -- the same by the records alone, where nobody can be asked ----------------------------------------------------------


def test_a_codex_turn_that_begins_while_another_has_no_end_was_begun_by_another_process(
    home: Path, project: Path
) -> None:
    child = "01a1e86d-491b-7f92-9846-08ee112ab380"
    root = stand_ins.codex(home, project, ago=600)
    call = {"type": "function_call", "name": "spawn_agent", "arguments": '{"message": "Look"}', "call_id": "c1"}
    output = {"type": "function_call_output", "call_id": "c1", "output": f'{{"agent_id": "{child}"}}'}
    for payload in (call, output):
        stand_ins.write(root, {"timestamp": stand_ins.moment(595), "type": "response_item", "payload": payload})
    stand_ins.codex(home, project, ago=590, id=child, parent=stand_ins.CODEX_ID)
    now = WallClock().now()
    with delegtop.open(home / ".codex/sessions", at=now) as seen:
        assert State.LOST not in {state for state, _ in standing(seen)}
    begun = {"type": "task_started", "turn_id": "t2"}
    stand_ins.write(root, {"timestamp": stand_ins.moment(10), "type": "event_msg", "payload": begun})
    with delegtop.open(home / ".codex/sessions", at=now) as seen:
        assert [state for state, _ in standing(seen)] == [State.RUNNING, State.LOST]


def test_an_opencode_answer_that_begins_while_an_agent_of_the_one_before_runs_is_of_another_process(
    home: Path, project: Path
) -> None:
    stand_ins.opencode(home, project, ago=600)
    log = stand_ins.opencode(home, project, ago=590, id="ses_child", parent=stand_ins.OPENCODE_ID)
    stand_ins.opencode_task(log, stand_ins.OPENCODE_ID, "ses_child", ago=590)
    now = WallClock().now()
    with delegtop.open(log, at=now) as seen:
        assert State.LOST not in {state for state, _ in standing(seen)}
    stand_ins.opencode_answer(log, stand_ins.OPENCODE_ID, ago=10)
    with delegtop.open(log, at=now) as seen:
        assert [state for state, _ in standing(seen)] == [State.IDLE, State.LOST]


# -- what cannot be seen ---------------------------------------------------------------------------------------------


def why_unseen(seen: Observation) -> list[str]:
    return [note.text for note in seen.forest.delegation(0).notes if note.kind == OUT_OF_SIGHT]


def test_whose_process_is_not_found_is_told_with_the_reason(home: Path, project: Path, tmp_path: Path) -> None:
    one, other = stand_ins.StandIn(["qwen"], project), stand_ins.StandIn(["qwen"], project)
    with delegtop.open(stand_ins.qwen(home, project)) as seen:
        (why,) = why_unseen(seen)
        assert why.startswith("2 processes may be its own (pid ")
        assert {str(one.pid), str(other.pid)} == set(re.findall(r"\d{2,}", why))
        other.die()
        looks_until(seen, lambda: not why_unseen(seen), "the one that is left")
        assert standing(seen) == [(State.RUNNING, one.pid)]
    one.die()
    with delegtop.open(stand_ins.claude(home, project, version="1.0.80")) as seen:
        assert why_unseen(seen) == ["none of its program was found, and that does not tell that there is none"]
    moved = stand_ins.qwen(tmp_path, project / "gone").rename(tmp_path / "collected.jsonl")
    with delegtop.open(moved) as seen:
        assert why_unseen(seen) == ["its log does not lie where its program writes it"]
    with delegtop.open(moved, at=WallClock().now()) as seen:
        assert why_unseen(seen) == []  # of a moment of the past nobody asks the present


@pytest.mark.parametrize(
    ("of", "told"),
    [
        ({"host": "build-7"}, "they are on build-7, and this is another machine"),
        ({}, "its log does not tell on which machine they are"),
        (
            {"host": LOCALHOST, "refs": (("pid_domain", f"linux:{'0' * 32}:pid:[7]"),)},
            "its pid is that of another machine or container (its pid namespace is not ours)",
        ),
        ({"host": LOCALHOST}, None),
    ],
)
def test_a_process_that_is_known_and_is_not_of_this_machine_is_told_once(of: dict[str, Any], told: str | None) -> None:
    start = Started("s", WallClock().now(), Origin("log", 1, 0), pid=os.getpid(), **of)
    minded = SessionProcesses(WallClock(), lambda _origin: True)
    minded.mind(start)
    notes = [event for event in minded.tell(minded.ask()) if isinstance(event, Noted)]
    assert [(note.kind, note.text) for note in notes] == ([(OUT_OF_SIGHT, told)] if told else [])
    assert list(minded.tell(minded.ask())) == []
    past = SessionProcesses(FrozenClock(WallClock().now()), lambda _origin: True)
    past.mind(start)
    assert list(past.tell(past.ask())) == []


def test_who_was_asked_about_too_soon_is_asked_about_again_at_once(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever looks only once has just begun to read when it asks: the other files of the session come after that."""
    monkeypatch.setattr(process_search, "EVERY", 600.0)
    monkeypatch.setattr(process_search, "programs", lambda _table: [])  # those of other tests come and go
    log, at = str(stand_ins.qwen(home, project)), WallClock().now()
    here = Origin(log, 1, 0)
    minded = SessionProcesses(WallClock(), lambda _origin: True)
    minded.take([Started("s", at, here, depth=0, product="qwen"), Described("s", at, here, cwd=str(project))])
    asked = minded.ask()
    minded.take([Heard("s", Millis(at + 1), here, phase=Phase.MODEL)])
    assert [event for event in minded.tell(asked) if isinstance(event, Ended)] == []
    ends = [event for event in minded.tell(minded.ask()) if isinstance(event, Ended)]
    assert [event.id for event in ends] == ["s"]
