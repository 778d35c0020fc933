"""`delegtop record` with real files and a real process: what it takes in, how it ends, and what it refuses."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.patience import PATIENCE, until

from delegtop.cli import main
from delegtop.cli.exit_codes import Exit
from delegtop.sources.processes import hostname


def line(event: str, session: str = "aaa111", **more: object) -> str:
    record = {"event": event, "at": "2025-12-26T10:00:00Z", "session_id": f"sess_20251226_{session}", **more}
    return json.dumps(record) + "\n"


RECORDED = "recorded 2 records with 2 events of 1 source in"


def register(session: str = "aaa111") -> str:
    path = ["orchestrator", "plan", "planner"]
    return line("register", session, subagent="planner", timeout=60, delegation_depth=1, delegation_path=path)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("logs").mkdir()
    Path("logs/run.jsonl").write_text(register() + line("heartbeat", activity="thinking"))


def tree(source: str, capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    capsys.readouterr()
    main(["tree", "--json", source, "--at", "2025-12-26T10:01:00Z"])
    found: list[dict[str, object]] = json.loads(capsys.readouterr().out)["delegations"]
    return found


def test_what_is_there_is_recorded_once_and_the_summary_says_how_much(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["record", "logs", "--once", "-o", "run.delegtop"]) == Exit.OK
    assert RECORDED in capsys.readouterr().out
    assert Path("run.delegtop").stat().st_mode & 0o777 == 0o600
    assert tree("run.delegtop", capsys) == tree("logs", capsys)


def test_a_compressed_recording_is_smaller_and_tells_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    with Path("logs/run.jsonl").open("a") as log:
        log.writelines(line("heartbeat", activity=f"step {number}") for number in range(500))
    main(["record", "logs", "--once", "-o", "run.delegtop"])
    main(["record", "logs", "--once", "-o", "run.delegtop.gz"])
    assert Path("run.delegtop.gz").stat().st_size * 5 < Path("run.delegtop").stat().st_size
    assert tree("run.delegtop.gz", capsys) == tree("logs", capsys)


def test_a_file_is_not_overwritten_without_force(capsys: pytest.CaptureFixture[str]) -> None:
    Path("run.delegtop").write_text("precious")
    assert main(["record", "logs", "--once", "-o", "run.delegtop"]) == Exit.USAGE
    assert "--force replaces it" in capsys.readouterr().err
    assert Path("run.delegtop").read_text() == "precious"
    assert main(["record", "logs", "--once", "-o", "run.delegtop", "--force"]) == Exit.OK


def test_a_recording_cannot_record_itself(capsys: pytest.CaptureFixture[str]) -> None:
    main(["record", "logs", "--once", "-o", "run.delegtop"])
    before = Path("run.delegtop").read_bytes()
    assert main(["record", "./run.delegtop", "--once", "-o", "run.delegtop", "--force"]) == Exit.USAGE
    assert "cannot record itself" in capsys.readouterr().err
    assert Path("run.delegtop").read_bytes() == before


@pytest.mark.parametrize("source", [".", "logs", str(Path("logs").parent / "logs"), "../{here}"])
def test_a_recording_inside_a_folder_that_is_recorded_is_not_read(
    source: str, capsys: pytest.CaptureFixture[str]
) -> None:
    source = source.format(here=Path.cwd().name)
    assert main(["record", source, "--timeout", "1.2", "-o", "logs/run.delegtop"]) == Exit.OK
    assert RECORDED in capsys.readouterr().out


def test_a_source_that_is_not_there_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["record", "nowhere.jsonl", "logs", "--once", "-o", "run.delegtop"]) == Exit.UNREADABLE
    assert "nowhere.jsonl" in capsys.readouterr().err
    assert Path("run.delegtop").exists()


def test_no_file_is_made_of_nothing_but_what_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["record", "nowhere.jsonl", "--once", "-o", "run.delegtop"]) == Exit.UNREADABLE
    told = capsys.readouterr()
    assert (told.out, told.err) == ("", "delegtop: nowhere.jsonl: not found\n")
    assert not Path("run.delegtop").exists()


@pytest.mark.parametrize("folder", ["nowhere/run.delegtop", "logs"])
def test_a_place_that_cannot_be_written_is_a_usage_error(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["record", "logs", "--once", "-o", folder]) == Exit.USAGE
    assert capsys.readouterr().err


def test_a_span_that_is_none_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["record", "logs", "--timeout", "soon", "-o", "x.delegtop"]) == Exit.USAGE
    assert "is no time" in capsys.readouterr().err


def test_standard_input_is_recorded_until_it_ends() -> None:
    text = register() + line("heartbeat", activity="thinking").rstrip("\n")
    done = subprocess.run(
        [sys.executable, "-m", "delegtop", "record", "-", "-o", "run.delegtop"],
        input=text.encode(),
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == Exit.OK
    assert RECORDED in done.stdout.decode()


@pytest.fixture
def recording() -> Iterator["subprocess.Popen[bytes]"]:
    command = [sys.executable, "-m", "delegtop", "record", "logs", "-o", "run.delegtop"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    yield process
    if process.poll() is None:
        process.kill()
    process.communicate()


def until_recorded(text: bytes) -> None:
    until(lambda: Path("run.delegtop").exists() and text in Path("run.delegtop").read_bytes())


@pytest.mark.parametrize(
    ("how", "code"),
    [(signal.SIGINT, Exit.OK), (signal.SIGTERM, Exit.TERMINATED), (signal.SIGHUP, Exit.HUNG_UP)],
)
def test_it_records_while_sources_grow_and_ends_cleanly_when_asked(
    how: signal.Signals, code: Exit, recording: "subprocess.Popen[bytes]", capsys: pytest.CaptureFixture[str]
) -> None:
    until_recorded(b"thinking")
    with Path("logs/run.jsonl").open("a") as log:
        log.write(line("heartbeat", activity="writing"))
    Path("logs/other.jsonl").write_text(register("bbb222"))
    until_recorded(b"writing")
    until_recorded(b"bbb222")
    with Path("logs/run.jsonl").open("a") as log:
        log.write(line("heartbeat", activity="at the last moment"))
    recording.send_signal(how)
    out, _ = recording.communicate(timeout=PATIENCE)
    assert recording.returncode == code
    assert b"recorded 5 records with 5 events of 2 sources" in out
    assert b'"is":"end"' in Path("run.delegtop").read_bytes().splitlines()[-1]
    assert tree("run.delegtop", capsys) == tree("logs", capsys)


def test_killed_without_warning_it_leaves_what_it_had(
    recording: "subprocess.Popen[bytes]", capsys: pytest.CaptureFixture[str]
) -> None:
    until_recorded(b"thinking")
    recording.kill()
    recording.wait()
    assert tree("run.delegtop", capsys) == tree("logs", capsys)


def test_where_no_more_can_be_written_it_says_so_and_what_was_written_counts(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with Path("logs/run.jsonl").open("a") as log:
        log.writelines(line("heartbeat", activity=f"step {number}") for number in range(2_000))
    command = f"ulimit -f 64; exec {sys.executable} -m delegtop record logs --once -o run.delegtop"
    done = subprocess.run(["sh", "-c", command], capture_output=True, timeout=PATIENCE, check=False)
    assert done.returncode == Exit.UNREADABLE
    assert b"the recording ends here: File too large" in done.stderr
    [planner] = tree("run.delegtop", capsys)
    assert planner["agent"] == "planner"


def test_a_process_that_was_gone_then_is_gone_for_who_reads_it_anywhere(capsys: pytest.CaptureFixture[str]) -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    Path("logs/run.jsonl").write_text(register().replace("{", f'{{"pid": {process.pid}, "host": "{hostname()}", ', 1))
    main(["record", "logs", "--once", "-o", "run.delegtop"])
    capsys.readouterr()
    main(["tree", "--json", "run.delegtop"])
    [planner] = json.loads(capsys.readouterr().out)["delegations"]
    assert (planner["state"], "process" in planner["reason"]) == ("lost", True)
