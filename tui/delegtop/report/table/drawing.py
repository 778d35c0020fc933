"""The characters that tables of delegations are drawn with, on a screen and in print."""

from collections.abc import Mapping

import msgspec
from msgspec.structs import replace

from delegtop.diagnosis.finding import Severity
from delegtop.model.states import State


class Drawing(msgspec.Struct, frozen=True):
    """The characters the tree-table is drawn with, each exactly one cell wide unless it says so."""

    plain: bool
    """Whether the states show as ASCII."""
    opened: str
    folded: str
    branch: str
    corner: str
    trunk: str
    sure: str
    """The arm of a link that the log itself declares."""
    inferred: str
    ambiguous: str
    orphan: str
    """Its declared parent was never seen."""
    full: str
    half: str
    empty: str
    over: str
    cut: str
    none: str
    """Unknown, or there is none."""
    differs: str
    """May be two cells wide."""
    and_: str
    up: str
    down: str
    thumb: str
    track: str
    problem: str
    findings: Mapping[Severity, str]
    review: str
    """A person must look."""
    blocker: str
    """Others wait for this one; how many follows."""
    seen: str
    """Somebody has seen to what is the matter with it."""

    spoken: bool = False
    """Whether it is read by ear: nothing is drawn, and what lines would say is said in words."""

    def state(self, state: State) -> str:
        if self.spoken:
            return ""
        return state.ascii if self.plain else state.glyph


UNICODE = Drawing(
    plain=False,
    opened="▾",
    folded="▸",
    branch="├",
    corner="└",
    trunk="│",
    sure="─",
    inferred="╌",
    ambiguous="?",
    orphan="⇡",
    full="━",
    half="╸",
    empty="─",
    over="·",
    cut="…",
    none="–",
    differs="≠",
    and_="·",
    up="▲",
    down="▼",
    thumb="┃",
    track="│",
    problem="╺",
    findings={Severity.ERROR: "▲", Severity.WARNING: "△", Severity.INFO: "◦"},
    review="⚑",
    blocker="◀",
    seen="✔",
)
ASCII = Drawing(
    plain=True,
    opened="v",
    folded=">",
    branch="|",
    corner="`",
    trunk="|",
    sure="-",
    inferred=".",
    ambiguous="?",
    orphan="^",
    full="#",
    half="=",
    empty=".",
    over="!",
    cut="~",
    none="-",
    differs="!=",
    and_=";",
    up="^",
    down="v",
    thumb="#",
    track="|",
    problem="!",
    findings={Severity.ERROR: "E", Severity.WARNING: "W", Severity.INFO: "i"},
    review="R",
    blocker="<",
    seen="+",
)

SPOKEN = replace(
    ASCII, spoken=True, **dict.fromkeys(("branch", "corner", "trunk", "sure", "inferred", "ambiguous"), " ")
)
"""Indentation only, for ears and for tools that choke on drawing."""


def drawing(*, ascii: bool = False) -> Drawing:
    return ASCII if ascii else UNICODE


def characters(drawing: Drawing) -> str:
    """Everything it may draw, to ask a terminal whether it can show that."""
    own = (value for value in msgspec.structs.astuple(drawing) if isinstance(value, str))
    return "".join((*own, *drawing.findings.values(), *map(drawing.state, State)))
