"""Files that are named on the command line and read whole."""

import os
import stat

NO_FILE = "is no file but a pipe or a device, which may never end"


def read(path: str, most: int) -> bytes:
    """At most so many bytes of it; OSError with the reason if it cannot be read. A pipe is never waited for."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor
        if stat.S_ISFIFO(mode := os.fstat(descriptor).st_mode) or stat.S_ISCHR(mode):
            raise OSError(0, NO_FILE)
        return file.read(most)
