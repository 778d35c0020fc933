"""Where a line of a page leads when it is chosen: to the line of the log it tells of, or a command to the clipboard."""

from typing import Any

from textual.screen import Screen

from delegtop.app import clipboard
from delegtop.app.screens.copy import copy
from delegtop.app.screens.raw_line import RawLine
from delegtop.app.widgets.sheet import CopyableCommand, Sheet
from delegtop.base.origin import Origin
from delegtop.feed.live_feed import Readable


def follow(screen: Screen[Any], event: Sheet.Chosen, feed: Readable, *, masked: bool) -> None:
    event.stop()
    if isinstance(event.target, Origin):
        screen.app.push_screen(RawLine(feed, event.target, masked=masked))
    elif isinstance(event.target, CopyableCommand):
        copy(screen, "command", event.target.text, clipboard.refusal(event.target.text))
