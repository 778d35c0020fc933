"""What the pilot of a screen waits for, on a machine that others may keep busy."""

import asyncio
from collections.abc import Callable, Sequence
from itertools import count
from time import monotonic, process_time
from typing import Any

from tests.patience import PATIENCE
from textual.command import CommandList, CommandPalette
from textual.pilot import Pilot

from delegtop.app.main import DelegtopApp

_PACE = 0.02
_BREATH = 0.01
_IDLE = _BREATH / 20
_TURNS = 20
"""So many turns of the event loop hand a message on from where it is posted to where it is drawn."""
_ROUNDS = 50
"""A program that is at work through so many looks at it, and has nothing to do, goes on for ever."""


async def until(pilot: Pilot[Any], holds: Callable[[], object], what: str = "it") -> None:
    """Wait until it holds."""
    end = monotonic() + PATIENCE
    while not holds():
        assert monotonic() < end, f"{what} did not happen in {PATIENCE:g} s"
        await pilot.pause(_PACE)


def offers(app: DelegtopApp, words: str) -> bool:
    """Is this what the palette would do?"""
    if not isinstance(app.screen, CommandPalette):
        return False
    option = app.screen.query_one(CommandList).highlighted_option
    return option is not None and words in str(option.prompt)


async def rest(apps: Sequence[DelegtopApp]) -> None:
    """Until nothing is left to do. Textual's own `wait_for_idle` asks whether time of the processor is spent, and for
    no longer than a second: on a busy machine both tell nothing, so it is asked what there is to do.
    """
    end = monotonic() + PATIENCE
    for round_ in count():
        before = process_time()
        await asyncio.sleep(_BREATH)
        is_idle = process_time() - before < _IDLE
        for _ in range(_TURNS):
            await asyncio.sleep(0)
        if (is_idle or round_ > _ROUNDS) and not any(map(_has_more, apps)):
            return
        assert monotonic() < end, f"it was not at rest in {PATIENCE:g} s"


def _has_more(app: DelegtopApp) -> bool:
    """Is something on its way from the feed to the screen?"""
    if not app._running or app._exception is not None:
        return False
    if not app.reader.started or not getattr(app.reader.feed, "is_heard", True):
        return True
    under_way = app._woken or app._lags or app.intake.more or app._frames.coming
    return under_way or any(worker.is_running for worker in app.workers)
