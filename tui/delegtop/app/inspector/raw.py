"""Raw: the very lines that speak of it, by file and line, newest first."""

import re

from textual.content import Content

from delegtop.app.inspector.activity import History
from delegtop.app.inspector.words import MUTED, one_line
from delegtop.app.widgets.sheet import Block
from delegtop.text import safe

_SHOWN = 4_000
_KEYS = re.compile(r'"[^"\\]{1,60}"(?=\s{0,3}:)')


def page(history: History | None) -> list[Block]:
    if history is None:
        return [Content.styled("Reading the log …", MUTED)]
    if not history:
        return [Content.styled("Its lines cannot be read any more.", MUTED)]
    blocks: list[Block] = []
    for line, _ in reversed(history):
        blocks += [one_line(str(line.origin), "bold $accent"), _bytes(line.data), Content()]
    return blocks


def _bytes(data: bytes) -> Content:
    shown = safe(data[:_SHOWN].decode("utf-8", "replace"))
    content = Content(shown).highlight_regex(_KEYS, style="$secondary")
    if len(data) <= _SHOWN:
        return content
    return content + Content.styled(f" … {len(data) - _SHOWN:,} more bytes", MUTED)
