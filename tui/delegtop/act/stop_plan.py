"""The plan: what can be done about one delegation, mildest first, to whom exactly, and what would be lost by it.

To plan is to look: nothing is sent. What cannot be done stands in the plan as well, with the reason.
"""

import os
from enum import StrEnum
from typing import NamedTuple

from delegtop.act.planned_steps import PlannedStep
from delegtop.act.process_identity import ProcessIdentity
from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.model.delegation import Delegation


class Rung(StrEnum):
    """How much is stopped, the least first."""

    TOOL = "tool"
    """The process of the hung command."""
    CHILD = "child"
    """This delegation alone, by its program."""
    SESSION = "session"
    """The session that it belongs to."""
    PROCESS = "process"
    """The process of that session, by SIGTERM."""
    KILL = "kill"
    """The same by SIGKILL, which nobody can refuse and nobody can tidy up after."""


LADDER = (Rung.TOOL, Rung.CHILD, Rung.SESSION, Rung.PROCESS)
"""Those that may be named; to kill is asked for by the name of the program."""


class RungPlan(NamedTuple):
    """What one rung would do, or why it cannot be done."""

    rung: Rung
    does: str = ""
    """What happens, to whom."""
    steps: tuple[PlannedStep, ...] = ()
    why_not: str = ""
    loses: tuple[str, ...] = ()
    """The delegations at work that go down with it."""
    typed: str = ""
    """What somebody must type before it is done."""
    shell: ProcessIdentity | None = None
    """The process that the agent waits for, where another one is signalled: it may go on with the next command."""

    @property
    def is_possible(self) -> bool:
        return not self.why_not


class StopPlan(NamedTuple):
    """All of it, about one delegation, which is known by its id whatever becomes of its row."""

    id: str
    name: str
    program: str
    """What its program is called; nothing if it is of none."""
    session: str
    """Its session, and the process of that."""
    state: str
    kind: str
    """What is the matter, in a word or two."""
    sentence: str
    certainty: str
    evidence: tuple[Origin, ...]
    log: str | None
    """The file that tells of it."""
    at: Millis
    refused: str = ""
    """Why nothing can be planned at all."""
    rungs: tuple[RungPlan, ...] = ()
    is_problem: bool = True
    """Whether anything is the matter with it."""

    def rung(self, rung: Rung) -> RungPlan | None:
        return next((each for each in self.rungs if each.rung is rung), None)

    def above(self, rung: Rung) -> RungPlan | None:
        """The next that is possible and stops more."""
        order = list(Rung)
        higher = order[order.index(rung) + 1 :]
        return next((each for each in self.rungs if each.rung in higher and each.is_possible), None)

    @property
    def mildest(self) -> RungPlan | None:
        """The first that is possible and asks for nothing to be typed."""
        return next((each for each in self.rungs if each.is_possible and not each.typed), None)


def log_of(facts: Delegation) -> str | None:
    """The file that tells of a delegation."""
    places = (facts.started_origin, facts.heard_origin, *facts.origins)
    found = next((each.source for each in places if each is not None and not each.is_kernel and not each.host), None)
    return os.path.abspath(found) if found else None  # noqa: PTH100 -- a Path would follow links
