"""The state of every delegation at one moment, and how many there are of each.

It is a cache of `f(facts, now)`: `advance` looks only at what events or time may have changed since the last look.
"""

import re
from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise

from delegtop.base.clock import MINUTE, ClockStep, Millis, duration
from delegtop.model.agenda import Agenda
from delegtop.model.delegation import Basis, Deadline
from delegtop.model.events import Ending, Outcome, Phase, Trust
from delegtop.model.policy import AgentLimits, Kind, Policy, Usual, default_timeout
from delegtop.model.states import ACTIVE, State
from delegtop.model.store.ends import UNSETTLED
from delegtop.model.store.ledger import Handle, Ledger
from delegtop.model.store.starts import StartShape
from delegtop.model.tree.lineage import Lineage, Move
from delegtop.model.typical_durations import TypicalDurations
from delegtop.protocols.standard.contract.delegation_limits import kind_of

_STATES = tuple(State)
_STATE_OF = {outcome: State[outcome.name] for outcome in Outcome}
_CODE = {state: code for code, state in enumerate(_STATES)}
_UNSEEN = -1
_UNSEEN_TEXT = b"\xff"
_SETTLED_AS = bytes(_CODE[_STATE_OF[outcome]] for outcome in Outcome).ljust(0x100, _UNSEEN_TEXT)
"""The state by the number of an outcome; _UNSEEN of those that are not settled."""
_REMEMBERED = 100_000
_DIFFER = MINUTE
"""By so much the clocks of two machines may differ without a word."""


