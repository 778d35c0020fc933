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
        words = ", ".join(f"{count:,} {kind}" for kind, count in kinds.items())
        self.show([Chip(Content.assemble(f"earlier: {words}   ", (key, "bold $accent"), " shows them"), SHOW)])
