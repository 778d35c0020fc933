"""How the parts of a row look: which colours of the theme, by the name that a cell gives its part.

Not by the stylesheet: it would find a style for each of these parts whenever anything of the widget changes, and before
the first picture, whether or not one is drawn.
"""

from collections.abc import Mapping
from typing import NamedTuple

from rich.style import Style
from textual.color import Color

from delegtop.model.states import State


class PartLook(NamedTuple):
    """Variables of the theme, and whether it is bold."""

    colour: str = "foreground"
    ground: str = "background"
    bold: bool = False


_BOLD = frozenset({State.OVERDUE.colour})
LOOKS: dict[str, PartLook] = {
    **{state.colour: PartLook(f"state-{state.colour}", bold=state.colour in _BOLD) for state in State},
    **{f"bar-{left}": PartLook(f"bar-{left}") for left in ("plenty", "warn", "critical", "over", "track")},
    "stuck": PartLook("stuck", bold=True),
    "header": PartLook("row-header", "surface", bold=True),
    "guide": PartLook("guide"),
    "unsure": PartLook("guide-unsure"),
    "mark": PartLook("accent"),
    "name": PartLook(),
    "text": PartLook(),
    "muted": PartLook("row-muted"),
    "track": PartLook("track"),
    "thumb": PartLook("thumb"),
    "thumb-held": PartLook("accent"),
    "problem": PartLook("state-failed"),
    # Of bars in time
    "now": PartLook("accent"),
    "grid": PartLook("track"),
    "axis": PartLook("row-header", "surface"),
    "firm": PartLook("error", bold=True),
    "usual": PartLook("row-muted"),
    "past": PartLook("row-muted"),
    "beyond": PartLook(),
}


def style(part: str, variables: Mapping[str, str]) -> Style:
    """The style of a part of a row in a theme with these variables."""
    look = LOOKS[part]
    colour, ground = (Color.parse(variables[name]).rich_color for name in (look.colour, look.ground))
    return Style(color=colour, bgcolor=ground, bold=True if look.bold else None)
