"""Every action of the dashboard in one table: its keys, its words, its place.

Bindings, the key bar, the help screen and the command palette are all made from this table, so none of them can
tell another story than the rest. Keys are overridden by id (`[keymap]` in the configuration).
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from textual.binding import Binding
from textual.keys import format_key


class KeyCommand(NamedTuple):
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


LOOK, TREE, DETAIL, PROGRAM, TROUBLE = "Look", "Tree", "Inspector", "Program", "Triage"
BARS = "Gantt view"
THERE = "Go there"
SPOKEN = "Transcript"
PAST = "Replay"
BYGONE = "Everything that ever was"

MONITOR = (
    KeyCommand(
        "filter", "slash,f4", "filter", "filter", "Show only what matches; a half-typed query changes nothing", LOOK, 3
    ),
    KeyCommand(
        "search", "backslash", "search", "search", "Look for words; they are marked, and all rows stay", LOOK, 12
    ),
    KeyCommand(
        "past-search",
        "vertical_line",
        "past_search",
        "everything",
        "Look for words in everything that ever was; tab does so from a search",
        LOOK,
    ),
    KeyCommand("search-next", "n,f3", "search_step(1)", "next match", "The next place of the words", LOOK),
    KeyCommand("search-previous", "N,shift+f3", "search_step(-1)", "previous match", "The place before it", LOOK),
    KeyCommand(
        "back",
        "escape",
        "back",
        "back",
        "Leave the inspector, the search, the filter or the subtree, in that order",
        LOOK,
    ),
    KeyCommand("sort", "s", "sort", "sort", "Sort by the next order there is", LOOK, 7),
    KeyCommand("sort-menu", "f6", "sort_menu", "sort by", "All orders there are, to choose from", LOOK),
    KeyCommand("columns", "C,f2", "columns", "columns", "Choose the columns and their order", LOOK),
    KeyCommand("views", "W", "views", "views", "Views that were kept: pick one, keep this one", LOOK),
    KeyCommand("reverse", "S,I", "reverse", "reverse sort", "Turn the order round", LOOK),
    KeyCommand("follow", "F", "follow", "follow", "Keep the newest delegation in view", LOOK, 8),
    KeyCommand(
        "problem", "e", "problem(1)", "next problem", "The next problem, what is stuck now before all else", LOOK, 4
    ),
    KeyCommand("previous-problem", "E", "problem(-1)", "previous problem", "The previous problem", LOOK),
    KeyCommand("only-open", "O", "only_open", "only open", "Show only what is open, and all again", LOOK, 8),
    KeyCommand(
        "earlier-troubles",
        "d",
        "earlier",
        "earlier troubles",
        "Show earlier troubles, or tell them in one line",
        LOOK,
    ),
    KeyCommand("finished", "D", "finished", "finished", "Give rows to more of what is over, the newest first", LOOK),
    KeyCommand("hosts", "H", "hosts", "hosts", "Rows by host, then one host alone, then all", LOOK),
    KeyCommand("triage", "t,f9", "triage", "triage", "All problems, worst first, and what to do about each", LOOK, 4),
    KeyCommand("gantt", "b", "gantt", "gantt", "Bars in time in place of the columns, and back again", LOOK, 6),
    KeyCommand("pause", "p,Z", "pause", "pause", "Hold the picture still; reading goes on and is counted", LOOK, 9),
    KeyCommand("fold", "space", "fold", "fold", "Fold or unfold the children of this row", TREE, 6),
    KeyCommand("unfold", "plus", "unfold", "unfold", "Unfold this row", TREE),
    KeyCommand("collapse", "minus", "collapse", "fold shut", "Fold this row", TREE),
    KeyCommand("fold-all", "asterisk,f5", "fold_all", "fold all", "Fold everything, or unfold everything", TREE),
    KeyCommand("focus", "z", "zoom", "focus subtree", "Show only this subtree, and back again", TREE, 11),
    KeyCommand("inspect", "enter", "inspect", "inspect", "Read the details of this delegation", DETAIL, 5),
    KeyCommand("inspector", "i", "inspector", "hide inspector", "Show or hide the inspector", DETAIL, 12),
    KeyCommand("next-tab", "tab", "tab(1)", "next tab", "Next tab of the inspector", DETAIL, 13),
    KeyCommand("previous-tab", "shift+tab", "tab(-1)", "previous tab", "Previous tab of the inspector", DETAIL),
    KeyCommand("overview", "1", "show_tab('overview')", "overview", "What it is, where it stands, by when", DETAIL),
    KeyCommand("return", "2", "show_tab('return')", "return", "What it gave back", DETAIL),
    KeyCommand("errors", "3", "show_tab('errors')", "errors", "What went wrong and what to do about it", DETAIL),
    KeyCommand("activity", "4", "show_tab('activity')", "activity", "What happened when", DETAIL),
    KeyCommand("raw", "5", "show_tab('raw')", "raw", "The very lines of the log", DETAIL),
    KeyCommand(
        "findings", "6", "show_tab('findings')", "findings", "What the rules find, and what to do about it", DETAIL
    ),
    KeyCommand("copy", "y,c", "copy", "copy", "Copy the id, path, recommendation, command or row", DETAIL, 10),
    KeyCommand("stop", "K", "stop", "stop", "How to stop it, mildest first; done only if that is turned on", DETAIL, 7),
    KeyCommand(
        "secrets",
        "x",
        "secrets",
        "show or hide secrets",
        "Show keys, tokens and passwords, or hide them",
        DETAIL,
    ),
    KeyCommand(
        "go-there", "J", "go_there", "go to session", "Open its session: its pane in tmux, or what opens it", THERE, 5
    ),
    KeyCommand("transcript", "v", "transcript", "transcript", "Read what was said, thought and called", THERE, 6),
    KeyCommand("edit", "V", "edit", "in editor", "Open its log in $EDITOR, at its line", THERE, 15),
    KeyCommand("sources", "o", "sources", "sources", "Which files are read and how well", PROGRAM, 14),
    KeyCommand("command", "colon", "command_line", "command", "Type a command: sort cost, view NAME, q", PROGRAM),
)

APP = (
    KeyCommand("help", "question_mark,f1", "help", "help", "All keys, and the words of the filter", PROGRAM, 2),
    KeyCommand("palette", "ctrl+p", "command_palette", "commands", "Find any command by name", PROGRAM),
    KeyCommand("theme", "T", "next_theme", "theme", "Next theme: dark, light, colour-blind-safe", PROGRAM, 15),
    KeyCommand(
        "mouse", "m", "mouse", "mouse", "Give the mouse back to the terminal, for selecting text, or take it", PROGRAM
    ),
    KeyCommand("redraw", "ctrl+l", "redraw", "redraw", "Paint the whole screen again", PROGRAM),
    KeyCommand("suspend", "ctrl+z", "suspend_process", "suspend", "Back to the shell; `fg` returns here", PROGRAM),
    KeyCommand("rewind", "r", "rewind", "rewind", "Look at any moment of the past, and return to now", PROGRAM, 16),
    KeyCommand("replay", "R", "replay", "replay", "Missing hosts again, else the last record of what is over", PROGRAM),
    KeyCommand("quit", "q,ctrl+c,f10", "quit", "quit", "Leave", PROGRAM, 1),
)

TRIAGE = (
    KeyCommand("triage-go", "enter", "go", "to the tree", "Go to this delegation in the tree", TROUBLE, 2),
    KeyCommand("triage-next", "e,n", "problem(1)", "next", "The next problem", TROUBLE, 5),
    KeyCommand("triage-previous", "E,N", "problem(-1)", "previous", "The previous problem", TROUBLE, 10),
    KeyCommand(
        "triage-acknowledge", "a", "acknowledge", "acknowledge", "You have seen to it, or not after all", TROUBLE, 3
    ),
    KeyCommand("triage-snooze", "s", "snooze", "snooze", "Put it off until a time, or wake it", TROUBLE, 4),
    KeyCommand("triage-note", "w", "note", "note", "Write a note to it", TROUBLE, 7),
    KeyCommand("triage-copy", "y,c", "copy", "copy command", "Copy what to type about it; nothing is run", TROUBLE, 6),
    KeyCommand(
        "triage-stop", "K", "stop", "stop", "How to stop it, mildest first; done only if that is turned on", TROUBLE, 7
    ),
    KeyCommand(
        "triage-earlier", "d", "earlier", "earlier", "Show earlier troubles, or tell them in one line", TROUBLE, 8
    ),
    KeyCommand("triage-settled", "D", "settled", "show seen", "Show or hide what was seen to or put off", TROUBLE, 9),
    KeyCommand(
        "triage-filter", "slash", "filter", "filter", "List only the problems of delegations that match", TROUBLE, 7
    ),
    KeyCommand(
        "triage-all", "A", "acknowledge_all", "acknowledge all", "You have seen to all that are listed", TROUBLE
    ),
    KeyCommand("triage-view", "z", "view", "one at a time", "The list, or one problem at a time", TROUBLE, 9),
    KeyCommand("triage-go-there", "J", "go_there", "go to session", "Open its session", TROUBLE, 3),
    KeyCommand("triage-transcript", "v", "transcript", "transcript", "Read what was said and called", TROUBLE, 5),
    KeyCommand("triage-edit", "V", "edit", "in editor", "Open its log in $EDITOR, at its line", TROUBLE, 12),
    KeyCommand("triage-read", "tab", "read", "read", "To the page of this problem and back", TROUBLE, 11),
    KeyCommand("triage-leave", "escape,q,t", "leave", "back", "Back to the monitor", TROUBLE, 1),
)
"""On the screen of the problems, where the same keys mean other things than in the monitor."""

PAST_SEARCH = (
    KeyCommand("past-open", "enter", "open", "open", "Go to its row, or see what opens it", BYGONE, 2),
    KeyCommand("past-down", "down", "move(1)", "next", "The next one", BYGONE, 3),
    KeyCommand("past-up", "up", "move(-1)", "previous", "The one before", BYGONE, 3),
    KeyCommand("past-page-down", "pagedown", "page(1)", "page down", "A page further", BYGONE),
    KeyCommand("past-page-up", "pageup", "page(-1)", "page up", "A page back", BYGONE),
    KeyCommand("past-leave", "escape", "leave", "back", "Back to where you were", BYGONE, 1),
)
"""Where words are looked for in everything that ever was."""

TRANSCRIPT = (
    KeyCommand(
        "transcript-unfold", "enter,space", "unfold", "unfold", "All of this piece, or its first lines", SPOKEN, 3
    ),
    KeyCommand("transcript-unfold-all", "asterisk,f5", "unfold_all", "unfold all", "All of every piece", SPOKEN, 6),
    KeyCommand(
        "transcript-thoughts", "h", "thoughts", "thoughts", "Unfold what the agent thought, or fold it", SPOKEN, 5
    ),
    KeyCommand("transcript-search", "slash,backslash", "search", "search", "Look for words in all of it", SPOKEN, 2),
    KeyCommand("transcript-next", "n,f3", "search_step(1)", "next match", "The next place of the words", SPOKEN, 7),
    KeyCommand("transcript-previous", "N,shift+f3", "search_step(-1)", "previous match", "The place before it", SPOKEN),
    KeyCommand("transcript-secrets", "x", "secrets", "show or hide secrets", "Show or hide keys and tokens", SPOKEN),
    KeyCommand("transcript-edit", "V", "edit", "in editor", "Open the log in $EDITOR, at this line", SPOKEN, 4),
    KeyCommand("transcript-go-there", "J", "go_there", "go to session", "Open its session", SPOKEN, 4),
    KeyCommand("transcript-leave", "escape,q,v", "leave", "back", "Back to where you were", SPOKEN, 1),
)
"""On the screen of what was said."""

GANTT = (
    KeyCommand(
        "zoom-in", "plus,equals_sign", "zoom_time(-1)", "zoom in", "Less time in view, around this row", BARS, 3
    ),
    KeyCommand("zoom-out", "minus", "zoom_time(1)", "zoom out", "More time in view, around this row", BARS, 3),
    KeyCommand("earlier", "shift+left,H", "shift_time(-1)", "earlier", "Look at what was before", BARS, 9),
    KeyCommand("later", "shift+right,L", "shift_time(1)", "later", "Look at what came after", BARS, 9),
    KeyCommand("fit-tree", "0", "fit_tree", "fit tree", "The time of the tree the cursor is in", BARS, 4),
    KeyCommand("fit-view", "a", "fit_view", "fit all", "The time of all trees that are in view", BARS, 7),
    KeyCommand("fit-row", "w", "fit_row", "fit row", "The time of this delegation alone", BARS, 8),
    KeyCommand("to-now", "u", "to_now", "up to now", "Bring now into view and go along with it", BARS, 8),
)
"""For bars alone, where these keys come before the same ones of the monitor."""
_RANKS_BESIDE_BARS = {"filter": 6, "problem": 9, "gantt": 4, "fold": 7, "focus": 10, "inspect": 5}

REPLAY = (
    KeyCommand("play", "space,p", "play", "play", "Let the recorded time run, or hold it", PAST, 2),
    KeyCommand(
        "previous-event", "comma", "event(-1)", "event before", "Go to the event before and hold there", PAST, 5
    ),
    KeyCommand("next-event", "full_stop", "event(1)", "next event", "Go to the next event and hold there", PAST, 4),
    KeyCommand("next-trouble", "n", "trouble(1)", "next problem", "Go to when the next problem appears", PAST, 3),
    KeyCommand(
        "previous-trouble", "N", "trouble(-1)", "problem before", "Go to when the problem before it appeared", PAST, 8
    ),
    KeyCommand("go-to-time", "g", "go_to_time", "go to", "Go to a time: 10:41, -5m, +30s, 1h20m", PAST, 6),
    KeyCommand("slower", "left_square_bracket", "slower", "slower", "Let it run slower, down to a tenth", PAST, 8),
    KeyCommand(
        "faster", "right_square_bracket", "faster", "faster", "Let it run faster, up to a thousand times", PAST, 7
    ),
    KeyCommand("beginning", "less_than_sign", "edge(-1)", "beginning", "Go to the beginning", PAST, 9),
    KeyCommand("end", "greater_than_sign", "edge(1)", "end", "Go to the end", PAST, 9),
)
"""While the past is shown, where these keys come before all others."""
_RANKS = {"rewind": 2, "help": 2, "quit": 1, "filter": 9, "inspect": 9}
BESIDE_REPLAY = (*REPLAY, *(each._replace(bar=_RANKS[each.id]) for each in MONITOR + APP if each.id in _RANKS))
"""What the key bar offers there."""

_RANKS_IN_TRIAGE = {"play": 2, "previous-event": 4, "next-event": 2, "next-trouble": 2, "go-to-time": 9, "rewind": 2}
TRIAGE_OF_THE_PAST = (
    *(each._replace(bar=_RANKS_IN_TRIAGE[each.id]) for each in REPLAY + APP if each.id in _RANKS_IN_TRIAGE),
    *TRIAGE,
)
"""What the key bar offers there while the past is shown."""

COMMANDS = MONITOR + APP
ANYWHERE = tuple(each for each in MONITOR if each.id in ("problem", "previous-problem", "triage", "gantt", "sources"))
"""What works on every screen, by way of the monitor."""
IDS = frozenset(command.id for command in COMMANDS + TRIAGE + PAST_SEARCH + TRANSCRIPT + GANTT + REPLAY)


def bindings(commands: Iterable[KeyCommand], *, first: bool = False) -> list[Binding]:
    """The keys of the commands; with `first` they come before those of any widget."""
    return [
        Binding(command.keys, command.action, command.label, tooltip=command.help, id=command.id, priority=first)
        for command in commands
    ]


def beside_bars() -> tuple[KeyCommand, ...]:
    """What the key bar offers where there are bars."""
    ranks = _RANKS_BESIDE_BARS
    return tuple(each._replace(bar=ranks[each.id]) for each in MONITOR if each.id in ranks) + GANTT + APP


def keys_of(command: KeyCommand, overrides: Mapping[str, str]) -> tuple[str, ...]:
    """The keys of a command, as an operator reads them."""
    return tuple(shown(key) for key in overrides.get(command.id, command.keys).split(","))


def key_of(id: str, overrides: Mapping[str, str]) -> str:
    """The first key of the command of that id."""
    return keys_of(next(command for command in MONITOR + APP if command.id == id), overrides)[0]


def shown(key: str) -> str:
    """`slash` as `/`, `ctrl+p` as `ctrl+p`, `escape` as `esc`."""
    *modifiers, name = key.strip().split("+")
    return "+".join((*modifiers, _SHORT.get(name) or format_key(name)))


_SHORT = {"escape": "esc", "up": "↑", "down": "↓", "left": "←", "right": "→", "pageup": "pgup", "pagedown": "pgdn"}
_SHORT |= {name: name for name in ("enter", "space", "tab", "home", "end")}
_SHORT |= {f"f{number}": f"F{number}" for number in range(1, 13)}
