"""Every action of the dashboard in one table: its keys, its words, its place.

Bindings, the key bar, the help screen and the command palette are all made from this table, so none of them can
tell another story than the rest. Keys are overridden by id (`[keymap]` in the configuration).
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from textual.binding import Binding
from textual.keys import format_key


class Command(NamedTuple):
    """One thing the operator can do."""

    id: str
    keys: str
    """Comma separated, in Textual's names."""
    action: str
    label: str
    """The word in the key bar and in the command palette."""
    help: str
    """A sentence for the help screen and the tooltip."""
    group: str
    bar: int = 0
    """Rank in the key bar, 1 the last to be dropped when the line is short; 0 is not shown there."""


LOOK, TREE, DETAIL, PROGRAM = "Look", "Tree", "Inspector", "Program"

MONITOR = (
    Command(
        "filter", "slash", "filter", "filter", "Show only what matches; a half-typed query changes nothing", LOOK, 3
    ),
    Command("back", "escape", "back", "back", "Leave the inspector, the subtree or the filter, in that order", LOOK),
    Command(
        "sort", "s", "sort", "sort", "Sort by the next column: start, deadline, age, quiet, name, problems", LOOK, 7
    ),
    Command("reverse", "S,I", "reverse", "reverse sort", "Turn the order round", LOOK),
    Command("follow", "F", "follow", "follow", "Keep the newest delegation in view", LOOK, 8),
    Command(
        "problem", "e", "problem(1)", "next problem", "Go to the next overdue, failed, blocked or lost one", LOOK, 4
    ),
    Command("previous-problem", "E", "problem(-1)", "previous problem", "Go to the previous problem", LOOK),
    Command("pause", "p,Z", "pause", "pause", "Hold the picture still; reading goes on and is counted", LOOK, 9),
    Command("fold", "space", "fold", "fold", "Fold or unfold the children of this row", TREE, 6),
    Command("unfold", "plus", "unfold", "unfold", "Unfold this row", TREE),
    Command("collapse", "minus", "collapse", "fold shut", "Fold this row", TREE),
    Command("fold-all", "asterisk", "fold_all", "fold all", "Fold everything, or unfold everything", TREE),
    Command("focus", "z", "zoom", "focus subtree", "Show only this subtree, and back again", TREE, 11),
    Command("inspect", "enter", "inspect", "inspect", "Read the details of this delegation", DETAIL, 5),
    Command("inspector", "i", "inspector", "hide inspector", "Show or hide the inspector", DETAIL, 12),
    Command("next-tab", "tab", "tab(1)", "next tab", "Next tab of the inspector", DETAIL, 13),
    Command("previous-tab", "shift+tab", "tab(-1)", "previous tab", "Previous tab of the inspector", DETAIL),
    Command("overview", "1", "show_tab('overview')", "overview", "What it is, where it stands, by when", DETAIL),
    Command("return", "2", "show_tab('return')", "return", "What it gave back", DETAIL),
    Command("errors", "3", "show_tab('errors')", "errors", "What went wrong and what to do about it", DETAIL),
    Command("activity", "4", "show_tab('activity')", "activity", "What happened when", DETAIL),
    Command("raw", "5", "show_tab('raw')", "raw", "The very lines of the log", DETAIL),
    Command(
        "findings", "6", "show_tab('findings')", "findings", "What the rules find, and what to do about it", DETAIL
    ),
    Command("copy", "y,c", "copy", "copy", "Copy the id, path, recommendation or row", DETAIL, 10),
    Command(
        "secrets",
        "x",
        "secrets",
        "show or hide secrets",
        "Show keys, tokens and passwords, or hide them",
        DETAIL,
    ),
    Command("sources", "o", "sources", "sources", "Which files are read and how well", PROGRAM, 14),
)

APP = (
    Command("help", "question_mark,f1,h", "help", "help", "All keys, and the words of the filter", PROGRAM, 2),
    Command("palette", "colon,ctrl+p", "command_palette", "commands", "Find any command by name", PROGRAM),
    Command("theme", "T", "next_theme", "theme", "Next theme: dark, light, colour-blind-safe", PROGRAM, 15),
    Command(
        "mouse", "m", "mouse", "mouse", "Give the mouse back to the terminal, for selecting text, or take it", PROGRAM
    ),
    Command("redraw", "ctrl+l", "redraw", "redraw", "Paint the whole screen again", PROGRAM),
    Command("suspend", "ctrl+z", "suspend_process", "suspend", "Back to the shell; `fg` returns here", PROGRAM),
    Command("quit", "q,ctrl+c", "quit", "quit", "Leave", PROGRAM, 1),
)

COMMANDS = MONITOR + APP
IDS = frozenset(command.id for command in COMMANDS)


def bindings(commands: Iterable[Command]) -> list[Binding]:
    return [
        Binding(command.keys, command.action, command.label, tooltip=command.help, id=command.id)
        for command in commands
    ]


def keys_of(command: Command, overrides: Mapping[str, str]) -> tuple[str, ...]:
    """The keys of a command, as an operator reads them."""
    return tuple(shown(key) for key in overrides.get(command.id, command.keys).split(","))


def shown(key: str) -> str:
    """`slash` as `/`, `ctrl+p` as `ctrl+p`, `escape` as `esc`."""
    *modifiers, name = key.strip().split("+")
    return "+".join((*modifiers, _SHORT.get(name) or format_key(name)))


_SHORT = {"escape": "esc", "up": "↑", "down": "↓", "left": "←", "right": "→", "pageup": "pgup", "pagedown": "pgdn"}
_SHORT |= {name: name for name in ("enter", "space", "tab", "home", "end")} | {"f1": "F1"}
