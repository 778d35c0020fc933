"""What a quick look tells: most delegations are plainly at work, and for that nobody need gather all their facts."""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from delegtop.base.clock import Millis
from delegtop.model.delegation import Link
from delegtop.model.states import ENDED, State
from delegtop.model.store.ledger import Handle

if TYPE_CHECKING:
    from delegtop.model.host_trees import HostTrees

ANCESTORS = 50
"""How far up is looked at most."""


class PlainWork(NamedTuple):
    """What there is to say of one that is plainly at work."""

    since: Millis | None
    """When it began."""
    waits: bool
    """Whether it waits for others."""
    until: Millis
    """The first moment at which time alone may change that."""
    orphaned: bool
    """Whether who gave it the work has ended."""


def plain_work(trees: "HostTrees", handle: Handle, quiet: int) -> PlainWork | None:
    """None where it takes a closer look: only who is at work, with other work than those above it have, was heard of
    within that span, and has nothing that sets it apart, is plainly at work. How the tree of a root grows is not looked
    at."""
    state, parent, ledger = trees.state(handle), trees.parent(handle), trees.stores[0]
    waits = state is State.WAITING
    if not (waits or state is State.RUNNING):
        return None
    orphaned = parent is not None and not waits and trees.state(parent) in ENDED
    if orphaned and trees.link(handle) is Link.AMBIGUOUS:
        return None
    heard = None if ledger.clock_steps else ledger.quiet_since(handle)
    if heard is None or heard + quiet < trees.judged_at or trees.stands_out(handle):
        return None
    if ledger.process(handle) is not None or given_before(trees.work, trees.parent, handle) is not None:
        return None
    return PlainWork(ledger.start(handle), waits, Millis(heard + quiet + 1), orphaned)


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
