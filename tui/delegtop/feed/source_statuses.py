"""The health of all sources. Files of sessions that were put away are unpacked while somebody looks at them."""

from collections.abc import Iterable, Iterator, Sequence
from typing import overload

from delegtop.feed.followed_file import SourceStatus
from delegtop.feed.packed_files import PackedFiles


class SourceStatuses(Sequence[SourceStatus]):
    """They do not change."""

    def __init__(self, parts: Iterable[SourceStatus | PackedFiles]) -> None:
        self._parts = tuple(parts)

    def plus(self, more: Iterable[SourceStatus]) -> "SourceStatuses":
        return SourceStatuses((*self._parts, *more))

    def __iter__(self) -> Iterator[SourceStatus]:
        for part in self._parts:
            if isinstance(part, PackedFiles):
                yield from part
            else:
                yield part

    def __len__(self) -> int:
        return sum(len(part) if isinstance(part, PackedFiles) else 1 for part in self._parts)

    @overload
    def __getitem__(self, at: int) -> SourceStatus: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[SourceStatus]: ...
    def __getitem__(self, at: int | slice) -> SourceStatus | Sequence[SourceStatus]:
        return (*self,)[at]

    def __eq__(self, other: object) -> bool:
        return self._parts == other._parts if isinstance(other, SourceStatuses) else NotImplemented

    __hash__ = None  # type: ignore[assignment] # compared by what they say
