"""A terminal with a shell in it, as somebody sits at who types a command."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.patience import PATIENCE

from delegtop.base.clock import monotonic

PROMPT = b"ready> "


class Terminal:
    """A terminal whose keys are typed and whose output is read here."""

    def __init__(self, folder: Path, *line: str) -> None:
        """Without a command line it is an interactive shell with job control."""
        self._fd, inside = pty.openpty()
        self.resize(80, 24)
        # The leader of a session that opens a terminal gets it for its own.
        opening = f': <{os.ttyname(inside)}; exec "$@"'
        shell = ("bash", "--norc", "--noprofile", "-i")
        self._process = subprocess.Popen(
            ["/bin/sh", "-c", opening, "sh", *(line or shell)],
            cwd=folder,
            stdin=inside,
            stdout=inside,
            stderr=inside,
            start_new_session=True,
            env={**os.environ, "PS1": PROMPT.decode(), "TERM": "xterm", "HISTFILE": "", "BASH_SILENCE": "1"},
        )
        os.close(inside)
        self._seen = b""
        self._read = 0
        if not line:
            self.wait_for(PROMPT)

    @property
    def pid(self) -> int:
        return self._process.pid

    def type(self, keys: bytes | str) -> None:
        os.write(self._fd, keys.encode() if isinstance(keys, str) else keys)

    def enter(self, line: str) -> None:
        self.type(f"{line}\r")

    def modes(self) -> list[Any]:
        return termios.tcgetattr(self._fd)

    def is_raw(self) -> bool:
        return not self.modes()[3] & (termios.ICANON | termios.ECHO | termios.ISIG)

    def resize(self, columns: int, lines: int) -> None:
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("4H", lines, columns, 0, 0))

    def wait_for(self, words: bytes | str, within: float = PATIENCE) -> bytes:
        """Read on until they are there; what was read since the last that was waited for, up to them."""
        wanted, end = words.encode() if isinstance(words, str) else words, monotonic() + within
        while (at := self._seen.find(wanted, self._read)) < 0:
            assert select.select([self._fd], [], [], max(0, end - monotonic()))[0], self._seen[self._read :]
            self._seen += os.read(self._fd, 4096)
        between, self._read = self._seen[self._read : at], at + len(wanted)
        return between

    def type_until(self, keys: bytes, words: bytes | str) -> None:
        """Type them again each second until the words are there, as somebody does whose key was not heard.

        Python at its prompt does not hear a Ctrl-C that comes after the prompt is drawn and before it waits for input.
        """
        for _ in range(int(PATIENCE)):
            self.type(keys)
            with suppress(AssertionError):
                self.wait_for(words, within=1)
                return
        self.wait_for(words)

    def close(self) -> None:
        os.close(self._fd)  # hangs up on whatever still runs there
        self._process.wait(timeout=PATIENCE)
