"""The last line: the keys that matter here, as many as fit, each of them clickable."""

from collections.abc import Mapping, Sequence

from textual.content import Content
from textual.events import Resize

from delegtop.app.keymap import KeyCommand, keys_of
from delegtop.app.widgets.chips import Chip, Chips


class KeyBar(Chips):
    """Shows commands in the order given; where the line is short the lowest ranks go first."""

    DEFAULT_CSS = """
    KeyBar { dock: bottom; padding: 0 1; background: $panel; color: $text-muted; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._commands: Sequence[KeyCommand] = ()
        self._overrides: Mapping[str, str] = {}
        self._words: Mapping[str, str] = {}

    def offer(
        self, commands: Sequence[KeyCommand], overrides: Mapping[str, str], words: Mapping[str, str] | None = None
    ) -> None:
        """Show these commands; `words` replaces labels by id, where the state of things changes the word."""
        offered = (commands, overrides, words or {})
        if offered != (self._commands, self._overrides, self._words):
            self._commands, self._overrides, self._words = offered
            self._lay_out()

    def on_resize(self, _: Resize) -> None:
        self._lay_out()

    def _lay_out(self) -> None:
        self.show(layout(self._commands, self._overrides, self._words, self.room))


def layout(
    commands: Sequence[KeyCommand], overrides: Mapping[str, str], words: Mapping[str, str], width: int
) -> list[Chip]:
    chips = {command.id: _chip(command, overrides, words) for command in commands}
    kept: set[str] = set()
    for command in sorted(commands, key=lambda command: command.bar):
        width -= chips[command.id].text.cell_length
        if width < -2:  # the space after the last one may be cut
            break
        kept.add(command.id)
    line = [chips[command.id] for command in commands if command.id in kept]
    return [*line[:-1], Chip(line[-1].text.rstrip(), line[-1].name)] if line else []


def _chip(command: KeyCommand, overrides: Mapping[str, str], words: Mapping[str, str]) -> Chip:
    key = keys_of(command, overrides)[0]
    word = words.get(command.id, command.label)
    return Chip(Content.assemble((key, "bold $accent"), " ", word, "   "), command.id)
