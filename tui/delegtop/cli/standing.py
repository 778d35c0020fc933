"""How things stand: whether everything is done, whether something is wrong, and the exit code that says so."""

from collections import Counter
from collections.abc import Collection, Mapping

from delegtop.cli.exit_codes import Exit
from delegtop.diagnosis.alerts import Cause, standing
from delegtop.diagnosis.watch import ENDED
from delegtop.model.delegation import ACTIVE, PROBLEMS, SEVERITY, State
from delegtop.model.forest import Forest
from delegtop.model.ledger import Handle

Shown = Collection[Handle] | None
"""Some delegations; None for all."""

_GRAVE = frozenset({Cause.OVERDUE, Cause.HUNG, Cause.LOST})


def states(forest: Forest, shown: Shown) -> Mapping[State, int]:
    """How many are in which state."""
    return forest.counts if shown is None else Counter(forest.state(handle) for handle in shown)


def is_done(forest: Forest, shown: Shown) -> bool:
    """There was something, and nothing of it is open any more. A session between two prompts is at rest."""
    counts = states(forest, shown)
    return any(counts.values()) and not any(counts.get(state, 0) for state in ACTIVE)


def all_returned(forest: Forest, shown: Shown) -> bool:
    """Everything that was handed out has ended, and it is known how; agents' own sessions at least rest."""
    if not is_done(forest, shown):
        return False
    handles = range(len(forest)) if shown is None else shown
    return all(_came_back(forest, handle) for handle in handles)


def _came_back(forest: Forest, handle: Handle) -> bool:
    state = forest.state(handle)
    return state in ENDED or (state is State.IDLE and forest.parent(handle) is None)


def outcome(forest: Forest, shown: Shown) -> Exit:
    """What the states amount to."""
    counts = states(forest, shown)
    if counts.get(State.OVERDUE, 0) or counts.get(State.LOST, 0):
        return Exit.OVERDUE
    return Exit.FINDINGS if any(counts.get(state, 0) for state in PROBLEMS) else Exit.OK


def problem(forest: Forest, shown: Shown) -> Exit | None:
    """The exit code if something is wrong, hangs or needs a person; None if all is well."""
    code = outcome(forest, shown)
    if code is Exit.OVERDUE:
        return code
    handles = range(len(forest)) if shown is None else shown
    causes = {
        found.cause
        for handle in handles
        if forest.state(handle) in ACTIVE or forest.needs_review(handle)
        for found in standing(forest, handle)
    }
    if causes & _GRAVE:
        return Exit.OVERDUE
    return Exit.FINDINGS if causes or code is not Exit.OK else None


def summary(forest: Forest, shown: Shown) -> str:
    """`12 delegations: 1 failed, 11 completed`, the worst first."""
    counts = states(forest, shown)
    total = sum(counts.values())
    words = ", ".join(f"{counts[state]} {state}" for state in SEVERITY if counts.get(state))
    return f"{total} delegation{'' if total == 1 else 's'}{f': {words}' if words else ''}"
