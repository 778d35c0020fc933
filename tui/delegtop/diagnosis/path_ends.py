"""Whom each one waits on in the end: of all that it waits for and that are at least likely in trouble the one that
ranks first, and if none is, the one that began first. What is only possible is no reason to wait for it before all
others."""

from collections.abc import Collection, Iterator

from delegtop.diagnosis.assessment import PRESSING, Key, trouble
from delegtop.diagnosis.case import Case
from delegtop.model.forest import Forest
from delegtop.model.states import ACTIVE
from delegtop.model.store.ledger import Handle


class JudgedEnds:
    """Found by judging everybody below, once each: for who looks once."""

    def __init__(self, forest: Forest) -> None:
        self._forest = forest
        self._own: dict[Handle, Key | None] = {}
        self._below: dict[Handle, Key | None] = {}
        """What ranks first of all that is waited for below each."""

    def of(self, handle: Handle) -> Handle | None:
        first = self._first_below(handle)
        return self._forest.blocker(handle) if first is None else first[-1]

    def is_in_trouble(self, handle: Handle) -> bool:
        end = self.of(handle)
        return end is not None and self._trouble(end) is not None

    def _first_below(self, handle: Handle) -> Key | None:
        if handle not in self._below:
            waited_for = [handle]
            for each in waited_for:
                waited_for += self._awaited(each)
            for each in reversed(waited_for):  # children before their parents, whose verdicts ask for theirs
                self._below[each] = min(filter(None, map(self._at_or_below, self._awaited(each))), default=None)
        return self._below[handle]

    def _awaited(self, handle: Handle) -> Iterator[Handle]:
        return (child for child in self._forest.offspring(handle) if self._forest.state(child) in ACTIVE)

    def _at_or_below(self, handle: Handle) -> Key | None:
        return _first_of(self._trouble(handle), self._below[handle])

    def _trouble(self, handle: Handle) -> Key | None:
        if handle not in self._own:
            self._own[handle] = trouble(Case(self._forest, handle, ends=self))
        return self._own[handle]


class KeptEnds:
    """Kept up by whoever hears of each trouble as it comes and goes."""

    def __init__(self, forest: Forest) -> None:
        self._forest = forest
        self._own: dict[Handle, Key] = {}
        """All troubles, as they would rank if they held up nobody."""
        self._above: dict[Handle, Handle] = {}
        """Who waits for each at or below which there is one that presses."""
        self._below: dict[Handle, dict[Handle, Key]] = {}
        """What ranks first at or below each of those that one waits for, if there is one that presses."""
        self._first: dict[Handle, Key] = {}
        """And what ranks first of all these."""

    def of(self, handle: Handle) -> Handle | None:
        first = self._first.get(handle)
        return self._forest.blocker(handle) if first is None else first[-1]

    def is_in_trouble(self, handle: Handle) -> bool:
        return self.of(handle) in self._own

    def take(self, handle: Handle, own: Key | None) -> Collection[Handle]:
        """It is in that trouble now, or in none; returns who waits on another one than before, and on whom."""
        if self._own.get(handle) == own:
            return ()
        if own is None:
            del self._own[handle]
        else:
            self._own[handle] = own
        return self.follow(handle)

    def follow(self, handle: Handle) -> Collection[Handle]:
        """It may be another that waits for it, or nobody any more; returns the same."""
        if handle not in self._own and handle not in self._first and handle not in self._above:
            return ()
        others, pending = set[Handle](), [handle]
        while pending:
            climber = pending.pop()
            key = _first_of(self._own.get(climber), self._first.get(climber))
            above = None if key is None or self._forest.state(climber) not in ACTIVE else self._forest.parent(climber)
            before = self._above.get(climber)
            told = [] if before in (None, above) else [(before, None)]
            for parent, of_it in (*told, *([] if above is None else [(above, key)])):
                first = self._first.get(parent)
                self._tell(parent, climber, of_it)
                now = self._first.get(parent)
                if now != first:
                    pending.append(parent)
                if (now and now[-1]) != (first and first[-1]):
                    others.update((parent, *(end[-1] for end in (first, now) if end is not None)))
        return others

    def _tell(self, parent: Handle, child: Handle, key: Key | None) -> None:
        """That ranks first now at or below a child that it waits for."""
        below, first = self._below.setdefault(parent, {}), self._first.get(parent)
        known = below.get(child)
        if key is None:
            del below[child], self._above[child]
        else:
            below[child], self._above[child] = key, parent
        if key is not None and (first is None or key <= first):
            self._first[parent] = key
        elif known is not None and known == first:
            self._first.pop(parent)
            if below:
                self._first[parent] = min(below.values())
        if not below:
            del self._below[parent]


def _first_of(own: Key | None, below: Key | None) -> Key | None:
    """What ranks first of one in trouble and of what it waits on, of what presses."""
    return min((each for each in (own, below) if each is not None and each[0] in PRESSING), default=None)
