"""The verdict: for every delegation that is not plainly running or done, what is going on, and how sure that is.

Silence alone is never called hung. Of several judges the first that is sure of its case speaks; their order is the
order of `JUDGES`, the most telling first.
"""

from delegtop.clock import Millis
from delegtop.diagnosis.rule import Case
from delegtop.diagnosis.verdicts.judges import JUDGES, OPEN
from delegtop.diagnosis.verdicts.verdict import Certainty, Kind, Verdict
from delegtop.model.forest import Forest
from delegtop.model.ledger import Handle

__all__ = ["JUDGED", "Certainty", "Kind", "Verdict", "judge", "root_blocker", "verdict"]

JUDGED: tuple[Kind, ...] = (
    Kind.AWAITING_PERMISSION,
    Kind.AWAITING_ANSWER,
    Kind.LOST,
    Kind.LOOPING,
    Kind.WAITING_ON_CHILD,
    Kind.ORPHANED,
    Kind.DISAGREEMENT,
    Kind.LOST_RETURN,
    Kind.HUNG_IN_TOOL,
    Kind.WORKED_NEVER_REPORTED,
    Kind.HOST_SLEPT,
    Kind.WAITING_FOR_MODEL,
    Kind.OVERDUE,
    Kind.SILENT,
)
"""In the order of the judges: of several that fit, the first is given."""

HARMLESS = frozenset({Kind.WAITING_ON_CHILD, Kind.HOST_SLEPT})
"""What needs nobody by itself."""


def verdict(forest: Forest, handle: Handle, now: Millis) -> Verdict | None:
    """The verdict on one delegation; None if it is plainly running or done."""
    if forest.state(handle) not in OPEN:
        return None
    return judge(Case(forest, handle, forest.delegation(handle), now, lambda _: None))


def judge(case: Case) -> Verdict | None:
    """The same for a case a rule has at hand."""
    if case.forest.state(case.handle) not in OPEN:
        return None
    return next((found for judge in JUDGES if (found := judge(case)) is not None), None)


def root_blocker(forest: Forest, handle: Handle) -> Handle | None:
    """The one delegation that blocks the whole path from `handle` down; itself if it waits on nobody, and None if
    nothing on the path is in trouble."""
    end = forest.blocker(handle)
    blocking = handle if end is None else end
    found = verdict(forest, blocking, forest.now)
    return blocking if found is not None and found.kind not in HARMLESS else None
