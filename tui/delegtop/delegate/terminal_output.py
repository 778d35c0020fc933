"""What a command's output goes through on its way to ours: a terminal if ours is one, else a pipe."""

import fcntl
import os
import signal
import struct
import termios
from contextlib import suppress
from typing import Any

_STDOUT, _STDERR = 1, 2


_STDIN = 0
_INPUT_MODES = {
    0: (
        termios.IGNBRK
        | termios.BRKINT
        | termios.PARMRK
        | termios.ISTRIP
        | termios.INLCR
        | termios.IGNCR
        | termios.ICRNL
        | termios.IXON
        | termios.IXOFF
        | termios.IXANY
    ),
    3: (
        termios.ISIG
        | termios.ICANON
        | termios.ECHO
        | termios.ECHOE
        | termios.ECHOK
        | termios.ECHONL
        | termios.NOFLSH
        | termios.IEXTEN
    ),
}
"""What a program may ask of its keyboard, by the place in the list of a terminal's modes."""
_KEYS = 6


class OutputWays:
    """The two outputs of a command, our end and its end of each.

    If both of ours are terminals they are one, so that what is said on one does not overtake the other. A program may
    ask for the keys it wants on its output, as those made with curses do, while they come from our terminal: what it
    asks for there is asked of ours.
    """

    def __init__(self) -> None:
        self._terminals: dict[int, int] = {}
        """Our end of each terminal that was made, by the output it stands for."""
        self._size = b""
        self._modes_before: list[Any] | None = None
        """Those of our terminal before the first that was asked of it here."""
        ttys = [fd for fd in (_STDOUT, _STDERR) if os.isatty(fd)]
        out, self.out_end = self._way(_STDOUT)
        self.sources = {_STDOUT: out}
        """Our ends, by the output that they are passed on to."""
        if len(ttys) == 2:
            self.err_end = self.out_end
        else:
            self.sources[_STDERR], self.err_end = self._way(_STDERR)
        self._asked = self._modes()
        self.follow_size()

    def close_theirs(self) -> None:
        for fd in {self.out_end, self.err_end}:
            os.close(fd)

    def close_ours(self) -> None:
        for fd in self.sources.values():
            os.close(fd)

    def follow_size(self) -> bool:
        """Make the terminals as large as ours; True if that has changed."""
        size = b""
        for fd, terminal in self._terminals.items():
            with suppress(OSError):
                size = fcntl.ioctl(fd, termios.TIOCGWINSZ, struct.pack("4H", 0, 0, 0, 0))
                if size != self._size:
                    fcntl.ioctl(terminal, termios.TIOCSWINSZ, size)
        changed, self._size = size != self._size, size
        return changed

    def follow_modes(self) -> None:
        """Ask of our terminal what the command has newly asked of its own; for while it is lent to the command."""
        asked = self._modes()
        if asked == self._asked:
            return
        before, self._asked = self._asked, asked
        if asked is None or before is None:
            return
        with suppress(termios.error):
            modes = termios.tcgetattr(_STDIN)
            if self._modes_before is None:
                self._modes_before = [*modes[:_KEYS], [*modes[_KEYS]]]
            for place, all_ in _INPUT_MODES.items():
                changed = (before[place] ^ asked[place]) & all_
                modes[place] = modes[place] & ~changed | asked[place] & changed
            for key, (old, new) in enumerate(zip(before[_KEYS], asked[_KEYS], strict=True)):
                if old != new:
                    modes[_KEYS][key] = new
            _set(modes)

    def restore_modes(self) -> None:
        """Have our terminal as it was, if anything was asked of it."""
        if self._modes_before is not None:
            with suppress(termios.error):
                _set(self._modes_before)
            self._modes_before = None

    def _modes(self) -> list[Any] | None:
        try:
            return termios.tcgetattr(self._terminals[_STDOUT])
        except (KeyError, termios.error):
            return None

    def _way(self, fd: int) -> tuple[int, int]:
        if not os.isatty(fd):
            return os.pipe()
        ours, theirs = os.openpty()
        self._terminals[fd] = ours
        with suppress(termios.error):
            modes = termios.tcgetattr(fd)
            modes[1] &= ~termios.OPOST  # the real terminal does that, once
            termios.tcsetattr(theirs, termios.TCSANOW, modes)
        return ours, theirs


def _set(modes: list[Any]) -> None:
    # The terminal is lent: whoever is in the background is stopped for this, unless it says that it will not be.
    masked = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTTOU])
    try:
        termios.tcsetattr(_STDIN, termios.TCSANOW, modes)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, masked)
