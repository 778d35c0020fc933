"""Starts in columns: what delegations are and who handed them out, merged from all that tell of it."""

from array import array
from collections.abc import Collection, Container, Mapping
from itertools import compress
from operator import attrgetter
from sys import intern
from typing import ClassVar, Self

import msgspec
from msgspec.structs import replace

from delegtop.base.clock import Millis
from delegtop.model.delegation import FACTS
from delegtop.model.events import Started, Trust
from delegtop.model.store.column_store import ColumnStore, RowsMoved
from delegtop.model.store.merge import contest, merge_starts
from delegtop.model.store.numbers import UNSET, known
from delegtop.model.store.origin_column import OriginColumn, SourceNumbers
from delegtop.model.store.packed_places import AgreedStarts, Packed, agreed, pack_starts, unpack_starts
from delegtop.protocols.standard.contract.delegation_paths import own_path


class StartShape(msgspec.Struct, frozen=True, gc=False):
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


NO_SHAPE = StartShape(None, None, None, None, None, None, None, Trust.SCRIPT, False, None, False, None)
"""Of a delegation that nobody told the start of."""
shaped = attrgetter(*(name for name in StartShape.__struct_fields__ if name in FACTS))
"""The facts in a shape."""
_common = attrgetter(*(name for name in StartShape.__struct_fields__ if name != "own_path"))
_COMMON = tuple(name for name in StartShape.__struct_fields__ if name in Started.__struct_fields__)


