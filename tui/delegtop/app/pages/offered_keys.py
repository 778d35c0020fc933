"""What the key bar of the monitor offers, and which words change with how things stand."""

from collections.abc import Iterable

from delegtop.app.keymap import KeyCommand

_STOP_RANK = 3
"""Of stopping, where it is turned on: then it is what to do."""


def ranked(commands: Iterable[KeyCommand], *, acts: bool) -> list[KeyCommand]:
    """Those that have a place in the bar."""
    return [
        command._replace(bar=_STOP_RANK) if acts and command.id == "stop" else command
        for command in commands
        if command.bar
    ]


def words(
    *,
    sort: str,
    follows: bool,
    only_open: bool,
    inspects: bool = False,
    charted: bool = False,
    paused: bool = False,
    focused: bool = False,
    inspect: str = "inspect",
) -> dict[str, str]:
    """The words by the commands' names. What is left out is as it is before there is anything to look at."""
    return {
        "gantt": "columns" if charted else "gantt",
        "pause": "resume" if paused else "pause",
        "follow": "unfollow" if follows else "follow",
        "sort": f"sort:{sort}",
        "inspect": inspect,
        "focus": "show all" if focused else "focus subtree",
        "only-open": "show all" if only_open else "only open",
        "inspector": "hide inspector" if inspects else "inspector",
    }
