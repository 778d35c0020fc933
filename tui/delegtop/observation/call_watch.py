"""The calls that are open and quiet, and in whose process they run: what the kernel is asked about."""

from collections.abc import Callable, Iterator

from delegtop.base.clock import DAY, SECOND, Millis, monotonic, spent
from delegtop.dialects.products import product
from delegtop.feed.live_feed import Readable
from delegtop.kernel.open_call import OpenCall
from delegtop.model.delegation import Delegation
from delegtop.model.events import LOCALHOST, Ending, Phase
from delegtop.model.forest import Forest
from delegtop.model.session_manner import PID_DOMAIN, PROC_START
from delegtop.model.states import ACTIVE, State
from delegtop.model.store.ledger import Handle
from delegtop.sources import processes

QUIET = 2 * SECOND
"""Who was heard of since is at work, and nobody needs to be asked."""
AGAIN = 2.0
"""Seconds between two looks at what is open."""
_LATELY = 10.0
"""Seconds for which a process that was there need not be looked for again."""
_SHARE = 0.004
"""Of one processor that this may take: in a large forest it is done less often."""
OLD = DAY
"""Who was last heard of longer ago left nothing that could be told by its call."""
MANY = 500
"""Calls that are looked at most; the newest, for the others stand still already."""


IsThere = Callable[[Delegation, Millis | None], bool]
"""Whether the process of a delegation is there, one of which was told at that moment."""


class CallWatch:
    """Tells a feed now and then what is open, so that the kernel is asked about it."""

    def __init__(self, feed: Readable) -> None:
        self._feed = feed
        self._next = float("-inf")
        self._there: dict[tuple[int | None, int | None], float] = {}
        """The processes that were there, and until when they need not be looked for again."""

    def tell(self, forest: Forest) -> None:
        if monotonic() >= self._next:
            effort = spent()
            self._feed.watch_calls((*open_calls(forest, self._is_there), *left_calls(forest)))
            self._next = monotonic() + max(AGAIN, (spent() - effort) / _SHARE)

    def _is_there(self, facts: Delegation, noted_at: Millis | None) -> bool:
        """Who was there lately is: that one is gone, others find out soon, and then it is no longer at work."""
        key, now = (facts.pid, facts.started_at), monotonic()
        if self._there.get(key, now) > now:
            return True
        self._there = {each: until for each, until in self._there.items() if until > now}
        is_there = _is_there(facts, noted_at)
        if is_there:
            self._there[key] = now + _LATELY
        return is_there


def open_calls(forest: Forest, is_there: IsThere | None = None) -> tuple[OpenCall, ...]:
    """All that the kernel can be asked about now."""
    found: list[OpenCall] = []
    for handle, _ in forest.in_states(ACTIVE) if forest.has_processes else ():
        if forest.host_of(handle):
            continue  # its own host asks its own kernel
        heard = forest.times(handle)[1]
        if heard is None or forest.now_of(handle) - heard >= QUIET:
            found += _call(forest, handle, is_there or _is_there)
    return tuple(sorted(found, key=lambda call: -(call.began or 0))[:MANY])


def left_calls(forest: Forest) -> tuple[OpenCall, ...]:
    """The calls that sessions left open whose process went: what they run in may still be there."""
    found: list[OpenCall] = []
    for handle, _ in forest.in_states((State.LOST, State.INTERRUPTED)):
        if forest.host_of(handle):
            continue
        heard = forest.times(handle)[1]
        if heard is not None and forest.now_of(handle) - heard < OLD:
            facts = forest.delegation(handle)
            in_tool = facts.product is not None and facts.tool and facts.doing and facts.phase in (None, Phase.TOOL)
            if in_tool and _went(forest, handle):
                began = facts.phase_since or facts.heard_at
                found.append(OpenCall(facts.id, facts.pid or 0, began, facts.doing, gone=True))
    return tuple(sorted(found, key=lambda call: -(call.began or 0))[:MANY])


def _call(forest: Forest, handle: Handle, is_there: IsThere) -> Iterator[OpenCall]:
    facts = forest.delegation(handle)
    if facts.pid is not None and facts.product is None and is_there(facts, facts.started_at):
        yield OpenCall(facts.id, facts.pid, facts.started_at)  # the work itself is a process
    elif facts.tool and facts.doing and facts.phase in (None, Phase.TOOL):
        pid = _agent(forest, handle, is_there)
        if pid is not None:
            program = product(facts.product)
            runs = program is not None and program.permissions is not None and facts.tool in program.permissions.runs
            yield OpenCall(facts.id, pid, facts.phase_since or facts.heard_at, facts.doing, runs)


def _agent(forest: Forest, handle: Handle, is_there: IsThere) -> int | None:
    """The process of the agent program that it runs in: its own, else that of the session it belongs to."""
    climber: Handle | None = handle
    while climber is not None:
        facts = forest.delegation(climber)
        if facts.pid is not None:
            return facts.pid if is_there(facts, forest.now_of(climber)) else None
        climber = forest.parent(climber)
    return None


def _went(forest: Forest, handle: Handle) -> bool:
    """Whether the process of its session is gone for certain, and was one of this machine."""
    climber: Handle | None = handle
    while climber is not None:
        facts = forest.delegation(climber)
        if facts.pid is not None:
            if facts.host not in (LOCALHOST, processes.hostname()):
                return False
            noted_at = facts.heard_at or facts.started_at or Millis(0)
            return processes.is_gone(facts.pid, noted_at, _ticks(facts), dict(facts.refs).get(PID_DOMAIN))
        climber = forest.parent(climber)
    return forest.is_gone(handle) or forest.delegation(handle).ended_by is Ending.GONE


def _is_there(facts: Delegation, noted_at: Millis | None) -> bool:
    """Whether its process is one of this machine that can be seen from here, and that very one."""
    if facts.pid is None or noted_at is None or facts.host not in (LOCALHOST, processes.hostname()):
        return False
    return processes.is_there(facts.pid, noted_at, _ticks(facts), dict(facts.refs).get(PID_DOMAIN))


def _ticks(facts: Delegation) -> int | None:
    begun = dict(facts.refs).get(PROC_START, "")
    return int(begun) if begun.isdecimal() else None
