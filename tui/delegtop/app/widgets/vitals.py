"""The first line: is it live, what is it reading, how do all delegations stand, how much is happening."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from textual.content import Content
from textual.events import Resize

from delegtop.app import theme
from delegtop.app.widgets.chips import Chip, Chips
from delegtop.model.delegation import State

SHOWN = (
    State.RUNNING, State.WAITING, State.SILENT, State.OVERDUE, State.LOST, State.FAILED, State.TIMEOUT,
    State.BLOCKED, State.PARTIAL, State.INTERRUPTED, State.UNKNOWN, State.IDLE, State.COMPLETED,
)  # fmt: skip
"""The order of the counts: what goes on, what went wrong, what is done. It never changes, so the eye finds it."""
IMPORTANT = (
    State.OVERDUE, State.FAILED, State.RUNNING, State.LOST, State.TIMEOUT, State.BLOCKED, State.WAITING,
    State.COMPLETED, State.PARTIAL, State.SILENT, State.IDLE, State.INTERRUPTED, State.UNKNOWN,
)  # fmt: skip
"""Who gets room first where there is little."""

_BARS, _PLAIN_BARS = "▁▂▃▄▅▆▇█", "_.:-=+*#"
_GAP = Chip(Content("  "))


class Mode(NamedTuple):
    """The word that says whether the picture moves, with its colour."""

    glyph: str
    plain: str
    words: str
    style: str


class Pulse(NamedTuple):
    """Everything the line shows."""

    mode: Mode
    sources: int
    unhealthy: int
    time: str
    counts: Mapping[State, int]
    rates: Sequence[int]
    unmasked: bool = False
    """Secrets in foreign text are shown."""


class Vitals(Chips):
    """Clicking a count filters by that state; clicking the sources opens their health."""

    DEFAULT_CSS = """
    Vitals { padding: 0 1; background: $panel; color: $foreground; }
    """

    def __init__(self, *, ascii: bool = False, id: str | None = None) -> None:
        super().__init__(id=id)
        self._ascii = ascii
        self._pulse: Pulse | None = None

    def beat(self, pulse: Pulse) -> None:
        self._pulse = pulse
        self._lay_out()

    def on_resize(self, _: Resize) -> None:
        self._lay_out()

    def _lay_out(self) -> None:
        if self._pulse:
            self.show(layout(self._pulse, self.room, plain=self._ascii))


def layout(pulse: Pulse, width: int, *, plain: bool = False) -> list[Chip]:
    """The chips of the line. What matters least is left out first: the graph, the name, the time, minor counts."""
    name = Chip(Content.styled("delegtop", "bold $primary"))
    mode = Chip(
        Content.styled(f"{pulse.mode.plain if plain else pulse.mode.glyph} {pulse.mode.words}", pulse.mode.style),
        "pause",
    )
    sources = Chip(_sources(pulse, plain), "sources")
    clock = Chip(Content.styled(pulse.time, "$row-muted"), "")
    bare = [Chip(Content.styled("secrets shown", "bold $error"), "secrets")] if pulse.unmasked else []
    head = _spaced([name, mode, *bare, sources, clock])
    counts = _fitting(pulse, width - _width(head) - 3, plain)
    if len(counts) < sum(map(bool, pulse.counts.values())):
        rest = [sources, clock] if width >= 70 else [clock] if width >= 45 else []
        head = _spaced([mode, *bare, *rest])
        counts = _fitting(pulse, width - _width(head) - 3, plain)
    middle = _spaced(counts)
    graph = _graph(pulse.rates, width - _width(head) - _width(middle) - 6, plain)
    gap = width - _width(head) - _width(middle) - _width(graph)
    before = 5 if gap > 12 else min(max(gap, 0), 3)
    return [*head, Chip(Content(" " * before)), *middle, Chip(Content(" " * (gap - before))), *graph]


def _sources(pulse: Pulse, plain: bool) -> Content:
    words = f"{pulse.sources:,} source{'' if pulse.sources == 1 else 's'}"
    if not pulse.unhealthy:
        return Content(words)
    return Content.assemble(words, (f" {'!' if plain else '⚠'} {pulse.unhealthy:,}", "bold $warning"))


@lru_cache(256)
def _count(state: State, count: int, plain: bool) -> Chip:
    word = "done" if state is State.COMPLETED else state.value
    text = f"{theme.glyph(state, ascii=plain)} {count:,} {word}"
    return Chip(Content.styled(text, theme.style(state)), f"state:{state.value}")


def _fitting(pulse: Pulse, width: int, plain: bool) -> list[Chip]:
    """The most important counts that fit, in their usual order."""
    chosen: set[State] = set()
    for state in IMPORTANT:
        if not pulse.counts.get(state):
            continue
        room = _count(state, pulse.counts[state], plain).text.cell_length + (2 if chosen else 0)
        if room > width:
            break
        width -= room
        chosen.add(state)
    return [_count(state, pulse.counts[state], plain) for state in SHOWN if state in chosen]


def _graph(rates: Sequence[int], width: int, plain: bool) -> list[Chip]:
    """Events a second: the words if there is room, then as many seconds as fit."""
    label = "events/s "
    if not rates or width < len(label) + 6:
        return []
    shown = list(rates)[-min(width - len(label), 24) :]
    return [Chip(Content.styled(label, "$row-muted")), Chip(Content.styled(sparkline(shown, plain), "$accent"))]


def sparkline(rates: Sequence[int], plain: bool = False) -> str:
    """One character a second. The lowest bar is nothing at all; the highest is the busiest second in view."""
    bars, top = (_PLAIN_BARS if plain else _BARS), max(rates, default=0)
    if not top:
        return bars[0] * len(rates)
    return "".join(bars[0] if not rate else bars[max(1, rate * (len(bars) - 1) // top)] for rate in rates)


def _spaced(chips: Sequence[Chip]) -> list[Chip]:
    return [part for chip in chips for part in (_GAP, chip)][1:]


def _width(chips: Sequence[Chip]) -> int:
    return sum(chip.text.cell_length for chip in chips)
