"""The registry of running delegations, written as one JSON object keyed by session id."""

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from delegtop.base.clock import Millis
from delegtop.base.paths import make_private
from delegtop.delegate.context import Context
from delegtop.delegate.journal import open_own


class RegistryInvalid(OSError):  # noqa: N818  # the name says what is wrong
    """The file of a registry holds something else, and stays as it is."""


class RegistryFile:
    """A registry and its snapshot on disk, replaced whole on every change, so that no reader sees half of one.

    It has one owner, the orchestrator. An entry is deleted when its delegation ends, in whatever way: a reader
    cannot tell from here how it ended.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._entries: dict[str, dict[str, Any]] = {}
        make_private(path.parent)
        _clear_unfinished(path)

    def __contains__(self, session_id: str) -> bool:
        return session_id in self._entries

    def register(self, at: Millis, context: Context) -> None:
        self._entries[context.session_id] = context.registry_entry(at)
        _replace(self.path, self._entries)

    def remove(self, session_id: str) -> None:
        """Delete the entry, if there is one."""
        if self._entries.pop(session_id, None) is not None:
            _replace(self.path, self._entries)


class SharedRegistryFile:
    """A snapshot several processes keep together: each changes only its own entries, one process at a time.

    Who could not delete its entry, because it was killed, has it deleted by the next one: beside the snapshot stands
    which process works on an entry, and once that is gone nobody will come back to it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def check(self) -> None:
        """Raises RegistryInvalid if the file is there and holds something else."""
        _read(self.path)

    def register(self, at: Millis, context: Context) -> None:
        with self._changing() as (entries, workers):
            entries[context.session_id] = context.registry_entry(at)
            if context.pid is not None and context.host == os.uname().nodename:
                workers[context.session_id] = [context.pid, _started(context.pid)]

    def remove(self, session_id: str) -> None:
        """Delete the entry, if there is one."""
        with self._changing() as (entries, _):
            entries.pop(session_id, None)

    @contextmanager
    def _changing(self) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        make_private(self.path.parent)
        # The snapshot itself is replaced, so a lock on it would guard a file that is already gone.
        lock = open_own(_beside(self.path, "lock"), os.O_RDWR | os.O_CREAT)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            entries, workers = _read(self.path), _workers(lock)
            for session_id in [id for id, (pid, started) in workers.items() if _is_gone(pid, started)]:
                entries.pop(session_id, None)
            yield entries, workers
            _clear_unfinished(self.path)
            _replace(self.path, entries)
            told = json.dumps({id: worker for id, worker in workers.items() if id in entries}).encode()
            os.ftruncate(lock, 0)
            os.pwrite(lock, told, 0)
        finally:
            os.close(lock)


def _workers(lock: int) -> dict[str, Any]:
    """Which process works on which entry, and since when that process is there."""
    try:
        told = json.loads(os.pread(lock, os.fstat(lock).st_size, 0) or b"{}")
    except (ValueError, RecursionError):
        return {}
    pairs = told.items() if isinstance(told, dict) else ()
    return {id: pair for id, pair in pairs if isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], int)}


def _is_gone(pid: int, started: object) -> bool:
    """Whether that process has ended; another one may have its number by now."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        return False
    stat = _stat(pid)
    return bool(stat) and (stat[0] in "ZX" or started not in (None, stat[_STARTED]))


_STARTED = 19


def _started(pid: int) -> str | None:
    """When a process started, in the kernel's own count; None where that is not told."""
    stat = _stat(pid)
    return stat[_STARTED] if stat else None


def _stat(pid: int) -> list[str]:
    """What the kernel counts of a process, from its state on; nothing where there is no /proc."""
    try:
        told = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    except OSError:
        return []
    return told if len(told) > _STARTED else []


def _read(path: Path) -> dict[str, Any]:
    """The entries on disk. A file that is no registry is an error and stays as it is."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return {}
    try:
        entries = json.loads(data) if data.strip() else {}
    except (ValueError, RecursionError):
        entries = None
    if not isinstance(entries, dict):
        raise RegistryInvalid(f"{path}: is no registry, so nothing is written to it")
    return entries


def _replace(path: Path, entries: Mapping[str, Any]) -> None:
    temporary = _beside(path, f"{os.getpid()}.tmp")
    temporary.unlink(missing_ok=True)
    fd = open_own(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    with os.fdopen(fd, "w", encoding="utf-8", errors="replace") as file:
        json.dump(entries, file, ensure_ascii=False, indent=2)
        file.write("\n")
    temporary.replace(path)


def _clear_unfinished(path: Path) -> None:
    """Delete what writers that were killed have left half written."""
    for left in path.parent.glob(f".{_literal(path.name)}.*.tmp"):
        number = left.name.removesuffix(".tmp").rpartition(".")[2]
        if number.isdecimal() and _is_gone(int(number), None):
            with suppress(OSError):
                left.unlink()


def _literal(name: str) -> str:
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)


def _beside(path: Path, suffix: str) -> Path:
    """A hidden name without the suffix of a snapshot: a reader of the folder must not take it for a second registry."""
    return path.with_name(f".{path.name}.{suffix}")
