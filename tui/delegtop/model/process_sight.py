"""Whether anybody could look at the processes of a delegation, by what was told."""

from delegtop.model.forest import Forest
from delegtop.model.notes import OUT_OF_SIGHT
from delegtop.model.store.ledger import Handle

_ABOVE = 100


def unseen(forest: Forest, handle: Handle) -> str:
    """`its processes cannot be seen from here: …`, where somebody has tried and could not; else nothing. Who has no
    process of its own runs in that of the session above it."""
    climber: Handle | None = handle
    for _ in range(_ABOVE):
        if climber is None:
            break
        facts = forest.delegation(climber)
        for note in facts.notes:
            if note.kind == OUT_OF_SIGHT:
                return f"its processes cannot be seen from here: {note.text}"
        if facts.pid is not None:
            break
        climber = forest.parent(climber)
    return ""
