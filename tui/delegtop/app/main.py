"""The application: it owns the reader and the board, paces the frames and carries what every screen can do."""

import asyncio
import os
from collections.abc import Callable, Coroutine, Iterable, Iterator
from contextlib import contextmanager
from datetime import tzinfo
from functools import partial
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from rich.console import RenderableType
from rich.text import Text
from textual.app import SystemCommand
from textual.binding import BindingType
from textual.command import Provider
from textual.events import Event, InputEvent, Key, Paste, Resize
from textual.message import Message
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input

from delegtop.act.acting import Acting
from delegtop.app import crash, keymap, theme
from delegtop.app.ascii_filter import Plain
from delegtop.app.replay_actions import Rewinding
from delegtop.app.screens.direct_paint import can_paint, paint
from delegtop.app.screens.monitor import Monitor
from delegtop.app.state.frame_pace import UNTOUCHED, Frames, after, pace
from delegtop.app.state.idle_work import SLICE
from delegtop.app.state.intake import Wake
from delegtop.app.state.outset import Outset
from delegtop.app.state.saved_views import View, Views
from delegtop.app.terminal_loan import Borrowing
from delegtop.app.typed_ahead import Echo, TypedAhead
from delegtop.app.workings import Workings
from delegtop.base import signals
from delegtop.base.clock import monotonic
from delegtop.base.secrets import mask
from delegtop.base.text import line

if TYPE_CHECKING:
    from delegtop.app.alarm import Alarm
    from delegtop.app.history_learning import Learning
    from delegtop.diagnosis.assessments import Assessments
    from delegtop.feed.followed_file import SourceStatus
    from delegtop.observation.observation import Observation
    from delegtop.report.status.status_keeper import StatusKeeper

    Keeping = Callable[[Assessments], StatusKeeper]
    """Makes what keeps the file of the status line fresh."""

_LEAD = 0.05
"""Seconds before a frame at which the reader begins to look, where there are few of them: it is drawn once that is
done, and in any case when its turn comes."""
_REST = 0.08
"""Seconds after a key in which nothing is taken in: while a big log loads the operator comes first."""
_CLOSING = 0.15
"""Seconds until nothing holds a page any more that was left."""
_BROADEST = 4
"""So many times longer than usual a slice is at most, however few frames there are: whatever is no key waits for it."""


def _commands() -> type[Provider]:
    from delegtop.app.screens.palette import Commands  # the first picture has no palette

    return Commands


