"""Text in terminal cells: wide characters take two, combining ones none."""

from functools import lru_cache
from typing import Protocol
from unicodedata import combining, east_asian_width

import msgspec

from delegtop.base.lazy_pattern import lazy_pattern

_ODD = lazy_pattern("[^\x00-\u02ff\u2010-\u2027\u2190-\u2319\u2460-\u25fc]")
"""What may take another room than one column: not the signs that a tree is drawn with."""


class CellSpan(msgspec.Struct, frozen=True, gc=False):
    """A piece of text and the part it plays."""

    text: str
    part: str


class Ruler(Protocol):
    """How text is measured. A screen may know more about its characters than print does."""

    def cells(self, text: str) -> int: ...
    def cut(self, text: str, width: int, mark: str) -> str: ...
    def fit(self, text: str, width: int, mark: str, right: bool = False) -> str: ...
    def filled(self, spans: list[CellSpan], width: int) -> list[CellSpan]: ...


def cells(text: str) -> int:
    """How many columns the text takes."""
    return len(text) if text.isascii() else _cells(text)


@lru_cache(4_096)  # states, branches and titles come again and again
def _cells(text: str) -> int:
    return sum(map(_cell, text)) if _ODD.search(text) else len(text)


def cut(text: str, width: int, mark: str = "…") -> str:
    """The text, shortened to `width` columns if it is longer, with a mark that says so."""
    if len(text) <= width and cells(text) <= width:
        return text
    room = width - len(mark)
    if text.isascii() or not _ODD.search(text):
        return (text[: max(room, 0)] + mark)[:width] if width > 0 else ""
    end = 0
    while end < len(text) and room >= (size := _cell(text[end])):
        room -= size
        end += 1
    return (text[:end] + mark)[:width] if width > 0 else ""


def fit(text: str, width: int, mark: str = "…", right: bool = False) -> str:
    """The text in exactly `width` columns."""
    size = len(text) if text.isascii() else _cells(text)
    if size > width or len(text) > width:
        text = cut(text, width, mark)
        size = cells(text)
    space = " " * (width - size)
    return space + text if right else text + space


def filled(spans: list[CellSpan], width: int) -> list[CellSpan]:
    """The spans that say anything, cut or filled up to that width."""
    found: list[CellSpan] = []
    for span in spans:
        text = span.text
        size = len(text) if text.isascii() else _cells(text)
        if size > width:
            found.append(CellSpan(fit(text, width, ""), span.part))
            return found
        if size:
            found.append(span)
        width -= size
    if width or not found:
        found.append(CellSpan(" " * width, "text"))
    return found


def _cell(character: str) -> int:
    if character.isascii():
        return 1
    if combining(character):
        return 0
    return 2 if east_asian_width(character) in "WF" else 1
