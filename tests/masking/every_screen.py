"""The dashboard as text: every tab, page and dialog, and what it hands to the terminal beside the picture."""

from collections.abc import Callable
from datetime import UTC
from functools import partial
from pathlib import Path

from tests.piloting import until
from tests.samples import moment, observed
from tests.screens.looking import ready, text_of
from textual.pilot import Pilot

from delegtop.app import clipboard
from delegtop.app.main import DelegtopApp
from delegtop.app.pages.inspector.inspector_pane import TABS
from delegtop.app.screens.transcript import TranscriptScreen
from delegtop.base.clock import FrozenClock

SIZE = (160, 48)
DIALOGS = ("o", "K", "J", "question_mark", "C", "W")
"""Keys that open a page or a dialog about the row, or about all; escape closes it."""
COPIED = ("i", "p", "r", "k", "o")
"""What can be copied, by its key in the dialog."""


def _is_there(screen: TranscriptScreen, app: DelegtopApp) -> bool:
    return bool(screen.view.pieces) or screen is not app.screen


async def shown(logs: Path, at: str, rows: int, look: Callable[[DelegtopApp], None] | None = None) -> str:
    """The tree, for so many rows every tab of the inspector, the transcript and what can be copied, then bars in time,
    triage and every dialog; with the title of the terminal and all that was copied."""
    app = DelegtopApp(observed(logs, clock=FrozenClock(moment(at))), zone=UTC)
    pages = list[str]()

    async def keep(pilot: Pilot[None]) -> None:
        await pilot.pause()
        pages.extend((text_of(app), app.title, app.sub_title))
        if look:
            look(app)

    async def visit(pilot: Pilot[None], *keys: str) -> None:
        await pilot.press(*keys)
        await keep(pilot)
        while app.screen is not app.monitor:
            await pilot.press("escape")
            await pilot.pause()

    async with app.run_test(size=SIZE) as pilot:
        await ready(pilot)
        await keep(pilot)
        for row in range(rows):
            for tab in TABS:
                app.monitor.action_show_tab(tab)
                await keep(pilot)
            await pilot.press("v")
            if isinstance(screen := app.screen, TranscriptScreen):
                await until(pilot, partial(_is_there, screen, app))
                await keep(pilot)
                await pilot.press("escape")
                await pilot.pause()
            for key in COPIED if row % 10 == 0 else ():
                await visit(pilot, "y", key)
                pages.append(_copied(app))
            await pilot.press("down")
        for key in DIALOGS:
            await visit(pilot, key)
        await pilot.press("b")
        await keep(pilot)
        await pilot.press("b", "t")
        for _ in range(rows):
            await keep(pilot)
            await pilot.press("down")
    return "\n".join(pages)


def _copied(app: DelegtopApp) -> str:
    """What is in the terminal's clipboard, and in the file beside it."""
    file = clipboard.state_directory() / "clipboard.txt"
    return "\n".join((app.clipboard, file.read_text("utf-8") if file.exists() else ""))
