"""Of whom a process is still to be looked for, as `ProcessWatch` would know it from the same events."""

from collections.abc import Iterable, Iterator

from delegtop.model.events import Ended, Event, Started


class RunningStarts:
    """The starts that name a process, and of which no end was told since."""

    def __init__(self, known: Iterable[Started] = ()) -> None:
        self._starts = {started.id: started for started in known}

    def mind(self, event: Event) -> None:
        if isinstance(event, Ended):
            self._starts.pop(event.id, None)
        elif isinstance(event, Started) and event.pid is not None:
            known = self._starts.get(event.id)
            if known is None or (known.at or 0) <= (event.at or 0):
                self._starts[event.id] = event

    def __iter__(self) -> Iterator[Started]:
        return iter(self._starts.values())
