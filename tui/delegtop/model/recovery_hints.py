"""What the data itself says about going on: recommendations, next steps, review reasons, resume hints, blockers.

It is the writer's own word, wherever it stood, and none of it is left out. What a person must look at comes first.
"""

import msgspec

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.model import notes
from delegtop.model.delegation import Delegation
from delegtop.protocols.standard.contract.own_words import is_own

RECOMMENDATION = "recommendation"
NEXT_STEPS = "next steps"

TITLES = {
    notes.REVIEW: "needs review",
    notes.BLOCKER: "blocked by",
    RECOMMENDATION: "recommends",
    notes.RESUME: "to resume",
    notes.NEXT: "next",
    NEXT_STEPS: "next steps",
    notes.HANDOFF: "handoff",
    notes.FOLLOWUP: "follow up",
    notes.SALVAGE: "on disk",
    notes.PARKED: "parked",
    notes.LOOP: "loop",
    notes.DEFECT: "defect",
}
"""Every kind with the words it is shown under, what matters most first."""

_ORDER = {kind: rank for rank, kind in enumerate(TITLES)}
SHOWN_BY_LOGS = frozenset({notes.SALVAGE, notes.PARKED, notes.LOOP, notes.DEFECT})
"""What was found out about it. The rest are the agent's own words."""


class Hint(msgspec.Struct, frozen=True):
    """One thing the data says about going on."""

    kind: str
    text: str
    origin: Origin | None = None
    at: Millis | None = None
    by_delegtop: bool = False
    """delegtop wrote it, in the place of an agent that did not answer or gave no valid return."""

    @property
    def by_agent(self) -> bool:
        """It is the agent's own word, not what logs show of it or what delegtop wrote in its place."""
        return self.kind not in SHOWN_BY_LOGS and not self.by_delegtop

    @property
    def title(self) -> str:
        return TITLES[self.kind]


def hints(facts: Delegation) -> tuple[Hint, ...]:
    """Everything there is, what matters most first; what is said twice is told once."""
    told = [Hint(note.kind, note.text, note.origin, note.at) for note in facts.notes if note.kind in _ORDER]
    told += [
        Hint(RECOMMENDATION, fault.recommendation, facts.ended_origin, facts.ended_at, is_own(fault))
        for fault in facts.errors
        if fault.recommendation
    ]
    if facts.report.next_steps:
        told.append(Hint(NEXT_STEPS, facts.report.next_steps, facts.ended_origin, facts.ended_at))
    told.sort(key=lambda hint: _ORDER[hint.kind])
    return tuple({hint.text: hint for hint in reversed(told)}.values())[::-1]
