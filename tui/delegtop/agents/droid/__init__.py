"""Factory Droid."""

from delegtop.base.product import UUID, Basis, Home, Product

PRODUCT = Product(
    name="droid",
    title="Factory Droid",
    basis=Basis.FIXTURES,
    homes=(Home("~/.factory", "sessions"),),
    resume=("droid", "--resume"),
    session_id=UUID,
    executables=("droid",),
    words=("droid",),
)
