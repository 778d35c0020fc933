"""A command of delegtop's own that reads much: it has a process of its own.

The screen does not wait for it, and its memory goes with it.
"""

import subprocess
import sys

_PROGRAM = (sys.executable, "-P", "-m", "delegtop")
"""With -P nothing in the folder delegtop was started in can take the place of a module."""
_LAST = 19
"""Nice: whatever else wants to run comes first."""


def start(*command: str) -> "subprocess.Popen[bytes] | None":
    """None if no process can be had: then things stay as they were."""
    quiet, words = subprocess.DEVNULL, ["nice", "-n", f"{_LAST}", *_PROGRAM, *command]
    try:
        return subprocess.Popen(words, stdin=quiet, stdout=quiet, stderr=quiet)  # noqa: S603 # our own command; `nice` stands in POSIX
    except OSError:
        return None
