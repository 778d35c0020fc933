"""What the commands return to the shell. Nothing else in delegtop names an exit code."""

from collections.abc import Iterable
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from delegtop.diagnosis.assessment import Assessment
    from delegtop.diagnosis.assessments import Assessments
    from delegtop.observation.overall import Shown


class Exit(IntEnum):
    """Every exit code there is; `MEANING` says them in words."""

    OK = 0
    ENDED_BADLY = 1
    FINDINGS = 1
    USAGE = 2
    STUCK = 3
    UNREADABLE = 4
    TIMEOUT = 124
    REFUSED = 125
    NOT_EXECUTABLE = 126
    NOT_FOUND = 127
    HUNG_UP = 129
    INTERRUPTED = 130
    TERMINATED = 143


MEANING = {
    Exit.OK: "fine",
    Exit.ENDED_BADLY: "something ended badly, or was lost long ago; a finding (check, lint); a difference "
    "(diff); not done (stop); nothing found (find, bundle)",
    Exit.USAGE: "the command line, the filter or a setting is wrong",
    Exit.STUCK: "something open is stuck, or needs a person (likely or certain), or was lost just now; "
    "asked for, and nothing came of it that can be seen (stop)",
    Exit.UNREADABLE: "a source that was named, a log or a folder of logs cannot be read",
    Exit.TIMEOUT: "run: the command ran out of time and was ended; watch, wait: the time is up and it has not happened",
    Exit.REFUSED: "run: the delegation was refused before it started, too deep or a cycle",
    Exit.NOT_EXECUTABLE: "run: the command cannot be executed",
    Exit.NOT_FOUND: "run: there is no such command",
    Exit.HUNG_UP: "ended by SIGHUP: its terminal is gone",
    Exit.INTERRUPTED: "interrupted by Ctrl-C",
    Exit.TERMINATED: "ended by SIGTERM",
}


def of(assessments: "Iterable[Assessment]") -> Exit:
    """What these delegations together mean to a script: the worst of what each means."""
    return Exit(max((each.exit for each in assessments), default=0))


def outcome(assessments: "Assessments", shown: "Shown" = None) -> Exit:
    """The same of all delegations that are assessed, or of those shown."""
    return of(map(assessments.of, range(len(assessments.forest)) if shown is None else shown))
