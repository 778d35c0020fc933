"""Delegation paths: the names from the orchestrator down to an agent."""

from collections import Counter
from typing import Any

ORCHESTRATOR = "orchestrator"
"""The name every path begins with."""
PATH_SCHEMA: dict[str, Any] = {
    "minItems": 1,
    "uniqueItems": True,
    "items": {"type": "string", "minLength": 1},
}
"""For JSON Schema, where what reads logs takes any path and rules tell the rest."""


def own_path(path: tuple[str, ...] | None, agent: str | None) -> tuple[str, ...] | None:
    """The path down to and including the agent: some callers leave the agent itself out."""
    if path and agent and agent.strip() and path[-1] != agent:
        return (*path, agent)
    return path or None


def repeated(path: tuple[str, ...]) -> list[str]:
    """The names that stand in the path more than once: whoever is handed work by them waits for itself."""
    return [name for name, count in Counter(path).items() if count > 1 and name.strip()]
