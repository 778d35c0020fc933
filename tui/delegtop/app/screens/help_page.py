"""Help, made from the keymap and the filter language, so it cannot be out of date."""

from collections.abc import Iterable, Mapping
from itertools import groupby

from textual.binding import Binding, BindingType
from textual.content import Content

from delegtop.app import keymap, theme
from delegtop.app.keymap import KeyCommand, keys_of, shown
from delegtop.app.pages.inspector.page_words import heading
from delegtop.app.screens.page import Page
from delegtop.app.widgets.delegation_tree import DelegationTree
from delegtop.app.widgets.sheet import Beside, Block, LabelledFact
from delegtop.model.query import KEYS
from delegtop.model.states import State
from delegtop.report import bars
from delegtop.report.table.drawing import drawing

_KEY = 18


class Help(Page):
    heading = "delegtop · help"

    def __init__(self, overrides: Mapping[str, str], *, ascii: bool = False) -> None:
        super().__init__()
        self._overrides, self._ascii = overrides, ascii

    def blocks(self) -> list[Block]:
        groups = {
            name: list(commands)
            for name, commands in groupby(sorted(keymap.COMMANDS, key=_by_group), key=lambda command: command.group)
        }
        left = [
            *self._group(keymap.LOOK, groups),
            *self._group(keymap.TREE, groups),
            *_moving(),
            *self._group(keymap.PROGRAM, groups),
        ]
        groups[keymap.TROUBLE] = list(keymap.TRIAGE)
        groups[keymap.SPOKEN] = list(keymap.TRANSCRIPT)
        groups[keymap.BYGONE] = list(keymap.PAST_SEARCH)
        groups[keymap.BARS] = list(keymap.GANTT)
        groups[keymap.PAST] = list(keymap.REPLAY)
        right = [
            *self._group(keymap.DETAIL, groups),
            *self._group(keymap.THERE, groups),
            *self._group(keymap.SPOKEN, groups),
            *self._group(keymap.BARS, groups)[:-1],
            *self._bars(),
            *self._group(keymap.TROUBLE, groups),
            *self._group(keymap.PAST, groups),
        ]
        return [Beside(left, right), Beside(self._states(), _filter())]

    def _group(self, name: str, groups: Mapping[str, list[KeyCommand]]) -> list[Block]:
        facts = [_entry(keys_of(command, self._overrides), command.help) for command in groups[name]]
        return [heading(name), *facts, Content()]

    def _bars(self) -> list[Block]:
        ink = bars.ASCII if self._ascii else bars.UNICODE
        signs = {
            ink.thin * 3: "at work, or waiting for others",
            "=+x" if self._ascii else ink.thick * 3: "on the critical path: what the end of the tree hung or hangs on",
            f"{ink.guess * 3} {ink.thick_guess * 3}": "nothing heard since; that it goes on is inferred",
            f"{ink.firm} {ink.usual}": "deadline, and by when its kind is usually done",
            f"{ink.now} {ink.unknown}": "now, and an end or a start that nobody knows",
        }
        return [*(_entry([sign], words) for sign, words in signs.items()), Content()]

    def _states(self) -> list[Block]:
        blocks: list[Block] = [heading("States")]
        for state in State:
            word = theme.state_content(state, ascii=self._ascii)
            blocks.append(word.pad_right(_KEY - word.cell_length) + Content(state.meaning))
        marks = drawing(ascii=self._ascii)
        signs = (
            (Content.styled(f"{marks.blocker}2", "bold $stuck"), "in trouble, and two above wait for it"),
            (Content.styled(marks.seen, "$row-muted"), "at a name: in trouble, and seen to or put off in triage"),
            (Content("~2:18  ~+2:18"), "left, or over, by what is usual: nothing is overdue by it"),
        )
        return [*blocks, *(LabelledFact(sign, Content(words), _KEY) for sign, words in signs), Content()]


def _by_group(command: KeyCommand) -> int:
    return (keymap.LOOK, keymap.TREE, keymap.DETAIL, keymap.THERE, keymap.PROGRAM).index(command.group)


def _moving() -> list[Block]:
    """The tree's own keys, one line an action."""
    keys: dict[str, list[str]] = {}
    for binding in map(_as_binding, DelegationTree.BINDINGS):
        if binding.id not in keymap.IDS:
            keys.setdefault(binding.tooltip or binding.description, []).extend(map(shown, binding.key.split(",")))
    return [heading("Moving"), *(_entry(names, words) for words, names in keys.items()), Content()]


def _entry(keys: Iterable[str], words: str) -> LabelledFact:
    return LabelledFact(Content.styled("  ".join(keys), "bold $accent"), Content(words), _KEY)


def _as_binding(binding: BindingType) -> Binding:
    return binding if isinstance(binding, Binding) else Binding(*binding)


def _filter() -> list[Block]:
    return [
        heading("Filter"),
        _entry(["word"], "Part of any text of the row; all words must match, a|b is either."),
        _entry(["!word"], "Not this; it stands before any term."),
        *(
            LabelledFact(
                Content.styled(key.name, "bold $accent"),
                Content.assemble(key.meaning, "  ", (key.example, "$secondary")),
                _KEY,
            )
            for key in KEYS
        ),
        Content(),
    ]
