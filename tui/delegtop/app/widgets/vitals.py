"""The first line: is it live, what is it reading, how do all delegations stand, how much is happening."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from textual.content import Content
from textual.events import Resize

from delegtop.app import theme
from delegtop.app.widgets.chips import Chip, Chips
from delegtop.base.clock import SECOND, age
from delegtop.model.states import ACTIVE, State
from delegtop.report.figures import sparkline

if TYPE_CHECKING:
    from delegtop.app.state.known_hosts import KnownHost

IMPORTANT = sorted(State, key=lambda state: (state not in ACTIVE, not state.problem))
"""Who gets room first where there is little: what goes on, then what went wrong."""

_GAP = Chip(Content("  "))
_NAMELESS = 60
"""Below so many cells the name of the program is left out."""


class Mode(NamedTuple):
    """The word that says whether the picture moves, with its colour."""

    glyph: str
    plain: str
    words: str
    style: str


class ActivityGraph(NamedTuple):
    """Everything the line shows."""

    mode: Mode
    sources: int
    unhealthy: int
    time: str
    counts: Mapping[State, int]
    rates: Sequence[int]
    unmasked: bool = False
    """Secrets in foreign text are shown."""
    stepped: str = ""
    """How somebody set the clock while this was looked at."""
    hosts: "Sequence[KnownHost]" = ()
    """Those that are looked at; none if there is only this machine."""
    unread: int = 0
    """Of the sources those that are here and that nobody can read: of all that may be wrong it matters most."""


class Vitals(Chips):
    """Clicking a count filters by that state; clicking the sources opens their health."""

    DEFAULT_CSS = """
    Vitals { padding: 0 1; background: $panel; color: $foreground; }
    """

    def __init__(self, *, ascii: bool = False, id: str | None = None) -> None:
        super().__init__(id=id)
        self._ascii = ascii
        self._pulse: ActivityGraph | None = None

    def beat(self, pulse: ActivityGraph) -> None:
        self._pulse = pulse
        self._lay_out()

    def on_resize(self, _: Resize) -> None:
        self._lay_out()

    def _lay_out(self) -> None:
        if self._pulse:
            self.show(layout(self._pulse, self.room, plain=self._ascii))


def layout(pulse: ActivityGraph, width: int, *, plain: bool = False) -> list[Chip]:
    """The chips of the line. What matters least is left out first: the graph, the time, the sources, minor counts, and
    last of all the name."""
    name = Chip(Content.styled("delegtop", "bold $primary"))
    mode = Chip(
        Content.styled(f"{pulse.mode.plain if plain else pulse.mode.glyph} {pulse.mode.words}", pulse.mode.style),
        "pause",
    )
    sources = Chip(_sources(pulse, plain), "sources")
    clock = Chip(Content.styled(pulse.time, "$row-muted"), "")
    bare = [Chip(Content.styled("secrets shown", "bold $error"), "secrets")] if pulse.unmasked else []
    if pulse.stepped:
        bare.append(Chip(Content.styled(pulse.stepped, "bold $warning"), ""))
    bare = [*_hosts(pulse.hosts, plain), *bare]
    head = _spaced([name, mode, *bare, sources, clock])
    counts = _fitting(pulse, width - _width(head) - 3, plain)
    for fewer in ([name, mode, *bare, sources], [name, mode, *bare], [mode, *bare]):
        if len(counts) == sum(map(bool, pulse.counts.values())) or (fewer[0] is mode and width >= _NAMELESS):
            break
        head = _spaced(fewer)
        counts = _fitting(pulse, width - _width(head) - 3, plain)
    middle = _spaced(counts)
    graph = _graph(pulse.rates, width - _width(head) - _width(middle) - 6, plain)
    gap = width - _width(head) - _width(middle) - _width(graph)
    before = 5 if gap > 12 else min(max(gap, 0), 3)
    return [*head, Chip(Content(" " * before)), *middle, Chip(Content(" " * (gap - before))), *graph]


def _hosts(hosts: "Sequence[KnownHost]", plain: bool) -> list[Chip]:
    """How many of them are there, and of the one that is worst off how it stands; of one that is there nothing."""
    if not hosts:
        return []
    from delegtop.app.widgets.host_lines import style  # few look at other hosts
    from delegtop.feed.host_states import HostState

    order = list(HostState)
    missing = sorted((each for each in hosts if not each.is_there), key=lambda each: -order.index(each.state))
    chips = []
    if len(hosts) > 1:
        there = f"{len(hosts) - len(missing)} of {len(hosts)}" if missing else f"{len(hosts)}"
        chips.append(Chip(Content(f"{there} hosts"), "hosts"))
    for first in missing[:1]:
        since = "" if first.state is HostState.CONNECTING else f" {age(round(first.seconds * SECOND))}"
        more = f" +{len(missing) - 1}" if len(missing) > 1 else ""
        words = f"{'!' if plain else '▲'} {first.called} {first.state.value}{since}{more}"
        chips.append(Chip(Content.styled(words, style(first.state)), "hosts"))
    return chips


def _sources(pulse: ActivityGraph, plain: bool) -> Content:
    words = f"{pulse.sources:,} source{'' if pulse.sources == 1 else 's'}"
    if not pulse.unhealthy:
        return Content(words)
    sign = "!" if plain else "⚠"
    wrong = f"{pulse.unread:,} cannot be read" if pulse.unread else f"{pulse.unhealthy:,} faulty"
    return Content.assemble(words, (f" {sign} {wrong}", "bold $warning"))


@lru_cache(256)
def _count(state: State, count: int, plain: bool) -> Chip:
    word = "done" if state is State.COMPLETED else state.value
    text = f"{state.ascii if plain else state.glyph} {count:>2,} {word}"  # so that the rest stays where it is
    return Chip(Content.styled(text, theme.style(state)), f"state:{state.value}")


def _fitting(pulse: ActivityGraph, width: int, plain: bool) -> list[Chip]:
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
    return [_count(state, pulse.counts[state], plain) for state in State if state in chosen]


def _graph(rates: Sequence[int], width: int, plain: bool) -> list[Chip]:
    """Events a second: the words if there is room, then as many seconds as fit."""
    label = "events/s "
    if not rates or width < len(label) + 6:
        return []
    shown = list(rates)[-min(width - len(label), 24) :]
    return [Chip(Content.styled(label, "$row-muted")), Chip(Content.styled(sparkline(shown, plain), "$accent"))]


def _spaced(chips: Sequence[Chip]) -> list[Chip]:
    return [part for chip in chips for part in (_GAP, chip)][1:]


def _width(chips: Sequence[Chip]) -> int:
    return sum(chip.text.cell_length for chip in chips)
