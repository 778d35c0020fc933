"""What was read reaches the board in pieces, and whoever presses a key does not wait for more than one of them."""

from collections import deque
from collections.abc import Sequence
from itertools import count
from typing import cast

import pytest

from delegtop.app.state import board as board_module
from delegtop.app.state import intake as intake_module
from delegtop.app.state.board import Board
from delegtop.app.state.intake import Intake
from delegtop.app.state.reader_thread import Reader
from delegtop.base.clock import FrozenClock, Millis
from delegtop.base.origin import Origin
from delegtop.feed.batch import Batch
from delegtop.model.events import Event, Started
from delegtop.model.forest import Forest
from delegtop.settings import Settings

_MANY = 3_000
_LONG = 3_600.0
"""Seconds that no slice of so few takes."""


class ReadAlready:
    """A reader whose queue has these."""

    def __init__(self, *batches: list[Event]) -> None:
        self.batches = deque(Batch(each) for each in batches)

        self.busy = False

    @property
    def waiting(self) -> bool:
        return bool(self.batches)

    def take(self, seconds: float = 0.0) -> Batch | None:
        assert seconds == 0.0 or self.busy, "what comes one by one is not waited for"
        return self.batches.popleft() if self.batches else None


class KeyPressedAmid(Board):
    """A key is pressed while it takes in the first piece."""

    intake: Intake | None = None

    def receive(self, events: Sequence[Event]) -> None:
        super().receive(events)
        if self.intake is not None:
            self.intake.cut_short()
            self.intake = None


def _starts(first: int, count: int) -> list[Event]:
    return [Started(f"sess_{number}", Millis(number), Origin("log", number + 1, 0)) for number in range(first, count)]


def _board(kind: type[Board] = Board) -> Board:
    return kind(Settings(), FrozenClock(Millis(_MANY)))


def _intake(board: Board, *batches: list[Event]) -> Intake:
    return Intake(cast(Reader, ReadAlready(*batches)), board)


def test_a_slice_with_time_enough_takes_in_all_and_gives_it_rows() -> None:
    board = _board()
    intake = _intake(board, _starts(0, _MANY))
    assert intake.slice(_LONG)
    assert len(board.outline) == len(board.forest) == _MANY
    assert not intake.more


def test_a_key_ends_the_slice_with_its_piece_and_rows_wait() -> None:
    board = cast(KeyPressedAmid, _board(KeyPressedAmid))
    board.intake = intake = _intake(board, _starts(0, _MANY))
    assert not intake.slice(_LONG)
    assert 0 < len(board.forest) < _MANY
    assert len(board.outline) == 0
    assert intake.more
    assert intake.slice(_LONG), "the next one is whole again"
    assert len(board.outline) == len(board.forest) == _MANY


def test_while_there_is_more_rows_are_left_to_the_next_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    board, seconds = _board(), count()
    intake = _intake(board, _starts(0, _MANY))
    monkeypatch.setattr(intake_module, "monotonic", lambda: next(seconds))
    assert not intake.slice(1.5)
    assert intake.more
    assert 0 < len(board.forest) < _MANY
    assert len(board.outline) == 0
    assert board.refresh()
    assert len(board.outline) == len(board.forest)


def _in_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few may wait, rows come a few at a time, and each step takes longer than a refresh that is not to wait."""
    monkeypatch.setattr(board_module, "_MANY", 200)
    monkeypatch.setattr(board_module, "_STEP", 100)
    seconds = count()
    monkeypatch.setattr(board_module, "monotonic", lambda: float(next(seconds)))


def test_rows_come_before_more_is_received_than_a_key_can_wait_for(monkeypatch: pytest.MonkeyPatch) -> None:
    _in_steps(monkeypatch)
    most = 0

    class Watched(Board):
        def receive(self, events: Sequence[Event]) -> None:
            nonlocal most
            assert not self.lags
            super().receive(events)
            most = max(most, len(self.forest) - len(self.outline))

    board = _board(Watched)
    assert _intake(board, _starts(0, _MANY)).slice(_LONG)
    assert len(board.outline) == len(board.forest) == _MANY
    assert most < _MANY


def test_a_refresh_that_ran_out_of_time_goes_on_where_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    _in_steps(monkeypatch)
    board = _board()
    board.receive(_starts(0, 250))
    shown = []
    while board.lags:
        board.refresh(0.5)
        shown.append(len(board.outline))
    assert sorted({*shown}) == [0, 100, 200, 250]
    assert shown == sorted(shown)
    board.receive(_starts(250, 500))
    board.refresh(0.5)
    board.refresh(0.5)
    assert len(board.outline) == 350
    board.receive(_starts(500, 510))
    assert board.refresh()
    assert not board.lags
    assert len(board.outline) == 510


def test_another_moment_leaves_a_refresh_that_is_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    _in_steps(monkeypatch)
    board = _board()
    board.receive(_starts(0, 10))
    board.leap(Forest())
    board.reach(Millis(1))
    board.receive(_starts(0, 250))
    board.refresh(0.5)
    assert board.lags
    board.reach(None)
    assert not board.lags
    assert len(board.outline) == 10


def test_while_much_is_to_be_read_rows_are_left_to_the_next_frame_even_if_nothing_waits_just_now() -> None:
    board = _board()
    intake = _intake(board, _starts(0, _MANY))
    cast(ReadAlready, intake._reader).busy = True
    assert not intake.slice(_LONG)
    assert len(board.forest) == _MANY
    assert len(board.outline) == 0


def test_rows_that_a_frame_had_no_time_for_come_with_the_next_slice(monkeypatch: pytest.MonkeyPatch) -> None:
    _in_steps(monkeypatch)
    board = _board()
    intake = _intake(board)
    board.receive(_starts(0, 250))
    board.refresh(0.5)
    assert len(board.outline) < 250
    assert intake.more
    intake.slice(_LONG)
    assert len(board.outline) == 250
    assert not intake.more
