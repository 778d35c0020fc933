"""The way down to the subtree that is looked at alone; each step is a click back up."""

from collections.abc import Sequence

from textual.content import Content

from delegtop.app.widgets.chips import Chip, Chips

TOP = "top"


class Crumbs(Chips):
    """Hidden unless one subtree is shown alone."""

    DEFAULT_CSS = """
    Crumbs { display: none; padding: 0 1; background: $surface; color: $foreground; }
    Crumbs.-open { display: block; }
    """

    def tell(self, steps: Sequence[tuple[int, str]], *, plain: bool = False) -> None:
        """The delegations from the outermost down to the one in focus, by handle and name; none hides the line. Where
        the way is too long for the line, its beginning is left out."""
        self.set_class(bool(steps), "-open")
        chips, dropped = _chips(steps, plain=plain, cut=False), 0
        while sum(chip.text.cell_length for chip in chips) > self.room and dropped < len(steps) - 1:
            dropped += 1
            chips = _chips(steps[dropped:], plain=plain, cut=True)
        self.show(chips)


def _chips(steps: Sequence[tuple[int, str]], *, plain: bool, cut: bool) -> list[Chip]:
    separator = Chip(Content.styled(" > " if plain else " › ", "$row-muted"))
    chips = [Chip(Content.styled("all", "$accent"), TOP)]
    if cut:
        chips += [separator, Chip(Content.styled("~" if plain else "…", "$row-muted"))]
    for number, (handle, name) in enumerate(steps, 1):
        last = number == len(steps)
        chips += [separator, Chip(Content.styled(name, "bold" if last else "$accent"), "" if last else str(handle))]
    return chips
