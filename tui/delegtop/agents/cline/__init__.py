"""Cline, its command line."""

from delegtop.base.product import Basis, Home, Product

PRODUCT = Product(
    name="cline",
    title="Cline CLI",
    basis=Basis.MADE,
    homes=(
        Home("~/.cline/data", "db/sessions.db", "CLINE_DATA_DIR"),
        Home("~/.cline/data", "sessions", "CLINE_DATA_DIR"),
    ),
    resume=("cline", "--id"),
    interrupt_key="Esc",
    tried="3.0.65",
    session_id=r"\d{10,}_\w+",
    executables=("cline",),
    scripts=("node_modules/cline/",),
    helpers=("--cline-hub-daemon",),
    words=("cline",),
)
