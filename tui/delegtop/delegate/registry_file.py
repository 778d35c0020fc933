"""The registry of running delegations, written as one JSON object keyed by session id."""

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from delegtop.base.clock import Millis
from delegtop.delegate.context import Context


class RegistryFile:
    """A registry and its snapshot on disk, replaced whole on every change, so that no reader sees half of one.

    It has one owner, the orchestrator. An entry is deleted when its delegation ends, in whatever way: a reader
    cannot tell from here how it ended.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._entries: dict[str, dict[str, Any]] = {}
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)

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
    """A snapshot several processes keep together: each changes only its own entries, one process at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)

    def register(self, at: Millis, context: Context) -> None:
        with self._changing() as entries:
            entries[context.session_id] = context.registry_entry(at)

    def remove(self, session_id: str) -> None:
        """Delete the entry, if there is one."""
        with self._changing() as entries:
            entries.pop(session_id, None)

    @contextmanager
    def _changing(self) -> Iterator[dict[str, Any]]:
        # The snapshot itself is replaced, so a lock on it would guard a file that is already gone.
        lock = os.open(_beside(self.path, "lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            entries = _read(self.path)
            yield entries
            _replace(self.path, entries)
        finally:
            os.close(lock)


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
        raise OSError(f"{path}: is no registry, so nothing is written to it")
    return entries


def _replace(path: Path, entries: Mapping[str, Any]) -> None:
    temporary = _beside(path, f"{os.getpid()}.tmp")
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(fd, "w", encoding="utf-8", errors="replace") as file:
        json.dump(entries, file, ensure_ascii=False, indent=2)
        file.write("\n")
    temporary.replace(path)


def _beside(path: Path, suffix: str) -> Path:
    """A hidden name without the suffix of a snapshot: a reader of the folder must not take it for a second registry."""
    return path.with_name(f".{path.name}.{suffix}")
