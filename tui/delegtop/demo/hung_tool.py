"""One real hung tool: a process of the demo's own that waits for a lock, and another of its own that holds it.

Both are harmless, and neither outlives the demo: they end when their standard input does, whose other end nobody but
the demo has.
"""

import os
import subprocess
import sys
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from signal import Signals
from threading import Lock

COMMAND = "./manage migrate"
"""What the agent calls, as its log has it."""
_HOLDER = "./manage backup"
_LOCKS = "/proc/locks"
_PATIENCE = 2.0
"""Seconds within which a process that was killed is gone."""


class HungTool:
    """The tool and the one that is in its way. One thread uses it, any may ask whose a process is or close it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = folder / "shop.lock"
        self._turn = Lock()
        self._is_closed = False
        self._holder: subprocess.Popen[bytes] | None = None
        self._waiter: subprocess.Popen[bytes] | None = None

    @property
    def can_be_seen(self) -> bool:
        """Whether this system tells who waits for a lock, and who holds it."""
        return os.access(_LOCKS, os.R_OK)

    def is_own(self, pid: int) -> bool:
        """Whether it is one of these two, and still there."""
        return any(each is not None and each.pid == pid and each.returncode is None for each in self._both)

    @property
    def _both(self) -> tuple[subprocess.Popen[bytes] | None, ...]:
        return self._holder, self._waiter

    def hold(self) -> None:
        """Have the lock taken, by a process that does not give it back."""
        self._lock.write_bytes(b"")
        (self._folder / "manage").write_bytes(files("delegtop.demo").joinpath("manage.py").read_bytes())
        self._holder = self._started(_HOLDER)

    @property
    def is_held(self) -> bool:
        """Whether the lock is taken by now."""
        return self._lock.read_bytes().endswith(b"\n")

    def call(self) -> None:
        """Run the tool, which waits for the lock."""
        self._waiter = self._started(COMMAND)

    @property
    def can_hang(self) -> bool:
        """Whether there is still somebody who holds the lock, or will."""
        return self._holder is not None and self._holder.poll() is None

    @property
    def is_running(self) -> bool:
        return self._waiter is not None and self._waiter.poll() is None

    @property
    def ended_by(self) -> str:
        """The signal that ended the tool; nothing if it came to its end by itself."""
        code = None if self._waiter is None else self._waiter.returncode
        if code is None or code >= 0:
            return ""
        return next((each.name for each in Signals if each == -code), f"signal {-code}")

    def end(self) -> None:
        """End both, as somebody who gives up would."""
        for each in self._both:
            if each is not None:
                _end(each)
        self._holder = self._waiter = None

    def close(self) -> None:
        """End both, and let none begin any more."""
        with self._turn:
            self._is_closed = True
        self.end()

    def _started(self, command: str) -> "subprocess.Popen[bytes] | None":
        """A process in a group of its own: keys in the terminal are not meant for it. None where none can be had."""
        quiet = subprocess.DEVNULL
        with self._turn, suppress(OSError):
            if self._is_closed or not sys.executable:
                return None
            return subprocess.Popen(  # noqa: S603 -- our own script, in a folder that is ours
                [sys.executable, *command.split()],
                cwd=self._folder,
                stdin=subprocess.PIPE,
                stdout=quiet,
                stderr=quiet,
                process_group=0,
            )
        return None


def _end(process: "subprocess.Popen[bytes]") -> None:
    if process.stdin is not None:
        process.stdin.close()
    process.kill()
    with suppress(subprocess.TimeoutExpired):
        process.wait(_PATIENCE)
