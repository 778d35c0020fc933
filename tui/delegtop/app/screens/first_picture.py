"""The first picture: the first line, what is about to be read, the keys. All else of its screen comes when it has been
seen, and none of what stands there moves then."""

from collections.abc import Mapping, Sequence
from datetime import tzinfo
from typing import Any

from textual.app import ComposeResult
from textual.containers import Container
from textual.screen import Screen

from delegtop.app import keymap
from delegtop.app.pages import offered_keys
from delegtop.app.pages.header_status import at_the_outset
from delegtop.app.state.outset import Outset
from delegtop.app.state.saved_views import View
from delegtop.app.widgets.key_bar import KeyBar
from delegtop.app.widgets.notice import EmptyNotice
from delegtop.app.widgets.vitals import Vitals


class Ground(Container):
    """What others lie on. They cover it wholly, so no line of it is worth making."""

    BLANK = True


class FirstPicture(Screen[None]):
    """A screen that is seen before what reads and judges is loaded."""

    BLANK = True  # as the ground: everything has something on it
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (180, "-wide")]  # noqa: RUF012 -- Textual declares it so
    VERTICAL_BREAKPOINTS = [(0, "-tiny"), (16, "-short"), (32, "-tall")]  # noqa: RUF012 -- as above

    def __init__(self, outset: Outset, view: View, *, acts: bool, zone: tzinfo | None, id: str) -> None:
        super().__init__(id=id)
        self.settings = outset.settings
        self._outset, self._begins_with, self._may_act, self._zone = outset, view, acts, zone
        self._vitals, self._keys = Vitals(ascii=outset.settings.ascii), KeyBar()
        self._notice = EmptyNotice()

    def compose(self) -> ComposeResult:
        self._dress()
        yield self._vitals
        with Ground(id="body"), Ground(id="stage"):
            yield self._notice
        yield self._keys

    def _dress(self) -> None:
        """Take the classes that the first picture wants: each one that came later would style every widget again."""
        size = self.app.size
        fitting = self._get_breakpoint_classes(size.width, self.HORIZONTAL_BREAKPOINTS)
        fitting |= self._get_breakpoint_classes(size.height, self.VERTICAL_BREAKPOINTS)
        self.add_class(*fitting, update=False)

    def on_mount(self) -> None:
        view = self._begins_with
        pulse, news = at_the_outset(self._outset, self._zone)
        self._vitals.beat(pulse)
        self._notice.say(news)
        self._offer(keymap.COMMANDS, sort=view.sort, only_open=view.only_open, follows=self.settings.follow)

    def _offer(
        self, commands: Sequence[keymap.KeyCommand], words: Mapping[str, str] | None = None, **standing: Any
    ) -> None:
        """Offer these keys, in the words that fit how things stand; some in `words` of their own."""
        offered = offered_keys.ranked(commands, acts=self._may_act)
        self._keys.offer(offered, self.settings.keymap, offered_keys.words(**standing) | dict(words or {}))
