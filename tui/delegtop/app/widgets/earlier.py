"""The line below the tree that stands for earlier troubles: how many of each kind, and the key that shows them."""

from collections.abc import Mapping

from textual.content import Content

from delegtop.app.widgets.chips import Chip, Chips

SHOW = "earlier"


class Earlier(Chips):
    """Hidden where there are none, or where they have rows of their own."""

    DEFAULT_CSS = """
    Earlier { display: none; padding: 0 1; background: $surface; color: $row-muted; }
    Earlier.-open { display: block; }
    """

    def tell(self, kinds: Mapping[str, int], key: str) -> None:
        """So many of each kind are not shown; nothing if there are none."""
        self.set_class(bool(kinds), "-open")
        words = Content("earlier: " + ", ".join(f"{count:,} {kind}" for kind, count in kinds.items()))
        shows = Content.assemble("   ", (key, "bold $accent"), " shows them")
        room = max(self.room - shows.cell_length, 0)  # the key is worth more than the last of the kinds
        self.show([Chip(words.truncate(room, ellipsis=True) + shows, SHOW)])
