"""What processes are called, how many they are, how they hang together and what is hidden of them must neither stop who
looks nor make it surer than it can be."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.patience import until

from delegtop.base.clock import Millis, WallClock, iso
from delegtop.base.text import whole_words
from delegtop.feed.kernel_watch import KernelWatch
from delegtop.kernel import open_files, proc_files, proc_source
from delegtop.kernel.blocked import Blocked
from delegtop.kernel.blocked_on import Inquiry
from delegtop.kernel.call_process import STARTED, processes_of
from delegtop.kernel.call_witness import CallWitness, Sight
from delegtop.kernel.open_call import OpenCall
from delegtop.kernel.process_row import ProcessRow
from delegtop.kernel.process_table import ProcessTable, moment, row_of
from delegtop.kernel.thread_waits import Waiting, waits
from delegtop.model.events import Event, Outlook, ProcessSeen, WaitsFor

pytestmark = pytest.mark.skipif(not Path("/proc/self/wchan").exists(), reason="there is no /proc to look at")

Start = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts processes that are ended with all that they started."""
    begun: list[subprocess.Popen[bytes]] = []

    def started(*command: str | bytes, **how: Any) -> "subprocess.Popen[bytes]":
        begun.append(subprocess.Popen(command, start_new_session=True, **how))
        return begun[-1]

    yield started
    for process in begun:
        os.killpg(process.pid, 9)
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()


def python(start: Start, program: str, *arguments: str | bytes, **how: Any) -> "subprocess.Popen[bytes]":
    """A program that says when it is ready."""
    process = start(sys.executable, "-c", f"import os, sys, time\n{program}", *arguments, stdout=subprocess.PIPE, **how)
    assert process.stdout
    assert process.stdout.readline() == b"ready\n"
    return process


def no_moves(_: int) -> bool:
    return False


def inquired(pid: int) -> Blocked:
    return Inquiry(ProcessTable(), no_moves, ()).about(pid)[0]


def looked(call: OpenCall, looks: int = 3) -> list[Sight]:
    """What several looks show, long enough after each other that nothing of the start is left."""
    witness = CallWitness()
    return [sight for number in range(looks) for sight in witness.look([call], WallClock().now(), 5.0 * number)]


def stands(pid: int, waiting: Waiting) -> None:
    until(lambda: [each.waiting for each in waits(pid)] == [waiting], f"pid {pid} to stand still")


# -- how they hang together -----------------------------------------------------------------------------------------

CROWD = """
read, write = os.pipe()
os.set_inheritable(read, True)
for _ in range(int(sys.argv[1])):
    if not os.fork():
        os.read(read, 1)
        os._exit(0)
print("ready", flush=True)
os.wait()
"""


def test_a_crowd_that_shares_one_pipe_is_looked_at_once_each(start: Start) -> None:
    crowd = python(start, CROWD, "40")
    until(lambda: len(ProcessTable().below(crowd.pid)) == 41, "all of them")
    for child in ProcessTable().below(crowd.pid)[1:]:
        stands(child, Waiting.READ)
    stands(crowd.pid, Waiting.CHILD)
    asked: list[int] = []
    table = ProcessTable()

    def moves(pid: int) -> bool:
        asked.append(pid)
        assert len(asked) < 10_000, "every way through the crowd is gone"
        return False

    found = Inquiry(table, moves, ()).about(crowd.pid)[0]
    assert (found.waits_for, found.outlook) == (WaitsFor.INPUT, Outlook.ENDLESS)


def test_a_very_deep_row_of_shells_stops_nobody(start: Start) -> None:
    program = """
depth = 0
while depth < int(sys.argv[1]) and not os.fork():
    depth += 1
else:
    if depth == int(sys.argv[1]):
        print("ready", flush=True)
        time.sleep(1000)
os.wait()
"""
    top = python(start, program, "400")
    assert inquired(top.pid).outlook is not Outlook.ENDLESS
    assert looked(OpenCall("a", top.pid))


