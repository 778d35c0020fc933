"""`n new`: rows came where you are not looking. The view never jumps; a click goes there.

It lies over the end of the titles, where it covers no row."""

from textual.content import Content
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static

from delegtop.app.widgets.painting import painted

_FROM_THE_RIGHT = 3


class Pill(Static):
    """In the upper right corner of what it lies on; hidden while there is nothing new."""

    DEFAULT_CSS = """
    Pill {
        dock: top; width: auto; height: 1; display: none;
        background: $accent; color: $background; text-style: bold;
    }
    Pill.-open { display: block; }
    """

    class Clicked(Message):
        pass

    def count(self, pending: int) -> None:
        self.set_class(pending > 0, "-open")
        if not pending:
            return
        text = f" {pending:,} new "
        fits = len(text) == len(str(self.content))
        # To lay out the whole screen costs more than the rest of a frame.
        self.update(Content(text), layout=not fits)
        if not fits:
            self.place()

    def render_line(self, y: int) -> Strip:  # noqa: ARG002 -- there is but one
        return painted(Content(str(self.content)), self.visual_style, self.size.width)

    def place(self) -> None:
        """Stay in the corner, whatever the width."""
        room = self.parent.size.width if isinstance(self.parent, Widget) else 0
        self.styles.margin = (0, 0, 0, max(room - len(str(self.content)) - _FROM_THE_RIGHT, 0))

    def on_click(self) -> None:
        self.post_message(self.Clicked())
