"""One session and all below it: what `--for` names. It may be one that is not known yet."""

from typing import TYPE_CHECKING

from delegtop.cli import diagnostics
from delegtop.cli.diagnostics import fail

if TYPE_CHECKING:
    from delegtop.model.forest import Forest
    from delegtop.model.store.ledger import Handle

ASKING = "-"
"""The session that started this very program."""
_SHOWN = 5


class WatchedSession:
    """The delegation that an id means, once it is there, and those below it."""

    def __init__(self, forest: "Forest", id: str) -> None:
        self._forest, self._id = forest, id
        self._handle: Handle | None = None
        self._size = -1
        self.look()
        if self._handle is None:
            diagnostics.say(f"--for {id}: {self._unknown}; it is waited for")

    def look(self) -> None:
        """Look for it, if more is known than before."""
        if self._handle is None and len(self._forest) != self._size:
            self._size = len(self._forest)
            self._handle = self._find()

    def holds(self, handle: "Handle") -> bool:
        at: Handle | None = handle
        while at is not None and at != self._handle:
            at = self._forest.parent(at)
        return at is not None

    def _find(self) -> "Handle | None":
        self._unknown = "no delegation is known by that id yet"
        if self._id != ASKING:
            return find(self._forest, self._id)
        from delegtop.mcp_server.client_session import client_session

        found = client_session(self._forest)
        self._unknown = found.why
        return found.session


def find(forest: "Forest", id: str) -> "Handle | None":
    """The one it means: by its id, by a foreign id, by the beginning of its id; a usage error if several do."""
    from delegtop.model.lookup import meant

    fitting = meant(forest, id)
    if len(fitting) > 1:
        known = ", ".join(forest.full_id(handle) for handle in fitting[:_SHOWN])
        more = f" and {len(fitting) - _SHOWN} more" if len(fitting) > _SHOWN else ""
        fail(f"{id} may mean several: {known}{more}")
    return fitting[0] if fitting else None
