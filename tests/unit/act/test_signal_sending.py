"""One signal to one process: the planned one, or none."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.patience import until
from tests.unit.act.standing_processes import Counter

from delegtop.act import signal_sending
from delegtop.act.process_identity import ProcessIdentity, difference, identity, taboo
from delegtop.act.signal_sending import RefusalError, is_gone, send
from delegtop.kernel import proc_files

NOBODY = 65534


@contextmanager
def running(*command: str, **how: Any) -> "Iterator[subprocess.Popen[bytes]]":
    """A process, once it runs that command."""
    process = subprocess.Popen(command, **how)
    try:
        until(lambda: (found := identity(process.pid)) is not None and found.command == command, "that it runs")
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.fixture
def sleeper() -> "Iterator[subprocess.Popen[bytes]]":
    with running("sleep", "1000") as process:
        yield process


def known(pid: int) -> ProcessIdentity:
    found = identity(pid)
    assert found is not None
    return found


def refused(planned: ProcessIdentity, number: int = signal.SIGTERM) -> str:
    with pytest.raises(RefusalError) as error:
        send(planned, number)
    return str(error.value)


def test_the_planned_process_gets_it(sleeper: "subprocess.Popen[bytes]") -> None:
    planned = known(sleeper.pid)
    assert (planned.name, planned.words, planned.user) == ("sleep", "sleep 1000", os.getuid())
    send(planned, signal.SIGTERM)
    assert sleeper.wait() == -signal.SIGTERM


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"started": "1"}, "another process by now"),
        ({"started": ""}, "another process by now"),
        ({"user": NOBODY}, "belongs to another user"),
        ({"command": ("sleep", "999")}, "runs something else by now: `sleep 1000`"),
    ],
)
def test_a_process_that_is_not_as_planned_gets_nothing(tmp_path: Path, change: dict[str, object], told: str) -> None:
    with Counter(tmp_path, "one") as counter:
        real = known(counter.pid)
        planned = real._replace(**change)  # type: ignore[arg-type]  # of whatever type the field is
        if "command" in change:
            told = "runs something else by now"
        assert told in refused(planned)
        send(real, signal.SIGUSR1)
        until(lambda: counter.heard, "that the real one is heard")
        assert counter.heard == [signal.SIGUSR1]


def test_one_that_runs_another_program_by_now_gets_nothing() -> None:
    with running("bash", "-c", "read; exec sleep 1000", stdin=subprocess.PIPE) as process:
        planned = known(process.pid)
        assert process.stdin
        process.stdin.write(b"\n")
        process.stdin.flush()
        until(lambda: known(process.pid).words == "sleep 1000", "that it runs something else")
        assert "runs something else by now: `sleep 1000`" in refused(planned)
        assert process.poll() is None


def test_one_that_has_gone_meanwhile_is_said_to_be_gone(sleeper: "subprocess.Popen[bytes]") -> None:
    planned = known(sleeper.pid)
    sleeper.kill()
    until(lambda: identity(sleeper.pid) is None, "that it is dead, though nobody has taken note of it")
    assert "is gone" in refused(planned)
    sleeper.wait()
    assert "is gone" in refused(planned)
    assert is_gone(planned, 0.0)


def test_one_that_heeds_neither_signal_is_still_there(tmp_path: Path) -> None:
    with Counter(tmp_path, "deaf") as counter:
        planned = known(counter.pid)
        for number in (signal.SIGINT, signal.SIGTERM):
            send(planned, number)
        until(lambda: len(counter.heard) == 2, "that both arrive")
        assert not is_gone(planned, 0.01)


def test_its_end_is_known_as_soon_as_it_comes(sleeper: "subprocess.Popen[bytes]") -> None:
    planned = known(sleeper.pid)
    send(planned, signal.SIGINT)
    assert is_gone(planned, 100.0)  # it does not take that long


def test_the_first_process_delegtop_itself_and_who_started_it_are_never_signalled() -> None:
    for pid in (1, 0, -1, os.getpid(), os.getppid()):
        planned = identity(pid) or ProcessIdentity(pid, "1", os.getuid(), ("init",))
        assert taboo(planned)
        assert refused(planned) == taboo(planned)


def test_no_process_of_another_user_is_signalled_not_even_by_root() -> None:
    if os.getuid() != 0:
        pytest.skip("only root can start a process of another user")
    with running("sleep", "1000", user=NOBODY) as process:
        assert known(process.pid).user == NOBODY
        assert "another user" in refused(known(process.pid))
        assert process.poll() is None


def test_only_some_processes_may_be_allowed(sleeper: "subprocess.Popen[bytes]") -> None:
    with pytest.raises(RefusalError, match="none of the processes that may be stopped here"):
        send(known(sleeper.pid), signal.SIGTERM, lambda pid: pid != sleeper.pid)
    assert sleeper.poll() is None


RECYCLES = """
import os, pathlib, signal, subprocess, sys, time
from delegtop.act.process_identity import identity
from delegtop.act.signal_sending import RefusalError, send
def sleeper():
    process = subprocess.Popen(["sleep", "1000"])
    while (found := identity(process.pid)) is None or found.command != ("sleep", "1000"):
        time.sleep(0.01)
    return process
