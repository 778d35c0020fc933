"""One ssh that runs: its three pipes, none of which is ever waited for."""

import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress

_CHUNK = 64 * 1024
_WORDS = 16 * 1024
"""Bytes of what it says on stderr that are kept: its last words say why it ended."""


class SshProcess:
    """Who starts it registers its descriptors with a selector, and calls what is due."""

    def __init__(self, command: Sequence[str]) -> None:
        # In a session of its own: no Ctrl-C of the terminal reaches it, and it cannot ask there for anything.
        self._process = subprocess.Popen(  # noqa: S603 -- ssh, with arguments that are all our own
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
        assert self._process.stdin and self._process.stdout and self._process.stderr  # noqa: S101 PT018 -- asked for
        self.stdin, self.stdout, self.stderr = (
            pipe.fileno() for pipe in (self._process.stdin, self._process.stdout, self._process.stderr)
        )
        for fd in (self.stdin, self.stdout, self.stderr):
            os.set_blocking(fd, False)
        self._unsent = bytearray()
        self._words = b""

    @property
    def code(self) -> int | None:
        """Its exit code, once it has ended."""
        return self._process.poll()

    @property
    def words(self) -> list[str]:
        """What it said last, line by line."""
        lines = self._words.decode("utf-8", "replace").splitlines()
        return [line.strip() for line in lines if line.strip()]

    def read(self) -> bytes | None:
        """What it has to tell; empty once there is nothing more to come, None if nothing is there now."""
        try:
            return os.read(self.stdout, _CHUNK)
        except BlockingIOError:
            return None
        except OSError:
            return b""

    def hear(self) -> bool:
        """Listen to its stderr; False once that has ended."""
        try:
            data = os.read(self.stderr, _CHUNK)
        except BlockingIOError:
            return True
        except OSError:
            return False
        self._words = (self._words + data)[-_WORDS:]
        return bool(data)

    def say(self, data: bytes) -> None:
        """Hand it something; what it does not take now waits."""
        self._unsent += data
        self.send()

    @property
    def has_unsent(self) -> bool:
        return bool(self._unsent)

    def send(self) -> None:
        """As much as it takes now."""
        try:
            while self._unsent:
                del self._unsent[: os.write(self.stdin, self._unsent[:_CHUNK])]
        except BlockingIOError:
            pass
        except OSError:  # it listens no more, and will be found to have ended
            self._unsent.clear()

    def end(self) -> None:
        """Let it go: whoever it speaks to hears the end of its input, and ends too."""
        if self._process.poll() is None:  # with what it started to get there, such as a ProxyCommand
            with suppress(OSError):
                os.killpg(self._process.pid, signal.SIGKILL)
        with suppress(OSError):
            self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()
