"""GitHub Copilot CLI."""

from delegtop.base.product import UUID, Basis, Home, Product

PRODUCT = Product(
    name="copilot",
    title="GitHub Copilot CLI",
    basis=Basis.REAL,
    homes=(Home("~/.copilot", "session-state"),),
    resume=("copilot", "--resume"),
    resume_headless=("copilot", "--resume"),
    prompt_option=("-p",),
    interrupt_key="Esc",
    headless=("-p", "--prompt"),
    tried="1.0.102",
    session_id=UUID,
    executables=("copilot",),
    scripts=("@github/copilot",),
    lock=r"inuse\.(?P<pid>\d+)\.lock",
    words=("copilot",),
)
