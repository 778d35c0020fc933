"""Rows that are called alike. Their name says nothing of which is which: what each works at does, from where on that
differs."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import pairwise

from delegtop.base.common_beginning import in_common
from delegtop.report.layout import Ruler

LEAST_NAME, LEAST_WORK = 6, 8
"""Cells that a name keeps which others have, too, and what must be seen of the work to be worth reading."""
_SEEN_APART = 4
"""Cells of the work that are to be seen from where it differs."""


class Namesakes:
    """Who is called alike among those in sight."""

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._differ: dict[tuple[str, str], int] = {}
        self._twins: set[tuple[str, str]] = set()

    def look(self, rows: Iterable[tuple[str, str]]) -> None:
        """These are in sight, each with its name and its work. Who had a namesake once is told like one from then on:
        nothing is to look otherwise while one scrolls."""
        works: defaultdict[str, list[str]] = defaultdict(list)
        for name, work in rows:
            works[name].append(work)
        self._differ.clear()
        self._twins.clear()
        for name, alike in works.items():
            if len(alike) > 1:
                self._names.add(name)
                self._compare(name, sorted(set(alike)))
                self._twins.update((name, work) for work, many in Counter(alike).items() if many > 1)

    def _compare(self, name: str, works: list[str]) -> None:
        """In their order each has most in common with the one beside it."""
        for one, other in pairwise(works):
            same = in_common(one, other)
            for work in (one, other):
                self._differ[name, work] = max(same, self._differ.get((name, work), 0))

    def differs_at(self, name: str, work: str) -> int | None:
        """The first sign of its work that tells it from all its namesakes; None if it has none."""
        return self._differ.get((name, work), 0) if name in self._names else None

    def has_twin(self, name: str, work: str) -> bool:
        """Whether another is called alike and works at the same: then only its place tells which it is."""
        return (name, work) in self._twins


def fitted(
    name: str, work: str, differs_at: int | None, room: int, ruler: Ruler, mark: str, place: str = ""
) -> tuple[str, str]:
    """A name and the work, its place before it, in so many cells, with two between them. The name comes first, unless
    others have it, too: then the work does. What there is no room for is empty."""
    wanted = ruler.cells(place + work)
    readable = min(wanted, LEAST_WORK)
    if work and differs_at is not None:
        keeps = max(min(ruler.cells(name), LEAST_NAME), room - 2 - wanted)
        name = ruler.cut(name, keeps, mark) if room - 2 - keeps >= readable else ""
    else:
        name = ruler.cut(name, room, mark)
    left = room - ruler.cells(name) - 2 if name else room
    if not wanted or left < (readable if name else 1):
        return name, ""
    if work and left < ruler.cells(place) + LEAST_WORK // 2:
        place = ""
    return name, ruler.cut(place + cut_apart(work, differs_at or 0, left - ruler.cells(place), ruler, mark), left, mark)


def cut_apart(work: str, differs_at: int, width: int, ruler: Ruler, mark: str) -> str:
    """The work, so that it is seen what tells it from others: its beginning, and half of the room from the word on in
    which it differs from the one it is most alike."""
    if ruler.cells(work) <= width or differs_at + _SEEN_APART < width or width < LEAST_WORK:
        return ruler.cut(work, width, mark)
    word = work.rfind(" ", 0, differs_at + 1) + 1
    end = ruler.cut(work[word:], width // 2, mark)
    return ruler.cut(work, width - ruler.cells(end), mark) + end