class Lifecycle:
    """States and their counts at `now`."""

    NOT_ITS_OWN = ("_ledger", "_lineage", "_policy", "_limits")
    BORROWS = True

    def __init__(self, ledger: Ledger, lineage: Lineage, policy: Policy) -> None:
        self._ledger = ledger
        self._lineage = lineage
        self._policy = policy
        self._state = array("b")
        self._due: dict[Handle, Millis] = {}
        """By when the open ones must be done, as far as somebody set it: that limits their children too."""
        self._active_children = array("i")
        self._agenda = Agenda()
        self._dirty: set[Handle] = set()
        self._habits = TypicalDurations()
        self._gone: dict[Handle, Millis] = {}
        """The sessions without their process, and those lost with one before; and when that was found."""
        self._resting: set[Handle] = set()
        """Those whose turn counts as over if nothing more comes."""
        self._limits: dict[Handle, Deadline | None] = {}
        """Worked out since the last change of facts: a chain of a thousand is walked once, not once for each."""
        self.now = Millis(0)
        self.counts: dict[State, int] = dict.fromkeys(State, 0)

    def state(self, handle: Handle) -> State:
        """Its state at `now`; unknown if it came after the last look."""
        if handle >= len(self._state) or self._state[handle] == _UNSEEN:
            return State.UNKNOWN
        return _STATES[self._state[handle]]

    def in_states(self, states: Collection[State]) -> Iterator[tuple[Handle, State]]:
        """All that are in one of these, and in which."""
        codes = self._state.tobytes()  # looked through as text: a million in a millisecond
        missing = len(self._ledger) - len(codes)
        codes = (codes + _UNSEEN_TEXT * missing).replace(_UNSEEN_TEXT, bytes((_CODE[State.UNKNOWN],)))
        wanted = re.compile(b"[%b]" % b"".join(b"\\x%02x" % _CODE[state] for state in states))
        return ((found.start(), _STATES[codes[found.start()]]) for found in wanted.finditer(codes))

    def active_children(self, handle: Handle) -> int:
        """How many of its children are active."""
        return self._active_children[handle] if handle < len(self._active_children) else 0

    def step(self, step: ClockStep) -> None:
        """Somebody set the clock: what was told before it was is judged as if it had always been as it is now."""
        self._ledger.clock_steps = (*self._ledger.clock_steps, step)
        self.touch(self._ledger)

    def touch(self, handles: Iterable[Handle]) -> None:
        """These may have changed; they are looked at in the next `advance`."""
        self._dirty.update(handles)
        self._limits.clear()

    def touch_below(self, handles: Iterable[Handle]) -> None:
        """What these are or where they belong may have changed, and with it what they allow their children; and whose
        process those below them live in, even where somebody between them has ended."""
        self._touch_below(handles, deep=bool(self._gone))

    def _touch_below(self, handles: Iterable[Handle], *, deep: bool) -> None:
        pending = self._lineage.parents_among(handles)
        reached = set(pending)
        while pending:
            for child in self._lineage.children(pending.pop()):
                if self._may_be_open(child):
                    self._dirty.add(child)
                if deep and child not in reached:
                    reached.add(child)
                    pending.append(child)

    def reparent(self, moves: Iterable[Move]) -> None:
        """An active child that moved makes its new parent wait, and its old one no longer."""
        for handle, old, new in moves:
            if handle < len(self._state) and self._is_active(handle):
                self._count_child(old, -1)
                self._count_child(new, +1)
            self._dirty.add(handle)

    def advance(self, now: Millis) -> set[Handle]:
        """Bring every state to the moment `now`; returns the delegations whose state changed, or whose process is gone
        or there again: that means something to those below them."""
        new = range(len(self._state), len(self._ledger))
        self._active_children.extend([0] * (len(self._ledger) - len(self._active_children)))
        if now < self.now:
            self._dirty.update(self._ledger)  # time went back: nothing on the agenda can be relied on
        self.now = self._ledger.now = now
        changed = self._settle(new) if new else set()
        self._dirty.update(new)
        self._dirty -= changed
        self._dirty.update(self._agenda.due(now))
        while self._dirty:
            # Judging a child may change its parent, so the younger come first; and a parent that has another limit
            # than before limits its children otherwise, so they may come again.
            for handle in sorted(self._dirty, reverse=True):
                self._dirty.discard(handle)
                if self._judge(handle):
                    changed.add(handle)
        self._dirty.clear()  # it is empty, and gives its room back: forty bytes for each that was ever in it
        return changed

    def next_turn(self) -> Millis | None:
        """The first moment at which time alone changes a state."""
        return self._agenda.next()

    def _settle(self, new: range) -> set[Handle]:
        """Those that came with their end: neither time nor anybody else makes them what they are. In the logs of
        yesterday nearly all are such."""
        states = self._ledger.ends.settled(new).translate(_SETTLED_AS)
        self._state.extend(array("b", states))
        for state, code in _CODE.items():
            self.counts[state] += states.count(code)
        settled = {handle for handle, state in zip(new, states, strict=True) if state != UNSETTLED}
        shapes = self._ledger.starts.shape
        for handle in settled if self._ledger.starts.tells_products else ():  # of others nothing is learned
            if (kind := _kind(shapes[handle])) is not None:
                self._learn(handle, kind, self._ledger.ending(handle))
        return settled

    # -- one delegation --------------------------------------------------------------------------------------------

    def _judge(self, handle: Handle) -> bool:
        """Bring one state up to date; True if it changed, or if its process is gone or there again."""
        ending = self._ledger.ending(handle)
        is_open = ending is None and not self._left(handle)
        before = self._state[handle]
        limit = self._limit(handle) if is_open else None
        has_due = limit is not None or handle in self._due
        if has_due and self._set_due(handle, limit) and before != _UNSEEN:  # who came with it is looked at anyway
            self._touch_below((handle,), deep=False)
        if (kind := _kind(self._ledger.starts.shape[handle])) is not None:
            self._learn(handle, kind, ending)
        missed = self._miss(handle)
        rests = self._ledger.rests_at(handle)
        rested = self._rest(handle, rests)
        if is_open:
            state = self._open_state(handle, limit, rests)
        else:
            self._agenda.set(handle, _after(rests))
            state = State.UNKNOWN if ending is None else _STATE_OF[ending[0]]
        code = _CODE[state]
        if code == before:
            return missed or rested
        self._state[handle] = code
        self.counts[state] += 1
        if before != _UNSEEN:
            self.counts[_STATES[before]] -= 1
        was_active = before != _UNSEEN and _STATES[before] in ACTIVE
        if was_active != (state in ACTIVE):
            self._count_child(self._lineage.parent(handle), 1 if state in ACTIVE else -1)
        return True

    def _set_due(self, handle: Handle, limit: Deadline | None) -> bool:
        """Remember by when it must be done; True if that changed."""
        if limit is None:
            return self._due.pop(handle, None) is not None
        before, self._due[handle] = self._due.get(handle), limit.at
        return before != limit.at

    def _learn(self, handle: Handle, kind: Kind, ending: tuple[Outcome, Ending, Millis | None] | None) -> None:
        """Remember how long it took."""
        started = self._ledger.start(handle)
        took = None
        if ending is not None and ending[0] is Outcome.COMPLETED and ending[2] is not None and started is not None:
            took = ending[2] - started
        self._habits.learn(handle, kind, took)

    def _miss(self, handle: Handle) -> bool:
        """Remember whether its process is gone, and look again at all that are gone with it; True if that changed."""
        gone = self._ledger.gone_at(handle)
        if gone == self._gone.get(handle):
            return False
        if gone is None:
            del self._gone[handle]
        else:
            self._gone[handle] = gone
        self._touch_below((handle,), deep=True)
        return True

    def _rest(self, handle: Handle, rests: Millis | None) -> bool:
        """Remember whether its turn is still to count as over; True if that changed, for what it is in the middle of
        did, too."""
        if (rests is None) != (handle in self._resting):
            return False
        (self._resting.discard if rests is None else self._resting.add)(handle)
        return True

    def is_gone(self, handle: Handle) -> bool:
        """A session without its process, whether or not that ended it."""
        return handle in self._gone

    def went_with_its_session(self, handle: Handle) -> bool:
        """The process of its session is gone, or was when somebody above it went: what a program starts within itself
        has no other, and ends with it."""
        ledger = self._ledger
        if not self._gone or ledger.is_session(handle):
            return False
        heard, product = ledger.heard_at(handle), ledger.product(handle)
        for above in self._lineage.ancestors(handle):
            if ledger.product(above) != product:
                return False
            gone = self._gone.get(above)
            if gone is not None and (heard or gone) <= gone:
                return True
            if ledger.is_session(above):
                return False
        return False

    def _count_child(self, parent: Handle | None, change: int) -> None:
        if parent is None:
            return
        if parent >= len(self._active_children):
            self._active_children.extend([0] * (len(self._ledger) - len(self._active_children)))
        self._active_children[parent] = active = self._active_children[parent] + change
        if active in (0, change):  # it begins or ceases to wait
            self._dirty.add(parent)

    def _is_active(self, handle: Handle) -> bool:
        code = self._state[handle]
        return code != _UNSEEN and _STATES[code] in ACTIVE

    def _open_state(self, handle: Handle, deadline: Deadline | None, rests: Millis | None) -> State:
        """The state of one that has not ended, by its deadline, its children, its silence, and when its turn counts as
        over."""
        ledger, policy, now = self._ledger, self._policy, self.now
        if self.went_with_its_session(handle):
            self._agenda.set(handle, _after(rests))
            return State.LOST
        heard, listed = ledger.heard_at(handle), ledger.listed_at(handle)
        seen = ledger.on_present_scale(listed if heard is None or (listed or heard) > heard else heard)
        lost = None if seen is None else max(seen + policy.lost_after, deadline.at if deadline else 0, rests or 0)
        quiet = ledger.quiet_since(handle)
        silent = None if quiet is None else max(quiet + policy.silent_after, rests or 0)
        turn: int | None = None
        for at in (deadline.at if deadline else None, silent, lost, rests):
            if at is not None and at >= now and (turn is None or at < turn):
                turn = at
        self._agenda.set(handle, _after(turn))
        waiting = self._active_children[handle] > 0
        idle = ledger.phase(handle) is Phase.IDLE
        if lost is not None and now > lost and not waiting and not idle:
            return State.LOST
        if deadline is not None and now > deadline.at:
            return State.OVERDUE
        if waiting:
            return State.WAITING
        if idle:
            return State.IDLE
        if silent is not None and now > silent:
            return State.SILENT
        return State.RUNNING

    def _left(self, handle: Handle) -> bool:
        """It left every registry that listed it, and no log has heard of it since."""
        if not self._ledger.left_registry(handle):
            return False
        heard, listed = self._ledger.heard_at(handle), self._ledger.listed_at(handle)
        return heard is None or listed is None or heard <= listed

    def usual(self, handle: Handle) -> Usual | None:
        """How long its kind usually takes, and how many that rests on: here or by the history, whichever knows more."""
        kind = _kind(self._ledger.shape(handle))
        told = [self._habits.usual(kind), self._policy.usual.get(kind)] if kind else []
        return max((usual for usual in told if usual is not None), key=lambda usual: usual[1], default=None)

    def learned(self) -> dict[Kind, Usual]:
        """What is usual by all that is known here."""
        return self._habits.all()

    @property
    def habits(self) -> TypicalDurations:
        """How long those took that are done."""
        return self._habits

    def spans(self) -> Iterator[tuple[Kind, Sequence[int]]]:
        """How long all that are done took, by their kind."""
        return self._habits.spans()

    def ahead(self, handle: Handle) -> int:
        """Milliseconds that its last word is later than now; 0 if that is no more than clocks differ."""
        return self.beyond_now(self._ledger.on_present_scale(self._ledger.heard_at(handle)))

    def beyond_now(self, at: Millis | None) -> int:
        """The same of that moment."""
        return 0 if at is None or at - self.now <= _DIFFER else at - self.now

    def reason(self, handle: Handle) -> str:
        """Why the state is what it is, where the word alone does not say it."""
        ledger, state = self._ledger, self.state(handle)
        ending = ledger.ending(handle)
        if ending is not None:
            shape = ledger.shape(handle)
            by = "by the registry" if shape is None or shape.product is None else "by another record"
            return {
                Ending.UNSEEN: "its log shows only what is over; nothing tells whether it is still at work",
                Ending.ERROR: "non-recoverable error, no return seen",
                Ending.GONE: "its process is gone",
                Ending.REGISTRY: f"{by}; no return seen in a log",
            }.get(ending[1], "the return's status is none of the four" if state is State.UNKNOWN else "")
        if state is State.UNKNOWN:
            return "left the registry, outcome unknown"
        lost = state is State.LOST  # it asks no more
        heard = ledger.on_present_scale(ledger.heard_at(handle)) if lost else ledger.quiet_since(handle)
        heard = heard or ledger.listed_at(handle)
        quiet = duration(self.now - heard) if heard is not None else "–"
        if self.went_with_its_session(handle):
            return "its session's process is gone"
        if lost:
            return f"nothing heard for {quiet}; its writer is presumably gone (inferred)"
        if state in ACTIVE and (ahead := self.ahead(handle)):
            return f"its log is {duration(ahead)} ahead of the clock"
        if heard is None and state is State.RUNNING:
            return "its log tells no time, so nobody can say since when"
        if state is State.IDLE:
            return f"its turn ended {quiet} ago{'; its process is gone' if handle in self._gone else ''}"
        if state is State.SILENT:
            asked = ledger.asked_again(handle)
            in_vain = f"it asked the model {asked} times in {quiet}, and no answer came"
            return in_vain if asked else f"nothing heard for {quiet}"
        return ""

    # -- deadlines -------------------------------------------------------------------------------------------------

    def deadline(self, handle: Handle) -> Deadline | None:
        """The moment it must be done by; where nobody set one, until when somebody waits for it, or the moment by which
        its kind usually is done."""
        return self._limit(handle) or self._awaited(handle) or self._usually_done(handle)

    def _limit(self, handle: Handle) -> Deadline | None:
        """The moment that somebody set: its own, or an open ancestor's that comes earlier."""
        if len(self._limits) > _REMEMBERED:
            self._limits.clear()
        chain = [handle]
        while chain[-1] not in self._limits:
            parent = self._lineage.parent(chain[-1])
            if parent is None or not self._may_be_open(parent):
                self._limits[chain[-1]] = self._own_limit(chain[-1])
                break
            chain.append(parent)
        for above, below in pairwise(reversed(chain)):
            self._limits[below] = self._capped(self._own_limit(below), above, self._limits[above])
        return self._limits[handle]

    def _capped(self, own: Deadline | None, parent: Handle, limit: Deadline | None) -> Deadline | None:
        if limit is None or (own is not None and own.at <= limit.at):
            return own
        if limit.basis is Basis.PARENT:
            return limit
        return Deadline(limit.at, Basis.PARENT, f"{self._name(parent)} must be done by then ({limit.note})")

    def _may_be_open(self, handle: Handle) -> bool:
        return self._ledger.ending(handle) is None and not self._left(handle)

    def _own_limit(self, handle: Handle) -> Deadline | None:
        found, started = self._told_limit(handle), self._ledger.start(handle)
        if found is None or started is None or not self._ledger.clock_steps:
            return found
        moved = (self._ledger.on_present_scale(started) or started) - started
        return Deadline(Millis(found.at + moved), found.basis, found.note)

    def _told_limit(self, handle: Handle) -> Deadline | None:
        ledger = self._ledger
        shape = ledger.shape(handle)
        if shape is None or shape.trust is Trust.MODEL:
            return None
        declared = ledger.declared_deadline(handle)
        if declared is not None:
            return Deadline(declared, Basis.DEADLINE, "declared")
        started = ledger.start(handle)
        if started is not None and shape.timeout is not None:
            return Deadline(Millis(started + shape.timeout), Basis.TIMEOUT, f"timeout {shape.timeout // 1000} s")
        return self._set_by_people(handle, shape, started) or self._by_protocol(shape, started)

    def _set_by_people(self, handle: Handle, shape: StartShape, started: Millis | None) -> Deadline | None:
        """What the operator or the agent's own file allows it."""
        policy = self._policy
        if started is None or not (policy.timeouts or policy.agents):
            return None
        kind = kind_of(shape.agent, shape.command)
        cwd = self._ledger.cwd(handle)
        # A session lives for days: a limit to the work in its folder is one to each task it hands out.
        folder = None if self._ledger.is_session(handle) else cwd
        for limit in policy.timeouts:
            if limit.fits(shape.agent, shape.command, kind, folder):
                note = f"set for {limit.pattern}, {limit.timeout // 1000} s"
                return Deadline(Millis(started + limit.timeout), Basis.OPERATOR, note)
        agent = policy.limits_of(shape.agent, cwd)
        if agent is not None and agent.timeout is not None:
            return _by_file(agent, started, agent.timeout)
        parent = self._lineage.parent(handle)
        above = self._ledger.shape(parent) if parent is not None else None
        boss = policy.limits_of(above.agent, cwd) if above else None
        if boss is not None and boss.child_timeout is not None:
            return _by_file(boss, started, boss.child_timeout)
        return None

    def _awaited(self, handle: Handle) -> Deadline | None:
        """Until when somebody waits for it. A wait that is over has set no limit."""
        wait = self._ledger.wait(handle)
        return Deadline(wait.until, Basis.WAIT, wait.by) if wait is not None and wait.until >= self.now else None

    def _by_protocol(self, shape: StartShape, started: Millis | None) -> Deadline | None:
        """What the protocol gives its kind."""
        kind = kind_of(shape.agent, shape.command) if shape.product is None else None
        if started is None or kind is None:
            return None
        default = default_timeout(self._policy, kind)
        return Deadline(Millis(started + default), Basis.DEFAULT, f"default for {kind}, {default // 1000} s")

    def _usually_done(self, handle: Handle) -> Deadline | None:
        shape, started, usual = self._ledger.shape(handle), self._ledger.start(handle), self.usual(handle)
        if shape is None or shape.trust is Trust.MODEL or started is None or usual is None:
            return None
        by_history = usual == self._policy.usual.get(_kind(shape) or ("", ""))
        known = f"{usual[1]} on this machine" if by_history else f"{usual[1]}"
        what = shape.agent or shape.command
        return Deadline(Millis(started + usual[0]), Basis.USUAL, f"usual for {what}: 95 % of {known}")

    def _name(self, handle: Handle) -> str:
        return self._ledger.name(handle)


def _after(limit: int | None) -> Millis | None:
    """When something turns at that limit: limits are passed only after their moment."""
    return None if limit is None else Millis(limit + 1)


def _kind(shape: StartShape | None) -> Kind | None:
    """By what its habits are known: what it is, else what it was asked for. The protocol's own have timeouts."""
    if shape is None or shape.product is None:
        return None
    named = shape.agent or shape.command
    return (shape.product, named) if named else None


def _by_file(agent: AgentLimits, started: Millis, timeout: int) -> Deadline:
    return Deadline(Millis(started + timeout), Basis.AGENT_FILE, f"{agent.source}, {timeout // 1000} s")
