"""Other processes that read a part of a long history: nobody can tell but by the time it takes."""

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from tests.homes import Transcript
from tests.unit.feed.test_session_index import NOW, SAMPLES, aged, kept, learned

from delegtop.base import private_database
from delegtop.base.clock import DAY, WallClock
from delegtop.base.paths import index_place
from delegtop.cli import main
from delegtop.dialects import Sample
from delegtop.feed import file_catalogue, lending, loaders, process_messages, rounds
from delegtop.feed.file_catalogue import FileCatalogue

GARBAGE = "import sys; sys.stdin.buffer.read(8); sys.stdout.buffer.write(b'x' * 100)"
LONG_AGO = int(NOW) - 10 * DAY
HUGE = "import sys; sys.stdin.buffer.read(8); sys.stdout.buffer.write(b'\\xff' * 8 + b'x' * 100)"


@pytest.fixture(autouse=True)
def _worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_catalogue, "WORTH", 0)
    monkeypatch.setattr(lending, "WORTH", 1)
    monkeypatch.setattr(lending, "PART", 2)
    monkeypatch.setattr(loaders, "processors", lambda: 1)


@pytest.fixture
def lent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many sessions came back of each part."""
    counts: list[int] = []
    original = loaders.Loaders.returned

    def counted(self: loaders.Loaders, wait: float) -> list[loaders.Returned]:
        found = list(original(self, wait))
        counts.extend(len(each.sessions) for each in found)
        return found

    monkeypatch.setattr(loaders.Loaders, "returned", counted)
    return counts


def tree(capsys: pytest.CaptureFixture[str], folder: Path, *more: str) -> str:
    main(["tree", "--json", str(folder), *more])
    return capsys.readouterr().out


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(WallClock, "now", lambda _clock: NOW)
    return aged(SAMPLES / "claude-code", tmp_path / "logs")


def test_what_others_have_read_is_what_is_read_here(
    folder: Path, lent: list[int], capsys: pytest.CaptureFixture[str]
) -> None:
    plain = tree(capsys, folder, "--no-index")
    assert tree(capsys, folder) == plain
    assert sum(lent)
    assert kept() >= sum(lent)
    lent.clear()
    assert tree(capsys, folder) == plain
    assert not lent, "what is known need not be lent"


def test_a_session_whose_path_is_no_text_is_read_here(
    tmp_path: Path, lent: list[int], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(WallClock, "now", lambda _clock: NOW)
    for number, name in enumerate(("one", "text", "the\udce9")):
        log = Transcript(f"0000000{number}-0000-4000-8000-000000000000", "/home/ada")
        log.asked(LONG_AGO, "Count the pots")
        log.done(LONG_AGO + 1_000, "Twelve.")
        log.keep(tmp_path / "projects" / name / f"{log.session}.jsonl", LONG_AGO - 365 * DAY)
    plain = tree(capsys, tmp_path / "projects", "--no-index")
    assert tree(capsys, tmp_path / "projects") == plain
    assert sum(lent)


def test_others_read_the_files_of_a_session_in_the_order_in_which_they_are_read_here(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of two with the same text the first tells it."""
    asked: list[list[str]] = []
    lend = loaders.Loaders.lend

    def noted(self: loaders.Loaders, units: loaders.Units) -> bool:
        asked.extend([*paths] for paths in units.values())
        return lend(self, units)

    monkeypatch.setattr(loaders.Loaders, "lend", noted)
    session = next(path for path in folder.rglob("*.jsonl") if (path.with_suffix("") / "subagents").is_dir())
    (session.with_suffix("") / "elsewhere").mkdir()
    shutil.copy2(session, session.with_suffix("") / "elsewhere" / session.name)
    plain = tree(capsys, folder, "--no-index")
    assert tree(capsys, folder) == plain
    order = [each["path"] for each in json.loads(plain)["sources"]]
    assert max(map(len, asked)) > 2
    assert all(paths == sorted(paths, key=order.index) for paths in asked)


