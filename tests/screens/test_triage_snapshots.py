"""Pictures of triage, in dark and one in light, at a frozen moment.

`pytest tests/screens/test_triage_snapshots.py --snapshot-update` makes them anew; look at them before committing.
"""

from collections.abc import Awaitable, Callable

import pytest
from tests.piloting import until
from textual.pilot import Pilot

from delegtop.app.main import DelegtopApp
from delegtop.app.screens.triage import Triage

MakeApp = Callable[..., DelegtopApp]
Snap = Callable[..., bool]
Before = Callable[[Pilot[None]], Awaitable[None]]
SMALL, NORMAL = (80, 24), (160, 45)


def pressing(*keys: str) -> Before:
    async def before(pilot: Pilot[None]) -> None:
        app = pilot.app
        assert isinstance(app, DelegtopApp)
        await until(pilot, lambda: not app.reader.loading and len(app.board.outline) > 0)
        await pilot.press("t")
        await until(pilot, lambda: _is_ready(app))
        for key in keys:
            await pilot.press(key)
        await until(pilot, lambda: _is_ready(app))
        await pilot.pause()

    return before


def _is_ready(app: DelegtopApp) -> bool:
    screen = app.screen_stack[1] if len(app.screen_stack) > 1 else None
    screen = app.screen if isinstance(app.screen, Triage) else screen
    if not isinstance(screen, Triage):
        return True
    return not app.board.assessments.waiting and "Evidence" in screen.sheet.text and _is_drawn(screen)


def _is_drawn(screen: Triage) -> bool:
    """Whether the page is that of the problem under the cursor, with what the disk has to say of it."""
    current = screen.problems.current
    if current is None:
        return True
    known, shown = screen._known.get(current.handle), screen._shown
    return known is not None and isinstance(shown, tuple) and shown[0] == current and shown[2] == id(known)


SCREENS: dict[str, tuple[tuple[int, int], Before]] = {
    "triage": (NORMAL, pressing()),
    "triage_small": (SMALL, pressing()),
    "triage_failed": (NORMAL, pressing("e", "a", "d", "E")),
    "triage_one": (SMALL, pressing("z", "e")),
}


@pytest.mark.parametrize(("screen", "theme"), [*((screen, "dark") for screen in SCREENS), ("triage", "light")])
def test_screen(snap_compare: Snap, make_app: MakeApp, screen: str, theme: str) -> None:
    size, before = SCREENS[screen]
    assert snap_compare(make_app(theme=theme), terminal_size=size, run_before=before)


def test_ascii_without_colour(snap_compare: Snap, make_app: MakeApp) -> None:
    app = make_app(ascii=True, color=False)
    assert snap_compare(app, terminal_size=SMALL, run_before=pressing())
