"""What a test of a screen asks: is it ready, what stands on it, where is the cursor."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tests.piloting import until
from textual.pilot import Pilot
from textual.widget import Widget

from delegtop.app.main import DelegtopApp
from delegtop.app.widgets.banner import Banner
from delegtop.app.widgets.earlier import Earlier

_LOOKS = 3_000
"""Looks in vain before a wait has failed; only what never happens takes so many."""


async def ready(pilot: Pilot[Any]) -> DelegtopApp:
    """Wait until all is read, judged and on the screen."""
    app = pilot.app
    assert isinstance(app, DelegtopApp)
    await until(pilot, lambda: not app.board.loading)
    await settled(pilot)
    return app


@asynccontextmanager
async def running(app: DelegtopApp, **how: Any) -> AsyncIterator[tuple[DelegtopApp, Pilot[None]]]:
    """The app on a screen, once it is ready; `how` as for `run_test`."""
    async with app.run_test(**how) as pilot:
        await ready(pilot)
        yield app, pilot


async def settled(pilot: Pilot[Any]) -> None:
    """Draw what is known by now, and let the filter and the rules have their say, without waiting for their timers."""
    app = pilot.app
    assert isinstance(app, DelegtopApp)
    for _ in range(_LOOKS):
        await pilot.pause()
        if app.board.sieve is not None:
            app.monitor._sift()
        app.monitor.draw()
        app.monitor._judge()
        if not (app.board.sieve is not None or app.board.remarks.wanted or app.board.assessments.waiting):
            await pilot.pause()
            return
    raise AssertionError("it never came to rest")


def screen(app: DelegtopApp) -> list[str]:
    """The lines of the whole screen, as they stand in the terminal."""
    return [strip.text for strip in app.screen._compositor.render_strips()[: app.size.height]]


def text_of(app: DelegtopApp) -> str:
    return "\n".join(screen(app))


def part(app: DelegtopApp, widget: Widget) -> list[str]:
    """The lines of one widget, as far as they are on the screen; without its scrollbar."""
    region = widget.region
    return [line[region.x : region.right - 1] for line in screen(app)[region.y : region.bottom]]


def table(app: DelegtopApp) -> list[str]:
    """The rows of the tree on the screen, without the titles."""
    return part(app, app.monitor.table)[1:]


def titles(app: DelegtopApp) -> str:
    return part(app, app.monitor.table)[0]


def page(app: DelegtopApp) -> str:
    """What is on the screen of the inspector's page, in one line: wrapped text reads on."""
    return " ".join(" ".join(part(app, app.monitor.inspector.sheet)).split())


def banner(app: DelegtopApp) -> str:
    """The line above the tree; nothing where there is none."""
    line = app.monitor.query_one(Banner)
    return part(app, line)[0].strip() if line.display else ""


def earlier(app: DelegtopApp) -> str:
    """The line below the tree; nothing where there is none."""
    line = app.monitor.query_one(Earlier)
    return part(app, line)[0].strip() if line.display else ""


def names(app: DelegtopApp) -> list[str]:
    """The delegations of all rows there are, in order."""
    outline, forest = app.board.outline, app.board.forest
    return [forest.delegation(row.handle).name for row in outline.window(0, len(outline))]


def ids(app: DelegtopApp) -> list[str]:
    outline, forest = app.board.outline, app.board.forest
    return [forest.id(row.handle) for row in outline.window(0, len(outline))]


def under_cursor(app: DelegtopApp) -> str:
    """The id of the delegation under the cursor."""
    cursor = app.monitor.table.cursor
    return "" if cursor is None else app.board.forest.id(cursor)


def said(app: DelegtopApp) -> list[str]:
    """What was told in passing."""
    return [note.message for note in app._notifications]
