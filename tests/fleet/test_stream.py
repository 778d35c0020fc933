"""`delegtop record -o -` as whoever listens to it hears it: all of it, a beat, answers, its end, and nothing left."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from tests.patience import PATIENCE, until
from tests.samples import SAMPLES

from delegtop.cli import main
from delegtop.dialects.recording.tape import End, Header, TapeBeat, TapeEvents, TapeLine, TapeSource, Written, unframe


class Listener:
    """Runs the command and hears what it says."""

    def __init__(self, home: Path, *arguments: str, have: dict[str, Any] | None = None) -> None:
        environ = {**os.environ, "HOME": str(home), "XDG_STATE_HOME": str(home / "state")}
        command = [sys.executable, "-m", "delegtop", "record", "-o", "-", "--heartbeat", "0.1", *arguments]
        self.process = subprocess.Popen(
            command, cwd=home, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self.records: list[Written] = []
        self.size = 0
        self.ask({"have": have or {}})

    def ask(self, request: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()

    def hear(self, wanted: Callable[[Written], bool]) -> Any:
        """Until it says that; gives what it says."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            record = unframe(line.rstrip(b"\n"))
            assert record is not None
            self.records.append(record)
            self.size += len(line)
            if wanted(record):
                return record
        raise AssertionError(f"it ended: {self.process.stderr and self.process.stderr.read()!r}")

    def caught_up(self) -> TapeBeat:
        """The beat that says so, with all marks up to it: where reading takes long, some come in those before."""
        beat = self.hear(lambda record: isinstance(record, TapeBeat) and not record.behind)
        assert isinstance(beat, TapeBeat)
        marks = {number: mark for each in self.of(TapeBeat) for number, mark in each.marks.items()}
        return TapeBeat(beat.at, beat.behind, marks)

    def of(self, kind: type) -> list[Any]:
        return [record for record in self.records if isinstance(record, kind)]

    def ended(self) -> int:
        return self.process.wait(PATIENCE)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            with suppress(OSError):  # what was not read any more
                assert pipe is not None
                pipe.close()


Listen = Callable[..., Listener]


@pytest.fixture
def listen(tmp_path: Path) -> Iterator[Listen]:
    listeners: list[Listener] = []

    def listen(*arguments: str, have: dict[str, Any] | None = None) -> Listener:
        listeners.append(Listener(tmp_path, *arguments, have=have))
        return listeners[-1]

    yield listen
    for each in listeners:
        each.close()


@pytest.fixture
def log(tmp_path: Path, project: Path) -> Path:
    path = tmp_path / "logs" / "session.jsonl"
    path.parent.mkdir()
    path.write_bytes((project / "sample_logs" / "02_hang" / "session.jsonl").read_bytes())
    return path


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_places_that_no_file_has_are_answered_with_nothing(listen: Listen, log: Path) -> None:
    shutil.copy(SAMPLES / "08_registry_only" / "registry.json", log.parent)
    one = listen("--no-lines", "logs")
    one.caught_up()
    names = [source.name for source in one.of(TapeSource)]
    assert len(names) == 2
    odd = [(1, -1), (1, 2**63 - 2), (1, 2**63 - 1), (1, 2**63), (1, 10**30), (-5, 5), (2**70, 1 << 62)]
    asked = [[number, name, *place] for number, (name, place) in enumerate(product(names, odd))]
    for want in ([10**30, names[0], 1, 0], *asked):
        one.ask({"want": want})
    answers = [one.hear(lambda each: isinstance(each, TapeLine)) for _ in asked]
    assert [answer.ask for answer in answers] == [want[0] for want in asked]
    assert {answer.text for answer in answers} == {None}


