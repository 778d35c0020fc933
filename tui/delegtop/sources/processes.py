"""Whether a process of this machine is still there."""

import os
from pathlib import Path

from delegtop.base import other_systems
from delegtop.base.clock import SECOND, Millis, booted_at
from delegtop.base.lazy_pattern import lazy_pattern

_CLOCK_SLACK = 5 * SECOND
"""A process may be noted in a log a little before the kernel says it started: clocks are read at different moments."""
_PROC = "/proc"
_DEAD = ([b"Z"], [b"X"])
_START = 19
"""Where in `stat` the start stands, counted from the state, which is the first after the name."""
_STAT = 4_096
"""Bytes: more than any `stat` has."""
_MACHINE = Path("/etc/machine-id")
_DOMAIN = lazy_pattern(r"linux:(?P<machine>[0-9a-f]{32}):(?P<namespace>pid:\[\d+\])")


def hostname() -> str:
    return os.uname().nodename


def is_gone(pid: int, noted_at: Millis, begun: int | None = None, domain: str | None = None) -> bool:
    """True if no process has that id, or only another one that got the same id later, or one that is dead and was not
    yet taken note of by its parent. False when in doubt.

    `begun` is what the kernel called the start of the process when it was noted (field 22 of its `stat`): one
    with other ticks is another process. `domain` names the machine and the pid namespace it was noted in
    (`linux:<machine id>:pid:[4026531836]`): in another one its number means nothing here.
    """
    if pid <= 0 or not is_ours(domain):
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        return False
    stat = _stat(pid)
    if not stat:
        return _is_another(pid, noted_at)
    if stat[:1] in _DEAD:
        return True
    ticks = _ticks(stat)
    if begun is not None and ticks is not None:
        return ticks != begun
    started = _moment(ticks)
    return started is not None and started > noted_at + _CLOCK_SLACK


def is_there(pid: int, noted_at: Millis, begun: int | None = None, domain: str | None = None) -> bool:
    """True if that very process is there for certain: it started before it was noted. False when in doubt."""
    if pid <= 0 or not is_ours(domain):
        return False
    stat = _stat(pid)
    if not stat and not _is_told_by_files():
        other = other_systems.seen(pid)
        return other is not None and other.state not in "ZX" and other.started_at <= noted_at + _CLOCK_SLACK
    if stat[:1] in (*_DEAD, []):
        return False
    ticks = _ticks(stat)
    started = _moment(ticks)
    is_it = begun is None or ticks == begun
    return is_it and started is not None and started <= noted_at + _CLOCK_SLACK


def _is_another(pid: int, noted_at: Millis) -> bool:
    """Whether that number is of a process that began later, or has ended, where the system tells it otherwise than by
    files. What began when it was noted is compared there by time alone."""
    other = None if _is_told_by_files() else other_systems.seen(pid)
    return other is not None and (other.state in "ZX" or other.started_at > noted_at + _CLOCK_SLACK)


def _is_told_by_files() -> bool:
    return Path(_PROC, "self", "stat").exists()


def start_ticks(pid: int) -> int | None:
    """By what to know the process of that number from one that gets it later, where the system tells it."""
    return _ticks(_stat(pid))


def is_ours(domain: str | None) -> bool:
    """Whether process ids noted there are those we see. Where nobody says otherwise they are."""
    parts = _DOMAIN.fullmatch(domain or "")
    if parts is None:
        return True
    try:
        return parts["machine"] == _MACHINE.read_text().strip() and parts["namespace"] == str(
            Path(_PROC, "self/ns/pid").readlink()
        )
    except OSError:
        return False


def _ticks(stat: list[bytes]) -> int | None:
    """When the process started, in the kernel's ticks since the machine did, where /proc tells it."""
    try:
        return int(stat[_START])
    except (IndexError, ValueError):
        return None


def _stat(pid: int) -> list[bytes]:
    """What /proc tells of it after its name, up to its start; nothing where there is no such thing."""
    try:
        fd = os.open(f"{_PROC}/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)  # many times a second
    except OSError:
        return []
    try:
        return os.read(fd, _STAT).rpartition(b")")[2].split(None, _START + 1)
    except OSError:
        return []
    finally:
        os.close(fd)


def _moment(ticks: int | None) -> Millis | None:
    """When that many ticks had passed since the machine started, where /proc tells it."""
    return None if ticks is None else Millis(booted_at() + ticks * SECOND // os.sysconf("SC_CLK_TCK"))
