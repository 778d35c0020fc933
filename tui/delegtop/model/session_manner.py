"""How the process of a session was started, and the foreign ids that tell of a process: what logs and the kernel say of
it is carried with its start, and so it is recorded and replayed like everything else."""

from enum import StrEnum


class Manner(StrEnum):
    """How a program runs a session: that decides what can be done about it from outside."""

    TERMINAL = "terminal"
    """In a terminal in which somebody can type."""
    HEADLESS = "headless"
    """For one command, without anything to type into: only a signal reaches it."""
    BACKGROUND = "background"
    """Below a supervisor of its program, which starts it again if it is signalled; its program has commands for it."""
    SERVER = "server"
    """In a process that has sessions of others too: whoever shows it is another program."""
    UNKNOWN = "unknown"


MANNER = "runs_as"
"""The name of the foreign id that says so."""
SEEN = "seen_by"
"""Who saw that very process; without it only a log says that there is one."""
KERNEL = "kernel"
PROC_START, PID_DOMAIN = "proc_start", "pid_domain"
"""By what to know a process from another that gets its number later, and one of another machine or container."""
JOB, PANE = "job_id", "tmux"
"""What its program calls it in the background; where in tmux it is."""
TTY, LISTENS = "tty", "listens"
"""Its terminal, as `ps` calls it; the address at which a server listens."""

OF_PROCESS = frozenset({MANNER, SEEN, PROC_START, PID_DOMAIN, JOB, PANE, TTY, LISTENS})
"""What is true of one process, and not of those that the session had before."""


def manner(refs: tuple[tuple[str, str], ...]) -> Manner:
    """How the process of these foreign ids was started, as far as somebody said so."""
    told = dict(refs).get(MANNER, "")
    return Manner(told) if told in set(Manner) else Manner.UNKNOWN
