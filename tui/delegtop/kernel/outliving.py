"""Processes that outlived the session that started them: each was seen below the session's own process, or is that of a
call which the session left open.

Who started whom is read where the kernel lists the children of each thread. Of one that does not, nothing is told.
"""

from collections.abc import Collection, Iterable
from typing import NamedTuple

from delegtop.kernel import process_source
from delegtop.kernel.process_table import command_of, row_of

LINGERS = 5.0
"""Seconds in which what a session started is expected to end with it."""
_MANY = 200
"""Processes of one session that are remembered."""


class LeftProcess(NamedTuple):
    """One that is there though its session is not."""

    session: str
    pid: int
    command: str
    memory: int
    """Bytes."""


class _Party:
    """The process of a session, and those it started: their numbers, and when each began, which names them for good."""

    def __init__(self, session: str, pid: int, started: int) -> None:
        self.session, self.pid, self.started = session, pid, started
        self.below: dict[int, int] = {}
        self.gone_at: float | None = None


class Outliving:
    """Remembers from look to look what belongs to whom."""

    def __init__(self) -> None:
        self._parties: dict[tuple[str, int], _Party] = {}

    @property
    def is_empty(self) -> bool:
        return not self._parties

    def follow(self, session: str, pid: int) -> None:
        """That is the process of the session, and it is there."""
        if (session, pid) not in self._parties and (row := row_of(pid)) is not None and not row.is_dead:
            self._parties[session, pid] = _Party(session, pid, row.started)

    def adopt(self, session: str, pid: int) -> None:
        """That is the process of a call of a session that is gone."""
        if (row := row_of(pid)) is not None:
            party = self._parties.setdefault((session, pid), _Party(session, 0, 0))
            party.below[pid], party.gone_at = row.started, float("-inf")

    def look(self, at: float) -> list[LeftProcess]:
        """All that are left now; `at` is the time of a clock that is never set."""
        left: list[LeftProcess] = []
        sessions = {party.pid for party in self._parties.values() if party.gone_at is None}
        for key, party in list(self._parties.items()):
            if party.gone_at is None and not _is_there(party.pid, party.started):
                party.gone_at = at
            party.below = {pid: started for pid, started in party.below.items() if _is_there(pid, started)}
            above = [*party.below, party.pid] if party.gone_at is None else list(party.below)
            party.below.update(_below(above, sessions | party.below.keys(), _MANY - len(party.below)))
            if party.gone_at is None:
                continue
            if not party.below:
                del self._parties[key]
            elif at - party.gone_at >= LINGERS:
                left += (_left(party.session, pid) for pid in party.below)
        return left


def _left(session: str, pid: int) -> LeftProcess:
    row = row_of(pid)
    return LeftProcess(session, pid, command_of(pid) or (row.name if row else ""), row.memory if row else 0)


def _is_there(pid: int, started: int) -> bool:
    row = row_of(pid)
    return row is not None and row.started == started and not row.is_dead


def _below(pids: Iterable[int], but: Collection[int], many: int) -> dict[int, int]:
    """Those that these started, and what they did, with when each began; `but` are left out with all below them."""
    found: dict[int, int] = {}
    above = list(pids)
    for pid in above:
        for child in process_source.source().children(pid):
            row = row_of(child) if child not in found and child not in but and len(found) < many else None
            if row is not None and not row.is_dead:
                found[child] = row.started
                above.append(child)
    return found
