"""What a tool call of Codex is about, in a few words."""

import re
from typing import Any

from delegtop.dialects.kit.coerce import gist, items, number, obj, parsed, title, word
from delegtop.dialects.kit.conversation import Conversation
from delegtop.dialects.kit.occupation import Call
from delegtop.model.events import Phase

ASKS = frozenset({"request_user_input", "ask_user"})
_TELLING = ("cmd", "command", "query", "path", "url", "task_name", "message", "explanation", "target", "objective")
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)
LOOKS = frozenset({"write_stdin", "wait", "wait_agent"})
_ESCALATED = "(asks to run outside the sandbox)"


def make_call(agent: Conversation, payload: dict[str, Any]) -> Call:
    """The call that a response item makes."""
    name = word(payload.get("name")) or {"local_shell_call": "shell"}.get(str(payload.get("type"))) or "tool"
    given = payload.get("arguments", payload.get("input", payload.get("action")))
    value = parsed(given)
    arguments = obj(value)
    waits = name == "wait_agent" or (name == "wait" and bool(targets(arguments)))
    phase = Phase.CHILD if waits else Phase.ANSWER if name in ASKS else Phase.TOOL
    doing = _targets(arguments) if waits else doing_of(given, value)
    if arguments.get("sandbox_permissions") == "require_escalated" or arguments.get("with_escalated_permissions"):
        doing = f"{doing or name} {_ESCALATED}"
    id = word(payload.get("call_id")) or word(payload.get("id"))
    timeout = number(arguments.get("timeout_ms")) or number(arguments.get("yield_time_ms"))
    return agent.call(id, name, arguments, doing=doing, phase=phase, given=given, timeout=timeout)


def doing_of(given: object, value: object) -> str | None:
    """What a tool is called for, by its input as it stands in the log and as it is meant."""
    if isinstance(given, str) and (patched := _PATCHED.findall(given)):
        return ", ".join(patched[:3])
    if isinstance(value, dict) or not isinstance(given, str):
        return gist(obj(value), _TELLING)
    return title(given)


def _targets(arguments: dict[str, Any]) -> str | None:
    count = len(targets(arguments))
    return f"waits for {count} agents" if count > 1 else "waits for an agent"


def targets(arguments: dict[str, Any]) -> list[str]:
    """Whom a call names: by id, by path or by name."""
    named = items(arguments.get("targets")) or items(arguments.get("ids"))
    single = [arguments.get("target"), arguments.get("id"), arguments.get("agent_id")]
    return [name for name in named or single if isinstance(name, str) and name]
