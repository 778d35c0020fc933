"""What a frame has changed goes to the terminal with it, line by line.

Textual's way there is a message for each widget, a turn of a timer, and all of the screen between the first and the
last line that differs, put together anew of all widgets that lie there. It is Textual's turn as ever where that makes a
difference: where something lies over what differs, where the layout is about to change, and where Textual is not made
as it was when this was written, for it promises nothing of what is used here.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from rich.console import Console
from textual._compositor import CompositorUpdate
from textual.geometry import Region
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

_OF_APP = ("_batch_count", "_display", "is_inline")
_OF_COMPOSITOR = ("_dirty_regions", "visible_widgets")
_OF_SCREEN = (  # which is a widget
    "_callbacks",
    "_exchange_repaint_regions",
    "_invoke_and_clear_callbacks",
    "_layout_required",
    "_repaint_regions",
    "_repaint_required",
    "_scroll_required",
)


class Pieces(CompositorUpdate):
    """Parts of lines, each where it begins."""

    def __init__(self, pieces: Iterable[tuple[int, int, Strip]]) -> None:
        self.pieces = pieces

    def render_segments(self, console: Console) -> str:
        return "".join([f"\x1b[{y + 1};{x + 1}H{strip.render(console)}" for x, y, strip in self.pieces])


def can_paint(screen: Screen[Any]) -> bool:
    """Whether Textual has all that painting this screen here asks of it."""
    compositor = getattr(screen, "_compositor", None)
    asked: tuple[tuple[object, tuple[str, ...]], ...] = (
        (screen, _OF_SCREEN),
        (screen.app, _OF_APP),
        (compositor, _OF_COMPOSITOR),
    )
    return all(hasattr(each, name) for each, names in asked for name in names)


def paint(screen: Screen[Any]) -> None:
    """Put on the terminal what widgets want to be painted anew."""
    compositor, app = screen._compositor, screen.app
    if not screen.is_current or app._batch_count or app.is_inline or compositor._dirty_regions:
        return
    visible = compositor.visible_widgets
    if any(each._layout_required or each._scroll_required for each in (screen, *visible)):
        return
    dirty = [widget for widget in visible if widget._repaint_regions]
    pieces = _pieces(visible, dirty)
    if not pieces:
        return
    for widget in dirty:
        widget._repaint_required = False
        widget._exchange_repaint_regions()
    app._display(screen, Pieces(pieces))  # type: ignore[arg-type] # as Textual's own updates, which say so nowhere
    if screen._callbacks:
        screen.call_next(screen._invoke_and_clear_callbacks)


def _pieces(visible: Mapping[Widget, tuple[Region, Region]], dirty: list[Widget]) -> list[tuple[int, int, Strip]]:
    """What is to be written; nothing if something lies over it, which is in front of it among the visible ones."""
    front: list[Region] = []
    asked: list[tuple[Widget, Region, Region, list[Region]]] = []
    for widget, (region, clip) in visible.items():
        seen = region.intersection(clip)
        if widget in dirty:
            parts = [seen.intersection(part.translate(region.offset)) for part in widget._repaint_regions]
            if any(part.overlaps(other) for part in parts for other in front):
                return []
            asked.append((widget, region, seen, parts))
        front.append(seen)
    return [piece for widget, region, seen, parts in asked for piece in _lines(widget, region, seen, parts)]


def _lines(widget: Widget, region: Region, seen: Region, parts: list[Region]) -> Iterable[tuple[int, int, Strip]]:
    strips = widget.render_lines(seen.translate((-region.x, -region.y)))
    for y, left, right in {(y, part.x, part.right) for part in parts for y in part.line_range}:
        strip = strips[y - seen.y]
        yield left, y, strip if right - left == seen.width else strip.crop(left - seen.x, right - seen.x)
