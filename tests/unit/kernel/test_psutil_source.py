"""Where there is no `/proc`, psutil tells of processes: less, and never more than is so."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
from tests.patience import until
from tests.without_proc import without_proc

from delegtop.base.clock import SECOND, Millis, WallClock
from delegtop.kernel import proc_files, process_source, psutil_source
from delegtop.kernel.call_witness import CallWitness, Sight
from delegtop.kernel.open_call import OpenCall
from delegtop.kernel.outliving import Outliving
from delegtop.kernel.process_table import ProcessTable, is_anothers, moment
from delegtop.kernel.program_process import program
from delegtop.kernel.writer_sight import elsewhere
from delegtop.model.events import Outlook, WaitsFor
from delegtop.sources import processes

Start = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture(autouse=True)
def _only_psutil() -> Iterator[None]:
    with without_proc():
        yield


@pytest.fixture
def start() -> Iterator[Start]:
    begun: list[subprocess.Popen[bytes]] = []

    def started(*command: str, **how: Any) -> "subprocess.Popen[bytes]":
        begun.append(subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True, **how))
        return begun[-1]

    yield started
    for process in begun:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        assert process.stdin
        process.stdin.close()


def looked(pid: int, looks: int = 3) -> Sight:
    """What is seen of it at the last of several looks."""
    witness, call = CallWitness(), OpenCall("a", pid)
    seen = [sight for number in range(looks) for sight in witness.look([call], WallClock().now(), 5.0 * number)]
    return seen[-1]


def test_it_is_psutil_that_is_asked() -> None:
    assert process_source.can_tell()
    assert process_source.source() is psutil_source
    assert proc_files.data("self", "stat") == b""


def test_of_a_process_the_same_is_told(start: Start) -> None:
    it = start(sys.executable, "-c", "input('two words')")
    until(lambda: psutil_source.words(it.pid)[1:] == ("-c", "input('two words')"), "its command line")
    until(lambda: (row := psutil_source.row(it.pid)) is not None and row.state == "S", "its rest")
    row = psutil_source.row(it.pid)
    assert row is not None
    assert (row.parent, row.threads) == (os.getpid(), 1)
    assert abs(moment(row.started) - WallClock().now()) < 60 * SECOND
    assert it.pid in ProcessTable().below(os.getpid())
    assert it.pid in psutil_source.children(os.getpid())
    told = program(it.pid)
    assert told is not None
    assert told.folders[0] == os.getcwd()  # noqa: PTH109 # as it is told
    assert told.has_terminal is False
    assert psutil_source.owner(it.pid)
    assert not is_anothers(it.pid)
    assert processes.is_there(it.pid, WallClock().now())
    assert processes.is_gone(it.pid, Millis(WallClock().now() - 600 * SECOND)), "another had that number then"


def used(pid: int) -> int:
    row = psutil_source.row(pid)
    return row.ticks if row is not None else 0


def test_who_works_is_at_work(start: Start) -> None:
    it = start(sys.executable, "-c", "while True: pass")
    witness, call = CallWitness(), OpenCall("a", it.pid)
    seen: list[Sight] = []
    for number in range(2):
        until(lambda: used(it.pid) > 5 + 10 * number, "some work")  # noqa: B023 # it is over before the next turn
        seen += witness.look([call], WallClock().now(), 0.5 * number)
    assert seen[-1].found.waits_for is WaitsFor.NOTHING
    assert seen[-1].share > 0.01


def test_a_sleep_says_how_long(start: Start) -> None:
    found = looked(start("sleep", "300").pid).found
    assert (found.waits_for, found.on, found.outlook) == (WaitsFor.TIMER, "sleeps 300 s", Outlook.OPEN)
    assert found.until is not None


def test_one_that_is_stopped_is_called_so_and_not_for_certain(start: Start) -> None:
    it = start("sleep", "300")
    os.kill(it.pid, signal.SIGSTOP)
    until(lambda: (row := psutil_source.row(it.pid)) is not None and row.is_stopped, "its stop")
    found = looked(it.pid).found
    assert (found.waits_for, found.outlook) == (WaitsFor.STOPPED, Outlook.OPEN)


def test_what_it_waits_for_is_not_guessed(start: Start) -> None:
    found = looked(start("cat").pid).found
    assert (found.waits_for, found.outlook) == (WaitsFor.UNKNOWN, Outlook.OPEN)


def test_whoever_waits_for_connections_says_where(start: Start) -> None:
    serve = "import socket; s = socket.create_server(('127.0.0.1', 0)); print(flush=True); s.accept()"
    it = start(sys.executable, "-c", serve, stdout=subprocess.PIPE)
    assert it.stdout
    it.stdout.readline()
    found = looked(it.pid).found
    it.stdout.close()
    assert found.waits_for is WaitsFor.CLIENTS
    assert found.on.startswith("connections on 127.0.0.1:")


def test_with_whom_it_is_connected_is_told(start: Start) -> None:
    serve = "import socket; s = socket.create_server(('127.0.0.1', 0)); print(s.getsockname()[1], flush=True); "
    serve += "a = s.accept(); input()"
    server = start(sys.executable, "-c", serve, stdout=subprocess.PIPE)
    assert server.stdout
    port = int(server.stdout.readline())
    ask = f"import socket; s = socket.create_connection(('127.0.0.1', {port})); print(flush=True); s.recv(1)"
    client = start(sys.executable, "-c", ask, stdout=subprocess.PIPE)
    assert client.stdout
    client.stdout.readline()
    found = looked(client.pid, 4).found
    for process in (server, client):
        assert process.stdout
        process.stdout.close()
    assert (found.waits_for, found.outlook) == (WaitsFor.NETWORK, Outlook.OPEN)
    assert f"127.0.0.1:{port} (pid {server.pid} " in found.on


def test_a_number_that_nobody_has_is_nobody() -> None:
    for pid in (2**22 + 1, 2**31 + 5, 2**70):
        assert psutil_source.row(pid) is None
        assert psutil_source.words(pid) == ()
        assert psutil_source.children(pid) == []
        assert not psutil_source.is_open(pid)
        assert not processes.is_there(pid, WallClock().now())


def test_what_outlives_its_session_is_found(start: Start) -> None:
    session = start("sh", "-c", "setsid sleep 300 & read line")
    until(lambda: len(ProcessTable().below(session.pid)) == 2, "its tool")
    outliving = Outliving()
    outliving.follow("s", session.pid)
    assert outliving.look(0.0) == []
    [tool] = [pid for pid in ProcessTable().below(session.pid) if pid != session.pid]
    os.kill(session.pid, signal.SIGKILL)
    session.wait()
    assert outliving.look(1.0) == []
    left = outliving.look(10.0)
    os.kill(tool, signal.SIGKILL)
    assert [(each.pid, each.command) for each in left] == [(tool, "sleep 300")]


def test_a_folder_of_this_machine_is_written_by_processes_of_this_machine() -> None:
    assert elsewhere("/") == ""
