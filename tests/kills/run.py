"""Kill whoever writes, at random moments, and look at what it leaves.

python -m tests.kills.run [--count 1000] [--seed 1] [--only metrics,learn]

Each victim is a process of its own that is ended by SIGKILL: half of them the moment something happens in the folder
they write to or a few thousandths of a second later, the others at any moment. Then every file it wrote is checked:
whole, a prefix, or not there; and that the next start works and clears away what was left. The dashboard is killed in
a terminal, which takes longer: one in forty.
"""

import argparse
import collections
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from tests.kills.inotify import Inotify
from tests.kills.victims import VICTIMS, Stage, Victim, heartbeat, register
from tests.samples import SAMPLES

_LATEST = 0.6
"""Seconds that a victim lives at most."""
_AIMED = 0.003
_DASHBOARD = 40


def main() -> int:
    options = _options()
    victims = [victim for victim in VICTIMS if not options.only or victim.name in options.only]
    dice = random.Random(options.seed)
    counts: collections.Counter[str] = collections.Counter()
    wrote: collections.Counter[str] = collections.Counter()
    wrong: list[tuple[str, str]] = []
    for number in range(options.count):
        is_dashboard = not options.only and number % _DASHBOARD == _DASHBOARD - 1
        victim = None if is_dashboard else victims[number % len(victims)]
        name = victim.name if victim else "dashboard"
        counts[name] += 1
        try:
            wrote[name] += kill_dashboard(dice) if victim is None else kill(victim, dice)
        except Exception as error:  # noqa: BLE001 -- whatever it is, it is told with its number
            place = traceback.extract_tb(error.__traceback__)[-1]
            wrong.append(
                (name, f"kill {number}: {type(error).__name__} {error} at {Path(place.filename).name}:{place.lineno}")
            )
            sys.stderr.write(f"{name}: {wrong[-1][1]}\n")
        if number % 100 == 99:
            sys.stderr.write(f"{number + 1} kills, {len(wrong)} wrong\n")
    for name, count in counts.items():
        bad = sum(each == name for each, _ in wrong)
        sys.stdout.write(f"{name:<18}{count:>6} kills{wrote[name]:>6} had written{bad:>5} wrong\n")
    sys.stdout.write(f"{sum(counts.values())} kills, {len(wrong)} left something wrong\n")
    return 1 if wrong else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=lambda text: text.split(","), metavar="NAME,…")
    return parser.parse_args()


def kill(victim: Victim, dice: random.Random) -> bool:
    """Let one work in a home of its own, end it, and look; whether it had begun to write."""
    home = Path(tempfile.mkdtemp(prefix="delegtop-kill-"))
    reading, writing = os.pipe()
    try:
        with _at_home(home):
            stage = _set(home, writing)
            pid = _start(victim, stage)
            try:
                os.close(writing)
                writing = -1
                _await(victim, stage, dice)
            finally:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
            _age(home)
            wrote = any(path.is_file() for path in (home / victim.folder).rglob("*"))
            victim.check(stage, _told(reading))
            return wrote
    finally:
        os.close(reading)
        if writing >= 0:
            os.close(writing)
        shutil.rmtree(home, ignore_errors=True)


def _set(home: Path, told: int) -> Stage:
    stage = Stage(home, told)
    for folder in ("logs", "out", "cache/delegtop", "state/delegtop", "config"):
        (home / folder).mkdir(parents=True)
    stage.log.write_text(
        register("sess_20260303_abc123") + "".join(heartbeat("sess_20260303_abc123", n) for n in range(50))
    )
    shutil.copytree(SAMPLES / "claude-code" / "projects", home / ".claude" / "projects")
    return stage


class _at_home:  # noqa: N801 -- reads as what it does
    """Whatever is of the machine's own is kept out, for the victim and for who looks afterwards."""

    def __init__(self, home: Path) -> None:
        places = {"HOME": home, "XDG_CACHE_HOME": home / "cache", "XDG_STATE_HOME": home / "state"}
        self._new = {name: str(place) for name, place in (places | {"XDG_CONFIG_HOME": home / "config"}).items()}
        self._before: Mapping[str, str | None] = {}

    def __enter__(self) -> None:
        self._before = {name: os.environ.get(name) for name in self._new}
        self._here = Path.cwd()
        os.environ.update(self._new)
        os.chdir(self._new["HOME"])

    def __exit__(self, *_: object) -> None:
        os.chdir(self._here)
        for name, value in self._before.items():
            if value is None:
                os.environ.pop(name)
            else:
                os.environ[name] = value