class Starts(ColumnStore):
    """The start of every delegation."""

    COLUMNS: ClassVar[Mapping[str, object]] = {"shape": None, "task": None, "parent": None, "at": UNSET}
    STORES = ("place",)
    BESIDE = ("_shapes", "pids", "refs", "guessed", "claims", "_deadlines")

    def __init__(self, sources: SourceNumbers) -> None:
        self.shape: list[StartShape | None] = []
        """None as long as nobody told of a start."""
        self.task: list[str | None] = []
        self.parent: list[str | None] = []
        """The id of the parent it names."""
        self.at = array("q")
        self.place = OriginColumn(sources)
        self._shapes: dict[tuple[object, ...], StartShape] = {}
        # What only few have.
        self.pids: dict[int, int] = {}
        self.refs: dict[int, tuple[tuple[str, str], ...]] = {}
        self.guessed: set[int] = set()
        """Nobody names their parent; the one they have is a guess."""
        self.claims: dict[int, Packed] = {}
        """All that is told, where it is not the same."""
        self._deadlines: dict[int, Millis] = {}
        """The declared ones that are not the start and the timeout together."""

    def take(self, row: int, event: Started, id: str, parent: str | None) -> bool:
        """Fold one in; True if it tells something new. The id and the parent's are given apart, as strings that the
        claims share: many delegations are told of twice."""
        shape = self.shape[row]
        if shape is None:
            self._write_event(row, event, parent)
            return True
        told = self.told(row, id)
        # A claim is what the columns make of it, else the same one told again would be another.
        claims = contest(told, replace(event, id=id, parent=parent, task=event.task or None, path=event.path or None))
        if claims is told:
            return False
        if len(claims) > 1:
            self.claims[row] = pack_starts(claims)
        merged = merge_starts(claims)
        self._write_event(row, merged, merged.parent)
        return True

    def _write_event(self, row: int, event: Started, parent: str | None) -> None:
        origin = event.origin
        self.write(
            row,
            event.at,
            self.place.number(origin),
            origin.line,
            origin.offset,
            event.agent,
            event.command,
            event.caller,
            event.task,
            event.path,
            event.depth,
            event.timeout,
            event.deadline,
            parent,
            event.pid,
            event.host,
            event.trust,
            event.listed,
            event.product,
        )
        if row in self.claims:
            self.refs.pop(row, None)  # the claims have them
        elif event.refs:
            self.refs[row] = event.refs
        if event.guessed:
            self.guessed.add(row)
        elif self.guessed:
            self.guessed.discard(row)

    def write(
        self,
        row: int,
        at: Millis | None,
        source: int,
        line: int,
        offset: int,
        agent: str | None,
        command: str | None,
        caller: str | None,
        task: str | None,
        path: tuple[str, ...] | None,
        depth: int | None,
        timeout: int | None,
        deadline: Millis | None,
        parent: str | None,
        pid: int | None,
        host: str | None,
        trust: Trust = Trust.SCRIPT,
        listed: bool = False,
        product: str | None = None,
    ) -> None:
        """A start, in place of what was told before; the source by its number."""
        due = deadline is not None and at is not None and timeout is not None and deadline == at + timeout
        common = (agent, command, caller, path or None, depth, timeout, host, trust, listed, product, due)
        shape = self._shapes.get(common)
        if shape is None:
            shape = self._shapes[common] = StartShape(*common, own_path=own_path(path, agent))
        self.shape[row] = shape
        self.task[row] = intern(task) if task else None
        self.parent[row] = parent
        self.at[row] = UNSET if at is None else at
        self.place.put(row, source, line, offset)
        if deadline is not None and not due:
            self._deadlines[row] = deadline
        elif self._deadlines:
            self._deadlines.pop(row, None)
        if pid is not None:
            self.pids[row] = pid

    def know_shapes(self, shapes: Collection[StartShape]) -> None:
        """The shapes of all rows, each once, to be shared by others."""
        self._shapes = {_common(shape): shape for shape in shapes}
        if len(self._shapes) != len(shapes):
            raise ValueError("a shape is told twice")

    def rows_on(self, paths: Container[tuple[str, ...]]) -> set[int]:
        """All whose own path is one of these. Shapes are looked at and not rows, of which there are many more."""
        wanted = {id(shape) for shape in self._shapes.values() if shape.own_path in paths}
        if not wanted:
            return set()
        return set(compress(range(len(self.shape)), map(wanted.__contains__, map(id, self.shape))))

    @property
    def tells_products(self) -> bool:
        """Whether the files of any program tell of one; by the shapes as well."""
        return any(shape.product is not None for shape in self._shapes.values())

    def append_rows(self, other: Self, moved: RowsMoved) -> None:
        super().append_rows(other, moved)
        ours = {id(shape): self._shapes.setdefault(key, shape) for key, shape in other._shapes.items()}
        if any(id(shape) != number for number, shape in ours.items()):
            self.shape[moved.at :] = [shape and ours[id(shape)] for shape in self.shape[moved.at :]]
        self.pids |= moved.table(other.pids)
        self.refs |= moved.table(other.refs)
        self.guessed.update(moved.table(dict.fromkeys(other.guessed)))
        self.claims |= moved.table(other.claims)
        self._deadlines |= moved.table(other._deadlines)

    def told(self, row: int, id: str) -> tuple[Started, ...]:
        """All that is told of it; a single start stands in the columns."""
        shape = self.shape[row]
        if shape is None:
            return ()
        return self.contested(row, id) or (self._written(row, shape, id),)

    def contested(self, row: int, id: str) -> tuple[Started, ...]:
        """All that is told of it, where it is not the same."""
        claims = self.claims.get(row)
        return unpack_starts(claims, id) if claims else ()

    def agreed(self, row: int) -> AgreedStarts | None:
        """What is left of all that is told of it, where that plainly agrees and names no process; None otherwise."""
        claims = self.claims.get(row)
        return agreed(claims) if claims else None

    def _written(self, row: int, shape: StartShape, id: str) -> Started:
        """The start as one event again; the columns hold all of it."""
        origin = self.place[row]
        assert origin is not None  # noqa: S101 # written together with the shape
        return Started(
            id=id,
            at=known(self.at[row]),
            origin=origin,
            task=self.task[row],
            deadline=self.deadline(row),
            parent=self.parent[row],
            pid=self.pids.get(row),
            refs=self.refs.get(row, ()),
            guessed=row in self.guessed,
            **{name: getattr(shape, name) for name in _COMMON},
        )

    def deadline(self, row: int) -> Millis | None:
        """As declared."""
        shape = self.shape[row]
        if shape is None or not shape.due or shape.timeout is None:
            return self._deadlines.get(row)
        return Millis(self.at[row] + shape.timeout)

    def undated(self) -> set[int]:
        """All of which no time is told but that of a file."""
        wanted = {id(shape) for shape in self._shapes.values() if shape.trust is Trust.MTIME}
        if not wanted:
            return set()
        return {row for row, shape in enumerate(self.shape) if id(shape) in wanted and self.at[row] == UNSET}
