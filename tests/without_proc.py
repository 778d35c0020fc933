"""This machine as if it had no `/proc`: what is left is what psutil tells, and of that only what it tells on macOS."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psutil
import pytest

from delegtop.base import other_systems
from delegtop.base.clock import SECOND, booted_at
from delegtop.kernel import proc_files, psutil_source
from delegtop.sources import processes


@contextmanager
def without_proc() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        nothing: dict[str, Any] = {"data": b"", "text": "", "link": "", "numbers": [], "inode": None, "owner": ""}
        nothing |= {"written_at": None, "read_at": None, "is_fifo": False}
        nothing |= {"is_mounted": False, "is_open": False, "is_there": False}
        for name, told in nothing.items():
            patched.setattr(proc_files, name, lambda *_, told=told, **__: told)
        patched.setattr(psutil_source, "_COUNTS_BYTES", False)
        late = booted_at() - int(psutil.boot_time() * SECOND)  # only Linux counts from a second, not from a moment
        ticks = other_systems.ticks
        patched.setattr(other_systems, "ticks", lambda process: ticks(process) + late * other_systems.TICKS // SECOND)
        patched.setattr(processes, "_PROC", "/nowhere")
        patched.setattr(processes, "is_ours", lambda _domain: True)  # no system but Linux names a domain
        yield
