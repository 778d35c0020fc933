"""Lines that are on the screen already. Whatever is painted anywhere, Textual asks every widget for all its lines, and
to put together what has not changed takes longer than to paint what has."""

from typing import TYPE_CHECKING

from textual.geometry import Region
from textual.strip import Strip

if TYPE_CHECKING:
    from textual.widget import Widget as _Widget
else:
    _Widget = object  # Textual takes styles and keys of one base alone, which is to be the widget


class KeptLines(_Widget):
    """A widget that gives the same lines again until something of it is to be painted."""

    _kept: tuple[Region, list[Strip]] | None = None

    def render_lines(self, crop: Region) -> list[Strip]:
        if self._kept is None or self._kept[0] != crop:
            self._kept = crop, super().render_lines(crop)
        return self._kept[1]

    def _set_dirty(self, *regions: Region) -> None:
        self._kept = None
        super()._set_dirty(*regions)

    def notify_style_update(self) -> None:
        self._kept = None
        super().notify_style_update()
