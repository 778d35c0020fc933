"""`n new`: rows came where you are not looking. The view never jumps; a click goes there."""

from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

_FROM_THE_RIGHT = 3


class Pill(Static):
    """In the lower right corner of what it lies on; hidden while there is nothing new."""

    DEFAULT_CSS = """
    Pill {
        dock: bottom; width: auto; height: 1; display: none;
        background: $accent; color: $background; text-style: bold;
    }
    Pill.-open { display: block; }
    """

    class Clicked(Message):
        pass

    def count(self, pending: int) -> None:
        self.set_class(pending > 0, "-open")
        if pending:
            self.update(Content(f" {pending:,} new "))
            self.place()

    def place(self) -> None:
        """Stay in the corner, whatever the width."""
        room = self.parent.size.width if isinstance(self.parent, Widget) else 0
        self.styles.margin = (0, 0, 0, max(room - len(str(self.content)) - _FROM_THE_RIGHT, 0))

    def on_click(self) -> None:
        self.post_message(self.Clicked())
