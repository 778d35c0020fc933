"""Claude Code."""

from pathlib import Path

from delegtop.base.clock import MINUTE
from delegtop.base.product import UUID, Basis, Home, Permissions, Product

_EDITS = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})


def folder_name(folder: Path) -> str:
    """The name under which it files the sessions of a folder."""
    return "".join(c if c.isascii() and c.isalnum() else "-" for c in str(folder))


def _of_project(folder: Path) -> tuple[str, ...]:
    return folder_name(folder), f"{folder_name(folder)}-*"


PRODUCT = Product(
    name="claude-code",
    title="Claude Code",
    basis=Basis.REAL,
    homes=(
        Home("~/.claude", "projects", "CLAUDE_CONFIG_DIR", _of_project),
        Home("~/.claude", "sessions", "CLAUDE_CONFIG_DIR"),
    ),
    resume=("claude", "--resume"),
    resume_headless=("claude", "-p", "--resume"),
    needs_folder=True,
    attach=("claude", "attach"),
    logs=("claude", "logs"),
    stop=("claude", "stop"),
    interrupt_key="Esc",
    stop_child_keys="↓ until it is marked, then x",
    hears_tool_end=True,
    headless=("-p", "--print"),
    tried="2.1.326",
    session_id=UUID,
    session_variable="CLAUDE_CODE_SESSION_ID",
    executables=("claude",),
    scripts=("@anthropic-ai/claude-code", "@anthropic-ai/claude-agent-sdk"),
    registry="sessions",
    registry_since=(2, 1, 119),
    words=("claude",),
    permissions=Permissions(
        quick=_EDITS | {"Read", "Glob", "Grep", "LS", "NotebookRead"},
        edits=_EDITS,
        runs=frozenset({"Bash"}),
        free=frozenset({"bypassPermissions", "auto", "dontAsk"}),
        free_edits=frozenset({"acceptEdits"}),
        longest=10 * MINUTE,
    ),
)
