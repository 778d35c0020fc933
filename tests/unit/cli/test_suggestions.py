"""Where there is nothing to show, or only what is long over, one line on stderr says how to go on."""

import json
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import sleep

import pytest

from delegtop.base.clock import DAY, MINUTE, Millis, WallClock, iso
from delegtop.cli import main
from delegtop.cli.exit_codes import Exit

SAMPLES = Path(__file__).parents[3] / "sample_logs"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The samples, copied just now."""
    shutil.copytree(SAMPLES, tmp_path / "clone" / "sample_logs", copy_function=shutil.copyfile)
    return tmp_path / "clone"


def live_log(path: Path, *, ended: bool = False) -> None:
    about = {"at": iso(Millis(WallClock().now() - MINUTE)), "session_id": "sess_20260501_abc123"}
    records: list[dict[str, object]] = [{"event": "register", "subagent": "planner", **about}]
    if ended:
        records.append({"event": "return", "return": {"status": "completed", "summary": "All done."}, **about})
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


def said(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = Exit.OK) -> tuple[str, str]:
    assert main(list(arguments)) == code
    return capsys.readouterr()


@pytest.mark.parametrize(("start", "name"), [("clone", "sample_logs"), (".", "clone/sample_logs")])
def test_in_a_clone_and_above_it_the_samples_are_offered_and_not_shown(
    start: str, name: str, clone: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(clone.parent / start)
    out, err = said(capsys, "tree")
    assert out.startswith("No delegations at ")
    assert re.fullmatch(rf"delegtop: {name}: last record \d+d(\d\dh)? ago; `delegtop replay {name}` shows it\n", err)


def test_what_is_alive_beside_the_samples_is_shown_alone(
    clone: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    live_log(clone / "runs" / "live.jsonl")
    monkeypatch.chdir(clone)
    out, err = said(capsys, "tree", "--json")
    assert [row["id"] for row in json.loads(out)["delegations"]] == ["sess_20260501_abc123"]
    assert "`delegtop replay sample_logs` shows it" in err


def test_sources_list_what_is_offered_with_the_age_of_its_last_record(
    clone: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(clone)
    out, _ = said(capsys, "sources")
    (row,) = [line for line in out.splitlines() if "sample_logs" in line and "left out" in line]
    assert re.search(r"last record \d+d(\d\dh)? ago; `delegtop replay sample_logs` shows it", row)


def test_the_samples_are_read_if_they_are_named(clone: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, err = said(capsys, "tree", str(clone / "sample_logs" / "02_hang"))
    assert "implementer" in out
    days = (WallClock().now() - 1772533308000) // DAY
    assert f"the last record is {days}d old; --at 2026-03-03T10:21:48Z looks at that moment" in err
    out, err = said(capsys, "tree", str(clone / "sample_logs" / "02_hang"), "--at", "2026-03-03T10:21:48Z")
    assert " running " in out
    assert err == ""


def test_a_bundle_tells_the_moment_at_which_it_was_made(clone: Path, capsys: pytest.CaptureFixture[str]) -> None:
    moment = "2026-03-03T10:59:40Z"
    said(capsys, "bundle", str(clone / "sample_logs" / "02_hang"), "--at", moment, "-o", "incident.zip")
    _, err = said(capsys, "tree", "incident.zip")
    assert f"--at {moment} looks at that moment" in err


def test_a_recording_tells_the_moment_at_which_it_ended(clone: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It was made just now, so nothing in it is called long over, whatever it holds."""
    said(capsys, "record", str(clone / "sample_logs" / "02_hang"), "--once", "-o", "run.delegtop")
    _, err = said(capsys, "tree", "run.delegtop")
    assert err == ""


COMMANDS = [["tree"], ["tree", "--json"], ["check"], ["report"], ["stats"], ["metrics"], ["sources", "--json"]]


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_where_there_is_nothing_to_read_every_command_says_so_and_is_fine(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    out, err = said(capsys, *arguments)
    assert "Traceback" not in err
    assert err.count("\n") == 1
    assert err.startswith("delegtop: no logs of agents are found here or in the known places; name a SOURCE")
    if "--json" in arguments:
        json.loads(out)


@pytest.mark.parametrize("command", ["tree", "check", "report", "stats", "metrics", "sources"])
def test_a_named_source_that_is_not_there_stays_an_error(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    _, err = said(capsys, command, "nowhere.jsonl", code=Exit.UNREADABLE)
    assert err == "delegtop: nowhere.jsonl: not found\n"


def test_a_folder_without_logs_says_how_to_go_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("nothing")
    out, err = said(capsys, "tree", "notes")
    assert out.startswith("No delegations at ")
    assert err == (
        "delegtop: notes: no log that delegtop knows; `delegtop sources notes` tells more, --format NAME reads it as "
        "one\n"
    )


def started(*arguments: str) -> subprocess.Popen[str]:
    """The real program, once it has said that it waits."""
    command = [sys.executable, "-m", "delegtop", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    assert process.stderr.readline().startswith("delegtop: no logs of agents are found yet; waiting for the first")
    return process


PLACES = [Path(".claude") / "projects" / "-srv" / "x.jsonl", Path(".copilot") / "session-state" / "a" / "b.jsonl"]
AWAITED = [*((Path.home, place) for place in PLACES), (Path.cwd, Path("run.jsonl"))]


@pytest.mark.parametrize(("base", "place"), AWAITED, ids=lambda part: str(part) if isinstance(part, Path) else "")
def test_a_watch_that_begins_before_the_first_agent_picks_it_up_wherever_it_writes(
    base: Callable[[], Path], place: Path
) -> None:
    with started("watch", "--exit-when", "done", "--timeout", "60") as process:
        live_log(base() / place, ended=True)
        _, err = process.communicate()
    assert "done: 1 delegation: 1 completed" in err
    assert process.returncode == Exit.OK


def test_waiting_for_one_that_is_to_appear_begins_before_any_log_is_there() -> None:
    with started("wait", "sess_20260501_abc123", "--appear", "--timeout", "60") as process:
        live_log(Path.home() / ".claude" / "projects" / "-srv" / "x.jsonl", ended=True)
        out, _ = process.communicate()
    assert "sess_20260501_abc123" in out
    assert process.returncode == Exit.OK


def test_a_recording_that_begins_before_the_first_agent_holds_what_it_writes(tmp_path: Path) -> None:
    with started("record", "-o", "run.delegtop", "--timeout", "60") as process:
        live_log(Path.home() / ".claude" / "projects" / "-srv" / "x.jsonl", ended=True)
        tape = tmp_path / "run.delegtop"
        while process.poll() is None and not (tape.exists() and b"sess_20260501_abc123" in tape.read_bytes()):
            sleep(0.05)
        process.send_signal(signal.SIGINT)
        process.communicate()
    assert process.returncode == Exit.OK
