"""How the parts of a row look: which colours of the theme, by the name that a cell gives its part.

Not by the stylesheet: it would find a style for each of these parts whenever anything of the widget changes, and before
the first picture, whether or not one is drawn.
"""

from collections.abc import Mapping
from typing import NamedTuple

from rich.style import Style
from textual.color import Color

from delegtop.model.states import State


class Look(NamedTuple):
    """Variables of the theme, and whether it is bold."""

    colour: str = "foreground"
    ground: str = "background"
    bold: bool = False


_BOLD = frozenset({State.OVERDUE.colour})
LOOKS: dict[str, Look] = {
    **{state.colour: Look(f"state-{state.colour}", bold=state.colour in _BOLD) for state in State},
    **{f"bar-{left}": Look(f"bar-{left}") for left in ("plenty", "warn", "critical", "over", "track")},
    "stuck": Look("stuck", bold=True),
    "header": Look("row-header", "surface", bold=True),
    "guide": Look("guide"),
    "unsure": Look("guide-unsure"),
    "mark": Look("accent"),
    "name": Look(),
    "text": Look(),
    "muted": Look("row-muted"),
    "track": Look("track"),
    "thumb": Look("thumb"),
    "thumb-held": Look("accent"),
    "problem": Look("state-failed"),
    # Of bars in time
    "now": Look("accent"),
    "grid": Look("track"),
    "axis": Look("row-header", "surface"),
    "firm": Look("error", bold=True),
    "usual": Look("row-muted"),
    "past": Look("row-muted"),
    "beyond": Look(),
}


def style(part: str, variables: Mapping[str, str]) -> Style:
    """The style of a part of a row in a theme with these variables."""
    look = LOOKS[part]
    colour, ground = (Color.parse(variables[name]).rich_color for name in (look.colour, look.ground))
    return Style(color=colour, bgcolor=ground, bold=True if look.bold else None)
