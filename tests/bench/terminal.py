"""A program in a terminal of its own: what it writes, when, and what that costs."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

from tests.bench.measure import Failed

_ESCAPE = re.compile(rb"\x1b(?:\[[0-9;:?<>=!$]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-Z\\^-~])")
_LONGEST = 64
_SEEN = 1 << 20


class Terminal:
    """Runs a program in a pty, reads all it writes and remembers the last megabyte, escape sequences taken out."""

    def __init__(
        self, argv: Sequence[str], *, rows: int = 40, columns: int = 140, env: Mapping[str, str] | None = None
    ) -> None:
        environment = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", "LC_ALL": "C.UTF-8"}
        environment |= {"LINES": str(rows), "COLUMNS": str(columns), **(env or {})}
        self.began = time.monotonic()
        self.pid, self._fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            os.execvpe(argv[0], list(argv), environment)  # noqa: S606 -- the bench names the program
        self.written = 0
        self._rest = b""
        self._text = b""

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self._fd)

    def press(self, keys: bytes) -> float:
        """Press keys; returns the moment. What was on the screen before no longer counts as seen."""
        self.forget()
        at = time.monotonic()
        os.write(self._fd, keys)
        return at

    def forget(self) -> None:
        """Take in what has been written so far and do not look for anything in it."""
        self._read(0)
        self._text = b""

    def wait_for(self, text: bytes, timeout: float = 30) -> float:
        """The moment that text was written; `Failed` if it is not in time."""
        limit = time.monotonic() + timeout
        while text not in self._text:
            rest = limit - time.monotonic()
            if rest <= 0:
                raise Failed(f"{text.decode(errors='replace')!r} was not seen within {timeout:.0f} s")
            self._read(rest)
        return time.monotonic()

    def seen(self) -> bytes:
        """The text written since the last `forget`; takes what is there and does not wait."""
        self._read(0)
        return self._text

    def watch(self, seconds: float) -> None:
        """Let it run, reading along."""
        limit = time.monotonic() + seconds
        while (rest := limit - time.monotonic()) > 0:
            self._read(rest)

    def settle(self, timeout: float = 300, busy: float = 0.05) -> float:
        """Until it has used less than `busy` of a core for two seconds on end; returns the seconds that took."""
        limit = time.monotonic() + timeout
        calm = 0
        while calm < 2:
            if time.monotonic() > limit:
                raise Failed(f"it was still busy after {timeout:.0f} s")
            calm = calm + 1 if self.cpu_over(1.0) < busy else 0
        return time.monotonic() - self.began

    def cpu_over(self, seconds: float) -> float:
        """The share of a core it uses in that time."""
        before, began = self.cpu(), time.monotonic()
        self.watch(seconds)
        return (self.cpu() - before) / (time.monotonic() - began)

    def cpu(self) -> float:
        """CPU seconds of all its threads, to the nanosecond: clock ticks are too coarse for an idle program."""
        total = 0
        for task in Path(f"/proc/{self.pid}/task").iterdir():
            try:
                total += int((task / "schedstat").read_text().split()[0])
            except (OSError, IndexError):  # a thread that has just ended
                continue
        return total / 1e9

    def whole_cpu(self) -> float:
        """CPU seconds since it began, those of threads that have ended too, to a clock tick."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _read(self, timeout: float) -> None:
        ready, _, _ = select.select([self._fd], [], [], timeout)
        while ready:
            try:
                data = os.read(self._fd, 1 << 16)
            except OSError as error:
                raise Failed(f"the program ended: {self._text[-300:].decode(errors='replace').strip()}") from error
            self.written += len(data)
            data = self._rest + data
            last = data.rfind(b"\x1b")
            # An escape sequence may be torn between two reads: its beginning waits for the rest.
            torn = last >= 0 and len(data) - last < _LONGEST and _ESCAPE.match(data, last) is None
            whole = last if torn else len(data)
            self._rest = data[whole:]
            self._text = (self._text + _ESCAPE.sub(b"", data[:whole]))[-_SEEN:]
            ready, _, _ = select.select([self._fd], [], [], 0)
