"""The figures of a row: what to call a delegation, how deep it is, how long it has left, how old and how quiet it is.

Every view reads them here, so that the screen, the printed tree and the filter cannot disagree. None is "not known".
"""

from typing import TYPE_CHECKING

from delegtop.model.delegation import ACTIVE, Delegation, State

if TYPE_CHECKING:
    from delegtop.model.forest import Forest
    from delegtop.model.ledger import Handle


def label(delegation: Delegation) -> str:
    """What to call it in a tree: `/implement 191` for a command, else its one-word name."""
    if delegation.agent or not delegation.command:
        return delegation.name
    command = "/" + delegation.command.lstrip("/")
    return f"{command} {delegation.task}" if delegation.task else command


def derived_depth(forest: "Forest", handle: "Handle", level: int | None = None) -> int:
    """Its depth as its path tells it, else as the tree does. A path starts with the orchestrator and the command.

    Who walks the tree knows the level already and gives it.
    """
    path = forest.delegation(handle).own_path
    if path:
        return max(len(path) - 2, 0)
    return forest.level(handle) if level is None else level


def depth(forest: "Forest", handle: "Handle") -> int:
    """Its depth as it claims, else as derived."""
    claimed = forest.delegation(handle).depth
    return claimed if claimed is not None else derived_depth(forest, handle)


def left(forest: "Forest", handle: "Handle") -> int | None:
    """Milliseconds until its deadline, negative when it is over; None if it has none or is done."""
    if forest.state(handle) not in ACTIVE:
        return None
    deadline = forest.deadline(handle)
    return deadline.at - forest.now if deadline else None


def age(forest: "Forest", handle: "Handle") -> int | None:
    """Milliseconds from its start to its end, or to now while nothing says that it ended."""
    delegation = forest.delegation(handle)
    if delegation.started_at is None:
        return None
    state = forest.state(handle)
    end = forest.now if state in ACTIVE or state is State.LOST else delegation.ended_at
    return end - delegation.started_at if end is not None else None


def quiet(forest: "Forest", handle: "Handle") -> int | None:
    """Milliseconds since it was last heard of, while it is not known to be done."""
    delegation = forest.delegation(handle)
    state = forest.state(handle)
    if delegation.heard_at is None or (state not in ACTIVE and state is not State.LOST):
        return None
    return forest.now - delegation.heard_at


def remark(forest: "Forest", handle: "Handle") -> str:
    """What is most worth knowing of it in one line: what it does or waits on, how it failed, what it made."""
    delegation = forest.delegation(handle)
    state = forest.state(handle)
    if state is State.WAITING and (blocker := forest.blocker(handle)) is not None:
        return f"on {label(forest.delegation(blocker))}"
    if state in ACTIVE:
        return delegation.doing or delegation.tool or forest.reason(handle)
    if state is not State.COMPLETED:
        told = next((fault.message for fault in delegation.errors if fault.message), None)
        return told or delegation.report.summary or forest.reason(handle)
    made = len(delegation.artifacts)
    return delegation.report.summary or (f"{made} artifact{'s'[: made > 1]}" if made else "")
