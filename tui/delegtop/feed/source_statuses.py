"""The health of all sources. Files of sessions that were put away are unpacked while somebody looks at them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Union, overload

from delegtop.feed.followed_file import SourceStatus
from delegtop.feed.packed_files import PackedFiles

if TYPE_CHECKING:
    from delegtop.feed.kept_session import RecalledFiles

StatusPart = Union[SourceStatus, PackedFiles, "RecalledFiles", "SourceStatuses"]


class SourceStatuses(Sequence[SourceStatus]):
    """They do not change. With an `order` they stand in that of their paths; what is not in it comes last."""

    def __init__(self, parts: Iterable[StatusPart], order: Mapping[str, int] | None = None) -> None:
        self._parts, self._order = tuple(parts), order

    def plus(self, more: Iterable[SourceStatus]) -> "SourceStatuses":
        return SourceStatuses((self, *more))

    def statuses(self) -> Iterator[SourceStatus]:
        return iter(self)

    def odd(self) -> list[SourceStatus]:
        """Those of which there may be more to tell than that they were read to their end: of thousands a few."""
        found: list[SourceStatus] = []
        for part in self._parts:
            if isinstance(part, SourceStatus):
                found.append(part)
            else:
                found += part.odd() if isinstance(part, SourceStatuses) else part.odd
        return self._in_order(found)

    def _in_order(self, found: list[SourceStatus]) -> list[SourceStatus]:
        order = self._order
        return found if order is None else sorted(found, key=lambda each: order.get(each.path, len(order)))

    def __iter__(self) -> Iterator[SourceStatus]:
        return iter(self._in_order([*self._all()])) if self._order is not None else self._all()

    def _all(self) -> Iterator[SourceStatus]:
        for part in self._parts:
            if isinstance(part, SourceStatus):
                yield part
            else:
                yield from part.statuses()

    def __len__(self) -> int:
        return sum(1 if isinstance(part, SourceStatus) else len(part) for part in self._parts)

    @overload
    def __getitem__(self, at: int) -> SourceStatus: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[SourceStatus]: ...
    def __getitem__(self, at: int | slice) -> SourceStatus | Sequence[SourceStatus]:
        return (*self,)[at]

    def __eq__(self, other: object) -> bool:
        return self._parts == other._parts if isinstance(other, SourceStatuses) else NotImplemented

    __hash__ = None  # type: ignore[assignment] # compared by what they say


def odd(statuses: Sequence[SourceStatus]) -> Sequence[SourceStatus]:
    """The same of any."""
    return statuses.odd() if isinstance(statuses, SourceStatuses) else statuses


def offers(statuses: Sequence[SourceStatus]) -> list[SourceStatus]:
    """The logs that lie here and are not read because nothing in them is alive, the newest first."""
    found = [status for status in odd(statuses) if status.told_at is not None]
    return sorted(found, key=lambda status: -(status.told_at or 0))
