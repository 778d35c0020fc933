"""Where a status line is shown, and what that makes of text: what is foreign in it must mean nothing there."""

from collections.abc import Callable
from typing import NamedTuple

RED, YELLOW = "red", "yellow"
_ANSI = {RED: "31", YELLOW: "33"}
_INK = {RED: "white", YELLOW: "black"}


class ShownIn(NamedTuple):
    """A program or a shell that shows the line."""

    escaped: Callable[[str], str]
    """Text, as it must be written to be shown as it is."""
    painted: Callable[[str, str], str]
    """What is written so that text, escaped already, has a colour."""
    what: str


def _as_it_is(text: str) -> str:
    return text


def _unpainted(text: str, _colour: str) -> str:
    return text


def _for_tmux(text: str) -> str:
    """tmux takes what a command prints for a format: `#[…]`, `#{…}` and `#S` mean something in it."""
    return text.replace("#", "##")


def _tmux_paint(text: str, colour: str) -> str:
    """On a ground of that colour: the bar itself may have any, and is green unless somebody says otherwise."""
    return f"#[bg={colour},fg={_INK[colour]}]{text}#[default]"


def _ansi_paint(text: str, colour: str) -> str:
    return f"\x1b[{_ANSI[colour]}m{text}\x1b[0m"


def _bash_paint(text: str, colour: str) -> str:
    """Between the two marks readline counts no width."""
    return f"\x01\x1b[{_ANSI[colour]}m\x02{text}\x01\x1b[0m\x02"


def _for_zsh(text: str) -> str:
    """zsh looks for `%` in what a command in the prompt prints."""
    return text.replace("%", "%%")


def _zsh_paint(text: str, colour: str) -> str:
    return f"%F{{{colour}}}{text}%f"


def for_pango(text: str) -> str:
    """Bars of desktops show markup."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _pango_paint(text: str, colour: str) -> str:
    return f'<span foreground="{colour}">{text}</span>'


PLAIN = "plain"
WAYBAR = "waybar"
PLACES = {
    PLAIN: ShownIn(_as_it_is, _unpainted, "anywhere, without colour"),
    "ansi": ShownIn(_as_it_is, _ansi_paint, "a terminal, Claude Code"),
    "tmux": ShownIn(_for_tmux, _tmux_paint, "tmux"),
    "bash": ShownIn(_as_it_is, _bash_paint, "the prompt of bash"),
    "zsh": ShownIn(_for_zsh, _zsh_paint, "the prompt of zsh"),
    "pango": ShownIn(for_pango, _pango_paint, "i3blocks, and others that show Pango markup"),
    WAYBAR: ShownIn(for_pango, _pango_paint, "Waybar, as JSON with a tooltip and a class"),
}


def shown_in(place: str, *, colour: bool) -> ShownIn:
    found = PLACES[place]
    return found if colour else found._replace(painted=_unpainted)