class DelegtopApp(Workings, Rewinding, Borrowing):
    """`top` for delegations."""

    TITLE = "delegtop"
    CSS_PATH = Path(__file__).parent / "delegtop.tcss"
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {_commands}
    BINDINGS: ClassVar[list[BindingType]] = [*keymap.bindings((*keymap.APP, *keymap.ANYWHERE))]
    ENABLE_COMMAND_PALETTE = True

    def __init__(
        self,
        seen: "Observation | Outset",
        *,
        query: str = "",
        view: View | None = None,
        views: Views | None = None,
        zone: tzinfo | None = None,
        keeping: "Keeping | None" = None,
        acting: Acting = Acting(),  # noqa: B008 -- a tuple, which nobody changes
    ) -> None:
        outset = seen if isinstance(seen, Outset) else Outset.of(seen)
        settings = outset.settings
        colour = settings.color and not os.environ.get("NO_COLOR")
        with _no_color("" if colour else "1"):
            # With native colours the filter removes colour altogether; without them it would leave shades of grey.
            super().__init__(ansi_color=None if colour else True)
        if settings.ascii:
            self._filters.append(Plain())
        self.settings, self.outset, self.acting, self.zone = settings, outset, acting, zone
        self.monitor = Monitor(
            outset,
            view or View(query, settings.sort, settings.reverse, settings.columns),
            views=views,
            acts=acting.enabled,
            zone=zone,
        )
        self.chosen: SourceStatus | None = None
        """The logs that the operator wants to see instead; the dashboard closes for them."""
        self._beginning = asyncio.Lock()
        self._begun = self._paints = False
        """Whether the first picture is complete, and the reader at work; and whether a frame puts itself on the
        terminal."""
        self._woken = False
        self._breadth = 1.0
        """How much longer than usual a frame may take."""
        self._lags = False  # more has arrived than one slice could take
        self._pressed_at = self._touched_at = float("-inf")
        self._frames = Frames(settings.frame_rate, self._draw, partial(after, self))
        self._sentence, self._pressed = "", crash.Keys()
        self._ahead = TypedAhead(lambda: self._has_focus, self.on_event, partial(after, self))
        self.alarm: Alarm | None = None
        self.learning: Learning | None = None
        self._keeping = keeping
        self._keeper: StatusKeeper | None = None
        for each in theme.THEMES:
            self.register_theme(each)
        self.theme = settings.theme
        self.set_keymap(settings.keymap)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return theme.DEFAULTS

    def get_default_screen(self) -> Screen[Any]:
        """The monitor itself: a screen below it would be made and styled for nobody."""
        return self.monitor

    def on_mount(self) -> None:
        self.stop_between_messages()
        self.screen_change_signal.subscribe(self, self._page_changed)
        self.set_interval(1.0, self._second)
        self.call_after_refresh(self._begin)  # what it loads, opens and finds comes after the first picture

    def on_resize(self, event: Resize) -> None:
        """The driver tells the size whenever it takes the terminal: after a stop the shell has written over all."""
        if event.size == self.size and self._begun:
            self.action_redraw()

    def on_unmount(self) -> None:
        if not self._begun:
            return
        self.reader.stop()
        for helper in (self.alarm, self.learning, self.past):
            if helper is not None:
                helper.close()

    # From the reader to the screen

    async def _begin(self) -> None:
        """Begin, with the first key or the first second at the latest: a screen may come over the first picture."""
        async with self._beginning:
            if self._begun or self.return_code is not None or not await self._complete():
                return
            self._begun, self._paints = True, can_paint(self.monitor)
            self._set_alarm()
            self._learn()
            self.reader.start()

    async def _complete(self) -> bool:
        """Load and open what the first picture does without, and show it."""
        return await self.monitor.complete(
            self.board,
            self.reader,
            self.intake,
            replay=self.replay,
            bygone=self.bygone,
            acts=self.acts,
            hosts=self.hosts,
            past=self.past,
        )

    def _learn(self) -> None:
        if self.observation.learns:
            from delegtop.app.history_learning import Learning  # few look at the places that it learns from

            self.learning = Learning(self.board)

    def _wake(self) -> None:
        """Called from the reader's thread. What comes before the next frame is taken in with it."""
        if not self._woken and not (self._frames.coming and self._keeps_up):
            self._woken = True
            self.post_message(Wake())

    @property
    def _keeps_up(self) -> bool:
        """Is all that arrives between two frames done within one of them?"""
        return not (self._lags or self.reader.busy)

    async def on_event(self, event: Event) -> None:
        if isinstance(event, (InputEvent, Paste)) and not self.screen_stack:
            return  # the program ends, and nobody is left to press a key for
        if isinstance(event, InputEvent):
            self._touched_at = monotonic()
            await self._begin()  # whatever it opens: nobody waits for the first picture below it
            if not self._begun:
                return  # the program ends, and there is nothing that a key could be for
            self._set_pace()
        if not isinstance(event, (Key, Paste)) or event.is_forwarded:  # it comes back from who had no use for it
            await super().on_event(event)
            return
        self._make_way()
        if self._ahead.holds(event):
            return
        if isinstance(event, Key):
            self._pressed.press(event, typing=self.focused is None or isinstance(self.focused, Input))
        asked = self._has_focus
        await super().on_event(event)
        self._ahead.follow(asked)

    @property
    def _has_focus(self) -> Widget:
        """What a key goes to."""
        return self.focused or self.screen

    async def on_echo(self, echo: Echo) -> None:
        if self.screen_stack:  # else the program ends
            await self._ahead.come_back(echo)

    def _post_message(self, message: Message) -> Coroutine[Any, Any, bool]:
        """The driver's thread has read a message: way is made for a key before it has waited in any queue."""
        if isinstance(message, Key):
            self._make_way()
        return super()._post_message(message)

    def _make_way(self) -> None:
        """Somebody pressed a key: while a big log loads nothing is read or taken in for a moment."""
        self._pressed_at = monotonic()
        if self._begun and self.reader.busy:
            self.reader.rest(_REST)
            self.intake.cut_short()

    @property
    def _makes_way(self) -> bool:
        return self.reader.busy and monotonic() < self._pressed_at + _REST

    def on_wake(self) -> None:
        """Something has arrived: it is taken in with the next frame, or if it is much, a slice at a time."""
        self._woken = False
        if self._breadth > 1 and self._keeps_up:
            self._frames.hasten()  # the reader has looked as late as it could, and told all in one
        else:
            self._ask_for_frame()

    def _ask_for_frame(self) -> None:
        if self._makes_way:
            after(self, _REST, self._wake)
            return
        if not self._keeps_up:
            self._take_in()
        self._frames.request()

    def _take_in(self) -> None:
        if self.intake.slice(SLICE * min(self._breadth, _BROADEST)):
            self.monitor.rows_moved()
        if self.board.loading and not (self.reader.loading or self.intake.held):
            self.board.loaded()
            self.monitor.table.seen()  # what was there at the start is no news
            self.monitor.rows_moved()
            self.bygone.look()
        self._lags = self.intake.more
        if self._lags:
            # Not at once: a message pump with a full queue never lets the event loop look at the keyboard.
            asyncio.get_running_loop().call_soon(self._wake)
        self._set_pace()

    def _set_pace(self) -> None:
        """How often is drawn; in the past as often as the operator wants, for that is played to be looked at."""
        arriving = self.intake.rates[-1] if self.board.moment is None else 0
        untouched = monotonic() - self._touched_at
        self._frames.rate = pace(
            self.settings.frame_rate, loading=self.reader.busy, arriving=arriving, untouched=untouched
        )
        # Where frames are few and nobody waits for a key, all that came since the last one is taken in with one.
        self._breadth = max(self.settings.frame_rate / self._frames.rate, 1.0)
        self.board.broaden(self._breadth)
        self.board.is_watched = untouched < UNTOUCHED or self.monitor.table.follow

    def _second(self) -> None:
        if not self._begun:
            self.call_next(self._begin)
            return
        self.intake.second()
        if self.bygone.at is not None and self.intake.rates[-1]:
            self.bygone.look()
        if not self._makes_way:
            self.board.seen_to.marks.read()  # another delegtop may have written them
            self.board.advance()
        if self.board.moment is None and not self.reader.busy:
            self.calls.tell(self.board.forest)
        if self.alarm is not None:
            self.alarm.second()
        if self.learning is not None and not self.reader.busy:
            self.learning.second()
        if self.board.is_judged and monotonic() - self._touched_at >= UNTOUCHED:
            self.reader.tidy()
        self._keep_status()
        self._tell_of_acts()
        self._tell_of_unread()
        self._woken = False
        self._ask_for_frame()

    def _page_changed(self, screen: Screen[Any]) -> None:
        if self.screen_stack:
            self._ahead.turned()
        if self._begun and screen is self.monitor:
            after(self, _CLOSING, self.reader.page_closed)

    def _tell_of_acts(self) -> None:
        """What came of what was stopped, for whoever does not look at its plan any more."""
        for watch in self.acts.look():
            if not self.acts.is_shown(watch):
                self._toast(line(mask(f"{watch.plan.name}: {watch.words}"), 400), title=f"stop: {watch.standing}")

    def _tell_of_unread(self) -> None:
        if not self.board.loading and (told := self.unread.look(self.reader.statuses)):
            self._toast(told)

    def _keep_status(self) -> None:
        """What a status bar says, if this is what it is about: the present, and all of it."""
        board = self.board
        if self._keeping is None or board.loading or board.paused or board.moment is not None or self.reader.busy:
            return
        if self._keeper is None:
            self._keeper = self._keeping(board.assessments)
        self._keeper.look(lambda: self.reader.statuses)

    def _set_alarm(self) -> None:
        """What happens now is told if that is wanted; a recorded or a frozen moment is not."""
        if not self.settings.notify or self.replay.recording or self.outset.is_frozen:
            return
        from delegtop.app.alarm import Alarm  # few want it, and the first picture does not wait for it

        hosts = self.hosts.fleet.hosts if self.hosts.fleet is not None else tuple
        self.alarm = Alarm(self.board, self.settings, self.bell, self._toast, hosts)

    def _toast(self, message: str, title: str = "") -> None:
        self.notify(message, title=title, severity="warning", markup=False)

    def _draw(self) -> None:
        if not self.is_running:  # while it closes, timers still fire but the widgets are gone one by one
            return
        if self._keeps_up:
            self._take_in()
        if not self._makes_way and self.board.refresh(SLICE if self._lags or self.reader.busy else inf):
            self.monitor.rows_moved()
        self.monitor.draw()
        if self._paints:
            paint(self.monitor)
        if self._breadth > 1 and self._keeps_up:
            self.reader.look_after(1 / self._frames.rate - _LEAD)

    # What every screen can do

    def action_help(self) -> None:
        from delegtop.app.screens.help_page import Help  # the first picture does not wait for it

        if not isinstance(self.screen, Help):
            self.push_screen(Help(self.settings.keymap, ascii=self.settings.ascii))

    def action_command_palette(self) -> None:
        """Without an id, which Textual gives it: one that is opened again before it is gone would be there twice."""
        from delegtop.app.screens.palette import Palette  # as above

        if not isinstance(self.screen, Palette):
            self.push_screen(Palette())

    async def action_problem(self, step: int) -> None:
        await self._in_monitor(f"problem({step})")

    async def action_triage(self) -> None:
        await self._in_monitor("triage")

    async def action_gantt(self) -> None:
        await self._in_monitor("gantt")

    async def action_sources(self) -> None:
        await self._in_monitor("sources")

    async def _in_monitor(self, action: str) -> None:
        """Leave whatever lies over the monitor, and do it there."""
        while self.screen is not self.monitor and len(self.screen_stack) > 1:
            await self.pop_screen()
        await self.monitor.run_action(action)

    def action_replay(self) -> None:
        """Try hosts again that are missing; else to the last record of what is long over, or where nothing is shown to
        the logs that are offered."""
        from delegtop.feed.source_statuses import offers  # it is loaded long since

        fleet = self.hosts.fleet
        if fleet is not None and self.board.moment is None and (tried := fleet.retry()):
            self._toast(line(f"Trying {', '.join(tried)} again.", 200))
            return
        offered = offers(self.reader.statuses) if not len(self.board.forest) else ()
        if offered:
            self.chosen = offered[0]
            self.exit()
        else:
            self.go_back_to(self.bygone.at)

    def expect(self, id: str) -> None:
        self.monitor.table.expect(id)

    @property
    def theme_names(self) -> list[str]:
        return [each.name for each in theme.THEMES]

    def use_theme(self, name: str) -> None:
        self.theme = name

    def action_next_theme(self) -> None:
        names = self.theme_names
        self.use_theme(names[(names.index(self.theme) + 1) % len(names)] if self.theme in names else names[0])
        self.notify(f"Theme: {self.theme}", timeout=2, markup=False)

    def action_redraw(self) -> None:
        self.screen.refresh(repaint=True, layout=True)

    # What nobody can do by name

    def action_screenshot(self, filename: str | None = None, path: str | None = None) -> None:
        """Nothing: an action that writes files must not be reachable by its name."""

    async def action_simulate_key(self, key: str) -> None:
        """Nothing: keys are pressed by people."""

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:  # noqa: ARG002 -- Textual passes it
        """None of Textual's own: the palette is made from the keymap."""
        return ()

    # When it fails

    def _handle_exception(self, error: Exception) -> None:
        if not self._sentence:  # those that follow from the first tell nothing
            self._sentence = crash.record(error, self._pressed.names)
        super()._handle_exception(error)

    def _fatal_error(self) -> None:
        self.panic()

    def panic(self, *renderables: RenderableType) -> None:  # noqa: ARG002 -- Textual's own words would show local variables
        if not self._exit_renderables:  # one sentence is enough, however many errors follow from the first
            super().panic(Text(self._sentence or "delegtop stopped by an internal error"))


