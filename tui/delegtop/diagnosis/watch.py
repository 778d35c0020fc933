"""What the rules on watching over delegations share."""

from delegtop.contract import commands
from delegtop.diagnosis.rule import Case
from delegtop.model.delegation import ACTIVE, Delegation, State
from delegtop.origin import Origin

ENDED = frozenset(State) - ACTIVE - {State.LOST, State.UNKNOWN, State.IDLE}
_ABOVE = 10


def life(facts: Delegation) -> list[Origin]:
    """Where it started and where it was last heard of."""
    places = (facts.started_origin, facts.heard_origin)
    return list(dict.fromkeys(origin for origin in places if origin is not None))


def resume(case: Case) -> str | None:
    """The command that takes the task up again: its own, else that of the nearest ancestor that names one."""
    handle, facts = case.handle, case.facts
    for _ in range(_ABOVE):
        command = commands.resume(facts.command, facts.task)
        above = case.forest.parent(handle)
        if command is not None or above is None:
            return command
        handle, facts = above, case.forest.delegation(above)
    return None
