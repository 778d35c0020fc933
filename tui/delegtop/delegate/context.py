"""The delegation context: what a caller hands over together with the work."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from delegtop.base.clock import SECOND, Millis, iso


@dataclass(frozen=True, kw_only=True)
class Context:
    """One delegation as its caller describes it. A command has no subagent, or itself, and is at depth 0."""

    session_id: str
    command: str | None = None
    subagent: str | None = None
    caller: str | None = None
    parent_session_id: str | None = None
    task_number: int | str | None = None
    task_context: Mapping[str, Any] = field(default_factory=dict)
    timeout: int | None = None
    """Milliseconds, like every span in delegtop; files say seconds."""
    deadline: Millis | None = None
    depth: int | None = None
    path: tuple[str, ...] = ()
    pid: int | None = None
    host: str | None = None

    def register_fields(self) -> dict[str, Any]:
        """The fields of a `register` line; what is not known is left out."""
        fields = {
            "parent_session_id": self.parent_session_id,
            "command": self.command,
            "subagent": self.subagent,
            "caller": self.caller,
            "task_number": self.task_number,
            "task_context": dict(self.task_context) or None,
            "timeout": _seconds(self.timeout),
            "deadline": iso(self.deadline) if self.deadline is not None else None,
            "delegation_depth": self.depth,
            "delegation_path": list(self.path) or None,
            "pid": self.pid,
            "host": self.host,
        }
        return {name: value for name, value in fields.items() if value is not None}

    def registry_entry(self, at: Millis) -> dict[str, Any]:
        """The entry of a registry snapshot; it has a place for everything, so an unknown is null."""
        return {
            "command": self.command,
            "subagent": self.subagent,
            "task_number": self.task_number,
            "start_time": iso(at),
            "timeout": _seconds(self.timeout),
            "deadline": iso(self.deadline) if self.deadline is not None else None,
            "status": "running",
            "delegation_depth": self.depth,
            "delegation_path": list(self.path),
        }


def _seconds(span: int | None) -> float | int | None:
    if span is None:
        return None
    return span // SECOND if span % SECOND == 0 else span / SECOND
