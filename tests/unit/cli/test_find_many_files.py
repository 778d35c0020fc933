"""What is told of one session in several files is found the same whether some of it was read before or not."""

import json
import os
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.homes import Transcript
from tests.past_sessions import days_ago, place_of, session, write
from tests.samples import SAMPLES
from tests.watching import line, register

from delegtop.base.clock import DAY, HOUR, Millis, WallClock, iso
from delegtop.cli import main
from delegtop.cli.exit_codes import Exit
from delegtop.search import unread_files
from delegtop.search.search_file import SearchFile
from delegtop.sources import inode

WORDS = "a*|e*|i*|o*|s*|t*"
LONG_AGO = 1_000_000_000


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder without logs: each search would look through all samples of the project. It is quick there, and keeps
    what was written a moment ago all the same."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(inode, "_SETTLED", 0)


@pytest.fixture
def codex() -> list[Path]:
    """A session of Codex with its agents, each in a file of its own, long over."""
    unpacked = shutil.ignore_patterns("*.zst")
    shutil.copytree(SAMPLES / "codex", Path.home() / ".codex", ignore=unpacked)
    return sorted(path for path in aged(Path.home() / ".codex") if path.suffix == ".jsonl")


def aged(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        if path.is_file():
            os.utime(path, (LONG_AGO, LONG_AGO))
            yield path


def told(capsys: pytest.CaptureFixture[str], *more: str) -> str:
    """All that is found, but for the moment of the search."""
    capsys.readouterr()
    main(["find", WORDS, "--json", "--limit", "100", *more])
    return "\n".join(each for each in capsys.readouterr().out.splitlines() if '"at": ' not in each)


def test_a_session_whose_agent_is_at_work_is_read_whole_again(
    codex: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    os.utime(codex[-1])
    plain = told(capsys, "--no-index")
    assert told(capsys) == plain
    assert told(capsys) == plain
    assert not SearchFile().known(), "half of a session is nothing to keep"


@pytest.mark.parametrize("late", [0, -1], ids=["the file of the session", "the file of an agent"])
def test_a_file_that_comes_later_is_read_with_those_that_are_known(
    codex: list[Path], late: int, capsys: pytest.CaptureFixture[str]
) -> None:
    aside = Path.home() / "aside"
    codex[late].rename(aside)
    assert told(capsys) == told(capsys, "--no-index")
    assert SearchFile().known()
    aside.rename(codex[late])
    plain = told(capsys, "--no-index")
    assert told(capsys) == plain
    assert told(capsys) == plain
    assert len({kept.company for kept in SearchFile().known().values()}) == 1


def test_who_asks_for_the_last_days_only_keeps_no_half_of_a_session(
    codex: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """Its first file is kept and too old to be looked at."""
    aside = Path.home() / "aside"
    codex[-1].rename(aside)
    assert told(capsys) == told(capsys, "--no-index")
    text = aside.read_text().replace("2026-02-03T09:", days_ago_as_text(2))
    codex[-1].write_text(text)
    hours_ago = (WallClock().now() - 2 * DAY) / 1000
    os.utime(codex[-1], (hours_ago, hours_ago))
    told(capsys, "--since", "3d")
    plain = told(capsys, "--no-index")
    assert told(capsys) == plain
    assert told(capsys) == plain


def days_ago_as_text(days: float) -> str:
    return f"{iso(Millis(int(WallClock().now() - days * DAY)))[:10]}T09:"


def test_who_is_told_of_in_another_file_than_before_is_found_there(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A log is kept, renamed, and goes on."""
    log = Path.home() / ".local" / "state" / "delegtop" / "logs" / "run.jsonl"
    monkeypatch.delenv("XDG_STATE_HOME")
    log.parent.mkdir(parents=True)
    log.write_text(register("aaa111"))
    os.utime(log, (LONG_AGO, LONG_AGO))
    assert told(capsys) == told(capsys, "--no-index")
    assert SearchFile().known()
    with log.rename(log.with_name("moved.jsonl")).open("a") as file:
        file.write(line("heartbeat", "aaa111", "10:00:09", activity="lake build"))
    assert told(capsys) == told(capsys, "--no-index")


def test_a_recording_is_found_again(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """What it tells stood in other files."""
    recorded = Path.home() / ".local" / "state" / "delegtop" / "logs" / "run.delegtop"
    recorded.parent.mkdir(parents=True)
    assert main(["record", "--once", "-o", str(recorded), str(SAMPLES / "claude-code")]) == Exit.OK
    os.utime(recorded, (LONG_AGO, LONG_AGO))
    settings = tmp_path / "settings.toml"
    settings.write_text(f"sources = [{json.dumps(str(recorded))}]\n")
    first = told(capsys, "--config", str(settings))
    assert '"id": "toolu_lantern_test"' in first
    assert told(capsys, "--config", str(settings)) == first


def test_what_is_at_work_has_the_same_place_among_the_best(capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(1, 5):
        write(number, "Prune the beds" if number % 2 else "Prune the roses", days=number, file="/srv/roses.py")
    write(5, "Prune what is left", days=0.001)
    now = WallClock().now()
    os.utime(place_of(2), ((now - HOUR / 4) / 1000,) * 2)
    plain = told(capsys, "--best", "--no-index")
    assert told(capsys, "--best") == plain
    assert told(capsys, "--best") == plain
    assert len(SearchFile().known()) == 3


def test_a_recording_beside_the_log_that_it_repeats_changes_nothing_of_what_is_found(
    capsys: pytest.CaptureFixture[str],
) -> None:
    logs = Path.home() / "logs"
    shutil.copytree(SAMPLES / "16_second_witness", logs)
    settings = Path.home() / "settings.toml"
    settings.write_text(f"sources = [{json.dumps(str(logs))}]\n")
    for _ in aged(logs):
        pass
    plain = told(capsys, "--no-index", "--config", str(settings))
    for _ in range(3):
        assert told(capsys, "--config", str(settings)) == plain


def branched(number: int, to: int, lines: int | None = None, *, renamed: bool = True) -> Path:
    """Another session that begins with the first lines of this one, under its own id or `renamed`, and goes on."""
    began = place_of(number).read_bytes().splitlines(keepends=True)[:lines]
    path = write(to, "Prune what is left", days=5)
    own = path.read_bytes()
    at = path.stat().st_mtime
    text = b"".join(began)
    path.write_bytes((text.replace(session(number).encode(), session(to).encode()) if renamed else text) + own)
    os.utime(path, (at, at))
    return path


@pytest.fixture(params=[1, 5_000], ids=["one at a time", "all at once"])
def portion(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """How much is read at a time."""
    monkeypatch.setattr(unread_files, "UNITS", request.param)


@pytest.mark.usefixtures("portion")
def test_a_branch_is_read_with_the_session_it_began_as_however_much_is_read_at_a_time(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It tells of the same call, and not of its return."""
    write(2, "Review the roses", days=9, error="API Error: 529 Overloaded")
    branched(2, 1, 2)
    plain = told(capsys, "--no-index")
    assert '"state": "failed"' in plain
    assert '"state": "lost"' not in plain
    assert told(capsys) == plain
    assert told(capsys) == plain


@pytest.mark.usefixtures("portion")
@pytest.mark.parametrize("late", [True, False], ids=["kept before", "read with it"])
def test_a_session_that_is_only_the_beginning_of_another_file_is_told_of_there(
    late: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    write(1, "Review the roses", days=9)
    write(3, "Water the tomatoes", days=20)
    if late:
        assert session(1) in told(capsys)
    branched(1, 2, renamed=False)
    plain = told(capsys, "--no-index")
    assert session(1) not in plain, "every line of it stands in the other"
    for _ in range(3):
        assert told(capsys) == plain
    companies = [each.company for each in SearchFile().known().values()]
    assert sorted(map(companies.count, {*companies})) == [1, 2]


@pytest.mark.usefixtures("portion")
def test_who_is_at_work_is_read_with_a_branch_of_it_that_is_over(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is kept of either."""
    write(1, "Review the roses", days=9, error="API Error: 529 Overloaded")
    branched(1, 2, 2)
    os.utime(place_of(1))
    plain = told(capsys, "--no-index")
    assert told(capsys) == plain
    assert told(capsys) == plain
    assert not SearchFile().known()


@pytest.mark.parametrize("seed", range(6))
def test_branches_are_found_the_same_however_they_are_read(
    seed: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    dice = random.Random(seed)
    for number in range(1, dice.randrange(3, 6)):
        log = Transcript(session(number), "/srv/garden")
        at = days_ago(dice.uniform(1, 20))
        log.asked(at, "Look at the roses")
        for call in range(dice.randrange(3)):
            log.spawned(at + 1_000, f"toolu_{number}{call}", "Explore", "Look on")
            log.came_back(at + 9_000, f"toolu_{number}{call}", "Seen", status="completed", agentId=f"a{number}{call}")
        log.done(at + 10_000, "Done.")
        log.keep(place_of(number))
    for step in range(10, 13):
        there = sorted(place_of(0).parent.glob("*.jsonl"))
        branched(int(dice.choice(there).name[:8], 16), step, dice.randrange(1, 7), renamed=dice.random() < 0.6)
        whole = told(capsys, "--no-index")
        with monkeypatch.context() as patch:
            patch.setattr(unread_files, "UNITS", dice.choice((1, 2, 5_000)))
            assert told(capsys, "--no-index") == whole
            assert told(capsys) == whole


@pytest.mark.usefixtures("portion")
def test_an_agent_whose_file_does_not_say_in_its_name_whose_it_is_is_read_with_its_session(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """As Claude Code kept them once: beside the sessions of the project."""
    at = days_ago(9)
    log = Transcript(session(1), "/srv/garden")
    log.asked(at, "Look at the roses")
    log.spawned(at + 1_000, "toolu_1", "Explore", "Look on")
    log.came_back(at + 9_000, "toolu_1", "Seen", status="completed", agentId="a1")
    log.done(at + 10_000, "Done.")
    log.keep(place_of(1))
    agent = Transcript(session(1), "/srv/garden", "a1")
    agent.asked(at + 1_100, "Look on, and report")
    agent.called(at + 2_000, "toolu_e1", "Edit", file_path="/srv/garden/tomato_plan.py")
    agent.came_back(at + 3_000, "toolu_e1", "ok")
    agent.done(at + 8_000, "Seen")
    agent.keep(place_of(1).with_name("agent-a1.jsonl"))
    write(2, "Prune what is left", days=5)
    for more in (["--no-index"], [], []):
        assert "/srv/garden/tomato_plan.py" in told(capsys, "tomato_plan", *more)
