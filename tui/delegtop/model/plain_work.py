"""What a quick look tells: most delegations are plainly at work, and for that nobody need gather all their facts."""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from delegtop.base.clock import Millis
from delegtop.model.states import ENDED, State
from delegtop.model.store.ledger import Handle

if TYPE_CHECKING:
    from delegtop.model.forest import Forest
    from delegtop.model.host_trees import HostTrees

ANCESTORS = 50
"""How far up is looked at most."""


class PlainWork(NamedTuple):
    """What there is to say of one that is plainly at work."""

    since: Millis | None
    """When it began; of one that waits, when the one began that it waits on in the end."""
    waits_on: Handle | None
    until: Millis
    """The first moment at which time alone may change that."""


def plain_work(trees: "HostTrees", handle: Handle, quiet: int) -> PlainWork | None:
    """None where it takes a closer look: only who is at work for somebody who has not ended, with other work than those
    above it have, or for nobody and alone, was heard of within that span, and has nothing that sets it apart, is
    plainly at work."""
    state, parent, ledger = trees.state(handle), trees.parent(handle), trees.stores[0]
    waits = state is State.WAITING
    if not (waits or state is State.RUNNING):
        return None
    if not is_alone(trees, handle) if parent is None else not waits and trees.state(parent) in ENDED:
        return None
    heard = None if ledger.clock_steps else ledger.quiet_since(handle)
    if heard is None or heard + quiet < trees.judged_at or trees.stands_out(handle):
        return None
    if ledger.process(handle) is not None or given_before(trees.work, trees.parent, handle) is not None:
        return None
    end = trees.blocker(handle) if waits else None
    return PlainWork(ledger.start(handle if end is None else end), end, Millis(heard + quiet + 1))


def is_alone(trees: "HostTrees | Forest", handle: Handle) -> bool:
    """Whether it has nobody below it, as most have, and used little itself: then no tree of it grows beyond measure."""
    if next(iter(trees.offspring(handle)), None) is not None:
        return False
    policy, used = trees.policy, trees.used(handle)
    return (used.tokens or 0) <= policy.runaway_tokens and (used.cost or 0) <= policy.runaway_dollars


Work = Callable[[Handle], tuple[str | None, str | None]]


def given_before(work: Work, parent: Callable[[Handle], Handle | None], handle: Handle) -> Handle | None:
    """The nearest above it that is the same agent and was given the very same work."""
    given = work(handle)
    if not all(given):
        return None
    above = parent(handle)
    for _ in range(ANCESTORS):
        if above is None or work(above) == given:
            return above
        above = parent(above)
    return None
