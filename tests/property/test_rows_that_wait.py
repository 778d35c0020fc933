"""Rows that wait while a big log is read: once all is read, or somebody comes to the keys, they are as if none had."""

import random
from collections.abc import Iterator, Sequence

import pytest

from delegtop.app.state import board as board_module
from delegtop.app.state.board import Board
from delegtop.base.clock import FrozenClock, Millis
from delegtop.base.origin import Origin
from delegtop.model.events import Ended, Ending, Event, Heard, Outcome, Started
from delegtop.model.tree.order_names import ORDERS
from delegtop.settings import Settings

_NOW = Millis(10_000_000)
_COUNT = 300


@pytest.fixture(autouse=True)
def _few_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(board_module, "_FIRST_ROWS", 20)
    monkeypatch.setattr(board_module, "_MANY", 50)
    monkeypatch.setattr(board_module, "_STEP", 7)


def _told(dice: random.Random) -> list[Event]:
    """Trees whose parts are told in any order, so that many a parent comes after its children."""
    told: list[Event] = []
    for number in range(_COUNT):
        id, at = f"s{number}", Millis(number * 1_000 + dice.randrange(5_000))
        parent = f"s{dice.randrange(number)}" if number and dice.random() < 0.8 else None
        told.append(Started(id, at, Origin("log", number + 1, 0), parent=parent, agent=f"agent {number % 7}"))
        told.append(Heard(id, Millis(at + dice.randrange(9_000)), Origin("log", _COUNT + number, 0), "at work"))
        if dice.random() < 0.7:
            outcome = dice.choice((Outcome.COMPLETED, Outcome.FAILED, Outcome.BLOCKED))
            ended = Millis(at + 10_000 + dice.randrange(100_000))
            told.append(Ended(id, ended, Origin("log", 2 * _COUNT + number, 0), outcome, Ending.RETURN))
    dice.shuffle(told)
    return told


def _pieces(dice: random.Random, told: Sequence[Event]) -> Iterator[Sequence[Event]]:
    at = 0
    while at < len(told):
        size = dice.randrange(1, 60)
        yield told[at : at + size]
        at += size


def _seen(board: Board) -> list[tuple[str, int, bool, str]]:
    """All rows from the first to the last, and the states in them."""
    rows = board.outline.window(0, len(board.outline))
    return [(board.forest.id(r.handle), r.level, r.expanded, board.forest.state(r.handle).value) for r in rows]


def _settled(board: Board) -> Board:
    board.loaded()
    while board.assessments.waiting:
        board.judge(1.0)
    return board


@pytest.mark.parametrize("seed", range(30))
def test_rows_that_waited_are_the_same_in_the_same_order_as_those_that_did_not(seed: int) -> None:
    dice = random.Random(seed)
    settings = Settings(sort=dice.choice([*ORDERS]), reverse=dice.random() < 0.5)
    plain, waiting = Board(settings, FrozenClock(_NOW)), Board(settings, FrozenClock(_NOW))
    told = _told(dice)
    most = 0
    for piece in _pieces(dice, told):
        for board in (plain, waiting):
            board.receive(piece)
        plain.refresh()
        waiting.is_watched = dice.random() < 0.05
        while waiting.lags:
            waiting.refresh(0.0)
        if dice.random() < 0.3:
            waiting.refresh(0.0)
        if dice.random() < 0.1 and (shown := [row for row in waiting.outline.window(0, 5) if row.children]):
            folded = dice.choice(shown).handle
            for board in (plain, waiting):
                board.outline.collapse(folded)
        most = max(most, len(waiting._added))
    assert most > _COUNT // 10, "else none had to wait"
    assert _seen(_settled(waiting)) == _seen(_settled(plain))
    assert waiting.problems() == plain.problems()
    assert [*waiting.landmarks] == [*plain.landmarks]


@pytest.mark.parametrize("seed", range(10))
def test_somebody_who_comes_to_the_keys_sees_all_rows_as_they_are(seed: int) -> None:
    dice = random.Random(seed)
    settings = Settings(sort="start")
    plain, waiting = Board(settings, FrozenClock(_NOW)), Board(settings, FrozenClock(_NOW))
    waiting.is_watched = False
    told = _told(dice)
    for piece in _pieces(dice, told[: len(told) // 2]):
        for board in (plain, waiting):
            board.receive(piece)
            board.refresh()
    assert len(waiting.outline) < len(plain.outline)
    waiting.is_watched = True
    assert waiting.lags, "rows come before more is received"
    assert waiting.refresh()
    assert _seen(waiting) == _seen(plain)


def test_whoever_filters_or_is_shown_a_row_does_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    board = Board(Settings(), FrozenClock(_NOW))
    board.is_watched = False
    starts = [Started(f"s{number}", Millis(number), Origin("log", number + 1, 0)) for number in range(_COUNT)]
    for start in range(0, _COUNT, 10):
        board.receive(starts[start : start + 10])
        board.refresh()
    assert len(board.outline) < _COUNT
    last = board.forest.find(f"s{_COUNT - 1}")
    assert last is not None
    board.show_row(last)
    assert board.outline.row_of(last) is not None
    assert len(board.outline) == _COUNT

    monkeypatch.setattr(board_module, "_FIRST_ROWS", 0)
    filtered = Board(Settings(), FrozenClock(_NOW))
    filtered.is_watched = False
    filtered.filter("id:s1")
    while not filtered.sift(1.0):
        pass
    filtered.receive(starts)
    filtered.refresh()
    assert {filtered.forest.id(row.handle) for row in filtered.outline.window(0, _COUNT)} == {
        each.id for each in starts if each.id.startswith("s1")
    }
