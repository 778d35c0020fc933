"""Files a command makes for people to keep or to send: whole or not at all, and for their owner alone."""

import os
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from delegtop.base import leftovers
from delegtop.base.system_errors import reason_of
from delegtop.cli.diagnostics import fail

_NAME = 40
"""Characters of its name that a temporary name begins with."""


def check(path: Path, *, force: bool) -> None:
    """A usage error if the file could not be written, told before any work is done for it."""
    if not path.parent.is_dir():
        fail(f"{path}: there is no folder {path.parent}")
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    except OSError as error:
        fail(f"{path}: {reason_of(error)}")
    # Replacing a link or a device would destroy something that is no file of ours.
    if not stat.S_ISREG(found.st_mode):
        fail(f"{path}: that is no plain file, so it is not replaced")
    if not force:
        fail(f"{path}: the file exists; --force replaces it")


def write(path: Path, lines: Iterable[str], *, force: bool) -> None:
    """Write the lines of a text file."""
    with whole(path, force=force) as file:
        file.writelines(f"{line}\n".encode("utf-8", "backslashreplace") for line in lines)


@contextmanager
def whole(path: Path, *, force: bool) -> Iterator[BinaryIO]:
    """A file to write, beside the one it becomes, so that nobody ever sees half of it. Its mode is 0600."""
    check(path, force=force)
    try:
        short = path.with_name(path.name[:_NAME])
        leftovers.clear(short, folder_is_ours=False)
        descriptor, name = tempfile.mkstemp(prefix=f".{short.name}.{leftovers.MARK}", dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                yield file
                file.flush()
                os.fsync(descriptor)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        fail(f"{path}: cannot be written: {reason_of(error)}")
