"""What the rules on watching over delegations share."""

from delegtop.model.delegation import ACTIVE, Delegation, State
from delegtop.origin import Origin

ENDED = frozenset(State) - ACTIVE - {State.LOST, State.UNKNOWN, State.IDLE}


def life(facts: Delegation) -> list[Origin]:
    """Where it started and where it was last heard of."""
    places = (facts.started_origin, facts.heard_origin)
    return list(dict.fromkeys(origin for origin in places if origin is not None))
