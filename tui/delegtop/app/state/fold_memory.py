"""What the operator had folded and focused, by id: it outlives a moment at which the delegation was not there yet."""

from collections.abc import Iterator

from delegtop.model.forest import Forest
from delegtop.model.store.ledger import Handle
from delegtop.model.tree.outline import Outline


class FoldMemory:
    """Kept from one moment of a recording to another."""

    def __init__(self) -> None:
        self.folds: set[str] = set()
        self.focus: str | None = None

    def keep(self, forest: Forest, outline: Outline, focus: Handle | None) -> None:
        """How it looks now; of what is not there now, what was kept before still holds."""
        here = {forest.full_id(handle) for handle in outline.folded}
        self.folds = here.union(id for id in self.folds if forest.find(id) is None)
        if focus is not None:
            self.focus = forest.full_id(focus)

    def folded(self, forest: Forest) -> Iterator[Handle]:
        """What was folded and is there now."""
        return (handle for id in self.folds if (handle := forest.find(id)) is not None)

    def focused(self, forest: Forest) -> Handle | None:
        return None if self.focus is None else forest.find(self.focus)
