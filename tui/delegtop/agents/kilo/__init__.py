"""Kilo, the command line of Kilo Code."""

from delegtop.base.product import Basis, Home, Product

PRODUCT = Product(
    name="kilo",
    title="Kilo",
    basis=Basis.MADE,
    homes=(Home("~/.local/share", "kilo", "XDG_DATA_HOME"),),
    resume=("kilo", "--session"),
    session_id=r"ses_[0-9A-Za-z]+",
    executables=("kilo", "kilocode"),
    scripts=("@kilocode/cli",),
    holds=("kilo*.db",),
    words=("kilo",),
)