first = sleeper()
planned = identity(first.pid)
first.kill(); first.wait()
time.sleep(0.05)
pathlib.Path("/proc/sys/kernel/ns_last_pid").write_text(str(first.pid - 1))
second = sleeper()
assert second.pid == first.pid, "the number was not given again"
assert identity(second.pid)._replace(started=planned.started) == planned, "all but its start is the same"
try:
    send(planned, signal.SIGKILL)
except RefusalError as error:
    print(error)
time.sleep(0.1)
print("alive" if second.poll() is None else "hit")
second.kill()
"""


def test_a_process_that_got_the_number_of_the_planned_one_is_spared() -> None:
    """In a pid namespace of its own, where the next number can be chosen."""
    unshare = shutil.which("unshare")
    own = [unshare or "", "--pid", "--fork", "--mount-proc", "--kill-child"]
    if unshare is None or subprocess.run([*own, "true"], check=False, capture_output=True).returncode:
        pytest.skip("no pid namespace can be made here")
    told = subprocess.run([*own, sys.executable, "-c", RECYCLES], capture_output=True, text=True, check=False)
    if "the number was not given again" in told.stderr or "ns_last_pid" in told.stderr:
        pytest.skip("the next number cannot be chosen here")
    said, fate = told.stdout.splitlines()
    assert "another process by now" in said
    assert fate == "alive"


def test_without_descriptors_of_processes_it_is_compared_twice(
    sleeper: "subprocess.Popen[bytes]", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "pidfd_open")
    looks: list[int] = []

    def look(pid: int) -> ProcessIdentity | None:
        looks.append(pid)
        return identity(pid)

    monkeypatch.setattr(signal_sending, "identity", look)
    planned = known(sleeper.pid)
    send(planned, signal.SIGTERM)
    assert looks == [sleeper.pid] * 2
    assert is_gone(planned, 100.0)


def test_without_proc_the_start_is_asked_of_ps(
    sleeper: "subprocess.Popen[bytes]", monkeypatch: pytest.MonkeyPatch
) -> None:
    if not shutil.which("ps"):
        pytest.skip("there is no ps here")
    monkeypatch.setattr(proc_files, "is_mounted", lambda: False)
    monkeypatch.delattr(os, "pidfd_open")
    planned = known(sleeper.pid)
    assert (planned.words, planned.user, len(planned.started.split())) == ("sleep 1000", os.getuid(), 5)
    assert difference(planned._replace(started="Mon Jan 1 00:00:00 2001"), planned)
    send(planned, signal.SIGTERM)
    assert sleeper.wait() == -signal.SIGTERM
