"""Whose questions these are: the session that started this program, told by the processes above it."""

import os
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from delegtop.diagnosis.session_process import session_process
from delegtop.dialects.products import products
from delegtop.kernel.process_table import row_of
from delegtop.model.forest import Forest
from delegtop.model.states import ACTIVE, UNENDED
from delegtop.model.store.ledger import Handle

_ABOVE = 50
"""Processes that are climbed, at most."""


class ClientSession(NamedTuple):
    """The session that asks, or why nobody can tell."""

    session: Handle | None
    why: str = ""


def client_session(forest: Forest, pid: int | None = None, environ: Mapping[str, str] = os.environ) -> ClientSession:
    """By the nearest process above ours that a session is known to run in; else by what its program told us when it
    started us, which is no longer true once it has begun another session."""
    running = _sessions_by_process(forest)
    for process in _above(os.getpid() if pid is None else pid):
        found = running.get(process, [])
        at_work = [handle for handle in found if forest.state(handle) in ACTIVE]
        if len(found) == 1 or len(at_work) == 1:
            return ClientSession((found if len(found) == 1 else at_work)[0])
        if found:
            return ClientSession(None, f"the program that started this one (pid {process}) runs {len(found)} sessions")
    told = (environ.get(each.session_variable) for each in products() if each.session_variable)
    named = next((handle for id in told if id and (handle := forest.find(id, "")) is not None), None)
    if named is not None:
        return ClientSession(named)
    return ClientSession(None, "none of the programs above this one is known to run a session of this scope")


def _sessions_by_process(forest: Forest) -> dict[int, list[Handle]]:
    """The sessions whose very process is there, by its number."""
    found: dict[int, list[Handle]] = {}
    for handle, _ in forest.in_states(UNENDED) if forest.has_processes else ():
        seen = None if forest.host_of(handle) else session_process(forest, handle)
        if seen is None or seen.session != handle or not seen.is_there or seen.pid is None:
            continue
        row = row_of(seen.pid)
        if row is not None and seen.start_ticks in (None, row.started):
            found.setdefault(seen.pid, []).append(handle)
    return found


def _above(pid: int) -> Iterator[int]:
    """Who started it, and so on up."""
    for _ in range(_ABOVE):
        row = row_of(pid)
        if row is None or row.parent <= 1:
            return
        pid = row.parent
        yield pid
