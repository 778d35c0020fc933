"""When the program falls over after all: what was first, and the keys before it, but never what was typed."""

import asyncio
import os
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.screens.looking import running
from textual.worker import WorkerFailed, WorkType

from delegtop.app import crash

if TYPE_CHECKING:
    from tests.screens.conftest import MakeApp

pytestmark = pytest.mark.anyio


def log() -> str:
    return (Path(os.environ["XDG_STATE_HOME"]) / "delegtop" / "crash.log").read_text()


def fail_first() -> None:
    raise ValueError("the first")


def fail_then() -> None:
    raise KeyError("the second")


async def crashed(make_app: "MakeApp", *keys: str) -> str:
    """Press the keys, fail twice, and give what is kept of it."""
    app = make_app()
    with suppress(ValueError):  # the pilot raises it again
        async with app.run_test(size=(120, 35)) as pilot:
            await pilot.press(*keys)
            await pilot.pause()
            for fails in (fail_first, fail_then):
                try:
                    fails()
                except (ValueError, KeyError) as error:
                    app._handle_exception(error)  # as Textual does with whatever a handler raises
    return log()


async def test_the_first_error_is_kept_whatever_follows_from_it(make_app: "MakeApp") -> None:
    kept = await crashed(make_app)
    assert "in fail_first" in kept
    assert "the second" not in kept
    assert kept.endswith("\nkeys: none\n")


async def test_of_work_in_the_background_it_is_kept_where_it_failed(make_app: "MakeApp") -> None:
    work: WorkType[None] = partial(asyncio.to_thread, fail_first)
    with suppress(WorkerFailed):
        async with make_app().run_test() as pilot:
            pilot.app.run_worker(work)
            await pilot.pause()
    assert "in fail_first" in log()


async def test_the_last_keys_are_kept_by_name_and_what_was_typed_is_not(make_app: "MakeApp") -> None:
    kept = await crashed(make_app, *"s5", "slash", *"hunter 2", "backspace", "enter", "t")
    assert kept.endswith(f"\nkeys: s 5 slash {'· ' * 8}backspace enter t\n")


async def test_what_is_typed_before_the_line_for_it_is_there_is_not_kept_either(make_app: "MakeApp") -> None:
    async with running(make_app(), size=(120, 35)) as (app, pilot):
        app.monitor.set_focus(None)
        await pilot.press("h", "escape")
        assert app._pressed.names == ("·", "escape")


async def test_only_the_last_keys_are_kept(make_app: "MakeApp") -> None:
    kept = await crashed(make_app, "up", *["down"] * crash.KEYS)
    assert kept.endswith("\nkeys:" + " down" * crash.KEYS + "\n")
