"""Grok Build, the coding agent of xAI."""

from pathlib import Path

from delegtop.base.product import UUID, Basis, Home, Product


def _of_project(folder: Path) -> tuple[str, ...]:
    from urllib.parse import quote  # asked for only where sessions of one folder are looked for

    name = quote(str(folder), safe="")
    return name, f"{name}%2F*"


PRODUCT = Product(
    name="grok",
    title="Grok Build",
    basis=Basis.MADE,
    homes=(Home("~/.grok", "sessions", "GROK_HOME", _of_project),),
    resume=("grok", "--resume"),
    resume_headless=("grok", "--resume"),
    prompt_option=("-p",),
    interrupt_key="Ctrl-C",
    headless=("-p", "--single", "--prompt-file", "--prompt-json", "agent"),
    tried="1.0.41",
    session_id=UUID,
    executables=("grok",),
    scripts=("@xai-official/grok",),
    words=("grok",),
)
