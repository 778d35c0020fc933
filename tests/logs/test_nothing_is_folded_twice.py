"""What is known from an earlier run, and what other processes have read, changes no word of what is printed: of samples
that are homes of agents, of a home that is made up, and of real homes where they are."""

import json
import os
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.bench.make_history import make_history
from tests.unit.feed.test_session_index import LONG_AGO, NOW, aged

from delegtop.base.clock import HOUR, Millis, WallClock, parse_time
from delegtop.cli import main
from delegtop.feed import file_catalogue, index_file, lending, loaders, log_index

SAMPLES = Path(__file__).parents[2] / "sample_logs"
REAL = os.environ.get("DELEGTOP_REAL_LOGS", "")
HOMES = sorted(each for folder in ("agents", "agents_live") for each in Path(REAL or "/-", folder).glob("*/"))
SAMPLE_HOMES = sorted(each for each in SAMPLES.glob("*/") if not each.name[0].isdigit())
"""Those with a number are logs of the delegation protocol."""
COMMANDS = (["tree", "--json"], ["stats", "--json"], ["report"])


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[str, ...]]:
    monkeypatch.setattr(file_catalogue, "WORTH", 0)
    monkeypatch.setattr(log_index, "LEAST", 0)
    monkeypatch.setattr(lending, "WORTH", 1 << 60)
    monkeypatch.setattr(WallClock, "now", lambda _clock: NOW)

    def printed(folder: Path, *more: str) -> tuple[str, ...]:
        found = []
        for command in COMMANDS:
            main([*command, str(folder), *more])
            found.append(capsys.readouterr().out)
        return tuple(found)

    return printed


def lent(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on another process reads all that it can."""
    monkeypatch.setattr(lending, "WORTH", 1)
    monkeypatch.setattr(lending, "PART", 2)
    monkeypatch.setattr(loaders, "processors", lambda: 1)


def same_in_all_ways(folder: Path, told: Callable[..., tuple[str, ...]], monkeypatch: pytest.MonkeyPatch) -> None:
    plain = told(folder, "--no-index")
    assert not index_file.place().exists()
    assert told(folder) == plain, "while the index is made"
    assert told(folder) == plain, "with the index"
    index_file.remove(index_file.place())
    lent(monkeypatch)
    assert told(folder) == plain, "with other processes"
    assert told(folder) == plain, "with what they have read"


@pytest.mark.parametrize("name", [each.name for each in SAMPLE_HOMES])
def test_a_sample_that_is_a_home(
    name: str, tmp_path: Path, told: Callable[..., tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    same_in_all_ways(aged(SAMPLES / name, tmp_path / "logs"), told, monkeypatch)


def soon_after(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """It is some hours after its last word: who is at work may be so still, and the system is asked about them."""
    main(["tree", "--json", str(folder), "--no-index"])
    heard = [each["last_heard_at"] for each in json.loads(capsys.readouterr().out)["delegations"]]
    last = max((at for each in heard if each and (at := parse_time(each)) is not None and at < NOW), default=NOW)
    now = Millis(last + 2 * HOUR)
    monkeypatch.setattr(WallClock, "now", lambda _clock: now)
    for path in folder.rglob("*"):
        if path.is_file():
            os.utime(path, ((now - 1.5 * HOUR) / 1000,) * 2)


@pytest.mark.parametrize("name", [each.name for each in SAMPLE_HOMES])
def test_a_sample_whose_last_word_was_said_some_hours_ago(
    name: str,
    tmp_path: Path,
    told: Callable[..., tuple[str, ...]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = aged(SAMPLES / name, tmp_path / "logs")
    soon_after(folder, monkeypatch, capsys)
    plain = told(folder, "--no-index")
    assert told(folder) == plain, "while the index is made"
    assert told(folder) == plain, "with the index"


def change(how: str, folder: Path, dice: random.Random) -> None:
    """What may happen to a file between two runs; all of it looks as old as before."""
    path = dice.choice(sorted(each for each in folder.rglob("*.json*") if each.stat().st_size))
    before, text = path.stat(), path.read_bytes()
    if how == "append":
        path.write_bytes(text + dice.choice(text.splitlines()) + b"\n")
    elif how == "cut off":
        os.truncate(path, dice.randrange(len(text)))
    elif how == "change in place":
        with path.open("r+b") as file:
            file.write(re.sub(rb"[0-8]", lambda digit: b"%d" % (int(digit[0]) + dice.randrange(2)), text))
    elif how == "replace":
        other = path.with_name("other")
        other.write_bytes(text.replace(b"the ", b"hte "))
        other.replace(path)
    elif how == "rename":
        path.replace(path.with_name(f"x{path.name}"))
        return
    elif how == "copy":
        (path.parent / "elsewhere").mkdir()
        shutil.copy2(path, path.parent / "elsewhere")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize("name", ["claude-code", "codex", "copilot", "droid", "gemini", "kimi"])
def test_a_sample_that_is_changed_between_two_runs(
    name: str,
    tmp_path: Path,
    told: Callable[..., tuple[str, ...]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = aged(SAMPLES / name, tmp_path / "logs")
    soon_after(folder, monkeypatch, capsys)
    told(folder)
    for number, how in enumerate(("append", "change in place", "replace", "cut off", "rename", "copy")):
        change(how, folder, random.Random(number))
        assert told(folder) == told(folder, "--no-index"), how


def test_a_home_that_is_made_up(
    tmp_path: Path, told: Callable[..., tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    make_history(tmp_path / "logs", 12, 60_000, LONG_AGO * 1_000)
    same_in_all_ways(tmp_path / "logs", told, monkeypatch)


@pytest.mark.skipif(not HOMES, reason="DELEGTOP_REAL_LOGS names no logs of agents")
@pytest.mark.parametrize("home", HOMES, ids=lambda home: f"{home.parent.name}-{home.name}")
def test_a_real_home(
    home: Path, tmp_path: Path, told: Callable[..., tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    same_in_all_ways(aged(home, tmp_path / home.name), told, monkeypatch)


@pytest.mark.skipif(not HOMES, reason="DELEGTOP_REAL_LOGS names no logs of agents")
@pytest.mark.parametrize("home", HOMES, ids=lambda home: f"{home.parent.name}-{home.name}")
def test_a_real_home_some_hours_after_its_last_word(
    home: Path,
    tmp_path: Path,
    told: Callable[..., tuple[str, ...]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = aged(home, tmp_path / home.name)
    soon_after(folder, monkeypatch, capsys)
    plain = told(folder, "--no-index")
    assert told(folder) == plain, "while the index is made"
    assert told(folder) == plain, "with the index"
