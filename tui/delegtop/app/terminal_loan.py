"""The terminal is borrowed: taken where the picture can be seen, lent back while stopped, given back at any end."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TextIO

from textual.app import App, SuspendNotSupported
from textual.driver import Driver

from delegtop.base.clock import monotonic, sleep
from delegtop.base.system_errors import reason_of

_PACE = 0.03
"""Seconds between two looks at a program that has the terminal."""
_GRACE = 2.0
"""Seconds it has to end when this program is told to."""


class Borrowing(App[None]):
    """An application that gives the terminal back. What it asks of Textual's driver is the driver's own affair."""

    _told = False
    """Whether somebody said that it shall end."""

    def get_driver_class(self) -> type[Driver]:
        """Textual's own wherever it is another than the one that is known here."""
        found = super().get_driver_class()
        if sys.platform == "win32":
            return found
        from delegtop.app.key_driver import KeyDriver, stands_in_for  # which is made for Unix

        return KeyDriver if stands_in_for(found) else found

    def _build_driver(self, headless: bool, inline: bool, mouse: bool, size: tuple[int, int] | None) -> Driver:
        """Textual paints on standard error, which may be a file; standard output was seen to be a terminal."""
        driver: Any = super()._build_driver(headless, inline, mouse, size)
        if hasattr(driver, "_file") and sys.__stdout__ is not None:
            sys.__stdout__.reconfigure(errors="backslashreplace")
            driver._file = _Outlet(sys.__stdout__, self.hung_up)
        return driver  # type: ignore[no-any-return]  # as above

    def on_load(self) -> None:
        if self._told:
            self._leave()

    # Ending

    def end(self) -> None:
        """Give the terminal back and end. Called by a signal, amid whatever is being done."""
        self._told = True
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._leave)

    def hung_up(self) -> None:
        """The terminal is gone, and there was no signal that said so. From any thread."""
        if not self._told:
            self.end()

    def _leave(self) -> None:
        driver: Any = self._driver
        if getattr(driver, "_must_signal_resume", False):  # it was given back when it stopped, and is the shell's now
            driver.stop_application_mode = driver.disable_input = lambda: None
        elif driver is not None and _is_behind():  # stopped unasked: the screen is taken, the keys are the shell's
            signal.signal(signal.SIGTTOU, signal.SIG_IGN)
            driver.attrs_before = None
        self.exit()

    # Lending it to another program

    def lend(self, words: Sequence[str]) -> str:
        """Run a program that has the terminal meanwhile, and wait until it has ended; what went wrong, if anything did.
        Nothing is drawn until then, but reading goes on."""
        try:
            with self.suspend(), _default_stops(asyncio.get_running_loop()):
                return self._run(words)
        except SuspendNotSupported:
            return "Not opened: this terminal cannot be lent to another program."
        finally:
            self.stop_between_messages()

    def _run(self, words: Sequence[str]) -> str:
        try:
            program = subprocess.Popen(words)  # noqa: S603 - the operator's own editor, as a list of words
        except (OSError, ValueError) as error:
            return f"Not opened: {words[0]}: {reason_of(error)}."
        asked_at: float | None = None
        while True:
            pid, status = os.waitpid(program.pid, os.WNOHANG | os.WUNTRACED)
            if pid and not os.WIFSTOPPED(status):
                code = program.returncode = os.waitstatus_to_exitcode(status)
                return f"{words[0]} ended with {code}." if code else ""
            if pid:  # it stopped itself: the shell gets the terminal only if this program stops as well
                os.kill(os.getpid(), signal.SIGSTOP)
                os.kill(program.pid, signal.SIGCONT)
            if self._told and asked_at is None:
                asked_at = monotonic()
                program.terminate()
            elif asked_at is not None and monotonic() > asked_at + _GRACE:
                return f"{words[0]} does not end."
            sleep(_PACE)

    # Stopping

    def stop_between_messages(self) -> None:
        """Textual gives the terminal back wherever a stop meets it; amid a write it would wait for itself."""
        stop = getattr(self._driver, "_sigtstp_application", None)
        if stop is not None:
            loop = asyncio.get_running_loop()
            loop.add_signal_handler(signal.SIGTSTP, stop)
            loop.add_signal_handler(signal.SIGCONT, self._go_on)

    def _go_on(self) -> None:
        """Take the terminal again. A stop that nobody was told of left it taken: two threads would read its keys."""
        driver: Any = self._driver
        if self._told:
            return
        if not driver._must_signal_resume:
            driver.suspend_application_mode()
        driver._sigcont_application()

    # The mouse

    def action_mouse(self) -> None:
        """Give the mouse to the terminal, so that it selects text, or take it back."""
        driver: Any = self._driver
        if not (hasattr(driver, "_enable_mouse_support") and hasattr(driver, "_disable_mouse_support")):
            self.notify("This terminal does not let go of the mouse.", markup=False)
            return
        # Both calls look at the flag first, so it is on while either is made.
        taken, driver._mouse = not driver._mouse, True
        (driver._enable_mouse_support if taken else driver._disable_mouse_support)()
        driver._mouse = taken
        self.notify("The mouse works here." if taken else "The mouse selects text now.", timeout=3, markup=False)


class _Outlet:
    """Where the picture goes. When that is gone it goes nowhere: Textual's thread that writes would end, and whoever
    wrote to it wait for ever."""

    def __init__(self, file: TextIO, gone: Callable[[], None]) -> None:
        self._file, self._gone = file, gone
        self.fileno = file.fileno

    def write(self, text: str) -> None:
        try:
            self._file.write(text)
        except OSError:
            self._gone()

    def flush(self) -> None:
        try:
            self._file.flush()
        except OSError:
            self._gone()


@contextmanager
def _default_stops(loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """Meanwhile a stop stops, and Ctrl-C is for whoever has the terminal: the event loop hears of nothing."""
    for number in (signal.SIGTSTP, signal.SIGCONT):
        loop.remove_signal_handler(number)
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _is_behind() -> bool:
    """Whether another program has the terminal, or there is none any more."""
    try:
        return os.tcgetpgrp(0) != os.getpgrp()
    except OSError:
        return True
