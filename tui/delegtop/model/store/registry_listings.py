"""Which registries list a delegation, since when no longer, and when that was last seen."""

from collections.abc import Collection, Iterable

from delegtop.base.clock import Millis
from delegtop.base.origin import HostFile

Handle = int


class RegistryListings:
    """The latest whole snapshot of every registry, and when each delegation was last in one."""

    def __init__(self) -> None:
        self._latest: dict[HostFile, tuple[Millis, frozenset[Handle]]] = {}
        self._listed: dict[Handle, dict[HostFile, Millis]] = {}

    def take(self, registry: HostFile, at: Millis, present: frozenset[Handle]) -> set[Handle]:
        """At that moment these were in the registry, and no others; returns all of whom that may tell something new."""
        for handle in present:
            listed = self._listed.setdefault(handle, {})
            listed[registry] = max(at, listed.get(registry, at))
        latest = self._latest.get(registry)
        if latest is None:
            self._latest[registry] = (at, present)
            return set(present)
        if at < latest[0]:
            return set(present)
        if at == latest[0]:
            present |= latest[1]
        self._latest[registry] = (at, present)
        return set(present | latest[1])

    def listings(self, handle: Handle) -> Iterable[tuple[HostFile, Millis]]:
        """The registries that listed it, and when each last did."""
        return self._listed.get(handle, {}).items()

    def latest(self) -> Iterable[tuple[HostFile, Millis, frozenset[Handle]]]:
        """The last snapshot of every registry: when it was taken, and who was in it."""
        return ((registry, at, present) for registry, (at, present) in self._latest.items())

    @property
    def rows(self) -> Collection[Handle]:
        """All that any registry has listed."""
        return self._listed

    def listed_at(self, handle: Handle) -> Millis | None:
        """When it was last seen in a registry."""
        listed = self._listed.get(handle)
        return max(listed.values()) if listed else None

    def has_left(self, handle: Handle) -> bool:
        """Every registry that listed it has been written since without it."""
        listed = self._listed.get(handle)
        return bool(listed) and all(handle not in self._latest[registry][1] for registry in listed or ())
