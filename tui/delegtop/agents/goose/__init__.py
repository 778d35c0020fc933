"""Goose."""

from delegtop.base.product import Basis, Home, Product

PRODUCT = Product(
    name="goose",
    title="Goose",
    basis=Basis.DOCUMENTED,
    homes=(Home("~/.local/share", "goose/sessions", "XDG_DATA_HOME"),),
    resume=("goose", "session", "--resume", "--session-id"),
    resume_headless=("goose", "run", "--resume", "--session-id"),
    prompt_option=("--text",),
    interrupt_key="Ctrl-C",
    headless=("run",),
    tried="1.52.0",
    session_id=r"\d{8}_\d+",
    executables=("goose",),
    words=("goose",),
)
