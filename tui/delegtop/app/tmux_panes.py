"""The tmux that the dashboard runs in: which pane a process is in, going there, and a new window for a command.

Only the operator's keys lead here. What goes to tmux is a list of words, never a line for a shell; of what tmux says
only numbers and ids are read, because titles and names are text of others. No word of a log is given where tmux would
look for its formats: a folder called `#(…)` would be run.
"""

import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from delegtop.base.system_errors import reason_of
from delegtop.kernel.process_table import ProcessTable

_FIELDS = "#{pane_pid} #{pane_id} #{session_id}"
_PANE = re.compile(r"(\d+) (%\d+) (\$\d+)")
_PATIENCE = 5.0
"""Seconds within which tmux must have answered."""
_NAME = "session"
_RUN = (
    'sh -c "$1"; code=$?; [ "$code" -eq 0 ] || '
    '{ printf "\\n[it ended with %s: Enter closes this window] " "$code"; read -r _; }'
)
"""Runs its first argument, and keeps the window if that fails: else nobody could read why."""


class TmuxTrouble(Exception):  # noqa: N818 - reads better where it is raised
    """tmux did not do it; the message says why."""


class Pane(NamedTuple):
    """One pane of any session of the server."""

    pid: int
    """What was started in it."""
    id: str
    session: str


def is_inside(environ: Mapping[str, str]) -> bool:
    """Whether this program runs in a pane of tmux."""
    return bool(environ.get("TMUX") and environ.get("TMUX_PANE"))


def panes() -> list[Pane]:
    """All panes of all sessions."""
    told = _tmux("list-panes", "-a", "-F", _FIELDS)
    found = (_PANE.fullmatch(line) for line in told.splitlines())
    return [Pane(int(each[1]), each[2], each[3]) for each in found if each]


def holding(pid: int, among: Iterable[Pane]) -> Pane | None:
    """The pane whose process tree the process belongs to."""
    roots = {pane.pid: pane for pane in among}
    return next((roots[each] for each in (pid, *_above(pid)) if each in roots), None)


def _above(pid: int) -> Iterator[int]:
    """Who started it, and so on up."""
    table = ProcessTable()
    if table.rows:
        yield from table.above(pid)
        return
    parents, met = _parents(), {pid}
    while (pid := parents.get(pid, 0)) and pid not in met:
        met.add(pid)
        yield pid


def _parents() -> dict[int, int]:
    """Who started whom, where there is no /proc."""
    try:
        told = subprocess.run(
            ["ps", "-axo", "pid=,ppid="],  # noqa: S607 - wherever it is
            capture_output=True,
            text=True,
            timeout=_PATIENCE,
            check=False,
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return {}
    rows = (line.split() for line in told.splitlines())
    return {int(row[0]): int(row[1]) for row in rows if len(row) == 2 and row[0].isdecimal() and row[1].isdecimal()}


def go(pane: Pane, environ: Mapping[str, str]) -> None:
    """Show that pane: its window, and its session if it is another than this one."""
    _tmux("select-window", "-t", pane.id, ";", "select-pane", "-t", pane.id)
    own = next((each.session for each in panes() if each.id == environ.get("TMUX_PANE")), None)
    if own != pane.session:
        _tmux("switch-client", "-t", pane.id)


def open_window(command: str) -> str:
    """Run a command in a new window beside this one; gives the id of its pane. The command goes through as one word:
    only the shell in that window reads it."""
    path = os.environ.get("PATH", os.defpath)  # tmux has that of the shell it was once started from
    told = _tmux(
        "new-window", "-P", "-F", "#{pane_id}", "-n", _NAME,
        "env", f"PATH={path}", "sh", "-c", _RUN, "delegtop", command,
    )  # fmt: skip
    return told.strip()


def _tmux(*words: str) -> str:
    """What tmux answers. It takes a word that ends with a semicolon for the end of a command, unless it is quoted."""
    given = [word if word == ";" or not word.endswith(";") else f"{word[:-1]}\\;" for word in words]
    try:
        done = subprocess.run(  # noqa: S603 - a list of words, and no shell
            ["tmux", *given],  # noqa: S607 - wherever it is
            capture_output=True,
            timeout=_PATIENCE,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except FileNotFoundError as error:
        raise TmuxTrouble("the program tmux is not there") from error
    except (OSError, subprocess.TimeoutExpired, ValueError) as error:
        raise TmuxTrouble(reason_of(error)) from error
    if done.returncode:
        raise TmuxTrouble(done.stderr.decode("utf-8", "replace").strip()[:200] or f"tmux said {done.returncode}")
    return done.stdout.decode("utf-8", "replace")
