"""`n new`: rows came where you are not looking. The view never jumps; a click goes there."""

from textual.content import Content
from textual.message import Message
from textual.widgets import Static


class Pill(Static):
    """Hidden while there is nothing new."""

    class Clicked(Message):
        pass

    def count(self, pending: int) -> None:
        self.set_class(pending > 0, "-open")
        if pending:
            self.update(Content(f" {pending:,} new "))

    def on_click(self) -> None:
        self.post_message(self.Clicked())
