"""What a delegation means to those above it: whom it holds up, who has told the same, who has answered it."""

from delegtop.base.clock import Millis
from delegtop.diagnosis.case import Case
from delegtop.model.forest import Forest
from delegtop.model.states import ACTIVE, ENDED_BADLY, State
from delegtop.model.store.ledger import Handle

_DEEPEST = 1_000


def held_up(case: Case) -> tuple[Handle, ...]:
    """Everybody above who waits for this one before all others, or was lost with it, the nearest first."""
    forest, handle = case.forest, case.handle
    if forest.went_with_its_session(handle):
        return ()
    above: list[Handle] = []
    climber = forest.parent(handle)
    is_lost = forest.state(handle) is State.LOST
    while climber is not None and len(above) < _DEEPEST and _waits_for(case, climber, is_lost):
        above.append(climber)
        climber = forest.parent(climber)
    return tuple(above)


def _waits_for(case: Case, waiting: Handle, is_lost: bool) -> bool:
    state = case.forest.state(waiting)
    return state is State.LOST if is_lost else state in ACTIVE and case.ends.of(waiting) == case.handle


def is_lost_elsewhere(forest: Forest, handle: Handle) -> bool:
    """The end of a path tells where it was lost; but what went with its session is told where that is lost."""
    if forest.went_with_its_session(handle):
        parent = forest.parent(handle)
        return parent is not None and forest.state(parent) is State.LOST
    lost = (child for child in forest.offspring(handle) if forest.state(child) is State.LOST)
    return not all(map(forest.went_with_its_session, lost))


def is_handed_up(forest: Forest, handle: Handle) -> bool:
    """Whether it ended so only because a child did, and says no more than that one; or was interrupted with whoever
    gave it the work."""
    state, parent = forest.state(handle), forest.parent(handle)
    if state is State.INTERRUPTED and parent is not None and forest.state(parent) is state:
        return True
    below = [child for child in forest.offspring(handle) if forest.state(child) is state]
    if not below:
        return False
    said = forest.error_messages(handle)
    return bool(said) and said <= set[str | None]().union(*map(forest.error_messages, below))


def answerer(forest: Forest, handle: Handle) -> Handle | None:
    """Who above it may have answered how it ended. Whoever ended badly, too, has only handed it on."""
    climber = forest.parent(handle)
    while climber is not None and forest.state(climber) in ENDED_BADLY:
        climber = forest.parent(climber)
    return climber


def is_answered(forest: Forest, handle: Handle, since: Millis) -> bool:
    """Whether somebody above it went on after it had ended."""
    above = answerer(forest, handle)
    if above is None:
        return False
    _, heard, ended = forest.times(above)
    return max(heard or 0, ended or 0) > since
