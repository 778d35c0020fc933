"""What all screens over the monitor have in common: they are left once, however many keys say so."""

from typing import TYPE_CHECKING, Any

from textual import messages
from textual.await_complete import AwaitComplete
from textual.events import Callback, ScreenSuspend, Unmount
from textual.message import Message

if TYPE_CHECKING:
    from textual.screen import Screen

    _Screen = Screen[Any]
else:
    _Screen = object  # beside a screen, not one itself: Textual takes the style of the first screen among the bases

_LAST = (ScreenSuspend, Callback, Unmount)


class Leaving(_Screen):
    """Stands before the kind of screen it is: `class Ask(Leaving, ModalScreen[str])`.

    Textual takes away whatever lies on top when a screen is dismissed. Of two quick Enters the second comes when the
    screen has left already, and would take the one below, or fail where there is none.
    """

    @property
    def is_here(self) -> bool:
        """Whether it is shown, or lies under what is, in a program that goes on."""
        return self.app.return_code is None and self in self.app.screen_stack

    def dismiss(self, result: Any = None) -> AwaitComplete:
        """Leave if this is what the operator looks at, else nothing: it has left, or something came over it."""
        return super().dismiss(result) if self.app.screen_stack[-1:] == [self] else AwaitComplete()

    async def _on_message(self, message: Message) -> None:
        """Once it has left it hears of nothing but its end: its widgets go one by one, and nothing is done twice."""
        if self.is_here or isinstance(message, _LAST) or type(message).__module__ == messages.__name__:
            await super()._on_message(message)
