"""Who is killed, and what must be true of its files: each whole, a prefix, or not there; and the next start works."""

import contextlib
import io
import json
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.samples import SAMPLES

from delegtop import act_log, learned_durations
from delegtop.app import clipboard
from delegtop.app.state.problem_marks import Marks, Problem
from delegtop.app.state.saved_views import View, Views
from delegtop.base.clock import Millis, WallClock
from delegtop.base.paths import index_place
from delegtop.cli import main
from delegtop.cli.exit_codes import Exit
from delegtop.dialects.recording import tape
from delegtop.feed import file_catalogue, log_index
from delegtop.report.status import status_file
from delegtop.search import search_file


class Stage(NamedTuple):
    """Where a victim works: a home, and logs that grow while it does."""

    home: Path
    told: int
    """The descriptor by which the victim tells what it has finished."""

    @property
    def logs(self) -> Path:
        return self.home / "logs"

    @property
    def log(self) -> Path:
        return self.logs / "run.jsonl"

    def tell(self, number: int) -> None:
        os.write(self.told, f"{number}\n".encode())


class Victim(NamedTuple):
    """One that is killed."""

    name: str
    work: Callable[[Stage], object]
    check: Callable[[Stage, int], object]
    """Raises AssertionError if what it left is not right; gets the stage and the last number it told."""
    folder: str
    """Where it writes, below the home: a kill is aimed at the moment something happens there."""
    grows: bool = False
    """Whether its logs grow meanwhile."""


def register(id: str) -> str:
    path = ["orchestrator", "plan", "planner"]
    told = {"event": "register", "at": "2026-03-03T10:00:00Z", "session_id": id, "subagent": "planner"}
    return json.dumps(told | {"timeout": 60, "delegation_depth": 1, "delegation_path": path}) + "\n"


def heartbeat(id: str, number: int) -> str:
    told = {"event": "heartbeat", "at": "2026-03-03T10:00:01Z", "session_id": id, "activity": f"step {number}"}
    return json.dumps(told | {"padding": "x" * (number % 700)}) + "\n"


