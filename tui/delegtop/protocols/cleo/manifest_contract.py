"""The CLEO subagent protocol on entries of the manifest: the ten fields of its first version, and what later ones ask.

No file of a project says which version it follows: `cleoVersion` in `.cleo/project-info.json` is that of the program,
and real ones say `0.0.0` or the number of months ago. What is written tells the version.
"""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, get_args

FIELDS = (
    "id",
    "file",
    "title",
    "date",
    "status",
    "topics",
    "key_findings",
    "actionable",
    "needs_followup",
    "linked_tasks",
)
Status = Literal["complete", "partial", "blocked"]
STATUSES: tuple[Status, ...] = get_args(Status)
COMPLETE_WORDS = frozenset({"complete", "completed", "done", "final"})
KEY_FINDINGS = (3, 7)


class EntryVersion(NamedTuple):
    """What one version of the protocol asks of an entry."""

    name: str
    required: tuple[str, ...]
    statuses: tuple[str, ...]
    key_findings: tuple[int, int]
    """The least and the most."""
    own_ids: bool
    """An id may begin with its task instead of ending with the date, and the file have a name of its own."""


FIRST = EntryVersion("1.0.0", FIELDS, STATUSES, KEY_FINDINGS, own_ids=False)
RICH = EntryVersion(
    "1.1.0",
    ("id", "file", "title", "date", "status", "agent_type", "topics", "actionable"),
    (*STATUSES, "completed", "archived"),
    (1, 7),
    own_ids=True,
)
"""Since then an entry says what kind of agent wrote it, and need not say what it found or whom it is linked to."""


def version_of(value: Mapping[str, Any]) -> EntryVersion:
    """By what version an entry means to be written: only later ones know `agent_type`."""
    kind = value.get("agent_type")
    return RICH if isinstance(kind, str) and kind.strip() else FIRST
