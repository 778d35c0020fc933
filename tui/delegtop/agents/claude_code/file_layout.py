"""What the path of a file says: whose session it belongs to, and which agent wrote it."""

import re
from enum import Enum
from functools import lru_cache
from sys import intern

import msgspec

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_AGENT = re.compile(r"agent-(.+?)(\.meta\.json|\.jsonl)")
_SEPARATORS = re.compile(r"[/\\]+")


class FileKind(Enum):
    """What a file is."""

    TRUNK = "trunk"
    """The transcript of a session."""
    AGENT = "agent"
    """The transcript of an agent that the session, or another agent of it, started."""
    META = "meta"
    JOURNAL = "journal"
    SNAPSHOT = "snapshot"


DOCUMENTS = (FileKind.META, FileKind.SNAPSHOT)
"""What is read whole."""


class FilePlace(msgspec.Struct, frozen=True):
    """Where a file stands in the tree of a project."""

    kind: FileKind
    session: str | None
    """The session it belongs to, as far as the path says so."""
    agent: str | None = None
    run: str | None = None
    """The run of a workflow."""


@lru_cache(maxsize=256)  # a file is asked for again and again while it is opened, and not any more after that
def place(path: str) -> FilePlace:
    """What the file is, by its path."""
    parts = _parts(path)
    name = parts[-1]
    session = run = None
    if "subagents" in parts:
        below = len(parts) - 1 - parts[::-1].index("subagents")
        session = intern(parts[below - 1]) if below else None  # one text for all files of a session
        if parts[below + 1 : below + 2] == ["workflows"] and len(parts) > below + 3:
            run = parts[below + 2]
    agent = _AGENT.fullmatch(name)
    if agent:
        return FilePlace(FileKind.META if agent[2] == ".meta.json" else FileKind.AGENT, session, agent[1], run)
    if run and name == "journal.jsonl":
        return FilePlace(FileKind.JOURNAL, session, None, run)
    if name.endswith(".json"):
        known = len(parts) > 2 and parts[-2] == "workflows"
        return FilePlace(FileKind.SNAPSHOT, parts[-3] if known else None, None, name.removesuffix(".json"))
    stem = name.removesuffix(".jsonl")
    return FilePlace(FileKind.TRUNK, intern(stem) if _UUID.fullmatch(stem) else None)


def stem(path: str) -> str:
    return _parts(path)[-1].removesuffix(".jsonl")


@lru_cache(maxsize=256)  # as above
def family(path: str) -> str:
    """The folder of the project: whatever lies in it may tell of the same sessions."""
    parts = _parts(path)
    for above in range(len(parts) - 2, 0, -1):
        if parts[above - 1] == "projects":
            return "/".join(parts[: above + 1])
    if "subagents" in parts[2:]:
        return "/".join(parts[: parts.index("subagents") - 1])
    if len(parts) > 3 and parts[-2] == "workflows":
        return "/".join(parts[:-3])
    return "/".join(parts[:-1])


def _parts(path: str) -> list[str]:
    """The names that a path is made of. Thousands of files are looked at: a PurePath costs ten times as much."""
    return path.split("/") if "\\" not in path and "//" not in path else _SEPARATORS.split(path)
