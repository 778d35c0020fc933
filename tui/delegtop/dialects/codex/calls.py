"""What a tool call of Codex is about, in a few words."""

import re
from typing import Any

import msgspec

from delegtop.clock import Millis
from delegtop.dialects.foreign import gist, items, obj, parsed, title, word
from delegtop.model.events import Phase

ASKS = frozenset({"request_user_input", "ask_user"})
_TELLING = ("cmd", "command", "query", "path", "url", "task_name", "message", "explanation", "target", "objective")
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)
_LOOKS = frozenset({"write_stdin", "wait"})
_ESCALATED = "(asks to run outside the sandbox)"


class Call(msgspec.Struct, frozen=True):
    """One call that has not come back yet."""

    tool: str
    doing: str | None
    phase: Phase
    arguments: dict[str, Any]
    at: Millis | None
    given: object = None
    """Its input as it stands in the log."""

    @property
    def waits(self) -> bool:
        """Whether it is in its nature to be made again and again."""
        return self.is_wait or self.tool in _LOOKS

    @property
    def is_wait(self) -> bool:
        """Whether it waits for other agents."""
        return self.phase is Phase.CHILD


def call_of(payload: dict[str, Any], at: Millis | None) -> Call:
    """The call that a response item makes."""
    name = word(payload.get("name")) or {"local_shell_call": "shell"}.get(str(payload.get("type"))) or "tool"
    given = payload.get("arguments", payload.get("input", payload.get("action")))
    value = parsed(given)
    arguments = obj(value)
    if name == "wait_agent" or (name == "wait" and targets(arguments)):
        return Call(name, _targets(arguments), Phase.CHILD, arguments, at, given)
    phase = Phase.ANSWER if name in ASKS else Phase.TOOL
    patched = _PATCHED.findall(given) if isinstance(given, str) else []
    doing = ", ".join(patched[:3]) if patched else gist(arguments, _TELLING)
    if doing is None and isinstance(given, str) and not isinstance(value, dict):
        doing = title(given)
    if arguments.get("sandbox_permissions") == "require_escalated" or arguments.get("with_escalated_permissions"):
        doing = f"{doing or name} {_ESCALATED}"
    return Call(name, doing, phase, arguments, at, given)


def _targets(arguments: dict[str, Any]) -> str | None:
    count = len(targets(arguments))
    return f"waits for {count} agents" if count > 1 else "waits for an agent"


def targets(arguments: dict[str, Any]) -> list[str]:
    """Whom a call names: by id, by path or by name."""
    named = items(arguments.get("targets")) or items(arguments.get("ids"))
    single = [arguments.get("target"), arguments.get("id"), arguments.get("agent_id")]
    return [name for name in named or single if isinstance(name, str) and name]
