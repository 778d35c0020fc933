"""Other processes that read a part of a long history: nobody can tell but by the time it takes."""

import sys
from pathlib import Path

import pytest
from tests.unit.feed.test_session_index import NOW, SAMPLES, aged, kept, learned

from delegtop.base.clock import WallClock
from delegtop.cli import main
from delegtop.feed import file_catalogue, index_file, lending, loaders

GARBAGE = "import sys; sys.stdin.buffer.read(8); sys.stdout.buffer.write(b'x' * 100)"
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
    monkeypatch.setattr(loaders, "_COMMAND", (sys.executable, "-c", does))
    assert tree(capsys, folder) == plain
    assert not sum(lent)
    index_file.remove(index_file.place())


def test_where_no_other_process_can_be_started_all_is_read_here(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = tree(capsys, folder, "--no-index")
    monkeypatch.setattr(loaders, "_COMMAND", ("/nowhere/python",))
    assert tree(capsys, folder) == plain


def test_with_one_processor_nobody_else_is_asked(
    folder: Path, lent: list[int], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(loaders, "processors", lambda: 0)
    tree(capsys, folder)
    assert not lent
