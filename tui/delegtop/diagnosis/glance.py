"""What a glance tells: where most delegations stand in the order of looking, and why, for which nobody need gather all
their facts. How it is said is worked out when somebody asks."""

from typing import NamedTuple

from delegtop.base.clock import MINUTE, Millis
from delegtop.diagnosis.assessment import Assessment, Key, Urgency, key_of, urgency_of_end
from delegtop.diagnosis.case import Case, PathEnds
from delegtop.diagnosis.verdicts.kinds import Certainty, Kind
from delegtop.diagnosis.verdicts.runaway_judge import outgrown
from delegtop.model.forest import Forest
from delegtop.model.plain_work import PlainWork
from delegtop.model.states import ENDED, ENDED_BADLY, State
from delegtop.model.store.ledger import Handle


class Glance(NamedTuple):
    """As much of an assessment as others rest on."""

    urgency: Urgency
    key: Key
    kind: str
    """What is the matter, in the words shown to people."""
    waits_on: Handle | None
    version: int
    """Of one that has ended: what it said then is part of what is told."""
    turns: Millis | None
    """The first moment at which time alone may change it."""

    def renumbered(self, handle: Handle, version: int) -> "Glance":
        """The same of one that has another handle now, and waits on nobody."""
        return self._replace(key=(*self.key[:-1], handle), version=version if self.version else 0)

    def tells_as(self, other: "Glance | None") -> bool:
        """Whether both say the same, for however long."""
        return other is not None and self[:-1] == other[:-1]


def glance(forest: Forest, handle: Handle, quiet: int, ends: PathEnds) -> Glance | None:
    """None where it takes a closer look; `quiet` is the span within which who is at work was heard of."""
    state = forest.state(handle)
    if state in ENDED_BADLY:
        return _ended(forest, handle, state)
    plain = forest.plain_work(handle, quiet)
    if plain is None:
        return None
    parent, end = forest.parent(handle), ends.of(handle) if plain.waits else None
    if parent is None:
        return _root(forest, handle, plain, end)
    if plain.orphaned:
        since, unsure = forest.times(parent)[2], Certainty.POSSIBLE
        return _glance(forest, handle, Urgency.SUSPICIOUS, since, Kind.ORPHANED.value, plain.until, certainty=unsure)
    return _at_work(forest, handle, plain, plain.until, end)


def glance_of(assessed: Assessment, version: int) -> Glance:
    """The same of one that was looked at closely when it had that version."""
    ended = assessed.state in ENDED
    return Glance(
        assessed.urgency, assessed.key, assessed.kind, assessed.waits_on, version if ended else 0, assessed.turns
    )


def _glance(
    forest: Forest,
    handle: Handle,
    urgency: Urgency,
    since: Millis | None,
    kind: str,
    turns: Millis | None,
    *,
    certainty: Certainty = Certainty.CERTAIN,
    waits_on: Handle | None = None,
    version: int = 0,
) -> Glance:
    return Glance(urgency, key_of(forest, handle, urgency, certainty, since), kind, waits_on, version, turns)


def _at_work(forest: Forest, handle: Handle, plain: PlainWork, until: Millis, end: Handle | None) -> Glance:
    if end is None:
        return _glance(forest, handle, Urgency.AT_WORK, plain.since, State.RUNNING.value, until)
    since = forest.times(end)[0]
    return _glance(forest, handle, Urgency.AT_WORK, since, Kind.WAITING_ON_CHILD.value, until, waits_on=end)


def _root(forest: Forest, handle: Handle, plain: PlainWork, end: Handle | None) -> Glance | None:
    """Its tree may be growing beyond measure, and may have used more by then."""
    now = forest.judged_of(handle)
    if outgrown(forest, handle, now) is not None:
        return None
    return _at_work(forest, handle, plain, min(plain.until, Millis(now + MINUTE)), end)


def _ended(forest: Forest, handle: Handle, state: State) -> Glance | None:
    if forest.needs_review(handle) or forest.at(handle)[0].clock_steps:
        return None
    case, ended_at = Case(forest, handle), forest.times(handle)[2]
    urgency = urgency_of_end(case, ended_at)
    return _glance(forest, handle, urgency, ended_at, state.value, case.turns, version=forest.version(handle))
