"""Which trees have rows is the same while things happen as when all of it is looked at anew."""

import random
from collections.abc import Sequence

import pytest

from delegtop.app.state import board as board_module
from delegtop.app.state.board import Board
from delegtop.base.clock import HOUR, FrozenClock, Millis
from delegtop.base.origin import Origin
from delegtop.model.events import Ended, Ending, Event, Heard, Outcome, Started
from delegtop.settings import Settings

_NOW = Millis(100 * HOUR)
_COUNT = 60


def _told(dice: random.Random) -> list[Event]:
    """Trees in which something failed hours ago, and of which most have come to an end since."""
    begun: list[Event] = []
    ended: list[tuple[Millis, Event]] = []
    for number in range(_COUNT):
        id, at = f"s{number}", Millis(_NOW - 20 * HOUR + number * 1_000)
        parent = f"s{dice.randrange(number)}" if number > 10 and dice.random() < 0.8 else None
        begun.append(Started(id, at, Origin("log", number + 1, 0), parent=parent))
        begun.append(Heard(id, Millis(_NOW - dice.randrange(9_000)), Origin("log", _COUNT + number, 0), "at work"))
        if dice.random() < 0.9:
            end = Millis(_NOW - dice.randrange(19 * HOUR))
            outcome = dice.choice((Outcome.COMPLETED, Outcome.COMPLETED, Outcome.FAILED))
            ended.append((end, Ended(id, end, Origin("log", 2 * _COUNT + number, 0), outcome, Ending.RETURN)))
    return [*begun, *(event for _, event in sorted(ended, key=lambda each: each[0]))]


def _settled(board: Board) -> Board:
    board.refresh()
    if board.loading:
        board.loaded()
    while board.assessments.waiting:
        board.judge(1.0)
    return board


def _seen(board: Board) -> list[tuple[str, str]]:
    rows: Sequence[int] = [row.handle for row in board.outline.window(0, len(board.outline))]
    return [(board.forest.id(handle), board.forest.state(handle).value) for handle in rows]


@pytest.mark.parametrize("at_once", [1.0, 0.0], ids=["judged at once", "judged later"])
@pytest.mark.parametrize("seed", range(20))
def test_a_tree_has_rows_or_none_whatever_was_seen_of_it_before(
    seed: int, at_once: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(board_module, "_AT_ONCE", at_once)
    monkeypatch.setattr(board_module, "_TO_BEGIN_WITH", at_once)
    dice = random.Random(seed)
    told = _told(dice)
    live = Board(Settings(), FrozenClock(_NOW))
    at = dice.randrange(len(told))
    live.receive(told[:at])
    live.refresh()
    live.loaded()
    while at < len(told):
        size = dice.randrange(1, 12)
        live.receive(told[at : at + size])
        live.refresh()
        if dice.random() < 0.1:
            live.judge(1.0)
        at += size
    anew = Board(Settings(), FrozenClock(_NOW))
    anew.receive(told)
    assert _seen(_settled(live)) == _seen(_settled(anew))
