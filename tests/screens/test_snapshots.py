"""Pictures of every whole screen in dark, and of those with the most colours in light, at a frozen moment.

`pytest tests/screens/test_snapshots.py --snapshot-update` makes them anew; look at them before committing.
"""

from collections.abc import Awaitable, Callable

import pytest
from tests import piloting
from textual.pilot import Pilot

from delegtop.app.main import DelegtopApp

MakeApp = Callable[..., DelegtopApp]
Snap = Callable[..., bool]
Before = Callable[[Pilot[None]], Awaitable[None]]

THEMES = ("dark", "light")
SMALL, NORMAL, WIDE = (80, 24), (160, 45), (220, 50)


def pressing(*keys: str, until: str = "") -> Before:
    """Wait until everything is loaded, press keys, and wait for what the disk has to say."""

    async def before(pilot: Pilot[None]) -> None:
        app = pilot.app
        assert isinstance(app, DelegtopApp)
        await piloting.until(pilot, lambda: not app.reader.loading)
        app.monitor.filter_bar.input.cursor_blink = False
        app.monitor.draw()
        for key in keys:
            await pilot.press(key)
        await piloting.until(pilot, lambda: until in app.monitor.inspector.sheet.text)
        await piloting.until(pilot, lambda: not (app.board.remarks.wanted or app.board.assessments.waiting))
        await pilot.pause()

    return before


SCREENS: dict[str, tuple[tuple[int, int], Before]] = {
    "overview": (NORMAL, pressing(until="1:53 over")),
    "overview_small": (SMALL, pressing(until="1:53 over")),
    "return": (NORMAL, pressing("slash", *"researcher", "enter", "down", "down", "2", until="not looked at")),
    "errors": (NORMAL, pressing("3", until="lake clean")),
    "activity": (NORMAL, pressing("4", until="started")),
    "raw": (NORMAL, pressing("5", until="session.jsonl")),
    "findings": (NORMAL, pressing("6", "enter", "down", until="VER-005")),
    "findings_small": (SMALL, pressing("6", until="VER-005")),
    "filter": (SMALL, pressing("slash", *"state", "colon", *"failed")),
    "wrong_filter": (SMALL, pressing("slash", *"state", "colon", *"xyz")),
    "nothing_matches": (SMALL, pressing("slash", *"zzzz")),
    "paused": (SMALL, pressing("p")),
    "folded": (SMALL, pressing("asterisk")),
    "gantt": (NORMAL, pressing("b", until="1:53 over")),
    "gantt_small": (SMALL, pressing("b", until="1:53 over")),
    "help": (NORMAL, pressing("question_mark")),
    "help_small": (SMALL, pressing("question_mark")),
    "sources": (NORMAL, pressing("o")),
    "columns": (NORMAL, pressing("C")),
    "only_open": (SMALL, pressing("O")),
    "orders": (SMALL, pressing("f6")),
    "search": (SMALL, pressing("backslash", *"linter", "enter")),
    "focus": (NORMAL, pressing("z")),
    "failed": (SMALL, pressing("e", until="22:11 ago")),
    "copy": (NORMAL, pressing("y")),
    "transcript": (SMALL, pressing("v")),
}


IN_LIGHT = ("overview", "findings", "gantt", "help_small", "copy", "transcript")


@pytest.mark.parametrize(
    ("screen", "theme"), [*((screen, "dark") for screen in SCREENS), *((screen, "light") for screen in IN_LIGHT)]
)
def test_screen(snap_compare: Snap, make_app: MakeApp, screen: str, theme: str) -> None:
    size, before = SCREENS[screen]
    assert snap_compare(make_app(theme=theme), terminal_size=size, run_before=before)


@pytest.mark.parametrize("theme", THEMES)
def test_nothing_to_watch(snap_compare: Snap, make_app: MakeApp, theme: str) -> None:
    feed = type(make_app().reader.feed)()
    app = make_app(feed=feed, watching=False, theme=theme)
    assert snap_compare(app, terminal_size=SMALL, run_before=pressing())


def test_colour_blind_safe_and_very_wide(snap_compare: Snap, make_app: MakeApp) -> None:
    app = make_app(theme="safe")
    assert snap_compare(app, terminal_size=WIDE, run_before=pressing(until="1:53 over"))


def test_without_colour(snap_compare: Snap, make_app: MakeApp) -> None:
    app = make_app(color=False)
    assert snap_compare(app, terminal_size=SMALL, run_before=pressing(until="1:53 over"))


def test_bars_in_ascii(snap_compare: Snap, make_app: MakeApp) -> None:
    app = make_app(ascii=True)
    assert snap_compare(app, terminal_size=SMALL, run_before=pressing("b", until="1:53 over"))


def test_ascii_only(snap_compare: Snap, make_app: MakeApp) -> None:
    app = make_app(ascii=True)
    assert snap_compare(app, terminal_size=SMALL, run_before=pressing(until="1:53 over"))
