"""Raw: the very lines that speak of it, by file and line, newest first."""

import re
from collections.abc import Callable

from textual.content import Content

from delegtop.app.pages.inspector.activity import History
from delegtop.app.pages.inspector.page_words import MUTED, one_line
from delegtop.app.widgets.sheet import Block
from delegtop.base.text import safe

_SHOWN = 4_000
_KEYS = re.compile(r'"[^"\\]{1,60}"(?=\s{0,3}:)')


def page(history: History | None, hide: Callable[[str], str]) -> list[Block]:
    if history is None:
        return [Content.styled("Reading the log …", MUTED)]
    if not history:
        return [Content.styled("Its lines cannot be read any more.", MUTED)]
    blocks: list[Block] = []
    for line, _ in reversed(history):
        blocks += [one_line(str(line.origin), "bold $accent"), shown(line.data, hide), Content()]
    return blocks


def shown(data: bytes, hide: Callable[[str], str], limit: int = _SHOWN) -> Content:
    """The beginning of a line, its keys in colour. Secrets are looked for beyond the cut: half a key is one too."""
    if not data:
        return Content.styled("The recording does not hold the line itself.", MUTED)
    text = hide(data[: 2 * limit].decode("utf-8", "replace"))
    content = Content(safe(text if len(data) <= limit else text[:limit])).highlight_regex(_KEYS, style="$secondary")
    if len(data) <= limit:
        return content
    return content + Content.styled(f" … {len(data) - limit:,} more bytes", MUTED)
