"""What is told of one session in several files is found the same whether some of it was read before or not."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.past_sessions import place_of, write
from tests.samples import SAMPLES
from tests.watching import line, register

from delegtop.base.clock import DAY, HOUR, Millis, WallClock, iso
from delegtop.cli import main
from delegtop.cli.exit_codes import Exit
from delegtop.search.search_file import SearchFile

WORDS = "a*|e*|i*|o*|s*|t*"
LONG_AGO = 1_000_000_000


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