@contextmanager
def _no_color(value: str) -> Iterator[None]:
    """Textual looks at the variable once, and takes even an empty one for a yes."""
    before = os.environ.pop("NO_COLOR", None)
    if value:
        os.environ["NO_COLOR"] = value
    try:
        yield
    finally:
        os.environ.pop("NO_COLOR", None)
        if before is not None:
            os.environ["NO_COLOR"] = before


def run_app(
    seen: "Observation | Outset",
    query: str = "",
    *,
    view: View | None = None,
    views: Views | None = None,
    keeping: "Keeping | None" = None,
    acting: Acting = Acting(),  # noqa: B008 -- a tuple, which nobody changes
) -> int:
    """Open the dashboard and stay until it is closed; returns the exit code. What is not opened yet is opened behind
    the first picture. `acting` says what `K` may do."""
    app = DelegtopApp(seen, query=query, view=view, views=views, keeping=keeping, acting=acting)
    with signals.heeded(app.end):
        app.run(mouse=app.settings.mouse)
    if (chosen := app.chosen) is None:
        return app.return_code or 0

    from delegtop.observation.observation import replayed
    from delegtop.observation.source_discovery import Places

    observation = app.observation
    return run_app(
        replayed(
            Places([chosen.path]),
            observation.settings,
            format=observation.format,
            policy=observation.policy,
            start=lambda first: chosen.told_at or first,
        )
    )
