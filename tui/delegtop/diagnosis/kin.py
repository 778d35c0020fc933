"""Who is to be looked at again when somebody else changes: found from there, without looking at all that is well."""

from collections.abc import Callable, Collection, Iterator

from delegtop.model.store.ledger import Handle

Parent = Callable[[Handle], Handle | None]


class Ties:
    """Who is tied to whom; each to one at most."""

    def __init__(self) -> None:
        self._to: dict[Handle, Handle] = {}
        self._tied: dict[Handle, set[Handle]] = {}

    def __getitem__(self, to: Handle) -> Collection[Handle]:
        return self._tied.get(to, ())

    def to(self, handle: Handle) -> Handle | None:
        return self._to.get(handle)

    def tie(self, handle: Handle, to: Handle | None) -> None:
        """It is tied to that one, and to no other any more."""
        before = self._to.get(handle)
        if before == to:
            return
        if before is not None:
            del self._to[handle]
            self._tied[before].discard(handle)
            if not self._tied[before]:
                del self._tied[before]
        if to is not None:
            self._to[handle] = to
            self._tied.setdefault(to, set()).add(handle)


class Below:
    """Some delegations and the branches that lead to them: of a tree of a hundred thousand only these are walked."""

    def __init__(self, parent: Parent) -> None:
        self._parent = parent
        self._wanted: set[Handle] = set()
        self._branches = Ties()

    def keep(self, handle: Handle, wanted: bool) -> None:
        """It is one of them, or it is not."""
        if wanted != (handle in self._wanted):
            (self._wanted.add if wanted else self._wanted.discard)(handle)
            self.follow(handle)

    def follow(self, handle: Handle) -> None:
        """It may have another parent, or nothing leads on from it: bring the branches above it in order."""
        pending = [handle]
        while pending:
            climber = pending.pop()
            leads = climber in self._wanted or self._branches[climber]
            before, above = self._branches.to(climber), self._parent(climber) if leads else None
            if before != above:
                self._branches.tie(climber, above)
                pending += (each for each in (before, above) if each is not None)

    def of(self, handle: Handle, seen: set[Handle]) -> Iterator[Handle]:
        """Those below it that were not seen before."""
        pending = [handle]
        while pending:
            for child in self._branches[pending.pop()]:
                if child not in seen:
                    seen.add(child)
                    pending.append(child)
                    if child in self._wanted:
                        yield child


def above(parent: Parent, handle: Handle, seen: set[Handle]) -> Iterator[Handle]:
    """Everybody above it, up to the first that was seen before."""
    climber = parent(handle)
    while climber is not None and climber not in seen:
        seen.add(climber)
        yield climber
        climber = parent(climber)
