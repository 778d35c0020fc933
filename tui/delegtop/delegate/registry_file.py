"""The registry of running delegations, written as one JSON object keyed by session id."""

import json
import os
from pathlib import Path
from typing import Any

from delegtop.clock import Millis
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
        self._replace()

    def remove(self, session_id: str) -> None:
        """Delete the entry, if there is one."""
        if self._entries.pop(session_id, None) is not None:
            self._replace()

    def _replace(self) -> None:
        # A hidden name without the suffix of a snapshot: a reader of the folder must not take it for a second registry.
        temporary = self.path.with_name(f".{self.path.name}.{os.getpid()}.tmp")
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(fd, "w", encoding="utf-8", errors="replace") as file:
            json.dump(self._entries, file, ensure_ascii=False, indent=2)
            file.write("\n")
        temporary.replace(self.path)
