"""Goal 3: a frame, an insert and a jump cost the same however many delegations there are."""

import asyncio
import gc
import random
import time
from collections.abc import Callable, Iterator
from itertools import islice
from statistics import median
from typing import TYPE_CHECKING

from tests.bench.measure import method
from tests.bench.plan import Plan, short
from tests.bench.table import Row

if TYPE_CHECKING:
    from delegtop.app.state.board import Board
    from delegtop.app.widgets.delegation_tree import DelegationTree
    from delegtop.model.events import Started

_FEW = 100
_SOME = 10_000
_TIMES = 200
_FAN = 12


def rows(plan: Plan) -> list[Row]:
    small, _, most = plan.sizes
    frames = _in_turn("frames", (_FEW, _SOME, most), 3)
    index = _in_turn("index", (small, most), 3)
    few, some, big = short(_FEW), short(_SOME), short(most)

    def frame(what: str, of: str, at: int, limit: float, than: str) -> Row:
        measured, base = frames[most][of], frames[at][of]
        return Row(3, f"{what} at {big}, of that at {than}", measured / base, limit, note=f"{measured * 1e3:.2f} ms")

    def seek(what: str, of: str) -> Row:
        measured, base = index[most][of], index[small][of]
        what = f"index: {what} at {big}, of that at {short(small)}"
        return Row(3, what, measured / base, 4, note=f"{measured * 1e6:.1f} µs")

    return [
        frame("frame, all rows new,", "page", _FEW, 1.1, few),
        frame("frame, one row changed,", "row", _FEW, 1.1, few),
        frame("one insert with its frame", "insert", _SOME, 2, some),
        seek("seek a row", "seek"),
        seek("row of a delegation", "row_of"),
        seek("insert", "insert"),
    ]


def _in_turn(name: str, sizes: tuple[int, ...], rounds: int) -> dict[int, dict[str, float]]:
    """The medians of a method at several sizes."""
    taken = [{size: method(f"g3_frames.{name}", size) for size in sizes} for _ in range(rounds)]
    return {size: {what: median(turn[size][what] for turn in taken) for what in taken[0][size]} for size in sizes}


def _starts(count: int) -> "Iterator[Started]":
    """A forest of that many delegations: commands with a dozen below each, three levels deep."""
    from delegtop.base.clock import Millis
    from delegtop.base.origin import Origin
    from delegtop.model.events import Started

    for number in range(count):
        parent = None if number % (_FAN**3) == 0 else _name(number // _FAN if number > _FAN else 0)
        at = Millis(1_766_743_200_000 + number)
        origin = Origin("session.jsonl", number + 1, number * 300)
        yield Started(
            _name(number), at, origin, agent="implementer", path=("orchestrator", "implementer"), depth=1,
            parent=parent, timeout=7_200_000,
        )  # fmt: skip


def _name(number: int) -> str:
    return f"sess_1766743200_{number:07d}"


def _board(count: int) -> "Board":
    from delegtop.app.state.board import Board
    from delegtop.base.clock import FrozenClock, Millis
    from delegtop.settings import Settings

    board = Board(Settings(), FrozenClock(Millis(1_766_743_200_000 + count)))
    batch: list[Started] = []
    for event in _starts(count):
        batch.append(event)
        if len(batch) == 5_000:
            board.receive(batch)
            board.refresh()
            batch = []
    board.receive(batch)
    board.advance()
    gc.freeze()
    return board


def _median(work: Callable[[int], object], prepare: Callable[[int], object] = lambda _: None) -> float:
    """The median CPU time of one piece of work; the first few only warm up."""
    taken: list[float] = []
    for turn in range(_TIMES):
        prepare(turn)
        before = time.process_time_ns()
        work(turn)
        taken.append((time.process_time_ns() - before) / 1e9)
    return median(taken[_TIMES // 10 :])


def frames(size: str) -> dict[str, float]:
    """CPU seconds of frames of the real widget, from the change to the escape sequences."""
    from textual.app import App, ComposeResult

    from delegtop.app import theme
    from delegtop.app.widgets.delegation_tree import DelegationTree

    count = int(size)
    board = _board(count)

    class Shown(App[None]):
        def __init__(self) -> None:
            super().__init__()
            for each in theme.THEMES:
                self.register_theme(each)
            self.theme = theme.THEMES[0].name

        def get_theme_variable_defaults(self) -> dict[str, str]:
            return theme.DEFAULTS

        def compose(self) -> ComposeResult:
            yield DelegationTree(board.rows)

    async def measured() -> dict[str, float]:
        app = Shown()
        async with app.run_test(size=(120, 40)) as pilot:
            tree = app.query_one(DelegationTree)
            tree.update_rows(structural=True)
            await pilot.pause()
            return _frames(board, tree, count)

    return asyncio.run(measured())


def _frames(board: "Board", tree: "DelegationTree", count: int) -> dict[str, float]:
    from textual._compositor import CompositorUpdate

    app, compositor = tree.app, tree.screen._compositor
    new = islice(_starts(count + _TIMES), count, None)

    def paint(_: int = 0) -> None:
        compositor.update_widgets({tree})
        update = compositor.render_update(simplify=True)
        if isinstance(update, CompositorUpdate):
            update.render_segments(app.console)

    def page(turn: int) -> None:
        # Back and forth over fresh rows: with a hundred delegations there are but two pages.
        tree._pieces.clear()
        tree.action_page(1 if turn // 2 % 2 == 0 else -1)
        paint()

    def row(turn: int) -> None:
        tree.action_move(1 if turn % 2 else -1)
        paint()

    def insert(_: int) -> None:
        board.receive([next(new)])
        board.refresh()
        tree.update_rows(structural=True)
        paint()

    tree.action_first()
    paint()
    return {"page": _median(page), "row": _median(row), "insert": _median(insert)}


def index(size: str) -> dict[str, float]:
    """CPU seconds of one look into the outline, and of one new row."""
    from delegtop.model.tree.outline import Outline

    count = int(size)
    outline = Outline()
    parents = [None if number % (_FAN**3) == 0 else number // _FAN for number in range(count)]
    for number, parent in enumerate(parents):
        outline.add(number, None if parent == number else parent)
    gc.freeze()
    dice = random.Random(7)
    total = len(outline)
    many = range(500)

    def seek(_: int) -> None:
        for place in places:
            outline.at(place)

    def row_of(_: int) -> None:
        for place in places:
            outline.row_of(place)

    def draw(_: int) -> None:
        places[:] = [dice.randrange(total) for _ in many]

    places: list[int] = []
    draw(0)
    seek(0)
    return {
        "seek": _median(seek, draw) / len(many),
        "row_of": _median(row_of, draw) / len(many),
        "insert": _inserts(outline.add, count, dice),
    }


def _inserts(add: Callable[[int, int | None], None], count: int, dice: random.Random) -> float:
    """The median of adding a tenth of what is there, in small portions below random parents."""
    portion = max(count // 1_000, 5)
    taken: list[float] = []
    at = count
    for _ in range(100):
        parents = [dice.randrange(count) for _ in range(portion)]
        before = time.process_time_ns()
        for parent in parents:
            add(at, parent)
            at += 1
        taken.append((time.process_time_ns() - before) / 1e9 / portion)
    return median(taken)
