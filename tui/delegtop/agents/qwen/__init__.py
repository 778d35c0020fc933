"""Qwen Code."""

from delegtop.base.product import UUID, Basis, Home, Product

PRODUCT = Product(
    name="qwen",
    title="Qwen Code",
    basis=Basis.MADE,
    homes=(Home("~/.qwen", "projects"),),
    resume=("qwen", "--resume"),
    resume_headless=("qwen", "--resume"),
    needs_folder=True,
    interrupt_key="Esc",
    headless=("-p", "--prompt"),
    tried="0.24.4",
    session_id=UUID,
    executables=("qwen",),
    scripts=("@qwen-code/qwen-code",),
    words=("qwen",),
)
