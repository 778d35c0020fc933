"""Kimi Code and the older Kimi CLI."""

from delegtop.base.product import UUID, Basis, Home, Product

PRODUCT = Product(
    name="kimi",
    title="Kimi Code",
    basis=Basis.FIXTURES,
    homes=(Home("~/.kimi", "sessions"),),
    resume=("kimi", "--session"),
    tried="2.1.0",
    session_id=rf"(?:session_)?{UUID}",
    executables=("kimi",),
    scripts=("@moonshot-ai/kimi-code",),
    words=("kimi",),
)
