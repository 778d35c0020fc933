"""What the pilot of a screen waits for, on a machine that others may keep busy."""

import asyncio
from collections.abc import Callable, Sequence
from itertools import count
from time import monotonic, process_time
from typing import Any

from tests.patience import PATIENCE, paces
from textual.command import CommandList, CommandPalette
from textual.pilot import Pilot

from delegtop.app.main import DelegtopApp

_BREATH = 0.01
_IDLE = _BREATH / 20
_SOON = 0.01
"""Seconds: what follows after a pause that short is waited for as well, such as the answer of Textual to a new size."""
_NAP = 0.002
_TURNS = 20
"""So many turns of the event loop hand a message on from where it is posted to where it is drawn."""
_CALM = 3
"""Turns that nobody wants: after the first of them the event loop has looked at what other threads say."""
_ROUNDS = 50
"""A program that is at work through so many looks at it, and has nothing to do, goes on for ever."""


async def comes(holds: Callable[[], object], what: str = "it", *, every_turn: bool = False) -> None:
    """Wait until it holds, whatever is under way by then; what lasts for a moment only is looked for every turn."""
    end, pace = monotonic() + PATIENCE, paces()
    while not holds():
        assert monotonic() < end, f"{what} did not happen in {PATIENCE:g} s"
        await asyncio.sleep(0 if every_turn else next(pace))


async def until(pilot: Pilot[Any], holds: Callable[[], object], what: str = "it") -> None:
    """Wait until it holds, and is drawn."""
    end, pace = monotonic() + PATIENCE, paces()
    while not holds():
        assert monotonic() < end, f"{what} did not happen in {PATIENCE:g} s"
        await pilot.pause(next(pace))
    await pilot.pause()


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
        is_idle = await _is_idle(apps)
        if (is_idle or round_ > _ROUNDS) and not any(map(_has_more, apps)):
            return
        assert monotonic() < end, f"it was not at rest in {PATIENCE:g} s"
        await asyncio.sleep(_NAP)


async def _is_idle(apps: Sequence[DelegtopApp]) -> bool:
    """Does nobody want a turn of the event loop, now or soon?"""
    if not all(hasattr(app.reader.feed, "is_heard") for app in apps):  # what reads files is seen by the time it takes
        before = process_time()
        await asyncio.sleep(_BREATH)
        if process_time() - before >= _IDLE:
            return False
    loop: Any = asyncio.get_running_loop()
    calm = 0
    for _ in range(_TURNS):
        await asyncio.sleep(0)
        calm = 0 if loop._ready else calm + 1
        if calm == _CALM:
            soon = loop.time() + _SOON
            return not any(timer.when() < soon and not timer.cancelled() for timer in loop._scheduled)
    return False


def _has_more(app: DelegtopApp) -> bool:
    """Is something on its way from the feed to the screen?"""
    if not app._running or app._exception is not None:
        return False
    if not app.reader.started or not getattr(app.reader.feed, "is_heard", True):
        return True
    under_way = app._woken or app._lags or app.intake.more or app._frames.coming
    return under_way or any(worker.is_running for worker in app.workers)
