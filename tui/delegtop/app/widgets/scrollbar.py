"""The geometry of a scrollbar: where the thumb is, and where a press takes it. No widget, only arithmetic."""

from typing import NamedTuple


class Thumb(NamedTuple):
    """The cells of the thumb, from `start` to before `end`."""

    start: int
    end: int


def thumb(top: int, page: int, total: int, length: int) -> Thumb | None:
    """The thumb for `page` of `total` rows in view, from `top`, on a track of `length` cells; None if all are."""
    if total <= page or length <= 0:
        return None
    size = max(round(length * page / total), 1)
    last = total - page
    start = round((length - size) * min(top, last) / last)
    # The ends of the track are only touched at the ends of the rows, or the last rows would be out of sight unnoticed.
    if 0 < top < last and length > size + 1:
        start = min(max(start, 1), length - size - 1)
    return Thumb(start, start + size)


def top_for(start: int, size: int, page: int, total: int, length: int) -> int:
    """The first row in view when the thumb is dragged to begin at `start`."""
    free = length - size
    if free <= 0:
        return 0
    return round((total - page) * min(max(start, 0), free) / free)