def silently(*argv: str) -> tuple[int, str, str]:
    """What a command says, run here."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([*argv])
    return code, out.getvalue(), err.getvalue()


# Recordings


def _record(suffix: str) -> Victim:
    def work(stage: Stage) -> None:
        main(["record", str(stage.logs), "-o", str(stage.home / "out" / f"run.delegtop{suffix}")])

    def check(stage: Stage, _told: int) -> None:
        path = stage.home / "out" / f"run.delegtop{suffix}"
        if not path.exists() or not path.stat().st_size:
            return
        data = _unpacked(path.read_bytes()) if suffix else path.read_bytes()
        *whole, torn = data.split(b"\n")
        raws = []
        for line in whole:
            record = tape.unframe(line)
            if isinstance(record, tape.TapeEvents) and record.raw is not None:
                raws.append(record.raw)
        there = stage.log.read_text().splitlines()
        assert raws == there[: len(raws)], "the recording is no prefix of the log"
        code, out, _ = silently("tree", "--json", "--at", "2026-03-03T10:00:30Z", str(path))
        assert code in (Exit.OK, Exit.UNREADABLE, Exit.STUCK), f"tree ends with {code}"
        (source,) = json.loads(out)["sources"]
        assert not torn or source["unreadable"] or source["detail"], "nobody says that the end is lost"
        assert silently("record", str(stage.logs), "--once", "--force", "-o", str(path))[0] == Exit.OK

    return Victim(f"record{suffix}", work, check, "out", grows=True)


def _unpacked(data: bytes) -> bytes:
    """What can be unpacked of members that follow each other; the last one may be torn."""
    text = b""
    while data:
        member = zlib.decompressobj(wbits=31)
        text += member.decompress(data)
        data = member.unused_data
    return text


# Figures for Prometheus


def _metrics(stage: Stage) -> None:
    main(["metrics", str(stage.logs), "-o", str(stage.home / "out" / "delegtop.prom"), "--every", "0.01"])


def _check_metrics(stage: Stage, _told: int) -> None:
    path = stage.home / "out" / "delegtop.prom"
    if path.exists():
        text = path.read_text()
        lines = text.splitlines()
        assert text.endswith("\n")
        assert lines[0].startswith("# HELP")
        families = [line.split()[2] for line in lines if line.startswith("# TYPE")]
        assert families
        assert any(line.startswith(families[-1]) for line in lines[-2:]) or lines[-1].startswith("# TYPE")
    assert silently("metrics", str(stage.logs), "-o", str(path), "--at", "2026-03-03T10:00:30Z")[0] == Exit.OK
    assert not _beside(path), "what the killed one left beside it is still there"


# What is learned


def _learn(_stage: Stage) -> None:
    while True:
        main(["learn", "--quiet", "--since", "9999d"])


def _check_learn(_stage: Stage, _told: int) -> None:
    path = learned_durations.place()
    if path.exists():
        known = learned_durations.load()
        assert known.learned_at, "what was learned cannot be read"
        assert path.read_bytes() == learned_durations.dump(known.usual(), known.counts(), known.learned_at)
    assert silently("learn", "--quiet", "--since", "9999d")[0] == Exit.OK
    assert not _beside(path), "what the killed one left beside it is still there"


# Marks, views, the status file, the act log


def _mark(stage: Stage) -> None:
    marks = Marks()
    for number in range(1_000_000):
        assert marks.acknowledge(Problem(f"sess_{number % 400}", "VER-001", None), Millis(WallClock().now()))
        stage.tell(number)


def _check_marks(_stage: Stage, told: int) -> None:
    marks = Marks()
    assert not marks.trouble, marks.trouble
    assert len(marks) >= min(told + 1, 400), f"{len(marks)} marks are left of {told + 1}"
    marks.acknowledge(Problem("again", "VER-001", None), Millis(WallClock().now()))
    assert not marks.trouble
    assert not _beside(marks.path), "what the killed one left beside it is still there"


def _view(stage: Stage) -> None:
    views = Views()
    for number in range(1_000_000):
        assert views.keep(f"view {number % 150}", View(filter="state:failed " * (number % 40)))
        views.remember(View(sort="cost" if number % 2 else "age"))
        stage.tell(number)


def _check_views(_stage: Stage, told: int) -> None:
    views = Views()
    assert not views.trouble, views.trouble
    assert len(views.names) >= min(told + 1, 150)
    assert views.keep("again", View())
    assert not _beside(views.path), "what the killed one left beside it is still there"


def _keep_status(stage: Stage) -> None:
    from tests.samples import forest_of, moment

    from delegtop.diagnosis.assessments import Assessments
    from delegtop.report.status.status_gather import gather

    assessments = Assessments(forest_of(SAMPLES / "02_hang", moment("2026-03-03T10:59:40Z")))
    for number in range(1_000_000):
        status_file.write(gather(assessments, "test")._replace(at=WallClock().now()))
        stage.tell(number)


def _check_status(stage: Stage, told: int) -> None:
    if told >= 0:
        assert status_file.read(10**9) is not None, "the status file cannot be read"
    code, out, _ = silently("status", "--short")
    assert code in (Exit.OK, Exit.STUCK, Exit.ENDED_BADLY)
    assert told < 0 or out.strip()
    _keep_once(stage)
    assert not _beside(status_file.place()), "what the killed one left beside it is still there"


def _keep_once(_stage: Stage) -> None:
    found = status_file.read(10**9)
    if found is not None:
        status_file.write(found)


def _act(stage: Stage) -> None:
    for number in range(1_000_000):
        act_log.add(act_log.ActLine(Millis(1_772_532_000_000), act_log.ACT, f"a{number}", "sess_1", f"step {number}"))
        stage.tell(number)


def _check_acts(_stage: Stage, told: int) -> None:
    before = [act_log.parsed(line) for _, _, line in act_log.lines()]
    assert None not in before
    assert len(before) >= min(told + 1, 2_000)
    act_log.add(act_log.ActLine(Millis(1_772_532_000_000), act_log.ACT, "last", "sess_1", "again"))
    *_, last = act_log.lines()
    found = act_log.parsed(last[2])
    assert found is not None
    assert found.act == "last"


# What a command makes for people to keep, and what is copied


def _keep_page(ending: str) -> Victim:
    """Whoever writes a report or a bundle over and over: what was there is replaced whole."""
    name = f"incident.{ending}"
    command = "bundle" if ending == "zip" else "report"
    asked = (command, str(SAMPLES / "02_hang"), "--at", "2026-03-03T10:59:40Z", "--force", "-o")

    def work(stage: Stage) -> None:
        while True:
            main([*asked, str(stage.home / "out" / name)])

    def check(stage: Stage, _told: int) -> None:
        path = stage.home / "out" / name
        if path.exists():
            _is_whole(path)
        assert silently(*asked, str(path))[0] == Exit.OK
        assert not _beside(path), "what the killed one left beside it is still there"

    return Victim(f"{command} .{ending}", work, check, "out")


def _is_whole(path: Path) -> None:
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as bundle:
            assert bundle.testzip() is None
    elif path.suffix == ".json":
        assert isinstance(json.loads(path.read_bytes()), dict)
    else:
        assert path.read_text("utf-8").endswith("</html>\n")


def _copy(stage: Stage) -> None:
    for number in range(1_000_000):
        clipboard.save("x" * 2_000 + str(number))
        stage.tell(number)


def _check_copy(_stage: Stage, _told: int) -> None:
    path = clipboard.state_directory() / "clipboard.txt"
    if path.exists():
        text = path.read_text("utf-8")
        assert text == ("x" * 2_000)[: len(text)] or text.rstrip("\n")[2_000:].isdecimal(), (
            "what was copied is no prefix"
        )
        assert path.stat().st_mode & 0o777 == 0o600
    assert clipboard.save("again") == path
    assert path.read_text("utf-8") == "again\n"


# What finished sessions told


@contextlib.contextmanager
def _past() -> Iterator[None]:
    """All is kept however little it is, and time stands still."""
    with pytest.MonkeyPatch.context() as patches:
        patches.setattr(file_catalogue, "WORTH", 0)
        patches.setattr(log_index, "LEAST", 0)
        patches.setattr(WallClock, "now", lambda _clock: Millis(1_800_000_000_000))
        yield


def _grow(stage: Stage) -> None:
    """Each file has one more line, and was quiet for long."""
    for path in (stage.log, *sorted((stage.home / ".claude").rglob("*.jsonl"))):
        last = path.read_bytes().splitlines(keepends=True)[-1]
        with path.open("ab") as file:
            file.write(last)
        os.utime(path, (1_700_000_000, 1_700_000_000))


def _index(*command: str) -> Victim:
    """Whoever reads what there is again and again, and keeps it."""

    def work(stage: Stage) -> None:
        with _past():
            for number in range(1_000_000):
                _grow(stage)
                main([*command])
                stage.tell(number)

    def check(stage: Stage, _told: int) -> None:
        with _past():
            for place in (index_place(), search_file.place()):
                assert not place.exists() or place.stat().st_mode & 0o777 == 0o600
            for again in (("tree", "--all", "--json"), ("find", "the", "--json")):
                plain = silently(*again, "--no-index")
                assert plain[0] == Exit.OK
                assert silently(*again) == plain, f"{again[0]} is not what it is without an index"
            _grow(stage)
            assert silently(*command)[0] == Exit.OK
            assert silently("tree", "--all", "--json") == silently("tree", "--all", "--json", "--no-index")

    return Victim(f"index of {command[0]}", work, check, "cache/delegtop")


# The wrapped command: what `run` writes


def _run(_stage: Stage) -> None:
    main(["run", "--agent", "worker", "--", "sh", "-c", "for i in 1 2 3 4 5; do echo step $i; sleep 0.02; done"])


def _check_run(_stage: Stage, _told: int) -> None:
    state = Path(os.environ["XDG_STATE_HOME"]) / "delegtop"
    for path in state.rglob("*.jsonl"):
        *whole, torn = path.read_bytes().split(b"\n")
        assert not torn, f"{path.name} ends in half a line"
        assert all(isinstance(json.loads(line), dict) for line in whole)
    for path in state.rglob("*.json"):
        assert isinstance(json.loads(path.read_bytes()), dict), f"{path.name} is no registry"
    assert silently("run", "--agent", "worker", "--", "true")[0] == Exit.OK


def _beside(path: Path) -> list[str]:
    """What stands beside a file under a name that is only for the time of writing."""
    return [each.name for each in path.parent.glob(f".{path.name}.*")]


VICTIMS = (
    _record(""),
    _record(".gz"),
    Victim("metrics --every", _metrics, _check_metrics, "out", grows=True),
    Victim("learn", _learn, _check_learn, "cache/delegtop"),
    Victim("triage marks", _mark, _check_marks, "state/delegtop"),
    Victim("views", _view, _check_views, "state/delegtop"),
    Victim("status file", _keep_status, _check_status, "cache/delegtop"),
    Victim("act log", _act, _check_acts, "state/delegtop"),
    _keep_page("html"),
    _keep_page("zip"),
    Victim("copied text", _copy, _check_copy, "state/delegtop"),
    _index("tree", "--all"),
    _index("find", "the"),
    Victim("run", _run, _check_run, "state/delegtop"),
)