def _start(victim: Victim, stage: Stage) -> int:
    """A process that does its work until it is killed."""
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid:
        return pid
    try:
        os.setsid()
        nowhere = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(nowhere, fd)
        victim.work(stage)
    finally:
        os._exit(0)


def _await(victim: Victim, stage: Stage, dice: random.Random) -> None:
    """Until the moment has come; the log grows meanwhile."""
    folder = stage.home / victim.folder
    end = time.monotonic() + dice.uniform(0.02, _LATEST)
    aimed, passes = dice.random() < 0.5, dice.randrange(6)
    eyes = _eyes(folder)
    number = 50
    try:
        while time.monotonic() < end:
            if victim.grows:
                with stage.log.open("a") as log:
                    log.writelines(heartbeat("sess_20260303_abc123", number + more) for more in range(5))
                number += 5
            if eyes.changes(0.005) and aimed:
                if not passes:
                    time.sleep(dice.uniform(0, _AIMED))
                    return
                passes -= 1
    finally:
        eyes.close()


def _eyes(folder: Path) -> "Inotify | _Glances":
    try:
        return Inotify([str(folder)])
    except OSError:  # others have all instances that a user may have
        return _Glances(folder)


class _Glances:
    """The same by looking again and again, which is less well aimed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._seen = self._look()

    def changes(self, timeout: float) -> bool:
        time.sleep(timeout)
        before, self._seen = self._seen, self._look()
        return before != self._seen

    def close(self) -> None:
        """Nothing is kept open."""

    def _look(self) -> set[tuple[str, int, int]]:
        found = set()
        for path in self._folder.iterdir():
            with suppress(FileNotFoundError):
                status = path.stat()
                found.add((path.name, status.st_size, status.st_mtime_ns))
        return found


def _age(home: Path) -> None:
    """What was left is an hour old when the next one starts: something younger might still be being written."""
    for path in home.rglob(".*"):
        if path.is_file():
            found = path.stat()
            os.utime(path, (found.st_atime - 3_600, found.st_mtime - 3_600))


def _told(reading: int) -> int:
    """The last number that was told; -1 if there is none."""
    os.set_blocking(reading, False)
    text = b""
    while True:
        try:
            part = os.read(reading, 1 << 16)
        except BlockingIOError:
            break
        if not part:
            break
        text = (text + part)[-64:]
    whole = text[: text.rfind(b"\n") + 1].split()
    return int(whole[-1]) if whole else -1


def kill_dashboard(dice: random.Random) -> bool:
    """The dashboard in a terminal, with a few keys pressed, and once more to see that it starts; whether it wrote."""
    from tests.bench.terminal import Terminal

    from delegtop.app.state.problem_marks import Marks
    from delegtop.app.state.saved_views import Views
    from delegtop.report.status import status_file, status_json

    home = Path(tempfile.mkdtemp(prefix="delegtop-kill-"))
    try:
        with _at_home(home):
            _set(home, -1)
            argv = [sys.executable, "-m", "delegtop", str(SAMPLES / "02_hang"), "--at", "2026-03-03T10:59:40Z"]
            with Terminal(argv) as terminal:
                terminal.wait_for(b"implementer", timeout=120)
                for key in dice.choices((b"t", b"a", b"q", b"s", b"S", b"O", b"d", b"b"), k=dice.randrange(12)):
                    if key != b"q":
                        terminal.press(key)
                    terminal.watch(dice.uniform(0, 0.08))
            marks, views = Marks(), Views()
            if marks.trouble or views.trouble:
                raise AssertionError(marks.trouble or views.trouble)
            place = status_file.place()
            if place.exists():
                status_json.decode(place.read_bytes())
            with Terminal(argv) as terminal:
                terminal.wait_for(b"implementer", timeout=120)
            return place.exists() or marks.path.exists() or views.path.exists()
    finally:
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
