"""OpenCode."""

from delegtop.base.product import Basis, Home, Permissions, Product

_EDITS = frozenset({"edit", "write", "patch", "apply_patch", "multiedit"})

PRODUCT = Product(
    name="opencode",
    title="OpenCode",
    basis=Basis.MADE,
    homes=(Home("~/.local/share", "opencode", "XDG_DATA_HOME"),),
    resume=("opencode", "-s"),
    resume_headless=("opencode", "run", "--session"),
    interrupt_key="Esc twice",
    take_up_child='task(task_id="{id}")',
    abort_path="/session/{id}/abort",
    attach_server=("opencode", "attach", "{url}", "--session", "{id}"),
    hears_tool_end=False,
    headless=("run",),
    tried="1.18.34",
    session_id=r"ses_[0-9A-Za-z]+",
    executables=("opencode",),
    scripts=("opencode-linux-",),
    holds=("opencode*.db",),
    words=("opencode",),
    permissions=Permissions(quick=_EDITS | {"read", "glob", "grep", "list"}, edits=_EDITS, runs=frozenset({"bash"})),
)
