"""Goose."""

from delegtop.base.product import Basis, Home, Product

PRODUCT = Product(
    name="goose",
    title="Goose",
    basis=Basis.DOCUMENTED,
    homes=(Home("~/.local/share", "goose/sessions", "XDG_DATA_HOME"),),
    resume=("goose", "session", "--resume", "--session-id"),
    interrupt_key="Esc",
    headless=("run",),
    session_id=r"\d{8}_\d+",
    executables=("goose",),
    words=("goose",),
)
