"""What a command's output goes through on its way to ours: a terminal if ours is one, else a pipe."""

import fcntl
import os
import struct
import termios
from contextlib import suppress

_STDOUT, _STDERR = 1, 2


class OutputWays:
    """The two outputs of a command, our end and its end of each.

    If both of ours are terminals they are one, so that what is said on one does not overtake the other.
    """

    def __init__(self) -> None:
        self._terminals: dict[int, int] = {}
        """Our end of each terminal that was made, by the output it stands for."""
        self._size = b""
        ttys = [fd for fd in (_STDOUT, _STDERR) if os.isatty(fd)]
        out, self.out_end = self._way(_STDOUT)
        self.sources = {_STDOUT: out}
        """Our ends, by the output that they are passed on to."""
        if len(ttys) == 2:
            self.err_end = self.out_end
        else:
            self.sources[_STDERR], self.err_end = self._way(_STDERR)
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
