"""At what moment of its own host time alone may change what was found of a delegation.

A host that is not heard of stands still: what is due there waits until its clock is known to have come so far.
"""

from collections.abc import Iterator

from delegtop.base.clock import Millis
from delegtop.model.agenda import Agenda
from delegtop.model.forest import Forest
from delegtop.model.store.ledger import Handle


class HostAgenda:
    """An agenda for each host of a forest."""

    def __init__(self, forest: Forest) -> None:
        self._forest = forest
        self._agendas: dict[str, Agenda] = {}

    def set(self, handle: Handle, at: Millis | None) -> None:
        """Look at it again at that moment, by the clock of its host; None means that time cannot change it."""
        host = self._forest.host_of(handle)
        agenda = self._agendas.get(host)
        if agenda is None:
            agenda = self._agendas[host] = Agenda()
        agenda.set(handle, at)

    def due(self) -> Iterator[Handle]:
        """Every delegation whose moment has come, once."""
        for host, agenda in self._agendas.items():
            yield from agenda.due(self._forest.judged_on(host))

    def next(self) -> Millis | None:
        """The first moment of the whole picture at which one is due; None if time changes nothing any more."""
        words = self._forest.hosts
        turns = (words[host].shown_when(agenda.next()) for host, agenda in self._agendas.items() if host in words)
        return min((turn for turn in turns if turn is not None), default=None)
