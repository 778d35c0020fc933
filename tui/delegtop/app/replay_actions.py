"""Moving in time: what an operator can do with a past that is shown. The application takes these actions from here."""

from datetime import tzinfo
from typing import TYPE_CHECKING, ClassVar

from textual.app import App
from textual.binding import BindingType
from textual.screen import Screen
from textual.widgets import Input

from delegtop.app import keymap
from delegtop.base.clock import Millis, ReplayClock

if TYPE_CHECKING:
    from delegtop.app.widgets.replay_bar import ReplayBar
    from delegtop.feed.replay_feed import Replay
    from delegtop.model.history.timeline import Timeline

_ACTIONS = frozenset(command.action.partition("(")[0] for command in keymap.REPLAY)


class Rewinding(App[None]):
    """An application whose feed may be one that can be moved in time."""

    BINDINGS: ClassVar[list[BindingType]] = [*keymap.bindings(keymap.REPLAY, first=True)]

    zone: tzinfo | None = None

    @property
    def replay(self) -> "Replay":
        raise NotImplementedError

    @property
    def is_past(self) -> bool:
        return self.replay.past

    @property
    def _has_bar(self) -> bool:
        return bool(_bars(self.screen))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The keys of the past belong to it only where it is shown, and never to somebody who types."""
        if action in _ACTIONS:
            return self.is_past and self._has_bar and not isinstance(self.focused, Input)
        if action in (
            "rewind",
            "replay",
        ):  # a screen that cannot show the past must not have it pulled from under its feet
            return not self.replay.possible or self._has_bar
        return super().check_action(action, parameters)

    def expect(self, id: str) -> None:
        """This delegation was gone to: select it as soon as it is there."""

    def past_turned(self) -> None:
        """The past is shown now, or no longer."""
        for screen in self.screen_stack:
            for bar in _bars(screen):
                bar.appear()

    def action_rewind(self) -> None:
        """Into the past, or back to now."""
        replay = self.replay
        if replay.recording or not replay.possible:
            why = "it has no now" if replay.recording else "a pipe cannot be read again; delegtop record keeps it"
            self.notify(f"No way back: {why}.", markup=False)
            return
        if replay.past:
            replay.resume()
        else:
            replay.rewind()
        self.past_turned()

    def go_back_to(self, at: Millis | None) -> None:
        """Show that moment of the past: the last one of what is long over; None if nothing is."""
        if at is None or self.is_past or not self.replay.possible:
            self.notify("Nothing here is long over; r looks at any moment of the past.", markup=False)
            return
        self.replay.rewind(at)
        self.past_turned()

    def action_play(self) -> None:
        if moving := self._moving():
            clock = moving[0]
            if clock.playing:
                clock.pause()
            else:
                clock.play()
            self._moved()

    def action_faster(self) -> None:
        if moving := self._moving():
            moving[0].faster()
            self._moved()

    def action_slower(self) -> None:
        if moving := self._moving():
            moving[0].slower()
            self._moved()

    def action_event(self, step: int) -> None:
        """To the next event or the one before, and hold there."""
        if moving := self._moving():
            clock, timeline = moving
            clock.pause()
            found = timeline.next_event(clock.now()) if step > 0 else timeline.previous_event(clock.now())
            self._go(found if found is not None else clock.now())

    def action_trouble(self, step: int) -> None:
        """To the moment at which the next problem appears, or the one before, and hold there."""
        moving = self._moving()
        if moving is None:
            return
        clock, timeline = moving
        found = timeline.next_problem(clock.now()) if step > 0 else timeline.previous_problem(clock.now())
        if found is None:
            where = "later" if step > 0 else "earlier"
            more = "" if timeline.studied else f"; {timeline.share:.0%} of the recording is studied"
            self.notify(f"No problem appears {where}{more}.", markup=False)
            return
        clock.pause()
        self._go(found[0])
        id = timeline.id(found[1])
        self.expect(id)
        from delegtop.app.widgets.replay_bar import Expected  # as below

        self.screen.post_message(Expected(id))

    def action_edge(self, side: int) -> None:
        if (moving := self._moving()) and (bounds := moving[0].bounds):
            moving[0].pause()
            self._go(bounds[0] if side < 0 else bounds[1])

    def action_go_to_time(self) -> None:
        if (moving := self._moving()) and (bounds := moving[0].bounds):
            from delegtop.app.screens.go_to_time import GoToTime  # few want it, and the first picture does not wait

            self.push_screen(GoToTime(moving[0].now(), bounds, self.zone), self._go)

    def _moving(self) -> "tuple[ReplayClock, Timeline] | None":
        """The clock and the recording, once it has been read."""
        if self.replay.timeline is None or not self.replay.past:
            return None
        return self.replay.clock, self.replay.timeline

    def _go(self, at: Millis | None) -> None:
        if at is not None:
            self.replay.clock.seek(at)
            self._moved()

    def _moved(self) -> None:
        self.replay.wake()
        for bar in _bars(self.screen):
            bar.look()


def _bars(screen: Screen[object]) -> "list[ReplayBar]":
    from delegtop.app.widgets.replay_bar import ReplayBar  # the first picture has none

    return list(screen.query(ReplayBar))
