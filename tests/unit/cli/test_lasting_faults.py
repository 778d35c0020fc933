"""Faults of the machine below: no reports of changes, a full disk, a restart in the middle of a line."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.followed_folder import append
from tests.patience import PATIENCE, until
from tests.recorded_feed import RecordedFeed, session_lines

DELEGTOP = (sys.executable, "-m", "delegtop")
QUEUE = Path("/proc/sys/fs/inotify/max_queued_events")
NO_INSTANCES = 'echo 0 > /proc/sys/user/max_inotify_instances && exec "$@"'
KERNEL_TELLS, NOBODY_TELLS, NO_INSTANCE = "the kernel tells", "nobody tells", "no instance is left"
FEW_DESCRIPTORS = ", few descriptors"
IN_A_NAMESPACE = ("unshare", "-Ur", "sh", "-c", NO_INSTANCES, "sh")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("logs").mkdir()


def works(*command: str) -> bool:
    return (
        bool(shutil.which(command[0])) and not subprocess.run([*command], capture_output=True, check=False).returncode
    )


def recorded(path: str = "r.delegtop") -> Counter[str]:
    """How often each session stands in a recording."""
    text = Path(path).read_text() if Path(path).exists() else ""
    lines = [json.loads(line) for line in text.splitlines() if line.endswith("}")]
    return Counter(event["id"][-6:] for line in lines for event in line.get("events", ()) if event["is"] == "heard")


class TestALineThatIsFinishedAfterARestart:
    def test_is_told_once_and_not_before(self) -> None:
        log, line = Path("logs/a.jsonl"), session_lines("bbb222")
        log.write_text(session_lines("aaa111") + line[:40])
        told = []
        for rest in (line[40:], ""):
            recorded = RecordedFeed("logs")
            told.append(recorded.look(2))
            recorded.close()
            with log.open("a") as file:
                file.write(rest)
        assert told == [["aaa111"], ["aaa111", "bbb222"]]


@contextmanager
def recording(way: str) -> Iterator["subprocess.Popen[bytes]"]:
    """A recorder at work, once it has read the first record."""
    before: tuple[str, ...] = ()
    environment = dict(os.environ)
    if way.startswith(NOBODY_TELLS):
        environment["WATCHFILES_FORCE_POLLING"] = "1"
    if way == NO_INSTANCE:
        if not works(*IN_A_NAMESPACE, "true"):
            pytest.skip("no user namespace may be made here")
        before = IN_A_NAMESPACE
    if way.endswith(FEW_DESCRIPTORS):
        before = ("sh", "-c", 'ulimit -n 64 && exec "$@"', "sh")
    Path("logs/a.jsonl").write_text(session_lines("first0"))
    command = [*before, *DELEGTOP, "record", "logs", "-o", "r.delegtop"]
    with (
        Path("words").open("wb") as words,
        subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=words) as process,
    ):
        try:
            until(lambda: recorded()["first0"], "the first record")
            yield process
        finally:
            process.kill()


class TestARecorder:
    @pytest.mark.parametrize("way", [KERNEL_TELLS, NOBODY_TELLS])
    def test_that_was_stopped_while_more_happened_than_the_kernel_can_tell_misses_nothing(self, way: str) -> None:
        events = int(QUEUE.read_text()) if QUEUE.exists() else 16_384
        with recording(way) as recorder:
            recorder.send_signal(signal.SIGSTOP)
            with Path("logs/b.jsonl").open("ab", 0) as one, Path("logs/c.jsonl").open("ab", 0) as two:
                for _ in range(
                    min(events, 100_000) // 2 + 10
                ):  # in turn, or the kernel would tell of them as one change
                    one.write(b"\n")
                    two.write(b"\n")
            names = [f"{number:06}" for number in range(50)]
            for name in names:
                Path(f"logs/{name}.jsonl").write_text(session_lines(name))
            recorder.send_signal(signal.SIGCONT)
            until(lambda: len(recorded()) >= 51, "every record")
            append(Path("logs/a.jsonl"), "last00")
            until(lambda: recorded()["last00"], "the last record")
        assert recorded() == Counter(["first0", *names, "last00"])

    def test_without_an_inotify_instance_finds_everything_all_the_same(self) -> None:
        names = [f"{number:06}" for number in range(5)]
        with recording(NO_INSTANCE):
            for number, name in enumerate(names, 2):
                append(Path(f"logs/{name}.jsonl"), name)
                until(lambda number=number: len(recorded()) >= number, f"{number} records")  # type: ignore[misc]  # bound now
            append(Path("logs/a.jsonl"), "last00")
            until(lambda: recorded()["last00"], "the last record")
        assert recorded() == Counter(["first0", *names, "last00"])

    @pytest.mark.parametrize("way", [f"{KERNEL_TELLS}{FEW_DESCRIPTORS}", f"{NOBODY_TELLS}{FEW_DESCRIPTORS}"])
    def test_with_fewer_descriptors_than_files_tells_every_line_once(self, way: str) -> None:
        logs = [Path(f"logs/{number:03}.jsonl") for number in range(200)]
        for number, log in enumerate(logs):
            append(log, f"a{number:05}")
        with recording(way):
            until(lambda: len(recorded()) >= 201, "a record of every file")
            logs[7] = logs[7].rename("logs/007.jsonl.1")
            for number, log in enumerate(logs):
                append(log, f"b{number:05}")
            until(lambda: len(recorded()) >= 401, "two records of every file")
            append(Path("logs/a.jsonl"), "last00")
            until(lambda: recorded()["last00"], "the last record")
        assert len(recorded()) == 402
        assert set(recorded().values()) == {1}

    @pytest.mark.parametrize("way", [KERNEL_TELLS, NOBODY_TELLS])
    def test_that_is_written_to_faster_than_it_reads_tells_every_line_once(self, way: str) -> None:
        with recording(way):
            for number in range(100):
                for log in range(40):
                    append(Path(f"logs/{log:02}.jsonl"), f"{log:02}{number:04}")
            until(lambda: len(recorded()) >= 4_001, "every record")
            append(Path("logs/a.jsonl"), "last00")
            until(lambda: recorded()["last00"], "the last record")
        assert len(recorded()) == 4_002
        assert set(recorded().values()) == {1}

    def test_says_at_its_end_where_something_may_be_missing(self) -> None:
        Path("logs/b.jsonl").touch()
        with recording(KERNEL_TELLS) as recorder:
            append(Path("logs/c.jsonl"), "ccc333")
            until(lambda: recorded()["ccc333"], "a look at all files")
            recorder.send_signal(signal.SIGSTOP)
            append(Path("logs/b.jsonl"), "bbb222")
            Path("logs/b.jsonl").unlink()
            append(Path("logs/d.jsonl"), "ddd444")
            recorder.send_signal(signal.SIGCONT)
            until(lambda: recorded()["ddd444"], "another look")
            recorder.send_signal(signal.SIGINT)
            assert recorder.wait(PATIENCE) == 0
        assert "logs/b.jsonl: possible gap: at " in Path("words").read_text()

    def test_on_a_disk_that_becomes_full_says_so_and_keeps_what_it_wrote(self) -> None:
        mounted = 'mount -t tmpfs -o size=64k tmpfs disk && { "$@"; echo "$?" > code; cp disk/r.delegtop . ; }'
        Path("disk").mkdir()
        if not works("unshare", "-Urm", "sh", "-c", "mount -t tmpfs -o size=64k tmpfs disk"):
            pytest.skip("no file system may be mounted here")
        for number in range(20):
            Path(f"logs/{number:02}.jsonl").write_text(session_lines(*(f"{number:03}{each:03}" for each in range(99))))
        command = [*DELEGTOP, "record", "logs", "--once", "-o", "disk/r.delegtop"]
        done = subprocess.run(
            ["unshare", "-Urm", "sh", "-c", mounted, "sh", *command],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert "No space left on device" in done.stderr
        assert "Traceback" not in done.stderr
        assert Path("code").read_text().strip() != "0"
        tree = [*DELEGTOP, "tree", "--json", "r.delegtop"]
        found = json.loads(subprocess.run(tree, capture_output=True, check=True, timeout=PATIENCE).stdout)
        assert 0 < len(found["delegations"]) < 20 * 99
