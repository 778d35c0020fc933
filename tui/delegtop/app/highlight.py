"""Where in a line the words stand that were searched for."""

import re

from delegtop.report.layout import CellSpan

FOUND = "^"
"""Before a part: it is what was searched for."""


def highlighted(spans: list[CellSpan], text: str) -> list[CellSpan]:
    """The same with every place of the words marked."""
    if not text:
        return spans
    pattern = re.compile(f"({re.escape(text)})", re.IGNORECASE)
    found: list[CellSpan] = []
    for span in spans:
        pieces = pattern.split(span.text)
        found += [
            CellSpan(piece, FOUND + span.part if number % 2 else span.part)
            for number, piece in enumerate(pieces)
            if piece
        ]
    return found
