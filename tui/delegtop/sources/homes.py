"""Where the agents of this machine keep their logs."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple


class Home(NamedTuple):
    """One place where one program keeps logs, whether it is there or not."""

    product: str
    path: Path
    """A folder, or files: the last part may be a pattern."""


def homes(environ: Mapping[str, str], home: Path, project: Path) -> Iterator[Home]:
    """The places of all known programs: those in the project first, then the user's own."""
    yield Home("proofchecker", project / "specs")
    yield Home("cleo", project / ".cleo")
    yield Home("cleo", project / "claudedocs" / "agent-outputs")
    yield Home("hyper", project / ".prose" / "runs")
    yield Home("crush", project / ".crush")
    claude = _folder(environ, "CLAUDE_CONFIG_DIR", home / ".claude")
    yield Home("claude-code", claude / "projects")
    yield Home("claude-code", claude / "sessions")
    yield Home("opencode", _folder(environ, "XDG_DATA_HOME", home / ".local" / "share") / "opencode")
    codex = _folder(environ, "CODEX_HOME", home / ".codex")
    yield Home("codex", codex / "sessions")
    yield Home("codex", codex / "archived_sessions")
    yield Home("codex", codex / "state_*.sqlite")
    yield Home("hyper", home / ".hyper" / "sessions")
    yield Home("copilot", home / ".copilot" / "session-state")
    yield Home("gemini", home / ".gemini" / "tmp")
    yield Home("qwen", home / ".qwen" / "projects")
    yield Home("kimi", home / ".kimi" / "sessions")
    yield Home("cursor", home / ".cursor" / "projects")
    yield Home("droid", home / ".factory" / "sessions")
    yield Home("goose", _folder(environ, "XDG_DATA_HOME", home / ".local" / "share") / "goose" / "sessions")


def claude_slug(folder: Path) -> str:
    """The name under which Claude Code files the sessions of a folder."""
    return "".join(c if c.isascii() and c.isalnum() else "-" for c in str(folder))


def _folder(environ: Mapping[str, str], variable: str, default: Path) -> Path:
    return Path(environ[variable]) if environ.get(variable) else default
