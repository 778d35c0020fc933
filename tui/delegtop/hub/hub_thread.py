"""A thread in which connections to a hub live: `nats-py` wants an event loop, and everybody else does without one."""

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeVar

Result = TypeVar("Result")
_END = 5.0
"""Seconds for all that goes on in it to end."""


class HubThread:
    """Runs until it is closed."""

    def __init__(self, name: str) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()
        left = asyncio.all_tasks(self.loop)
        for task in left:
            task.cancel()
        with suppress(Exception):
            self.loop.run_until_complete(asyncio.wait_for(asyncio.gather(*left, return_exceptions=True), _END))
        self.loop.close()

    def begin(self, what: Coroutine[Any, Any, Result]) -> "Future[Result]":
        return asyncio.run_coroutine_threadsafe(what, self.loop)

    def close(self) -> None:
        if self._thread.is_alive():
            self.loop.call_soon_threadsafe(self.loop.stop)
            self._thread.join(_END)
