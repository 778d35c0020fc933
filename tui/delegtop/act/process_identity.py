"""Which process is meant: its number, its start, its user and its command line. A number alone may be given to another
process at any moment."""

import os
import subprocess
from contextlib import suppress
from typing import NamedTuple

from delegtop.base.secrets import mask
from delegtop.base.text import line
from delegtop.kernel import proc_files
from delegtop.kernel.process_table import row_of, words_of

_PIDS = 1 << 22
"""No system has so many processes."""
_WORDS = 80
_PATIENCE = 5.0


class ProcessIdentity(NamedTuple):
    """One process, and no other."""

    pid: int
    started: str
    """As the system dates its start: in ticks, or where there is no /proc as `ps` writes it."""
    user: int
    command: tuple[str, ...]

    @property
    def words(self) -> str:
        """Its command line in one harmless line, without secrets."""
        return line(mask(" ".join(" ".join(self.command).split())), _WORDS)

    @property
    def name(self) -> str:
        """What its program is called."""
        first = self.command[0] if self.command else ""
        return line(first.split(" ")[0].rpartition("/")[2].lstrip("-"), _WORDS)

    def __str__(self) -> str:
        return f"pid {self.pid}, `{self.words}`" if self.command else f"pid {self.pid}"


def identity(pid: int) -> ProcessIdentity | None:
    """The process of that number as it is now; None if there is none, or only one that has ended."""
    if not 0 < pid < _PIDS:
        return None
    return _from_proc(pid) if proc_files.is_mounted() else _from_ps(pid)


def _from_proc(pid: int) -> ProcessIdentity | None:
    before = row_of(pid)
    user, words = _user(pid), words_of(pid)
    after = row_of(pid)
    if before is None or after is None or after.is_dead or user is None or before.started != after.started:
        return None
    return ProcessIdentity(pid, str(after.started), user, words)


def _user(pid: int) -> int | None:
    """Its real user."""
    for each in proc_files.text(pid, "status").splitlines():
        if each.startswith("Uid:"):
            return int(each.split()[1])
    return None


def _from_ps(pid: int) -> ProcessIdentity | None:
    """Where there is no /proc. `lstart` is five words, as in `Tue Nov 17 13:20:32 2026`."""
    with suppress(OSError, subprocess.SubprocessError, ValueError, IndexError):
        asked = ["ps", "-o", "uid=,state=,lstart=,command=", "-p", str(pid)]
        environ = {**os.environ, "LC_ALL": "C"}
        told = subprocess.run(  # noqa: S603 -- nothing in it is foreign
            asked, capture_output=True, text=True, timeout=_PATIENCE, env=environ, check=True
        ).stdout
        user, state, *rest = told.split()
        if not state.startswith("Z"):
            return ProcessIdentity(pid, " ".join(rest[:5]), int(user), tuple(rest[5:]))
    return None


def difference(planned: ProcessIdentity, now: ProcessIdentity | None) -> str:
    """Why the process that is there now is not the planned one; nothing if it is."""
    if now is None:
        return f"{planned} is gone"
    if not planned.started or planned.started != now.started:
        return f"pid {planned.pid} is another process by now: it started at another time than the one that was planned"
    if planned.user != now.user:
        return f"pid {planned.pid} belongs to another user by now"
    if planned.command != now.command:
        return f"pid {planned.pid} runs something else by now: `{now.words}`"
    return ""


def is_same(planned: ProcessIdentity) -> bool:
    """Whether that very process is still there, whatever it runs by now."""
    now = identity(planned.pid)
    return now is not None and now.started == planned.started


def taboo(process: ProcessIdentity) -> str:
    """Why a process is never signalled, whoever asks for it; nothing if it may be."""
    if process.pid <= 1:
        return "the first process of the machine is never signalled, nor several at once"
    if process.pid == os.getpid():
        return "this is delegtop itself"
    if process.pid in _above():
        return f"delegtop was started by it ({process}), and would stop itself"
    if process.user != os.getuid():
        return f"it belongs to another user ({process})"
    return ""


def _above() -> set[int]:
    """The processes that delegtop comes from."""
    found: set[int] = set()
    pid = os.getppid()
    while pid > 0 and pid not in found:
        found.add(pid)
        row = row_of(pid) if proc_files.is_mounted() else None
        pid = row.parent if row is not None else 0
    return found


def runs_us(pid: int) -> bool:
    """Whether delegtop is that process, or was started by it."""
    return pid == os.getpid() or pid in _above()
