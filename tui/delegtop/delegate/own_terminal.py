"""A terminal of its own for a command, between it and ours."""

import fcntl
import os
import select
import signal
import struct
import termios
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

_STDIN, _STDOUT = 0, 1
_INPUT, _OUTPUT, _LOCAL, _KEYS = 0, 1, 3, 6
"""Places in the list of a terminal's modes."""
_CHUNK = 1024
_MEANINGS = (termios.IGNBRK | termios.BRKINT | termios.PARMRK | termios.ISTRIP | termios.INLCR) | (
    termios.IGNCR | termios.ICRNL | termios.IXON | termios.INPCK
)
"""What a terminal makes of keys before they are read."""

Modes = list[Any]


class OwnTerminal:
    """Two ends: keys go in at ours, and what the command prints comes out there.

    While the command has the keys, our terminal passes them on as they are, and what they mean is up to the modes of
    this one, which are the command's to set.
    """

    def __init__(self) -> None:
        self.ours, self.theirs = os.openpty()
        os.set_blocking(self.ours, False)
        self.keys = _keyboard()
        """Where the keys come from; None if there is no keyboard."""
        self.typed: set[int] = set()
        """The signals whose keys were pressed."""
        self.before: Modes | None = None
        """The modes of our terminal before it passed on all keys; None if it does not."""
        self._pending = b""
        self._size = b""
        self._first: Modes | None = None
        """Its modes as long as the command has not set others: those of ours."""
        self._follow_modes()
        self.follow_size()

    def _outer(self) -> int:
        return _STDOUT if self.keys is None else self.keys

    def is_in_foreground(self) -> bool:
        """Whether we may use our terminal. Where it belongs to no session of ours, nobody keeps us from it."""
        if self.keys is None:
            return True
        try:
            return os.tcgetpgrp(self.keys) == os.getpgrp()
        except OSError:
            return True

    def is_asked_for_keys(self) -> bool:
        """Whether the command has set the modes for what it wants to read."""
        return self._modes() != self._first

    def follow_size(self) -> bool:
        """Make it as large as ours, of which the command hears; True if that has changed."""
        with suppress(OSError):
            size = fcntl.ioctl(self._outer(), termios.TIOCGWINSZ, struct.pack("4H", 0, 0, 0, 0))
            if size != self._size:
                self._size = size
                fcntl.ioctl(self.ours, termios.TIOCSWINSZ, size)
                return True
        return False

    # Keys

    @property
    def has_keys(self) -> bool:
        return self.before is not None

    def give_keys(self) -> None:
        """Have our terminal pass on all keys to the command."""
        if self.keys is None or self.has_keys:
            return
        if not self.is_asked_for_keys():
            self._follow_modes()  # a shell sets others for what it has in the foreground
        with suppress(termios.error):
            before = termios.tcgetattr(self.keys)
            set_modes(self.keys, passing_on(before))
            self.before = before

    def take_keys(self, is_ours: bool = True) -> None:
        """Have our terminal as it was, unless others have it by now."""
        if self.keys is not None and self.before is not None and is_ours:
            with suppress(termios.error):
                set_modes(self.keys, self.before)
        self.before = None

    def keep_keyboard(self) -> None:
        """Have it even if standard input is closed."""
        if self.keys == _STDIN:
            self.keys = os.dup(_STDIN)

    def restore(self) -> None:
        """Have our terminal as it was in the beginning, if it still passes on all keys for somebody who is gone."""
        if self.keys is not None and self._first is not None:
            with suppress(termios.error):
                if termios.tcgetattr(self.keys) == passing_on(self._first):
                    set_modes(self.keys, self._first)

    def files(self) -> Sequence[int]:
        return () if self.keys is None or not self.has_keys or self._pending else (self.keys,)

    @property
    def is_full(self) -> bool:
        """Keys were pressed that it has no room for yet."""
        return bool(self._pending)

    def pass_on_keys(self) -> None:
        """What was typed, as far as it can be read and taken at this moment."""
        if (files := self.files()) and select.select(files, [], [], 0)[0]:
            try:
                self._pending = os.read(files[0], _CHUNK) or self._end_of_input()
            except OSError:
                self._pending = self._end_of_input()
            self._note(self._pending)
        try:
            self._pending = self._pending[os.write(self.ours, self._pending) :] if self._pending else b""
        except BlockingIOError:
            return  # the command does not read them yet
        except OSError:
            self._pending = b""

    def _end_of_input(self) -> bytes:
        """Our terminal is gone: the command reads an end, too."""
        self.keys = self.before = None
        return self._first[_KEYS][termios.VEOF] if self._first else b""

    def _note(self, keys: bytes) -> None:
        special = self.before[_KEYS] if self.before is not None else ()
        for place, number in ((termios.VINTR, signal.SIGINT), (termios.VQUIT, signal.SIGQUIT)):
            if special and special[place] in keys:
                self.typed.add(number)

    def _follow_modes(self) -> None:
        with suppress(termios.error):
            termios.tcsetattr(self.ours, termios.TCSANOW, termios.tcgetattr(self._outer()))
        self._first = self._modes()

    def _modes(self) -> Modes | None:
        try:
            return termios.tcgetattr(self.ours)
        except termios.error:
            return None


def _keyboard() -> int | None:
    if os.isatty(_STDIN):
        return _STDIN
    try:
        return os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return None


def passing_on(modes: Modes) -> Modes:
    """These modes, changed so that every key is read as it is typed and what is written is shown as it is."""
    raw = [*modes[:_KEYS], [*modes[_KEYS]]]
    raw[_INPUT] &= ~_MEANINGS
    raw[_OUTPUT] &= ~termios.OPOST
    raw[_LOCAL] &= ~(termios.ECHO | termios.ECHONL | termios.ICANON | termios.ISIG | termios.IEXTEN)
    raw[_KEYS][termios.VMIN], raw[_KEYS][termios.VTIME] = 1, 0
    return raw


def set_modes(terminal: int, modes: Modes) -> None:
    """Set them. Whoever is in the background would be stopped for this, unless it says that it will not be."""
    masked = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTTOU])
    try:
        termios.tcsetattr(terminal, termios.TCSANOW, modes)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, masked)