def test_a_file_that_others_read_is_no_new_one_meanwhile(
    folder: Path, lent: list[int], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = tree(capsys, folder, "--no-index")
    monkeypatch.setattr(rounds, "RESCAN_SECONDS", 0.0)
    monkeypatch.setattr(rounds, "SETTLING_SECONDS", 0.0)
    looked, read_here, given = list[int](), list[str](), set[str]()
    look_round, settle, lend = FileCatalogue.look_round, FileCatalogue._settle, loaders.Loaders.lend
    returned, calls = lending.SessionLending.returned, count()

    def looking(files: FileCatalogue) -> tuple[str, ...]:
        looked.append(files.is_lent)
        return look_round(files)

    def settling(files: FileCatalogue, path: str, sample: Sample) -> None:
        read_here.append(path)
        settle(files, path, sample)

    def lending_(all: loaders.Loaders, units: loaders.Units) -> bool:
        given.update(path for paths in units.values() for path in paths)
        return lend(all, units)

    def later(all: lending.SessionLending, *, idle: bool, rest: Callable[[], None]) -> Iterator[Any]:
        return returned(all, idle=idle, rest=rest) if next(calls) else iter(())

    monkeypatch.setattr(lending.SessionLending, "returned", later)
    monkeypatch.setattr(FileCatalogue, "look_round", looking)
    monkeypatch.setattr(FileCatalogue, "_settle", settling)
    monkeypatch.setattr(loaders.Loaders, "lend", lending_)
    assert tree(capsys, folder) == plain
    assert sum(looked), "nobody looked for new files while others read"
    assert sum(lent)
    assert given
    assert given.isdisjoint(read_here)


def test_a_session_beside_a_log_that_says_only_inside_whose_it_is_is_read_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As Claude Code laid them down until 2.0.60: `agent-ID.jsonl` beside the session that called the agent."""
    monkeypatch.setattr(WallClock, "now", lambda _clock: NOW)
    folder = tmp_path / "projects" / "-home-ada"
    folder.mkdir(parents=True)
    session, other = (f"0000000{number}-0000-4000-8000-000000000000" for number in (1, 2))
    for each in (session, other):
        main_log = Transcript(each, "/home/ada")
        main_log.asked(LONG_AGO, "Count the pots")
        main_log.spawned(LONG_AGO + 1_000, f"toolu_{each[7]}", "Explore", "Look in the shed")
        main_log.came_back(LONG_AGO + 9_000, f"toolu_{each[7]}", "Seven", status="completed", agentId=f"abc{each[7]}")
        main_log.done(LONG_AGO + 10_000, "Seven pots." + " They stand in the shed." * 99)
        main_log.keep(folder / f"{each}.jsonl")
    agent = Transcript(session, "/home/ada", "abc1")
    agent.asked(LONG_AGO + 1_100, "Look in the shed")
    agent.called(LONG_AGO + 2_000, "toolu_ls", "Bash", command="ls shed")
    agent.came_back(LONG_AGO + 3_000, "toolu_ls", "seven pots")
    agent.done(LONG_AGO + 8_000, "Seven")
    agent.keep(folder / "agent-abc1.jsonl")
    plain = tree(capsys, tmp_path / "projects", "--no-index")
    assert '"records": 4' in plain
    assert tree(capsys, tmp_path / "projects") == plain


def test_what_is_learned_of_what_others_have_read_is_the_same(
    folder: Path, lent: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = learned(monkeypatch, folder, "--no-index")
    assert learned(monkeypatch, folder) == plain
    assert sum(lent)


@pytest.mark.parametrize("does", ["pass", "import os; os.abort()", "raise SystemExit(3)", GARBAGE, HUGE])
def test_one_that_fails_costs_nothing_but_time(
    does: str, folder: Path, lent: list[int], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = tree(capsys, folder, "--no-index")
    monkeypatch.setattr(process_messages, "_COMMAND", (sys.executable, "-c", does))
    assert tree(capsys, folder) == plain
    assert not sum(lent)
    private_database.remove(index_place())


def test_where_no_other_process_can_be_started_all_is_read_here(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = tree(capsys, folder, "--no-index")
    monkeypatch.setattr(process_messages, "_COMMAND", ("/nowhere/python",))
    assert tree(capsys, folder) == plain


def test_with_one_processor_nobody_else_is_asked(
    folder: Path, lent: list[int], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(loaders, "processors", lambda: 0)
    tree(capsys, folder)
    assert not lent
