"""The file that keeps how everything stands, for whoever asks often: private, and replaced whole.

It lies in the cache folder and not in the runtime folder of the login session: a status bar, a shell over ssh and a job
do not all have the variable that names the latter, and must find the same file.
"""

import fcntl
import os
import stat
from binascii import crc32
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from delegtop.base.clock import SECOND, Millis, WallClock
from delegtop.base.paths import cache_folder, make_private
from delegtop.report.status import status_json
from delegtop.report.status.home_variables import MOVES
from delegtop.report.status.machine_status import MachineStatus

FRESH = 15 * SECOND
"""What was written so long ago, at most, is how things stand now; who keeps the file writes three times as often."""
BEAT = 5 * SECOND
_LARGEST = 1 << 20
_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def place() -> Path:
    """Whoever looks for logs elsewhere than others has a file of his own: what he sees is not what they ask about."""
    given = ((name, os.environ.get(name), os.path.expanduser(usual)) for name, usual in MOVES.items())  # noqa: PTH111 -- asked often, and a Path takes longer
    moved = [(name, place) for name, place, usual in given if place and place.rstrip("/") != usual]
    return cache_folder() / (f"status-{crc32(repr(moved).encode()):08x}.json" if moved else "status.json")


def read(oldest: int) -> MachineStatus | None:
    """How things stood when somebody last looked, that long ago at most; None if there is no such file, or one that is
    not ours. What was written later than now tells of no time at all."""
    found = _read()
    return found if found is not None and -FRESH <= WallClock().now() - found.at <= oldest else None


def _read() -> MachineStatus | None:
    try:
        descriptor = os.open(place(), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        about = os.fstat(descriptor)
        is_own = stat.S_ISREG(about.st_mode) and about.st_uid == os.geteuid() and not about.st_mode & _OTHERS
        if not is_own or about.st_size > _LARGEST:
            return None
        with open(descriptor, "rb", closefd=False) as file:
            return status_json.decode(file.read(_LARGEST))
    except (OSError, status_json.NoStatusError):
        return None
    finally:
        os.close(descriptor)


def write(status: MachineStatus) -> None:
    """Keep it, for the owner's eyes. What is there is replaced whole, whoever writes at the same time."""
    from delegtop.base import leftovers  # who only asks writes nothing

    path = place()
    make_private(path.parent)
    leftovers.clear(path)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        with open(os.open(beside, flags, 0o600), "w", encoding="utf-8") as file:  # noqa: PTH123 -- as above
            os.fchmod(file.fileno(), 0o600)
            file.write(status_json.encode(status))
        beside.replace(path)
    except BaseException:  # being told to end, too
        with suppress(OSError):
            beside.unlink()
        raise


def written_at() -> Millis | None:
    """When somebody last wrote it; None if nobody did."""
    try:
        return Millis(place().stat().st_mtime_ns // 1_000_000)
    except OSError:
        return None


def is_fresh(status: MachineStatus, now: Millis) -> bool:
    """Whether that is how things stand now."""
    return now - status.at <= FRESH


@contextmanager
def alone() -> Iterator[bool]:
    """Whether nobody else reads the logs for the file now; as long as this lasts, nobody else does."""
    try:
        make_private(place().parent)
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(place().with_suffix(".lock"), flags, 0o600)
    except OSError:
        yield True  # where no file can be kept nobody waits for it
        return
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
        else:
            yield True
    finally:
        os.close(descriptor)
