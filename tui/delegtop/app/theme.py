"""How things look: a colour, a glyph and a word for every state, in three themes and in plain ASCII.

No meaning rests on colour alone. Colours are theme variables, so a theme of one's own changes everything at once.
"""

from textual.content import Content
from textual.theme import Theme

from delegtop.model.states import State

_DARK = {
    "state-running": "#5cb8ff",
    "state-waiting": "#8ea6c4",
    "state-silent": "#b09be8",
    "state-overdue": "#ffa348",
    "state-completed": "#67cc85",
    "state-partial": "#e3cb5d",
    "state-failed": "#ff6f70",
    "state-blocked": "#f283c4",
    "state-timeout": "#ff8a5c",
    "state-interrupted": "#cfa577",
    "state-lost": "#cf8bf0",
    "state-unknown": "#808b99",
    "state-idle": "#7fa8a8",
    "stuck": "#ffa348",
    "bar-plenty": "#46a96b",
    "bar-warn": "#e3cb5d",
    "bar-critical": "#ff6f70",
    "bar-over": "#ffa348",
    "bar-track": "#2b3542",
    "guide": "#465467",
    "guide-unsure": "#8f7fc0",
    "row-muted": "#8793a3",
    "row-cursor": "#233c57",
    "row-cursor-blurred": "#1c2836",
    "row-header": "#7f93ab",
    "track": "#222c38",
    "thumb": "#4d6078",
}
_LIGHT = {
    "state-running": "#0b66c3",
    "state-waiting": "#55687f",
    "state-silent": "#6c4fc0",
    "state-overdue": "#b65200",
    "state-completed": "#1d7a3d",
    "state-partial": "#806500",
    "state-failed": "#c3212f",
    "state-blocked": "#b02a80",
    "state-timeout": "#bd4316",
    "state-interrupted": "#85602f",
    "state-lost": "#8b35b8",
    "state-unknown": "#687380",
    "state-idle": "#3f7377",
    "stuck": "#b65200",
    "bar-plenty": "#2f9a57",
    "bar-warn": "#a98600",
    "bar-critical": "#c3212f",
    "bar-over": "#b65200",
    "bar-track": "#d8dde3",
    "guide": "#aab4c0",
    "guide-unsure": "#6c4fc0",
    "row-muted": "#66727f",
    "row-cursor": "#cfe3f8",
    "row-cursor-blurred": "#e4e9ef",
    "row-header": "#51657b",
    "track": "#e3e7ec",
    "thumb": "#a3b1c0",
}
# After the palette of Okabe and Ito: blue, orange, vermilion and purple stay apart for every kind of colour vision.
_SAFE = {
    "state-running": "#56b4e9",
    "state-waiting": "#93a5b8",
    "state-silent": "#c8c8d8",
    "state-overdue": "#ffb000",
    "state-completed": "#3f9fd8",
    "state-partial": "#f0e442",
    "state-failed": "#ff7a33",
    "state-blocked": "#e08fbe",
    "state-timeout": "#f5935c",
    "state-interrupted": "#c9b38a",
    "state-lost": "#d6a3f5",
    "state-unknown": "#8a929c",
    "state-idle": "#8fb3b3",
    "stuck": "#ffb000",
    "bar-plenty": "#3f8fd0",
    "bar-warn": "#f0e442",
    "bar-critical": "#ff7a33",
    "bar-over": "#ffb000",
    "bar-track": "#2d3440",
    "guide": "#4b5666",
    "guide-unsure": "#b08fc8",
    "row-muted": "#8b95a1",
    "row-cursor": "#2b3f5c",
    "row-cursor-blurred": "#222a36",
    "row-header": "#8b9bb0",
    "track": "#262d38",
    "thumb": "#586678",
}

DEFAULTS: dict[str, str] = _DARK
"""For `App.get_theme_variable_defaults`: what a theme without our variables shows."""

THEMES = (
    Theme(
        name="dark",
        dark=True,
        primary="#5cb8ff",
        secondary="#b09be8",
        accent="#4fd3c4",
        warning="#ffa348",
        error="#ff6f70",
        success="#67cc85",
        foreground="#d5dde7",
        background="#10161d",
        surface="#161e27",
        panel="#1d2732",
        variables=_DARK,
    ),
    Theme(
        name="light",
        dark=False,
        primary="#0b66c3",
        secondary="#6c4fc0",
        accent="#00797a",
        warning="#b65200",
        error="#c3212f",
        success="#1d7a3d",
        foreground="#1f2933",
        background="#fafbfc",
        surface="#f1f4f7",
        panel="#e6ebf0",
        variables=_LIGHT,
    ),
    Theme(
        name="safe",
        dark=True,
        primary="#56b4e9",
        secondary="#e08fbe",
        accent="#f0e442",
        warning="#ffb000",
        error="#ff7a33",
        success="#3f9fd8",
        foreground="#dde2e8",
        background="#12161c",
        surface="#191f27",
        panel="#212934",
        variables=_SAFE,
    ),
)


def style(state: State) -> str:
    """The style of a state, as Content takes it."""
    return f"bold $state-{state.colour}" if state is State.OVERDUE else f"$state-{state.colour}"


def state_content(state: State, *, ascii: bool = False) -> Content:
    """Glyph and word in the colour of the state."""
    return Content.styled(f"{state.ascii if ascii else state.glyph} {state.value}", style(state))
