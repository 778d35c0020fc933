"""Factory Droid."""

from delegtop.base.product import UUID, Basis, Home, Product

PRODUCT = Product(
    name="droid",
    title="Factory Droid",
    basis=Basis.FIXTURES,
    homes=(Home("~/.factory", "sessions"),),
    resume=("droid", "--resume"),
    interrupt_key="Esc",
    headless=("exec",),
    session_id=UUID,
    executables=("droid",),
    words=("droid",),
)
