"""A question in the middle of the screen: it lies over what it is about, and escape leaves it."""

from typing import TypeVar

from textual.screen import ModalScreen

from delegtop.app.screens.leaving import Leaving

Answer = TypeVar("Answer")


class Dialog(Leaving, ModalScreen[Answer]):
    """Subclasses say what stands in it, bind the keys that leave it, and how wide it may be."""

    DEFAULT_CSS = """
    Dialog { align: center middle; }
    Dialog > Vertical { width: 80%; height: auto; border: round $accent; background: $surface; padding: 0 1; }
    Dialog Input, Dialog Input:focus { border: none; padding: 0; height: 1; background: $surface; }
    Dialog OptionList, Dialog OptionList:focus {
        height: auto; border: none; background: $surface; background-tint: $surface 0%; padding: 0;
    }
    Dialog OptionList:focus > .option-list--option-highlighted { background: $row-cursor; color: $foreground; }
    Dialog .title { text-style: bold; color: $accent; }
    Dialog .hint { color: $row-muted; }
    Dialog .wrong { color: $error; }
    """

    def action_leave(self) -> None:
        self.dismiss()
