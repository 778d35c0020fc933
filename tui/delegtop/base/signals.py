"""Being told to end: SIGTERM and SIGHUP end the program as Ctrl-C or `q` do, with everything put away.

The exit status says which of them it was, 143 and 129, as the shell says it of a program that either has killed. Who is
told once does not listen any more: what is put away must not be left half done because somebody asks again.
"""

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

SIGNALS = (signal.SIGHUP, signal.SIGTERM)
PATIENCE = 5.0
"""Seconds within which whoever was asked to end must have ended."""
_SOON = 0.05

Handler = Callable[[int, FrameType | None], Any]


class ToldToEnd(KeyboardInterrupt):
    """The program was told to end: whoever tidies up after Ctrl-C does so now."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.status = 128 + number


_told: list[int] = []
"""Which signal it was."""


@contextmanager
def raised() -> Iterator[None]:
    """Meanwhile a signal to end raises `Ended`, wherever the program is."""

    def hear(number: int, _frame: FrameType | None) -> None:
        _obey(number)
        raise ToldToEnd(number)

    def dropped(what: "sys.UnraisableHookArgs") -> None:
        """Where nobody could catch it, as amid an import, Python lets go of it: so it is raised once more."""
        if isinstance(what.exc_value, ToldToEnd):
            signal.setitimer(signal.ITIMER_REAL, _SOON, _SOON)
        else:
            before(what)

    _told.clear()
    before, sys.unraisablehook = sys.unraisablehook, dropped
    try:
        with _handled(hear):
            yield
    except Exception:
        _insist()  # somebody's tidying up after it may have failed: what counts is that it was told to end
        raise
    finally:
        sys.unraisablehook = before


@contextmanager
def heeded(end: Callable[[], None]) -> Iterator[None]:
    """Meanwhile a signal to end calls `end`, and raises `Ended` once that is done, or leads nowhere in good time."""

    def hear(number: int, _frame: FrameType | None) -> None:
        _obey(number)
        end()

    with _handled(hear):
        _insist()
        yield


def _obey(number: int) -> None:
    """Listen no more, and insist if it leads nowhere."""
    _told.append(number)
    _be_deaf()
    signal.signal(signal.SIGALRM, _insist)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE, 1.0)


def _be_deaf() -> None:
    """Not by ignoring them: of a signal that is under way Python would print that it comes too late."""
    for number in SIGNALS:
        signal.signal(number, _nothing)


def _nothing(*_: object) -> None:
    """Hear it, and go on."""


def _insist(*_: object) -> None:
    if _told:
        raise ToldToEnd(_told[0])


@contextmanager
def _handled(hear: Handler) -> Iterator[None]:
    """With this handler for each signal but those that `nohup` wants ignored; then as before, unless one ended it."""
    before: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():  # no other may handle signals
        before = {number: signal.getsignal(number) for number in SIGNALS}
    try:
        for number, handler in before.items():
            if handler is not signal.SIG_IGN:
                signal.signal(number, hear)
        yield
        _insist()
    except ToldToEnd:
        _be_deaf()
        before.clear()
        raise
    finally:
        if _told:
            signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before.items():
            signal.signal(number, handler)
