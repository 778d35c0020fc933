"""Codex CLI."""

from delegtop.base.product import UUID, Basis, Home, Permissions, Product

PRODUCT = Product(
    name="codex",
    title="Codex CLI",
    basis=Basis.REAL,
    homes=(
        Home("~/.codex", "sessions", "CODEX_HOME"),
        Home("~/.codex", "archived_sessions", "CODEX_HOME"),
        Home("~/.codex", "state_*.sqlite", "CODEX_HOME"),
    ),
    resume=("codex", "resume"),
    resume_headless=("codex", "exec", "resume"),
    interrupt_key="Esc",
    hears_tool_end=True,
    # Its terminals share a server: there, to resume a session that is at work is to join it.
    attach_server=("codex", "resume", "{id}"),
    control_socket="app-server-control/app-server-control.sock",
    headless=("exec", "e", "review"),
    tried="0.169.0",
    session_refs=("thread_id", "session_id"),
    session_id=UUID,
    executables=("codex",),
    scripts=("@openai/codex",),
    holds=("state_*.sqlite",),
    open_log=True,
    words=("codex",),
    permissions=Permissions(
        quick=frozenset({"apply_patch"}),
        edits=frozenset({"apply_patch"}),
        runs=frozenset({"exec_command", "shell", "local_shell"}),
        free=frozenset({"never"}),
    ),
)
