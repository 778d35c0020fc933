"""Pieces of text with the part they play, and how many cells they take."""

from typing import NamedTuple

from rich.cells import cell_len, set_cell_size


class Span(NamedTuple):
    """A piece of text and the part it plays."""

    text: str
    part: str


def size(text: str) -> int:
    """How many cells it takes."""
    return len(text) if text.isascii() else cell_len(text)


def cut(text: str, width: int, mark: str) -> str:
    """Not wider than that; what is missing shows as a mark."""
    if size(text) <= width:
        return text
    return (set_cell_size(text, width - 1).rstrip() + mark) if width > 0 else ""


def fit(text: str, width: int, mark: str, *, right: bool = False) -> str:
    """Exactly that wide."""
    pad = width - size(text)
    if pad < 0:
        text = cut(text, width, mark)
        pad = width - size(text)
    return " " * pad + text if right else text + " " * pad


def filled(spans: list[Span], width: int) -> list[Span]:
    """The spans that say anything, cut or filled up to that width."""
    found: list[Span] = []
    for span in spans:
        cells = size(span.text)
        if cells > width:
            found.append(Span(set_cell_size(span.text, width), span.part))
            return found
        if cells:
            found.append(span)
        width -= cells
    if width or not found:
        found.append(Span(" " * width, "text"))
    return found


def short_number(number: int | None) -> str:
    """`812`, `12.3k`, `1.2M`."""
    if number is None:
        return ""
    for one, unit in ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")):
        if number >= one:
            scaled = number / one
            return f"{scaled:.0f}{unit}" if scaled >= 100 else f"{scaled:.1f}{unit}"
    return str(number)
