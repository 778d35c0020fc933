"""Factory Droid."""

from delegtop.base.product import UUID, Basis, Home, Product

PRODUCT = Product(
    name="droid",
    title="Factory Droid",
    basis=Basis.FIXTURES,
    homes=(Home("~/.factory", "sessions"),),
    resume=("droid", "--resume"),
    resume_headless=("droid", "exec", "--session-id"),
    interrupt_key="Esc",
    headless=("exec",),
    tried="0.215.0",
    session_id=UUID,
    executables=("droid",),
    words=("droid",),
)
