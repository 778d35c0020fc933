"""The window: of a machine's whole history only what was written lately is read.

Files belong together if one session's id stands in their paths: a session is read whole if one of its files is
recent, or if its process is alive.
"""

import contextlib
import os
import re
from collections.abc import Iterable

from delegtop.clock import Millis, wall

FEW = 200
"""So many files are read in a moment, in whatever order."""
_DATABASE = (".db", ".sqlite")
_SESSION = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class Window:
    """Which files are read."""

    def __init__(self, since: Millis | None) -> None:
        self.since = since
        self._sessions: set[str] = set()
        self.alive: set[str] = set()
        self.left_out: dict[str, Millis] = {}
        """The files that are too old, and when they were last written."""

    def keep(self, session: str) -> None:
        """A session that is alive is read, however old its files are."""
        self._sessions.add(session)
        self.alive.add(session)

    def admit(self, paths: Iterable[str]) -> list[str]:
        """Those of all paths that nobody reads which are to be read from now on, the newest first if they are many."""
        written = {path: _written(path) for path in paths}
        since = self.since
        if since is not None:
            self._sessions |= {key for path, at in written.items() if at >= since and (key := session_of(path))}
            self.left_out = {p: at for p, at in written.items() if at < since and session_of(p) not in self._sessions}
        found = [path for path in written if path not in self.left_out]
        return found if since is None and len(found) <= FEW else sorted(found, key=lambda path: -written[path])

    def why(self) -> str:
        """Why files are left out, for people."""
        return "" if self.since is None else f"last written before {wall(self.since)}"


def session_of(path: str) -> str | None:
    """The id of the session that a file belongs to, as far as its path says so."""
    found = _SESSION.search(path)
    return found[0] if found else None


def folder_of(path: str) -> str:
    """The folder that holds all files of its session, and those of others."""
    found = _SESSION.search(path)
    return os.path.dirname(path[: found.start()] if found else path) or "."  # noqa: PTH120 # thousands of files at every scan


def _written(path: str) -> Millis:
    """When it was last written. What cannot be asked is read, and its reader says what is wrong."""
    try:
        written = os.stat(path).st_mtime_ns  # noqa: PTH116 # thousands of files at every scan
    except OSError:
        return Millis(1 << 62)
    if path.endswith(_DATABASE):
        # What a program writes into its database stands in the log beside it first, for hours if it writes little.
        with contextlib.suppress(OSError):
            written = max(written, os.stat(f"{path}-wal").st_mtime_ns)  # noqa: PTH116 # as above
    return Millis(written // 1_000_000)
