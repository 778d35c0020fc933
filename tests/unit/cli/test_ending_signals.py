"""SIGTERM and SIGHUP end what goes on at once, with the status of the signal, everything put away and no traceback."""

import os
import re
import signal
import subprocess
import sys
import weakref
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from time import sleep
from typing import Any

import pytest
from tests.patience import PATIENCE, until
from tests.watching import append, register

from delegtop.base import signals
from delegtop.base.signals import ToldToEnd
from delegtop.cli import main

on_linux = pytest.mark.skipif(not Path("/proc").exists(), reason="only Linux tells which signals a process catches")
LISTENS = 1 << (signal.SIGTERM - 1)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., "subprocess.Popen[str]"]]:
    """Starts commands on a log with one open delegation, in its folder."""
    started: list[subprocess.Popen[str]] = []
    (tmp_path / "run.jsonl").write_text(register("aaa111"))

    def start(
        *arguments: str, out: Any = subprocess.PIPE, before: Sequence[str] = (), **how: Any
    ) -> "subprocess.Popen[str]":
        command = [*before, sys.executable, "-m", "delegtop", *arguments]
        pipes: dict[str, Any] = {"stdout": out, "stderr": subprocess.PIPE, "text": True}
        started.append(subprocess.Popen(command, cwd=tmp_path, **pipes, **how))
        return started[-1]

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


def listens(process: "subprocess.Popen[str]") -> bool:
    caught = re.search(r"^SigCgt:\s*([0-9a-f]+)$", Path(f"/proc/{process.pid}/status").read_text(), re.MULTILINE)
    return caught is not None and bool(int(caught[1], 16) & LISTENS)


GOES_ON = {
    "watch": ("watch", "run.jsonl"),
    "wait": ("wait", "aaa111", "run.jsonl"),
    "record": ("record", "run.jsonl", "-o", "run.delegtop"),
    "metrics": ("metrics", "run.jsonl", "-o", "run.prom", "--every", "1"),
    "pipe": ("watch", "-"),
}


@on_linux
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGHUP], ids=lambda how: how.name)
@pytest.mark.parametrize("command", GOES_ON)
def test_what_goes_on_ends_when_it_is_told(
    start: Callable[..., "subprocess.Popen[str]"], command: str, how: signal.Signals, tmp_path: Path
) -> None:
    before = set(tmp_path.iterdir())
    process = start(*GOES_ON[command], stdin=subprocess.PIPE)
    until(lambda: listens(process))
    for _ in range(3):
        process.send_signal(how)
    _, told = process.communicate(timeout=PATIENCE)
    assert process.returncode == 128 + how, told
    assert "Traceback" not in told
    left = {path.name for path in set(tmp_path.iterdir()) - before}
    assert left <= {"run.prom", "run.delegtop"}


@on_linux
def test_a_watch_that_waits_is_woken(start: Callable[..., "subprocess.Popen[str]"], tmp_path: Path) -> None:
    with (tmp_path / "told").open("w") as told:
        process = start("watch", "run.jsonl", out=told)
    sessions = count()

    def tells() -> bool:
        append(tmp_path / "run.jsonl", register(f"bbb{next(sessions):03}"))
        return "bbb" in (tmp_path / "told").read_text()

    until(tells)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 128 + signal.SIGTERM


@on_linux
def test_nohup_is_heeded(start: Callable[..., "subprocess.Popen[str]"]) -> None:
    process = start("watch", "run.jsonl", before=["sh", "-c", "trap '' HUP; exec \"$@\"", "sh"])
    until(lambda: listens(process))
    process.send_signal(signal.SIGHUP)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 128 + signal.SIGTERM


def kill(number: signal.Signals) -> None:
    os.kill(os.getpid(), number)


@pytest.fixture
def as_before() -> Iterator[None]:
    """Who has ended stays deaf, which the rest of the tests must not."""
    before = {number: signal.getsignal(number) for number in (*signals.SIGNALS, signal.SIGALRM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("as_before")
def test_a_signal_is_raised_once_and_nothing_disturbs_what_is_put_away() -> None:
    put_away = False
    with pytest.raises(ToldToEnd) as told, signals.raised():  # noqa: PT012 -- that the second one does nothing is the point
        try:
            kill(signal.SIGTERM)
        finally:
            kill(signal.SIGTERM)
            kill(signal.SIGHUP)
            put_away = True
    kill(signal.SIGTERM)
    assert put_away
    assert told.value.status == 143


@pytest.mark.usefixtures("as_before")
def test_it_is_told_although_somebody_stumbles_while_tidying_up() -> None:
    with pytest.raises(ToldToEnd) as told, signals.raised():  # noqa: PT012 -- the second error is the point
        try:
            kill(signal.SIGHUP)
        finally:
            raise AttributeError("save_nargs")
    assert told.value.status == 129


@pytest.mark.usefixtures("as_before")
def test_who_heeds_it_is_asked_once_and_then_it_is_raised() -> None:
    asked: list[str] = []
    with pytest.raises(ToldToEnd) as told, signals.raised(), signals.heeded(lambda: asked.append("asked")):  # noqa: PT012 -- as above
        kill(signal.SIGHUP)
        kill(signal.SIGTERM)
        asked.append("done")
    kill(signal.SIGTERM)
    assert asked == ["asked", "done"]
    assert told.value.status == 129


@pytest.mark.usefixtures("as_before")
def test_who_does_not_heed_it_is_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signals, "PATIENCE", 0.05)
    with pytest.raises(ToldToEnd), signals.raised(), signals.heeded(lambda: None):  # noqa: PT012 -- as above
        kill(signal.SIGTERM)
        sleep(30)
        pytest.fail("nobody interrupted it")


class Watched:
    """Something to see the end of."""


@pytest.mark.usefixtures("as_before")
def test_where_python_lets_go_of_it_it_is_raised_again(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ToldToEnd), signals.raised():  # noqa: PT012 -- as above
        watched = Watched()
        told = weakref.finalize(watched, kill, signal.SIGTERM)
        del watched  # whatever is raised now nobody can catch
        assert not told.alive
        sleep(30)
        pytest.fail("it was lost")
    assert capsys.readouterr().err == ""


def test_without_a_signal_all_is_as_before() -> None:
    before = [signal.getsignal(number) for number in signals.SIGNALS]
    with signals.raised(), signals.heeded(lambda: None):
        pass
    assert main(["--version"]) == 0
    assert main(["rules", "DEL-020"]) == 0
    assert [signal.getsignal(number) for number in signals.SIGNALS] == before
