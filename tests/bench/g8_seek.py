"""Goal 8: to be at any moment of a recording takes no longer however many events lie before it.

Beside each seek stands what it is instead of: folding all events up to the same moment afresh.
"""

import gc
import random
from functools import partial
from statistics import median
from typing import TYPE_CHECKING

from tests.bench.measure import cpu, method, percentile, resident
from tests.bench.plan import Plan, short
from tests.bench.table import Row

if TYPE_CHECKING:
    from delegtop.base.clock import Millis
    from delegtop.model.history.timeline import Timeline

_SEEKS = 200
_FOLDS = 3
_LIMIT = 100
"""Milliseconds."""


def rows(plan: Plan) -> list[Row]:
    log = plan.log(plan.big)
    found = method("g8_seek.seeks", log)
    events = int(found["events"])
    many = short(round(events, -5) or events)
    small = method("g8_seek.seeks", plan.log(plan.sizes[0]))
    note = f"median {found['median'] * 1e3:.0f} ms; {found['delegations']:,.0f} delegations"
    return [
        Row(
            8, f"seek in {events:,} events, slowest of {_SEEKS}", found["slowest"] * 1e3, _LIMIT, unit=" ms", note=note
        ),
        Row(8, f"the same, p99, of that in {int(small['events']):,} events", found["p99"] / small["p99"]),
        Row(
            8,
            f"fold of {many} afresh, of a seek to the same moment",
            found["fold"] / found["median"],
            10,
            at_least=True,
        ),
        Row(8, f"checkpoints of {many} events, of the memory of the events", found["held"] / found["told"], 1),
        Row(8, f"seek in {many} events up to the rows on the board, p99", found["board"] * 1e3, unit=" ms"),
    ]


def seeks(path: str) -> dict[str, float]:
    """CPU seconds of seeks to random moments, and of fresh folds up to some of them."""
    from delegtop.base.clock import Millis

    told = resident()
    timeline = _timeline(path)
    before = resident()
    timeline.study(float("inf"))
    held = resident() - before
    dice = random.Random(8)
    moments = [Millis(dice.randint(timeline.first, timeline.last)) for _ in range(_SEEKS)]
    timeline.forest(moments[0])
    taken = [cpu(partial(timeline.forest, at)) for at in moments]
    folds = [cpu(partial(_fold, timeline, at)) for at in moments[:_FOLDS]]
    return {
        "events": len(timeline),
        "delegations": len(timeline.forest(timeline.last)),
        "median": median(taken),
        "p99": percentile(taken, 0.99),
        "slowest": max(taken),
        "fold": median(folds),
        "told": before - told,
        "held": held,
        "board": _on_board(timeline, moments[:40]),
    }


def _on_board(timeline: "Timeline", moments: "list[Millis]") -> float:
    """The same with everything the screen does before it paints: rows in order, folds, focus, problems."""
    from delegtop.app.state.board import Board
    from delegtop.base.clock import FrozenClock
    from delegtop.settings import Settings

    board = Board(Settings(), FrozenClock(timeline.last))
    board.loaded()

    def leap(at: "Millis") -> None:
        board.leap(timeline.forest(at))
        board.reach(at)
        board.refresh()
        board.outline.window(0, 40)

    return percentile([cpu(partial(leap, at)) for at in moments], 0.99)


def _timeline(path: str) -> "Timeline":
    from delegtop.base.clock import WallClock
    from delegtop.feed.live_feed import Feed
    from delegtop.model.history.timeline import Timeline

    gc.disable()
    feed = Feed([path], clock=WallClock())
    events = [event for batch in feed.read_all() for event in batch.events]
    feed.close()
    return Timeline(events)


def _fold(timeline: "Timeline", at: "Millis") -> None:
    from delegtop.model.forest import Forest

    forest = Forest()
    for start in range(0, timeline.position(at), 1_000):
        forest.apply(timeline.events[start : min(start + 1_000, timeline.position(at))])
    forest.advance(at)
