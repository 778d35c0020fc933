"""Signals and other news of this process, as something the main thread can wait for."""

import os
import select
import signal
from collections.abc import Sequence
from contextlib import suppress
from threading import TIMEOUT_MAX
from types import FrameType, TracebackType
from typing import Any, Self

_NEWS = b"\0"


class Mailbox:
    """While it is open, the given signals do nothing but arrive here. One that was ignored before stays ignored."""

    def __init__(self, *numbers: int) -> None:
        self._numbers = numbers

    def __enter__(self) -> Self:
        self._read, self._write = os.pipe()
        os.set_blocking(self._read, False)
        os.set_blocking(self._write, False)
        self._wakeup = signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        self._handlers: dict[int, Any] = {
            number: signal.signal(number, _nothing)
            for number in self._numbers
            if signal.getsignal(number) is not signal.SIG_IGN or number == signal.SIGCHLD
        }
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _at: TracebackType | None
    ) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._wakeup)
        write, self._write = self._write, -1
        os.close(write)
        os.close(self._read)

    def knock(self) -> None:
        """End the wait; from any thread."""
        with suppress(OSError):
            os.write(self._write, _NEWS)

    def post(self, number: int) -> None:
        """Put a signal in that came another way; from any thread."""
        with suppress(OSError):
            os.write(self._write, bytes([number]))

    def wait(self, seconds: float, also: Sequence[int] = ()) -> list[int]:
        """The signals that have come, as soon as there is any news, here or from those files too, else after so many
        seconds."""
        if self._read not in select.select([self._read, *also], [], [], min(max(0.0, seconds), TIMEOUT_MAX))[0]:
            return []
        return [number for number in os.read(self._read, 4096) if number]


def _nothing(_number: int, _frame: FrameType | None) -> None:
    """A handler, so that the signal is noted."""
