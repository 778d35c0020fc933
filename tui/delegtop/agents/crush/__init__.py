"""Crush."""

from delegtop.base.product import UUID, Basis, Home, Product

PRODUCT = Product(
    name="crush",
    title="Crush",
    basis=Basis.DOCUMENTED,
    homes=(Home(".crush"),),
    resume=("crush", "--session"),
    needs_folder=True,
    headless=("run",),
    session_id=UUID,
    executables=("crush",),
    words=("crush",),
)
