"""Gemini CLI."""

from delegtop.base.product import UUID, Basis, Home, Product

PRODUCT = Product(
    name="gemini",
    title="Gemini CLI",
    basis=Basis.MADE,
    homes=(Home("~/.gemini", "tmp"),),
    resume=("gemini", "--resume"),
    resume_headless=("gemini", "--resume"),
    prompt_option=("-p",),
    needs_folder=True,
    interrupt_key="Esc",
    headless=("-p", "--prompt"),
    tried="0.61.0",
    session_id=UUID,
    executables=("gemini",),
    scripts=("@google/gemini-cli",),
    words=("gemini",),
)
