"""Kilo, the command line of Kilo Code."""

from delegtop.base.product import Basis, Home, Product

PRODUCT = Product(
    name="kilo",
    title="Kilo",
    basis=Basis.MADE,
    homes=(Home("~/.local/share", "kilo", "XDG_DATA_HOME"),),
    resume=("kilo", "--session"),
    resume_headless=("kilo", "run", "--session"),
    interrupt_key="Esc twice",
    take_up_child='task(task_id="{id}")',
    abort_path="/session/{id}/abort",
    headless=("run",),
    session_id=r"ses_[0-9A-Za-z]+",
    executables=("kilo", "kilocode"),
    scripts=("@kilocode/cli",),
    holds=("kilo*.db",),
    words=("kilo",),
)