def test_numbers_that_are_given_again_while_all_are_read_make_no_circle() -> None:
    table = ProcessTable()
    for pid, parent in ((100, 101), (101, 100)):
        table.rows[pid] = ProcessRow(pid, parent, "x", "S", 0, 0, 0, 1)
        table.children[parent] = [pid]
    assert table.below(100) == [100, 101]
    assert list(table.above(100)) == [101]
    assert inquired_in(table, 100).waits_for in WaitsFor


def inquired_in(table: ProcessTable, pid: int) -> Blocked:
    return Inquiry(table, no_moves, ()).about(pid)[0]


# -- what is hidden -------------------------------------------------------------------------------------------------


def test_a_pipe_whose_writers_may_be_hidden_is_not_called_one_that_nobody_has(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = start("cat", stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    stands(reader.pid, Waiting.READ)
    numbers = proc_files.numbers

    def ours(*parts: object, **how: Any) -> list[int]:
        """As it is for who may not look at the open files of others: ours are those of others here."""
        return [] if parts == (os.getpid(), "fd") else numbers(*parts, **how)

    monkeypatch.setattr(proc_files, "numbers", ours)
    monkeypatch.setattr(open_files, "may_look", lambda pid: pid != os.getpid())
    found = inquired(reader.pid)
    assert (found.waits_for, found.outlook) == (WaitsFor.INPUT, Outlook.OPEN)


def test_the_same_where_other_processes_are_not_even_listed(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = start("cat", stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    stands(reader.pid, Waiting.READ)
    numbers = proc_files.numbers
    monkeypatch.setattr(proc_files, "numbers", lambda *parts, **how: numbers(*parts, **how) if parts else [reader.pid])
    assert inquired(reader.pid).outlook is Outlook.OPEN


def test_a_pipe_whose_writer_has_thousands_of_files_open_has_a_writer(start: Start) -> None:
    read, write = os.pipe()
    many = [os.dup(read) for _ in range(900)]
    last = os.dup(write)
    os.close(write)
    reader = start("cat", stdin=read, stdout=subprocess.DEVNULL)
    stands(reader.pid, Waiting.READ)
    found = inquired(reader.pid)
    for fd in (*many, last, read):
        os.close(fd)
    assert "nobody" not in found.on


def test_what_nobody_may_trace_is_not_known(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = start("cat", stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    stands(reader.pid, Waiting.READ)
    data = proc_files.data
    monkeypatch.setattr(
        proc_files, "data", lambda *parts, **how: b"" if parts[-1] in ("syscall", "wchan") else data(*parts, **how)
    )
    found = inquired(reader.pid)
    assert (found.waits_for, found.outlook) == (WaitsFor.UNKNOWN, Outlook.OPEN)


def test_of_two_that_are_waited_for_one_of_whom_nothing_is_known_may_end(start: Start) -> None:
    both = start("sh", "-c", "sleep inf & sleep 1000; wait")
    until(lambda: len(ProcessTable().below(both.pid)) == 3, "both")
    stands(both.pid, Waiting.CHILD)
    unknown = ProcessTable().below(both.pid)[2]
    data = proc_files.data

    def told(*parts: object, **how: Any) -> bytes:
        return b"" if parts[0] == unknown and parts[-1] in ("syscall", "wchan") else data(*parts, **how)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(proc_files, "data", told)
        found = inquired(both.pid)
    assert found.outlook is Outlook.OPEN


def test_without_netlink_a_connection_is_still_one(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    program = """
import socket
server = socket.create_server(("127.0.0.1", 0))
here = socket.create_connection(server.getsockname())
print("ready", flush=True)
here.recv(1)
"""
    waiter = python(start, program)
    stands(waiter.pid, Waiting.RECEIVE)

    def refused(*_: object) -> None:
        raise PermissionError("refused")

    monkeypatch.setattr("socket.socket", refused)
    found = inquired(waiter.pid)
    assert (found.waits_for, found.outlook, found.since) == (WaitsFor.NETWORK, Outlook.OPEN, None)


def test_a_lock_whose_holder_is_not_told_is_only_a_lock(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start("flock", tmp_path / "lock", "sleep", "1000")
    until((tmp_path / "lock").exists, "the lock")
    waiter = start("flock", tmp_path / "lock", "true")
    stands(waiter.pid, Waiting.LOCK)
    data = proc_files.data
    monkeypatch.setattr(proc_files, "data", lambda *parts, **how: b"" if parts == ("locks",) else data(*parts, **how))
    found = inquired(waiter.pid)
    assert (found.waits_for, found.outlook) == (WaitsFor.LOCK, Outlook.OPEN)


# -- what may hang who looks ----------------------------------------------------------------------------------------


def test_a_file_system_that_answers_nobody_holds_up_nobody_who_looks(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "queue")
    waiter = start("cat", "queue", cwd=tmp_path, stdout=subprocess.DEVNULL)
    stands(waiter.pid, Waiting.OPEN)
    free, stat = threading.Event(), os.stat

    def hangs(path: Any, **how: Any) -> os.stat_result:
        if str(path).endswith("queue"):
            free.wait()
        return stat(path, **how)

    monkeypatch.setattr(os, "stat", hangs)
    try:
        found = inquired(waiter.pid)
    finally:
        free.set()
    assert "the other end of a FIFO" in found.on


def test_a_file_on_a_mount_that_answers_nobody_is_no_fifo(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    """What waits for a device is in the same call as who waits for the other end of a FIFO."""
    sleeper = start("sleep", "1000")
    stands(sleeper.pid, Waiting.SLEEP)
    data = proc_files.data

    def told(*parts: object, **how: Any) -> bytes:
        match parts[-1]:
            case "wchan":
                return b"rpc_wait_bit_killable"
            case "syscall":
                return b"257 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0"
            case "stat":
                return data(*parts, **how).replace(b") S ", b") D ")
        return data(*parts, **how)

    monkeypatch.setattr(proc_files, "data", told)
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    found = inquired(sleeper.pid)
    assert (found.waits_for, found.outlook) == (WaitsFor.DEVICE, Outlook.OPEN)


# -- what they are called -------------------------------------------------------------------------------------------

HOSTILE = b"\x1b[2J\n[red]x[/] \xff\xfe \xe2\x80\xae"


def test_a_name_that_looks_like_the_end_of_itself_is_a_name(start: Start) -> None:
    rename = 'open("/proc/self/comm", "w").write(sys.argv[1]); print("ready", flush=True); time.sleep(1000)'
    named = python(start, rename, ") R 1 (")
    row = row_of(named.pid)
    assert row is not None
    assert (row.name, row.parent) == (") R 1 (", os.getpid())
    stands(named.pid, Waiting.SLEEP)


def test_whatever_an_argument_is_nothing_of_it_reaches_an_event_unseen(start: Start) -> None:
    named = python(start, 'print("ready", flush=True)\nos.read(os.pipe()[0], 1)', HOSTILE, b"", b"a" * 100_000)
    stands(named.pid, Waiting.READ)
    watch = KernelWatch(WallClock())
    watch.watch([OpenCall("a", named.pid)])
    events = [event for _ in range(3) for event in watch.seen(at_once=True)]
    (seen,) = (event for event in events if isinstance(event, ProcessSeen))
    assert seen.command is not None
    assert seen.command.isprintable()
    assert len(seen.command) <= 300
    msgspec.json.encode(seen)


def test_of_two_megabytes_of_arguments_only_so_much_is_read(start: Start) -> None:
    long = start("sh", "-c", "sleep 1000; true", *["x" * 100_000] * 18)
    until(lambda: len(ProcessTable().below(long.pid)) == 2, "the sleep")
    table = ProcessTable()
    assert 0 < len("".join(table.command(long.pid))) <= 200_000
    assert len(table.words(long.pid)) <= 200


SECRETS = (
    "sk-ant-api03-abcdefghijklmnop0123456789AB",
    "hunter2hunter2",
    "s3cr3tp4ss",
    "ghp_0123456789abcdefghijABCDEFGH",
)


@pytest.mark.parametrize(("command", "before"), [("tree", 0), ("tree --json", 25), ("report", 40)])
def test_what_hangs_is_printed_without_its_secrets_and_does_nothing_to_the_terminal(
    start: Start, tmp_path: Path, command: str, before: int
) -> None:
    os.mkfifo(tmp_path / "queue")
    key, password, login, token = SECRETS
    words: list[str | bytes] = [
        key,
        "--password",
        password,
        "x" * before,
        f"https://ann:{login}@host/",
        token,
        HOSTILE,
        b"`; rm -r ~ #`",
    ]
    hangs = python(start, 'print("ready", flush=True)\nopen("queue")', *words, cwd=tmp_path)
    stands(hangs.pid, Waiting.OPEN)
    at = iso(Millis(WallClock().now() - 4_000))
    record = {"event": "register", "at": at, "session_id": "s", "subagent": "runner", "pid": hangs.pid}
    (tmp_path / "run.jsonl").write_text(json.dumps({**record, "host": "localhost"}) + "\n")
    run = [sys.executable, "-m", "delegtop", *command.split(), str(tmp_path / "run.jsonl")]
    told = subprocess.run(run, capture_output=True, check=False, cwd=tmp_path, env=os.environ | {"HOME": str(tmp_path)})
    said = (told.stdout + told.stderr).decode("utf-8")
    assert f"(pid {hangs.pid}) waits for somebody to open" in said
    assert [secret for secret in SECRETS if secret[:12] in said] == []
    assert {char for char in said if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")} <= {"\n"}
    assert "`; rm" not in said, "no command ends what it stands between"


def test_of_a_long_command_line_no_half_of_a_word_is_told() -> None:
    assert whole_words("serve ghp_0123456789", 12) == "serve …"
    assert whole_words("ghp_0123456789", 12) == "…"
    assert whole_words("serve", 12) == "serve"


def test_a_sleep_beyond_all_calendars_can_be_written_down(start: Start) -> None:
    sleeper = start("sleep", "999999999999999999")
    stands(sleeper.pid, Waiting.SLEEP)
    watch = KernelWatch(WallClock())
    watch.watch([OpenCall("a", sleeper.pid)])
    events = [event for _ in range(3) for event in watch.seen(at_once=True)]
    assert events
    assert msgspec.json.decode(msgspec.json.encode(events))


# -- another user's -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "waits_for", "said"),
    [
        ("make", WaitsFor.HIDDEN, "is another user's process (root), and cannot be looked into"),
        ("sudo", WaitsFor.INPUT, "a password, as it seems: it is another user's process (root), and cannot be looked"),
    ],
)
def test_a_process_of_another_user_below_ones_own_is_told_apart(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, waits_for: WaitsFor, said: str
) -> None:
    shutil.copy(shutil.which("cat") or "cat", tmp_path / name)
    shell = start("sh", "-c", f"./{name}; true", stdin=subprocess.PIPE, cwd=tmp_path)
    until(lambda: len(ProcessTable().below(shell.pid)) == 2, "its child")
    [child] = ProcessTable().children[shell.pid]
    until(lambda: ProcessTable().name(child) == name, "its program")
    stands(shell.pid, Waiting.CHILD)
    monkeypatch.setattr(proc_files, "is_open", lambda pid: pid != child)
    monkeypatch.setattr(proc_files, "owner", lambda _pid: "root")
    found = inquired(shell.pid)
    assert (found.pid, found.waits_for, found.outlook) == (child, waits_for, Outlook.OPEN)
    assert said in found.on


# -- whose they are -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pid", [1, os.getpid(), os.getppid()], ids=["the first", "our own", "our parent"])
def test_nobody_is_told_of_the_first_process_of_ours_or_of_those_above_us(pid: int) -> None:
    assert looked(OpenCall("a", pid)) == []


def test_a_tool_in_which_we_run_ourselves_is_at_work(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    shell = start("sh", "-c", "sleep inf; true")
    until(lambda: len(ProcessTable().below(shell.pid)) == 2, "the sleep")
    stands(shell.pid, Waiting.CHILD)
    call = OpenCall("a", os.getpid(), moment(ProcessTable().rows[shell.pid].started), "sleep inf; true")
    assert looked(call)[-1].found.endless
    monkeypatch.setattr(os, "getpid", lambda: ProcessTable().below(shell.pid)[1])
    assert looked(call)[-1].found.waits_for is WaitsFor.NOTHING


def test_one_letter_is_no_command_of_any_process_that_has_it(start: Start) -> None:
    shell = start("sh", "-c", "sleep 1000; true")
    until(lambda: len(ProcessTable().below(shell.pid)) == 2, "the sleep")
    table = ProcessTable()
    now = moment(table.rows[shell.pid].started)
    calls = [
        OpenCall(command, shell.pid, Millis(now - 4_000), command, runs=True) for command in ("s", "e", "", "ee", " ")
    ]
    assert processes_of(table, calls) == {}


def test_one_letter_is_not_the_command_of_a_shell_that_was_told_a_longer_one(start: Start) -> None:
    shell = start("sh", "-c", "sh -c 'sleep 1000; true'; true")
    until(lambda: len(ProcessTable().below(shell.pid)) == 3, "the sleep")
    table = ProcessTable()
    call = OpenCall("s", shell.pid, moment(table.rows[shell.pid].started), "s", runs=False)
    assert processes_of(table, [call]) == {}


def test_of_two_calls_that_are_alike_nobody_says_for_certain_which_is_whose(start: Start) -> None:
    shell = start("sh", "-c", "sleep 1000 & sleep 1000; true")
    until(lambda: len(ProcessTable().below(shell.pid)) == 3, "both")
    table = ProcessTable()
    now = moment(table.rows[shell.pid].started)
    found = processes_of(table, [OpenCall(id, shell.pid, now, "sleep 1000") for id in "ab"])
    assert len({process.pid for process in found.values()}) == 2
    assert not any(process.whole or STARTED in process.fits for process in found.values())


def test_a_number_that_is_given_again_is_another_process(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    sleeper = start("sleep", "1000")
    stands(sleeper.pid, Waiting.SLEEP)
    witness, call = CallWitness(), OpenCall("a", sleeper.pid)
    for at in (0.0, 5.0, 10.0):
        seen = list(witness.look([call], Millis(0), at))
    assert seen
    rows = proc_source.row

    def later(pid: int) -> ProcessRow | None:
        row = rows(pid)
        return row and row._replace(started=row.started + 100) if pid == sleeper.pid else row

    monkeypatch.setattr(proc_source, "row", later)
    assert list(witness.look([call], Millis(0), 15.0)) == [], "it was never looked at before"
    assert list(witness.look([call], Millis(0), 20.0)), "and now it was"


# -- clocks that are set --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", [-3_600_000, 3_600_000])
def test_a_clock_that_is_set_changes_nothing_in_how_long_it_stands_still(start: Start, step: int) -> None:
    reader = start("cat", stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    stands(reader.pid, Waiting.READ)
    witness, call = CallWitness(), OpenCall("a", reader.pid)
    for at in (0.0, 5.0, 10.0):
        list(witness.look([call], Millis(100_000 + int(at * 1_000)), at))
    now = Millis(100_000 + 15_000 + step)
    (sight,) = witness.look([call], now, 15.0)
    assert sight.still_since is not None
    assert 5_000 <= now - sight.still_since <= 15_000


def test_what_is_seen_after_a_clock_was_set_back_is_the_newer(start: Start) -> None:
    class SetBack(WallClock):
        step = 0

        def now(self) -> Millis:
            return Millis(super().now() + self.step)

    reader = start("cat", stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    stands(reader.pid, Waiting.READ)
    clock = SetBack()
    watch = KernelWatch(clock)
    watch.watch([OpenCall("a", reader.pid)])
    first = [event for _ in range(4) for event in watch.seen(at_once=True)]
    clock.step = -3_600_000
    os.kill(reader.pid, signal.SIGSTOP)
    second: list[Event] = []

    def is_told() -> bool:
        second.extend(watch.seen(at_once=True))
        return bool(second)

    until(is_told, "that it is stopped")
    assert isinstance(first[-1], ProcessSeen)
    assert isinstance(second[0], ProcessSeen)
    assert first[-1].at < second[0].at
