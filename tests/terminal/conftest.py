"""A real terminal to run the real program in: a tmux server of its own for every test."""

import math
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path

import pytest
from tests.patience import PATIENCE

_PACE = 0.04
_LOOKS = 5
"""So many equal looks in a row are a screen that stands still."""
_CLOCK = re.compile(r"\d[\d:]*")
"""On a busy machine so many looks take longer than a second: a screen that tells the time would never be equal."""
_PROMPT = "READY$"


class Terminal:
    """One window with a shell in it. Every byte the program writes is also kept in a file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._bytes = folder / "written"
        self._commands = 0
        self._sockets = tempfile.TemporaryDirectory(prefix="tmux-")  # a socket's name must be short
        self._environ = {
            **{name: value for name, value in os.environ.items() if name != "TMUX"},
            "TMUX_TMPDIR": self._sockets.name,
            "LC_ALL": "C.UTF-8",
        }

    def open(self, width: int, height: int) -> None:
        settings = ("default-terminal tmux-256color", "set-clipboard on", "escape-time 0", "history-limit 500")
        chain = [word for setting in settings for word in (*f"set -g {setting}".split(), ";")]
        shell = f"exec env PS1='{_PROMPT}' bash --norc --noprofile"
        self._tmux("start-server", ";", *chain, "new-session", "-d", "-x", str(width), "-y", str(height), shell)
        self._tmux("pipe-pane", "-O", f"cat >> {shlex.quote(str(self._bytes))}")
        self.wait_for(_PROMPT)

    def _tmux(self, *arguments: str) -> str:
        command = ["tmux", "-L", "t", "-f", "/dev/null", "-u", *arguments]
        return subprocess.run(command, env=self._environ, check=True, capture_output=True, text=True).stdout

    def close(self) -> None:
        subprocess.run(["tmux", "-L", "t", "kill-server"], env=self._environ, capture_output=True, check=False)
        self._sockets.cleanup()

    def close_inner(self, name: str) -> None:
        """End a server that was started in it."""
        subprocess.run(["tmux", "-L", name, "kill-server"], env=self._environ, capture_output=True, check=False)

    # What is done to it

    def shell(self, command: str) -> None:
        """Run a command; its exit code is printed when it has ended."""
        self._commands += 1
        self.type(f"{command}; echo exit{self._commands}=$?")
        self.keys("Enter")

    def delegtop(self, *arguments: object, environ: str = "") -> None:
        """Start the program and wait until it has the screen."""
        self.shell(f"{environ} {program()} {shlex.join(map(str, arguments))}".strip())
        self.wait_until(lambda: self.tells("alternate_on") == "1", "the program takes the screen")

    def keys(self, *names: str) -> None:
        self._tmux("send-keys", *names)

    def type(self, text: str) -> None:
        """Send these very characters."""
        self._tmux("send-keys", "-l", text)

    def filter(self, text: str) -> None:
        """Open the filter and type into it, as slowly as a person: a letter that comes too soon is a command."""
        self.keys("/")
        self.wait_for("/ text")
        self.wait_until_still()
        self.type(text)
        self.wait_for(f"/ {text}")

    def escape(self, words: str) -> None:
        """Leave a screen that shows these words. A key right after the escape would be taken for a part of it."""
        self.keys("Escape")
        self.wait_until(lambda: words not in self.screen(), f"{words} is closed")

    def click(self, column: int, row: int) -> None:
        """Press and release the left button, as the terminal would report it; the first cell is 1, 1."""
        self.type(f"\x1b[<0;{column};{row}M\x1b[<0;{column};{row}m")

    def resize(self, width: int, height: int) -> None:
        self._tmux("resize-window", "-x", str(width), "-y", str(height))

    # What is seen of it

    def screen(self) -> str:
        return self._tmux("capture-pane", "-p")

    def rows(self) -> list[str]:
        return self.screen().splitlines()

    def tells(self, *variables: str) -> str:
        """What tmux knows of the window, such as `pane_title`, `alternate_on` or `cursor_flag`."""
        return self._tmux("display-message", "-p", " ".join(f"#{{{each}}}" for each in variables)).rstrip("\n")

    def children(self) -> list[int]:
        """The processes that its shell has started and that are still there."""
        listed = Path(f"/proc/{self._shell}/task/{self._shell}/children")
        if listed.exists():
            return [int(number) for number in listed.read_text().split()]
        told = subprocess.run(["pgrep", "-P", self._shell], capture_output=True, text=True, check=False)
        return [int(number) for number in told.stdout.split()]

    @cached_property
    def _shell(self) -> str:
        return self.tells("pane_pid")

    def clipboard(self) -> list[str]:
        """Everything that was put into the clipboard."""
        return self._tmux("list-buffers", "-F", "#{buffer_sample}").splitlines()

    def written(self) -> bytes:
        """Every byte the terminal was sent since it opened."""
        return self._bytes.read_bytes()

    def wait_for(self, *texts: str, looks: float = math.inf) -> str:
        """Until all of these stand on the screen; gives the screen."""
        self.wait_until(lambda: all(text in self.screen() for text in texts), " and ".join(texts), looks)
        return self.screen()

    def wait_until(self, holds: Callable[[], bool], what: str, looks: float = math.inf) -> int:
        """Until it holds, after so many looks in vain at most; gives how many there were.

        A look starts a program. So where the machine has other things to do each takes longer, as all else does.
        """
        until, vain = time.monotonic() + PATIENCE, 0
        while not holds():
            vain += 1
            if vain > looks or time.monotonic() > until:
                pytest.fail(f"not within {vain} looks: {what}\n{self.screen()}")
            time.sleep(_PACE)
        return vain

    def wait_until_still(self) -> str:
        """Until the screen has not changed for a while, but for its clocks; gives the screen."""
        looks = [self.screen()]

        def same() -> bool:
            looks.append(self.screen())
            return len(looks) > _LOOKS and len({_CLOCK.sub("0", look) for look in looks[-_LOOKS:]}) == 1

        self.wait_until(same, "the screen stands still")
        return looks[-1]

    def wait_for_the_end(self) -> int:
        """Until the program has ended; gives its exit code."""
        self.wait_until(lambda: self._exit_code() is not None, "the command ends")
        return int(self._exit_code() or 0)

    def _exit_code(self) -> str | None:
        found = re.search(rf"^exit{self._commands}=(\d+)$", self.screen(), re.MULTILINE)
        return found and found[1]


def program() -> str:
    return f"{shlex.quote(sys.executable)} -m delegtop"


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    """A terminal of 160 columns and 45 rows."""
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed: there is no terminal to run the program in")
    folder = tmp_path / "terminal"
    folder.mkdir()
    opened = Terminal(folder)
    try:
        opened.open(160, 45)
        yield opened
    finally:
        opened.close()
