"""Who keeps the output of a call open that has ended: what it put into the background has it too, and whoever reads it
to its end waits for that."""

from collections.abc import Iterable

from delegtop.kernel.open_files import Descriptor, OpenFiles
from delegtop.kernel.process_table import ProcessTable

_OUTPUTS = (1, 2)
_READ_TO_THE_END = ("pipe", "socket", "terminal")


def outputs(files: OpenFiles, pid: int) -> frozenset[str]:
    """Where what it writes goes, if somebody may wait for the end of that."""
    return frozenset(each.leads_to for each in _outputs(files, pid))


def heirs(table: ProcessTable, files: OpenFiles, kept: Iterable[str], agent: int) -> list[int]:
    """The processes that could still write there, without those below others of them. None if the agent could as well:
    then it does not wait for the end."""
    found: set[int] = set()
    for leads_to in kept:
        writers = files.writers(leads_to)
        if agent not in writers:
            found |= writers
    found -= {agent, *table.above(agent)}
    return sorted(pid for pid in found if not any(above in found for above in table.above(pid)))


def writes_to(files: OpenFiles, pid: int, agent: int) -> bool:
    """Whether its output goes into a pipe that the agent reads."""
    own = {each.leads_to for each in _outputs(files, pid) if each.kind == "pipe"}
    held = [each for each in files.of(agent) if each.leads_to in own] if own else []
    return bool(held) and not any(files.is_writable(agent, each.fd) for each in held)


def _outputs(files: OpenFiles, pid: int) -> list[Descriptor]:
    found = (files.one(pid, fd) for fd in _OUTPUTS)
    return [each for each in found if each is not None and each.kind in _READ_TO_THE_END]
