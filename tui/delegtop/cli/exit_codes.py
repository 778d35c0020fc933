"""What the commands return to the shell. Nothing else in delegtop names an exit code."""

from enum import IntEnum


class Exit(IntEnum):
    """Every exit code there is; `MEANING` says them in words."""

    OK = 0
    FINDINGS = 1
    USAGE = 2
    OVERDUE = 3
    UNREADABLE = 4
    TIMEOUT = 124
    INTERRUPTED = 130


MEANING = {
    Exit.OK: "fine",
    Exit.FINDINGS: "something failed, timed out, is blocked or only partly done",
    Exit.USAGE: "the command line, the filter or a setting is wrong",
    Exit.OVERDUE: "something is overdue, or lost",
    Exit.UNREADABLE: "a named source cannot be read",
    Exit.TIMEOUT: "a wait ran out of time (reserved: no command waits yet)",
    Exit.INTERRUPTED: "interrupted by Ctrl-C",
}
