"""The replay bar: where in the past the screen is, how fast it moves, and what happened when.

It stands on any screen that can show the past, and shows itself only while the past is told. It asks the replay what
to show and tells it what to do; nothing else on the screen knows that time is not now.
"""

from datetime import tzinfo
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult, RenderResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from delegtop.app import keymap
from delegtop.app.keymap import KeyCommand
from delegtop.app.state.replay_axis import Cell, ReplayAxis
from delegtop.app.widgets.chips import Chip, Chips, fitting
from delegtop.base.clock import Millis, duration, moment
from delegtop.feed.replay_feed import Replay
from delegtop.report.figures import sparkline

_RATE = 10
"""Looks a second at the clock."""
_CROWDED = 3
"""At most one cell in so many is given to the mark of a problem."""


class Track(Widget, can_focus=True):
    """The timeline: how much happened, where the problems are, and the moment that is shown. The mouse seeks on it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "app.event(-1)", "earlier", show=False, id="track-left"),
        Binding("right", "app.event(1)", "later", show=False, id="track-right"),
        Binding("home", "app.edge(-1)", "beginning", show=False, id="track-home"),
        Binding("end", "app.edge(1)", "end", show=False, id="track-end"),
    ]
    DEFAULT_CSS = """
    Track { height: 1; width: 1fr; }
    Track:focus { background: $row-cursor; }
    """

    class Sought(Message):
        """The operator points at a moment."""

        def __init__(self, at: Millis) -> None:
            super().__init__()
            self.at = at

    def __init__(self, replay: Replay, *, ascii: bool) -> None:
        super().__init__()
        self._replay, self._ascii = replay, ascii
        self._made_from: object = None
        self._axis: ReplayAxis | None = None
        self._cells: list[Cell] = []
        self._drawn = Content()
        self._held = False

    def look(self) -> None:
        """Draw what differs from what is shown."""
        drawn = self._picture(self.size.width)
        if not drawn.is_same(self._drawn):
            self._drawn = drawn
            self.refresh()

    def render(self) -> RenderResult:
        return self._drawn

    def on_resize(self) -> None:
        self.look()

    def _picture(self, width: int) -> Content:
        timeline, bounds = self._replay.timeline, self._replay.clock.bounds
        if timeline is None or bounds is None or width < 1:
            return Content()
        made_from = (id(timeline), bounds, width, len(timeline.problems))
        if made_from != self._made_from:
            self._made_from = made_from
            self._axis = ReplayAxis(*bounds, timeline, width)
            self._cells = self._axis.cells(timeline)
        return drawn(self._cells, self._axis.cell_of(self._replay.clock.now()) if self._axis else 0, plain=self._ascii)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        event.stop()
        self._held = True
        self.capture_mouse()
        self._seek(event.x)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._held:
            event.stop()
            self._seek(event.x)

    def on_mouse_up(self) -> None:
        self._held = False
        self.release_mouse()

    def _seek(self, x: int) -> None:
        """Where a problem is marked, to the moment it appears, so that it can be seen."""
        if self._axis is None or self._replay.timeline is None:
            return
        cell = max(min(x, self._axis.width - 1), 0)
        at = self._axis.moment(cell)
        if self._cells[cell].problems:
            problem = self._replay.timeline.next_problem(Millis(self._axis.edges[cell] - 1))
            at = problem[0] if problem else at
        self.post_message(self.Sought(at))


def drawn(cells: list[Cell], position: int, *, plain: bool) -> Content:
    """The timeline in words and colours: a bar for how much happened, a mark for a problem, one for the moment."""
    bars = sparkline([cell.events for cell in cells], plain)
    marked = _marked(cells)
    parts: list[tuple[str, str]] = []
    for number, (cell, bar) in enumerate(zip(cells, bars, strict=True)):
        text, style = bar, "$accent"
        if not cell.events:
            text, style = ("~" if plain else "┈") if cell.silent else ("." if plain else "·"), "$row-muted"
        if cell.problems:
            text, style = "!" if number in marked else text, "bold $error"
        if number == position:
            text, style = text if number in marked else "|" if plain else "┃", f"{style} bold reverse"
        parts.append((text, style))
    return Content.assemble(*parts)


def _marked(cells: list[Cell]) -> set[int]:
    """The cells with a problem; where nearly all have one, those with the most, so that the rest can be seen."""
    troubled = {number for number, cell in enumerate(cells) if cell.problems}
    if len(troubled) <= len(cells) // _CROWDED:
        return troubled
    most = sorted((cells[number].problems for number in troubled), reverse=True)
    return {number for number in troubled if cells[number].problems > most[len(cells) // _CROWDED]}


class Expected(Message):
    """Sent to the screen: the problem of this delegation was gone to, and may not be there yet."""

    def __init__(self, id: str) -> None:
        super().__init__()
        self.id = id


class ReplayBar(Vertical):
    """Two lines: the moment and the controls, and the timeline. Every word of a control can be clicked."""

    DEFAULT_CSS = """
    ReplayBar { height: 2; background: $panel; padding: 0 1; dock: bottom; margin-bottom: 1; }
    """

    def __init__(self, replay: Replay, *, zone: tzinfo | None, ascii: bool, id: str | None = None) -> None:
        super().__init__(id=id)
        self._replay, self._zone, self._ascii = replay, zone, ascii
        self._words, self._track = Chips(id="controls"), Track(replay, ascii=ascii)
        self.display = replay.past

    def compose(self) -> ComposeResult:
        yield self._words
        yield self._track

    def on_mount(self) -> None:
        self._timer = self.set_interval(1 / _RATE, self.look, pause=not self._replay.past)
        self.look()

    def appear(self) -> None:
        """The past is told now, or no longer."""
        self.display = self._replay.past
        if self._replay.past:
            self._timer.resume()
        else:
            self._timer.pause()
        self.look()

    @property
    def commands(self) -> tuple[KeyCommand, ...]:
        """What the keys do while it is shown."""
        return self.beside(keymap.BESIDE_REPLAY)

    def beside(self, commands: tuple[KeyCommand, ...]) -> tuple[KeyCommand, ...]:
        """Those that do something: a recording has no now to return to."""
        return tuple(each for each in commands if each.id != "rewind" or not self._replay.recording)

    @property
    def words(self) -> dict[str, str]:
        """What commands are called at this moment."""
        playing = self._replay.clock.playing
        return {"play": "pause" if playing else "play", "previous-event": "before", "rewind": "now"}

    def look(self) -> None:
        if self.display and self.is_mounted:
            self._words.show(self._controls(self.content_size.width))
            self._track.look()

    def _controls(self, width: int) -> list[Chip]:
        """What the bar says, as much of it as fits."""
        replay, clock = self._replay, self._replay.clock
        if replay.timeline is None or replay.loading is not None or clock.bounds is None:
            read, known = replay.loading or (0, 0)
            share = f" {min(read / known, 1.0):.0%}" if known else ""
            return [Chip(Content.styled(f"reading the past{share} …", "bold $accent"))]
        now, (first, last) = clock.now(), clock.bounds
        glyph = (">" if self._ascii else "▶") if clock.playing else ("=" if self._ascii else "‖")
        state = f"{glyph} {'playing' if clock.playing else 'paused'}"
        chips = [
            Chip(Content.styled(state, "bold $success" if clock.playing else "bold $warning"), "play"),
            Chip(Content(f"  {clock.speed:g}x"), "faster"),
            Chip(Content.assemble("  ", (moment(now, self._zone), "bold")), "go_to_time"),
            Chip(Content.styled(f"  {duration(now - first)} of {duration(last - first)}", "$row-muted")),
        ]
        problems = len(replay.timeline.problems)
        words = f"  {problems:,} problem{'' if problems == 1 else 's'} in all"
        if not replay.timeline.studied:
            words += f" so far, {replay.timeline.share:.0%} studied"
        chips.append(Chip(Content.styled(words, "$error" if problems else "$row-muted"), "trouble(1)"))
        return fitting(chips, width)

    @on(Chips.Chosen, "#controls")
    async def _chosen(self, event: Chips.Chosen) -> None:
        event.stop()
        await self.app.run_action(event.name)

    @on(Track.Sought)
    def _sought(self, event: Track.Sought) -> None:
        event.stop()
        self._replay.clock.seek(event.at)
        self._replay.wake()
        self.look()
