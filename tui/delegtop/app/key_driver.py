"""Keys are waited for asleep. Textual's own driver wakes ten times a second, to see whether the program ends and
whether a lone Escape was the beginning of something longer: the first is told by a pipe here, the second asked then."""

import os
from codecs import getincrementaldecoder
from collections.abc import Iterator
from contextlib import suppress
from select import select
from threading import Event
from typing import Any, Protocol, cast

from textual._parser import ParseError, Parser
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message

_READ = 4096
_AGAIN = 0.02
"""Seconds between two looks while the parser holds back what may go on; Textual's own wait, 0.1, ends up to as much
later than an Escape is certain."""
_LAST = 0.1
"""Seconds in which a terminal that was told to keep its mouse to itself may still tell of it, as long as Textual's own
driver waits: what comes then is for nobody, and not for the shell."""


class Borrower(Protocol):
    """An application that is told when the terminal is gone."""

    def hung_up(self) -> None: ...


class _Ending(Event):
    """An event that `select` hears."""

    def __init__(self) -> None:
        super().__init__()
        self._heard, self._told = os.pipe()

    def fileno(self) -> int:
        return self._heard

    def set(self) -> None:
        if not self.is_set():
            super().set()
            os.write(self._told, b".")

    def clear(self) -> None:
        if self.is_set():
            super().clear()
            os.read(self._heard, _READ)

    def __del__(self) -> None:  # a driver is closed whenever it lends the terminal, and goes on with this one
        os.close(self._heard)
        os.close(self._told)


class KeyDriver(LinuxDriver):
    """Textual's driver for Unix, but for how it waits."""

    def __init__(self, app: App[Any], *, debug: bool = False, mouse: bool = True, size: tuple[int, int] | None = None):
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        self.exit_event = self._ending = _Ending()

    def _pressed(self) -> bytes:
        """What can be read, or nothing ever after."""
        try:
            return os.read(self.fileno, _READ)
        except OSError:
            return b""

    def run_input_thread(self) -> None:
        ending, keys = self._ending, self.fileno
        parser, decode = XTermParser(self._debug), getincrementaldecoder("utf-8")("replace").decode
        heard = {ending, keys}
        try:
            while not ending.is_set():
                ready, _, _ = select(heard, (), (), None if parser._timeout_time is None else _AGAIN)
                if keys in ready and not ending.is_set():
                    pressed = self._pressed()
                    if not pressed and self.input_tty:
                        cast(Borrower, self._app).hung_up()
                        break  # the program may wait for this thread alone
                    if not pressed:  # a pipe that has ended has nothing to tell ever after
                        heard.remove(keys)
                    for message in _parsed(parser, decode(pressed)):
                        self.process_message(message)
                for message in parser.tick():
                    self.process_message(message)
            select((), (), (), _LAST)
        finally:
            with suppress(EOFError, ParseError):
                for _ in parser.feed(""):
                    pass


def _parsed(parser: XTermParser, text: str) -> Iterator[Message]:
    """What was pressed. What Textual's parser stumbles over is no key: a number of no character, or a place within
    nothing. Whoever pastes text of others may send it, and all that came with it is dropped."""
    try:
        yield from parser.feed(text) if text else ()
    except (ArithmeticError, ValueError):
        Parser.__init__(parser)  # it begins anew, and still knows how it is told of the mouse


def stands_in_for(driver: type) -> bool:
    """Whether that is the driver which this one may take the place of, with a parser that tells when it holds back."""
    return driver is LinuxDriver and hasattr(XTermParser(), "_timeout_time")
