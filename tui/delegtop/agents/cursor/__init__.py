"""Cursor CLI."""

from delegtop.base.product import UUID, Basis, Home, Product

PRODUCT = Product(
    name="cursor",
    title="Cursor CLI",
    basis=Basis.FIXTURES,
    homes=(Home("~/.cursor", "projects"),),
    resume=("cursor-agent", "--resume"),
    resume_headless=("cursor-agent", "-p", "--resume"),
    interrupt_key="Esc",
    headless=("-p", "--print"),
    session_id=UUID,
    executables=("cursor-agent",),
    words=("cursor",),
)
