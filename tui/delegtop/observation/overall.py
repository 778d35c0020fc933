"""How things stand: how many are in which state, and whether everything is done."""

from collections import Counter
from collections.abc import Collection, Mapping

from delegtop.model.forest import Forest
from delegtop.model.states import ACTIVE, ENDED, State
from delegtop.model.store.ledger import Handle

Shown = Collection[Handle] | None
"""Some delegations; None for all."""


def states(forest: Forest, shown: Shown) -> Mapping[State, int]:
    """How many are in which state."""
    return forest.counts if shown is None else Counter(forest.state(handle) for handle in shown)


def is_done(forest: Forest, shown: Shown) -> bool:
    """There was something, and nothing of it is open any more. A session between two prompts is at rest."""
    counts = states(forest, shown)
    return any(counts.values()) and not any(counts.get(state, 0) for state in ACTIVE)


def all_returned(forest: Forest, shown: Shown) -> bool:
    """Everything that was handed out has ended, and it is known how; agents' own sessions at least rest."""
    if not is_done(forest, shown):
        return False
    handles = range(len(forest)) if shown is None else shown
    return all(_came_back(forest, handle) for handle in handles)


def _came_back(forest: Forest, handle: Handle) -> bool:
    state = forest.state(handle)
    return state in ENDED or (state is State.IDLE and forest.parent(handle) is None)


def summary(forest: Forest, shown: Shown) -> str:
    """`12 delegations: 1 failed, 11 completed`."""
    counts = states(forest, shown)
    total = sum(counts.values())
    words = ", ".join(f"{counts[state]} {state}" for state in State if counts.get(state))
    return f"{total} delegation{'' if total == 1 else 's'}{f': {words}' if words else ''}"
