"""The line below the tree that stands for rows that are not there: earlier troubles, and what is long over; how many of
each, and the key that shows them."""

from collections.abc import Mapping

from textual.content import Content

from delegtop.app.widgets.chips import Chip, Chips

SHOW = "earlier"
MORE = "finished"
_GAP = "     "


class Earlier(Chips):
    """Hidden where there are none, or where they have rows of their own."""

    DEFAULT_CSS = """
    Earlier { display: none; padding: 0 1; background: $surface; color: $row-muted; }
    Earlier.-open { display: block; }
    """

    def tell(self, kinds: Mapping[str, int], key: str, finished: int = 0, more: str = "") -> None:
        """So many of each kind are not shown, and so many that are over; nothing if there are none."""
        self.set_class(bool(kinds or finished), "-open")
        chips = []
        if finished:
            over = Content(f"{finished:,} over and without a row")
            chips = [Chip(over + Content.assemble("   ", (more, "bold $accent"), " shows more"), MORE)]
        if kinds:
            words = Content("earlier: " + ", ".join(f"{count:,} {kind}" for kind, count in kinds.items()))
            shows = Content.assemble("   ", (key, "bold $accent"), " shows them", _GAP if finished else "")
            # The key is worth more than the last of the kinds.
            room = max(self.room - shows.cell_length - sum(chip.text.cell_length for chip in chips), 0)
            chips.insert(0, Chip(words.truncate(room, ellipsis=True) + shows, SHOW))
        self.show(chips)
