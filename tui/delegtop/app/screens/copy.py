"""The copy menu: what would be copied is shown before it is, and what is not safe to paste is refused, with why."""

from typing import ClassVar, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from delegtop.app import clipboard
from delegtop.app.pages.inspector.page_words import MUTED, one_line, path_of
from delegtop.app.screens.dialog import Dialog
from delegtop.base.clock import countdown, duration
from delegtop.base.text import line
from delegtop.diagnosis.assessments import Assessments
from delegtop.model import measures
from delegtop.model.forest import Forest
from delegtop.model.recovery_hints import RECOMMENDATION, hints
from delegtop.model.store.ledger import Handle
from delegtop.report import privacy


class Choice(NamedTuple):
    """One thing to copy: the very text, or why it is refused."""

    name: str
    key: str
    text: str
    refused: str


def choices(assessments: Assessments, handle: Handle, *, masked: bool = True) -> list[Choice]:
    """Everything there is to copy; a secret that is hidden on the screen does not leave it by this way either."""
    forest = assessments.forest
    hide, delegation = privacy.hiding(masked), forest.delegation(handle)
    told = next((hint for hint in hints(delegation) if hint.kind == RECOMMENDATION), None)
    advice, adviser = (told.text, "agent" if told.by_agent else "delegtop") if told else ("", "")
    command = next((step.command for step in assessments.todo(handle) if step.command), "")
    return [
        _choice("id", "i", delegation.id),
        _choice("path", "p", path_of(delegation, " / ")),
        # As a comment: pasted into a shell by mistake it does nothing.
        _choice("recommendation", "r", hide(advice), f"# from {adviser}: ", told_by=delegation.told_by),
        _choice("command", "k", hide(command)),
        _choice("row", "o", hide(row_text(forest, handle))),
    ]


def _choice(name: str, key: str, text: str, prefix: str = "", told_by: str = "") -> Choice:
    """What only another host says is to be read, not to be pasted here."""
    refused = clipboard.refusal(text) or (f"{line(told_by, 60)} says so, and it is only shown" if told_by else "")
    return Choice(name, key, "" if refused else prefix + text, refused)


def row_text(forest: Forest, handle: Handle) -> str:
    """The row as one line of text."""
    delegation = forest.delegation(handle)
    left, age = measures.left(forest, handle), measures.age(forest, handle)
    parts = (
        line(measures.label(delegation), 200),
        line(delegation.id, 200),
        forest.state(handle).value,
        f"left {countdown(left)}" if left is not None else "",
        f"age {duration(age)}" if age is not None else "",
        line(delegation.doing or "", 400),
    )
    return "  ".join(part for part in parts if part)


def copy(widget: Widget, name: str, text: str, refused: str) -> bool:
    """Copy the text and say so, or say why not; True if it was."""
    if refused:
        widget.notify(f"Not copied: {refused}.", severity="warning", markup=False)
        return False
    widget.app.copy_to_clipboard(text)
    path = clipboard.save(text)
    widget.notify(f"Copied the {name}." + (f" Also in {line(str(path))}" if path else ""), markup=False)
    return True


class CopyMenu(Dialog[None]):
    """Copies one thing and goes away."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,y", "leave", "back", id="copy-back"),
        *(
            Binding(key, f"choose('{name}')", name, id=f"copy-{name}")
            for key, name in (("i", "id"), ("p", "path"), ("r", "recommendation"), ("k", "command"), ("o", "row"))
        ),
    ]
    DEFAULT_CSS = """
    CopyMenu > Vertical { max-width: 100; max-height: 80%; }
    CopyMenu OptionList, CopyMenu OptionList:focus { text-wrap: nowrap; text-overflow: ellipsis; }
    """

    def __init__(self, assessments: Assessments, handle: Handle, *, masked: bool = True) -> None:
        super().__init__()
        self._choices = {choice.name: choice for choice in choices(assessments, handle, masked=masked)}

    def compose(self) -> ComposeResult:
        with Vertical():
            how = "enter or the letter copies, esc leaves"
            yield Static(Content.assemble(("Copy", "bold $accent"), "   ", (how, MUTED)))
            yield OptionList(
                *(
                    Option(_prompt(choice), id=choice.name, disabled=bool(choice.refused))
                    for choice in self._choices.values()
                )
            )

    def on_mount(self) -> None:
        """Begin with the command, if there is one: that is what the page says is copied."""
        options = self.query_one(OptionList)
        if not self._choices["command"].refused:
            options.highlighted = options.get_option_index("command")
        options.focus()

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        self.action_choose(event.option_id or "")

    def action_choose(self, name: str) -> None:
        choice = self._choices.get(name)
        if choice is None:
            return
        if copy(self, name, choice.text, choice.refused):
            self.dismiss()


def _prompt(choice: Choice) -> Content:
    label = Content.assemble((choice.key, "bold $accent"), "  ", (choice.name.ljust(16), "bold"))
    if choice.refused:
        return label + Content.styled(f"– {choice.refused}", MUTED)
    return label + one_line(choice.text, "", 300)
