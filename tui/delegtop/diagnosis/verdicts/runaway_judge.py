"""The judge of trees that grow beyond all measure: seen while they still do, and not on the bill."""

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from delegtop.base.clock import MINUTE, Millis
from delegtop.diagnosis.case import Case
from delegtop.diagnosis.sentence import Sentence
from delegtop.diagnosis.verdicts.judge_kit import judges, origins_of
from delegtop.diagnosis.verdicts.kinds import Certainty, Kind
from delegtop.diagnosis.verdicts.verdict import Verdict
from delegtop.model.measures import label
from delegtop.model.policy import Policy

if TYPE_CHECKING:
    from delegtop.model.forest import Forest
    from delegtop.model.store.ledger import Handle
    from delegtop.model.tree.growth import Growth

_LATELY = 10 * MINUTE
"""How long a burst is spoken of."""
_MOST = 5_000
"""Where the number of agents is not limited, so many are looked at."""


@judges(Kind.RUNAWAY)
def runaway(case: Case) -> Verdict | None:
    """The tree that it is the root of is beyond a limit to its growth. Told where it began: who stops that one stops
    them all."""
    forest, policy = case.forest, case.forest.policy
    if forest.parent(case.handle) is not None:
        return None
    heard = case.facts.heard_at
    if heard is not None and heard + policy.silent_after > case.now:  # who is at work will have used more by then
        case.look_again(case.now + MINUTE)
    found = outgrown(forest, case.handle, case.now)
    if found is None:
        return None
    grown, beyond = found
    if grown.fastest_at is not None:
        case.look_again(grown.fastest_at + _LATELY + 1)
    said: Sentence = (f"It is running away: {'; '.join(beyond)}{_by_whom(case, grown)}.",)
    newest = None if grown.newest is None else forest.delegation(grown.newest)
    places = origins_of(newest.started_origin if newest else None, case.facts.started_origin)
    return Verdict(Kind.RUNAWAY, Certainty.LIKELY, said, newest.started_at if newest else case.facts.started_at, places)


def outgrown(forest: "Forest", handle: "Handle", now: Millis) -> "tuple[Growth, list[str]] | None":
    """How a tree has grown, and beyond which limits, if it is beyond any."""
    if _is_alone(forest, handle):
        return None
    grown = forest.growth(handle, forest.policy.runaway_agents or _MOST, Millis(now - _LATELY))
    beyond = list(_beyond(forest.policy, grown))
    return (grown, beyond) if beyond else None


def _is_alone(forest: "Forest", handle: "Handle") -> bool:
    """Whether it has nobody below it, as most have, and used little itself: then no tree of it grows beyond measure."""
    if next(iter(forest.offspring(handle)), None) is not None:
        return False
    policy, used = forest.policy, forest.used(handle)
    return (used.tokens or 0) <= policy.runaway_tokens and (used.cost or 0) <= policy.runaway_dollars


def _beyond(policy: Policy, grown: "Growth") -> Iterator[str]:
    """What is beyond its limit; a limit of 0 is none."""
    if 0 < policy.runaway_spawns < grown.fastest:
        yield f"{grown.fastest} agents were started within a minute (limit {policy.runaway_spawns})"
    if 0 < policy.runaway_agents < len(grown.below):
        yield f"more than {policy.runaway_agents:,} agents are below it"
    if 0 < policy.runaway_depth < grown.depth:
        yield f"they are {grown.depth} levels deep (limit {policy.runaway_depth})"
    if 0 < policy.runaway_tokens < grown.tokens:
        yield f"{grown.tokens:,} tokens were used (limit {policy.runaway_tokens:,})"
    if 0 < policy.runaway_dollars < grown.cost:
        about = "~" if grown.is_estimate else ""
        yield f"{about}{grown.cost:,.2f} dollars were spent (limit {policy.runaway_dollars:,})"


def _by_whom(case: Case, grown: "Growth") -> str:
    """Who starts them, where that is another one than the root."""
    starters = Counter(map(case.forest.parent, grown.below))
    busiest = max(starters, key=starters.__getitem__, default=None)
    if busiest is None or busiest == case.handle:
        return ""
    return f"; most were started by {label(case.forest.delegation(busiest))}"
