"""How the process of a session was started: by the words of its command line, and by whether it has a terminal."""

from delegtop.base.product import Product
from delegtop.kernel.program_process import ProgramProcess
from delegtop.model.session_manner import KERNEL, LISTENS, MANNER, PANE, PROC_START, SEEN, TTY, Manner

SERVERS = frozenset({"serve", "server", "web", "acp", "app-server", "mcp", "mcp-server", "daemon", "remote-control"})
"""Words of a command line that make a process serve sessions of any folder."""

Refs = tuple[tuple[str, str], ...]


def manner(process: ProgramProcess, program: Product | None) -> Manner:
    """What its program calls so, else what it looks like: without a terminal there is nothing to type into."""
    headless = program.headless if program else ()
    words = [word.partition("=")[0] if word.startswith("-") else word for word in process.words[1:]]
    if any(word.lstrip("-") in SERVERS for word in words):
        return Manner.SERVER
    if any(word in headless for word in words) or process.has_terminal is False:
        return Manner.HEADLESS
    return Manner.UNKNOWN if process.has_terminal is None else Manner.TERMINAL


def seen(process: ProgramProcess, program: Product | None) -> Refs:
    """What its start is told with, once that very process was seen."""
    runs_as = manner(process, program)
    told = (MANNER, runs_as.value), (PROC_START, str(process.ticks)), (SEEN, KERNEL)
    return (*told, *_reached(process, program, runs_as))


def _reached(process: ProgramProcess, program: Product | None, runs_as: Manner) -> Refs:
    """Where somebody reaches it: its terminal, or the address of a server that can be asked to abort a session."""
    if runs_as is Manner.TERMINAL:
        found: Refs = ((TTY, process.terminal), (PANE, process.tmux_pane))
    elif runs_as is Manner.SERVER and program is not None and program.abort_path:
        found = ((LISTENS, process.listens),)
    else:
        return ()
    return tuple(ref for ref in found if ref[1])
