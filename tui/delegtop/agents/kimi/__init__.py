"""Kimi Code, and Kimi CLI, which it succeeds."""

from delegtop.base.product import UUID, Basis, Home, Product

PRODUCT = Product(
    name="kimi",
    title="Kimi Code",
    basis=Basis.MADE,
    homes=(Home("~/.kimi-code", "sessions", "KIMI_CODE_HOME"), Home("~/.kimi", "sessions")),
    resume=("kimi", "--session"),
    resume_headless=("kimi", "--session"),
    prompt_option=("-p",),
    interrupt_key="Esc",
    headless=("-p", "--prompt", "--print"),
    tried="2.1.0",
    session_id=rf"(?:session_)?{UUID}",
    executables=("kimi", "kimi-code"),
    scripts=("@moonshot-ai/kimi-code",),
    words=("kimi",),
)