def test_a_conversation_from_its_first_word_to_its_end(listen: Listen, log: Path, tmp_path: Path) -> None:
    before = files(tmp_path)
    one = listen("--no-lines", "--mask", "logs")
    beat = one.caught_up()
    (header,) = one.of(Header)
    assert (header.version, header.beat, header.can) == (1, 100, ("have", "want"))
    assert (header.host, len(header.machine)) == (os.uname().nodename, 16)
    (source,) = one.of(TapeSource)
    assert source.name == "logs/session.jsonl"
    assert len(one.of(TapeEvents)) == len(log.read_text().splitlines())
    assert all(record.raw is None for record in one.of(TapeEvents))
    assert beat.marks[str(source.number)][0] == log.stat().st_size

    place = one.of(TapeEvents)[2].at
    one.ask({"want": [1, source.name, place[1], place[2]]})
    one.ask({"want": [2, "/etc/passwd", 1, 0]})
    one.ask({"nonsense": True})
    one.ask({"want": "everything"})
    answers = {each.ask: each.text for each in (one.hear(lambda each: isinstance(each, TapeLine)) for _ in range(2))}
    assert answers == {1: log.read_text().splitlines()[2], 2: None}

    assert one.process.stdin is not None
    one.process.stdin.close()
    one.hear(lambda record: isinstance(record, End))
    assert one.ended() == 0
    assert files(tmp_path) == before

    have = {source.name: beat.marks[str(source.number)]}
    with log.open("a") as file:
        file.write('{"event":"heartbeat","at":"2026-03-03T10:30:00Z","session_id":"s","activity":"new"}\n')
    again = listen("--no-lines", "--mask", "logs", have=have)
    again.caught_up()
    assert [record.at[1] for record in again.of(TapeEvents)] == [len(log.read_text().splitlines())]
    assert [record.name for record in again.of(TapeSource)][:1] == [source.name]
    assert again.process.stdout is not None
    again.process.stdout.close()  # now nobody reads any more
    assert again.ended() == 0


def test_who_listens_is_killed_and_nothing_goes_on(log: Path) -> None:
    """The recorder hangs on a pipe of somebody who dies without a word, as ssh does."""
    keeper = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import subprocess, sys, time\n"
            "command = [sys.executable, '-m', 'delegtop', 'record', '-o', '-', '--heartbeat', '0.1', 'logs']\n"
            "one = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n"
            "one.stdin.write(b'{}\\n'); one.stdin.flush(); one.stdout.readline()\n"
            "print(one.pid, flush=True); time.sleep(600)",
        ],
        cwd=log.parents[1],
        stdout=subprocess.PIPE,
    )
    assert keeper.stdout is not None
    pid = int(keeper.stdout.readline())
    os.kill(keeper.pid, signal.SIGKILL)
    keeper.wait()
    keeper.stdout.close()
    until(lambda: _is_gone(pid), "its end")


def _is_gone(pid: int) -> bool:
    """Gone, or dead and waiting for whoever inherited it to notice."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


def test_what_is_there_now_through_a_pipe(log: Path, tmp_path: Path) -> None:
    environ = {**os.environ, "HOME": str(tmp_path)}
    record = [sys.executable, "-m", "delegtop", "record", "--once", "-o", "-", str(log)]
    told = subprocess.run(record, cwd=tmp_path, env=environ, capture_output=True, check=True, timeout=PATIENCE).stdout
    assert not (tmp_path / "-").exists()
    tree = [sys.executable, "-m", "delegtop", "tree", "--at", "2026-03-03T10:59:40Z"]
    piped = subprocess.run([*tree, "-"], input=told, env=environ, capture_output=True, check=True, timeout=PATIENCE)
    plain = subprocess.run([*tree, str(log)], env=environ, capture_output=True, check=True, timeout=PATIENCE)
    assert piped.stdout == plain.stdout


@pytest.mark.usefixtures("log")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-o", "-", "--heartbeat", "1", "-"], "--heartbeat takes requests from standard input"),
        (["-o", "x.delegtop", "--heartbeat", "1", "logs"], "--heartbeat goes with -o -"),
    ],
)
def test_what_cannot_be_streamed_is_said(
    arguments: list[str],
    words: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["record", *arguments]) == 2
    assert words in capsys.readouterr().err
