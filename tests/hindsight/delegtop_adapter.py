"""How a program that measures verdicts by hindsight follows delegtop: over logs that grow line by line by their own
stamps, without a wall clock and without processes. Nothing is seen that was not written yet, and every verdict that a
user would get to see is told."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from delegtop.base.clock import Millis
from delegtop.base.zstd import compress, decompress
from delegtop.diagnosis.case import Case
from delegtop.diagnosis.engine import diagnose
from delegtop.diagnosis.rule_table import RULES
from delegtop.diagnosis.verdicts import Kind, judge
from delegtop.model.events import OF_NONE, Event, Phase, Surveyed
from delegtop.model.policy import Policy
from delegtop.model.states import OPEN
from delegtop.observation.observation import opened
from delegtop.observation.source_discovery import Places
from delegtop.settings import Settings

__all__ = ["Seen", "Watcher", "compress", "decompress"]

ACCUSING = tuple(RULES[kind.row.rule] for kind in Kind if kind.row.rule)
"""The findings that say something is wrong with an open delegation; their severity is what a user gets to see."""
LIFE = {"Heard", "Started", "Ended", "Resumed", "Sighted", "Waited"}
"""Events that show that a delegation did something."""


@dataclass(slots=True)
class Seen:
    """One open delegation at one moment."""

    id: str
    root: bool
    phase: str | None
    tool: str | None
    heard: int | None
    kind: str | None
    certainty: str | None
    severity: str | None
    message: str = ""
    evidence: tuple[tuple[str, int], ...] = ()


class _Clock:
    def __init__(self) -> None:
        self.at = Millis(0)

    def now(self) -> Millis:
        return self.at


class Watcher:
    """Follows a growing folder as the live program does."""

    def __init__(self, folder: str) -> None:
        self._clock = _Clock()
        self._observation = opened(Places([folder]), Settings(), self._clock, policy=Policy(), heed=self._heed)
        self._forest = self._observation.forest
        self.alive: dict[str, set[int]] = {}
        """For each delegation the moments at which its records show that it did something."""

    def read(self, now: int) -> None:
        """Takes in what was written up to now."""
        self._clock.at = Millis(now)
        # New files are looked for at once, however little real time has passed.
        vars(self._observation.feed)["_rounds"].at_once()
        self._observation.look()

    def _heed(self, events: Iterable[Event]) -> None:
        for event in events:
            if isinstance(event, OF_NONE | Surveyed):
                continue
            at = getattr(event, "at", None)
            if at is not None and type(event).__name__ in LIFE:
                self.alive.setdefault(event.id, set()).add(at)

    def look(self, now: int) -> list[Seen]:
        """What delegtop says of every open delegation at that moment."""
        self._clock.at = Millis(now)
        forest = self._forest
        forest.advance(Millis(now))
        return [self._seen(handle) for handle, _ in list(forest.in_states(OPEN))]

    def _seen(self, handle: int) -> Seen:
        forest, case = self._forest, Case(self._forest, handle)
        facts, verdict = case.facts, judge(case)
        found = diagnose(case, ACCUSING) if verdict is not None else ()
        trees, own = forest.at(handle)
        # A turn that counts as over if nothing more comes is one between two prompts to whoever knows what came.
        phase = Phase.IDLE if trees.stores[0].rests_at(own) is not None else facts.phase
        seen = Seen(
            facts.id,
            forest.parent(handle) is None,
            phase.value if phase else None,
            facts.tool,
            facts.heard_at,
            None,
            None,
            None,
        )
        if verdict is not None:
            seen.kind, seen.certainty = verdict.kind.value, verdict.certainty.value
            seen.severity = found[0].severity.value if found else "none"
            seen.message = found[0].message if found else ""
            seen.evidence = tuple((origin.source, origin.line) for origin in verdict.evidence)
        return seen

    def delegations(self) -> dict[str, dict[str, Any]]:
        """All delegations as they stand now."""
        forest = self._forest
        return {
            facts.id: {
                "agent": facts.agent,
                "parent": forest.id(parent) if (parent := forest.parent(handle)) is not None else None,
                "outcome": str(facts.outcome or "").lower(),
                "end": facts.ended_at,
                "product": facts.product,
            }
            for handle in range(len(forest))
            for facts in (forest.delegation(handle),)
        }

    def close(self) -> None:
        self._observation.close()
