"""Starts in columns: what delegations are and who handed them out, merged from all that tell of it."""

from array import array
from sys import intern

import msgspec
from msgspec.structs import replace

from delegtop.clock import Millis
from delegtop.model.claims import contest, merge_starts
from delegtop.model.columns import UNSET, known
from delegtop.model.delegation import own_path
from delegtop.model.events import Started, Trust
from delegtop.model.places import Places, Sources


class Shape(msgspec.Struct, frozen=True, gc=False):
    """What many delegations have in common; one copy serves them all."""

    agent: str | None
    command: str | None
    caller: str | None
    path: tuple[str, ...] | None
    depth: int | None
    timeout: int | None
    host: str | None
    trust: Trust
    listed: bool
    product: str | None
    due: bool
    """It declares a deadline, and that is its start and its timeout together."""
    own_path: tuple[str, ...] | None
    """The path down to and including the agent: some logs leave the agent itself out."""


class Starts:
    """The start of every delegation."""

    BORROWS = True

    def __init__(self, sources: Sources) -> None:
        self.shape: list[Shape | None] = []
        """None as long as nobody told of a start."""
        self.task: list[str | None] = []
        self.parent: list[str | None] = []
        """The id of the parent it names."""
        self.at = array("q")
        self.place = Places(sources)
        self._shapes: dict[tuple[object, ...], Shape] = {}
        # What only few have.
        self.pids: dict[int, int] = {}
        self.refs: dict[int, tuple[tuple[str, str], ...]] = {}
        self.guessed: set[int] = set()
        """Nobody names their parent; the one they have is a guess."""
        self.claims: dict[int, tuple[Started, ...]] = {}
        """All that is told, where it is not the same."""
        self._deadlines: dict[int, Millis] = {}
        """The declared ones that are not the start and the timeout together."""

    def grow(self, rows: int) -> None:
        nothing: list[None] = [None] * rows
        self.shape.extend(nothing)
        self.task.extend(nothing)
        self.parent.extend(nothing)
        self.at.extend([UNSET] * rows)
        self.place.grow(rows)

    def take(self, row: int, event: Started, id: str, parent: str | None) -> bool:
        """Fold one in; True if it tells something new. The id and the parent's are given apart, as strings that the
        claims share: many delegations are told of twice."""
        shape = self.shape[row]
        if shape is None:
            self._write(row, event, parent)
            return True
        told = self.claims.get(row) or (self._written(row, shape, id),)
        # A claim is what the columns make of it, else the same one told again would be another.
        claims = contest(told, replace(event, id=id, parent=parent, task=event.task or None, path=event.path or None))
        if claims is told:
            return False
        if len(claims) > 1:
            self.claims[row] = claims
        merged = merge_starts(claims)
        self._write(row, merged, merged.parent)
        return True

    def _write(self, row: int, event: Started, parent: str | None) -> None:
        at, timeout, deadline = event.at, event.timeout, event.deadline
        due = deadline is not None and at is not None and timeout is not None and deadline == at + timeout
        common = (
            event.agent,
            event.command,
            event.caller,
            event.path or None,
            event.depth,
            timeout,
            event.host,
            event.trust,
            event.listed,
            event.product,
            due,
        )
        shape = self._shapes.get(common)
        if shape is None:
            shape = self._shapes[common] = Shape(*common, own_path=own_path(event.path, event.agent))
        self.shape[row] = shape
        self.task[row] = intern(event.task) if event.task else None
        self.parent[row] = parent
        self.at[row] = UNSET if at is None else at
        self.place[row] = event.origin
        if deadline is not None and not due:
            self._deadlines[row] = deadline
        elif self._deadlines:
            self._deadlines.pop(row, None)
        if event.pid is not None:
            self.pids[row] = event.pid
        if event.refs:
            self.refs[row] = event.refs
        if event.guessed:
            self.guessed.add(row)
        elif self.guessed:
            self.guessed.discard(row)

    def _written(self, row: int, shape: Shape, id: str) -> Started:
        """The start as one event again; the columns hold all of it."""
        origin = self.place[row]
        assert origin is not None  # noqa: S101 # written together with the shape
        return Started(
            id=id,
            at=known(self.at[row]),
            origin=origin,
            agent=shape.agent,
            command=shape.command,
            caller=shape.caller,
            task=self.task[row],
            path=shape.path,
            depth=shape.depth,
            timeout=shape.timeout,
            deadline=self.deadline(row),
            parent=self.parent[row],
            pid=self.pids.get(row),
            host=shape.host,
            refs=self.refs.get(row, ()),
            trust=shape.trust,
            listed=shape.listed,
            product=shape.product,
            guessed=row in self.guessed,
        )

    def deadline(self, row: int) -> Millis | None:
        """As declared."""
        shape = self.shape[row]
        if shape is None or not shape.due or shape.timeout is None:
            return self._deadlines.get(row)
        return Millis(self.at[row] + shape.timeout)
