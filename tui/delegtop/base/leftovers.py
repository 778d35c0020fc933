"""What is left of a file that was being written whole when its writer was killed: nobody else would ever remove it."""

import os
import re
from contextlib import suppress
from functools import cache
from pathlib import Path

from delegtop.base.clock import MINUTE, WallClock

OLD = MINUTE
"""What is younger may still be being written."""
MARK = "delegtop-"
"""Stands in the temporary name of a file that is written into anybody's folder."""
_OURS = rf"\.{{name}}\.({MARK}[a-z0-9_]{{{{8}}}}|\d+\.tmp)"
_IN_OUR_FOLDER = rf"\.{{name}}\.({MARK})?([a-z0-9_]{{{{8}}}}|\d+(\.tmp)?)"
"""The names that our own writers use: a number of a process, or what `tempfile` makes up."""


@cache
def clear(path: Path, *, folder_is_ours: bool = True) -> None:
    """Remove it, once in the life of a process. In the folder of somebody else only what nobody else calls so."""
    pattern = _IN_OUR_FOLDER if folder_is_ours else _OURS
    named, before = re.compile(pattern.format(name=re.escape(path.name))), WallClock().now() - OLD
    with suppress(OSError), os.scandir(path.parent) as entries:
        for entry in entries:
            if named.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                found = entry.stat(follow_symlinks=False)
                if found.st_uid == os.geteuid() and found.st_mtime_ns // 1_000_000 < before:
                    with suppress(OSError):
                        os.unlink(entry.path)  # noqa: PTH108 -- a string, as scandir gives it
