"""How many cells text takes on the screen: the ruler of the dashboard, which knows what Textual knows."""

from rich.cells import cell_len, set_cell_size

from delegtop.report.layout import CellSpan

_AHEAD = 8
"""Cells beyond a cut within which the character that it goes through has ended."""


def cells(text: str) -> int:
    """How many cells it takes."""
    return len(text) if text.isascii() else cell_len(text)


def _chopped(text: str, width: int) -> str:
    """As much of what is wider as takes that many cells."""
    if text.isascii():
        return text[:width]
    # To find which characters belong together takes a while: not in all of a long text, if its beginning will do.
    begun = text[: 2 * width + _AHEAD]
    return set_cell_size(begun if cells(begun) > width + _AHEAD else text, width)


def cut(text: str, width: int, mark: str) -> str:
    """Not wider than that; what is missing shows as a mark."""
    if cells(text) <= width:
        return text
    return (_chopped(text, width - 1).rstrip() + mark) if width > 0 else ""


def fit(text: str, width: int, mark: str, right: bool = False) -> str:
    """Exactly that wide."""
    pad = width - cells(text)
    if pad < 0:
        text = cut(text, width, mark)
        pad = width - cells(text)
    return " " * pad + text if right else text + " " * pad


def filled(spans: list[CellSpan], width: int) -> list[CellSpan]:
    """The spans that say anything, cut or filled up to that width."""
    found: list[CellSpan] = []
    for span in spans:
        size = cells(span.text)
        if size > width:
            found.append(CellSpan(_chopped(span.text, width), span.part))
            return found
        if size:
            found.append(span)
        width -= size
    if width or not found:
        found.append(CellSpan(" " * width, "text"))
    return found
