"""From a line of text with styles to the cells of a screen, without the long way Textual goes.

That way marks every cell with its place in the text, so that the mouse can select it, and takes ten times as long. Here
are lines of buttons, and pages that are copied in other ways.
"""

from rich.segment import Segment
from textual.content import Content
from textual.strip import Strip
from textual.style import Style


def painted(line: Content, base: Style, width: int) -> Strip:
    """The line on its ground, exactly that wide."""
    segments = [Segment(text, (base + style).rich_style) for text, style in line.render(base, "", parse_style=_style)]
    return Strip(segments).adjust_cell_length(width, base.rich_style)


def _style(style: str | Style) -> Style:
    return style if isinstance(style, Style) else Style.parse(style)
