"""`--ascii`: the last gate before the terminal turns every other character into a plain one of the same width.

Widgets draw as they always do; lines, boxes and foreign letters alike pass here, so none can be forgotten.
"""

from functools import lru_cache

from rich.cells import cell_len
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

_SAME = {
    **dict.fromkeys("─━╌╸╺▔▁▂▃═–—", "-"),
    **dict.fromkeys("│┃║▊▎▌▐›▏▕", "|"),
    **dict.fromkeys("┌┐└┘├┤┬┴┼╭╮╰╯╔╗╚╝", "+"),
    **dict.fromkeys("█▉▇▆▅▄▃▀", "#"),
    **dict.fromkeys("░▒▓", "."),
    "·": "-", "…": "~", "↑": "^", "↓": "v", "←": "<", "→": ">", "≠": "!", "●": "*", "⚠": "!",
}  # fmt: skip


class Plain(LineFilter):
    """Nothing but printable ASCII leaves it."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002 -- Textual passes it
        return [Segment(plain(text), style, control) for text, style, control in segments]


@lru_cache(4096)
def plain(text: str) -> str:
    """The text in ASCII, as wide as it was."""
    if text.isascii():
        return text
    return "".join(char if char.isascii() else _SAME.get(char) or "?" * cell_len(char) for char in text)
