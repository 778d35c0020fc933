"""The figures of a row: what to call a delegation, how deep it is, how long it has left, how old and how quiet it is.

Every view reads them here, so that the screen, the printed tree and the filter cannot disagree. None is "not known".
Gathering the facts of a delegation is the costly part: who has them already passes them on.
"""

from typing import TYPE_CHECKING

from delegtop.base import machine
from delegtop.base.clock import Millis
from delegtop.base.text import first_line, folded
from delegtop.model import phases
from delegtop.model.delegation import Delegation
from delegtop.model.events import LOCALHOST, Ending
from delegtop.model.notes import VANISHED
from delegtop.model.states import ACTIVE, UNENDED, State

if TYPE_CHECKING:
    from delegtop.model.forest import Forest
    from delegtop.model.store.ledger import Handle


_STATES = tuple(State)


def label(delegation: Delegation) -> str:
    """What to call it in a tree: `/implement 191` for a command, else its one-word name."""
    if not delegation.is_command or not delegation.command:
        return delegation.name
    command = "/" + delegation.command.lstrip("/")
    return f"{command} {delegation.task}" if delegation.task else command


def called(delegation: Delegation) -> str:
    """The same, and the agent's own name beside it if it has one."""
    name, own = label(delegation), delegation.own_name
    return f"{name} {own}" if own and own != name else name


def title(delegation: Delegation) -> str:
    """The work in a few words: its title, else the first line of what it was asked."""
    return delegation.title or first_line(delegation.prompt or "")


def ended_at(delegation: Delegation) -> Millis | None:
    """When it ended. That its process was found gone tells that it has, and not when; that it went while somebody
    watched does."""
    found = delegation.ended_origin
    if delegation.ended_by is not Ending.GONE or found is None or not found.is_kernel:
        return delegation.ended_at
    return delegation.ended_at if any(note.kind == VANISHED for note in delegation.notes) else None


def folder(forest: "Forest", handle: "Handle") -> str | None:
    """Where it works: its own folder, else that of the nearest above it that says."""
    at: Handle | None = handle
    while at is not None:
        if (cwd := forest.cwd(at)) is not None:
            return cwd
        at = forest.parent(at)
    return None


def host(forest: "Forest", handle: "Handle") -> str | None:
    """The machine it is on: where several are looked at whose log tells of it, else what that says."""
    facts = forest.delegation(handle)
    return facts.told_by or (machine.name() if forest.has_hosts else facts.host)


def named_host(forest: "Forest", handle: "Handle") -> str:
    """The same by its name; nothing for this machine."""
    found = host(forest, handle)
    return found if found and found not in (LOCALHOST, machine.name()) else ""


def told_host(forest: "Forest", handle: "Handle") -> str:
    """The machine it is on where several are looked at, so that words of it say which; else nothing."""
    return (host(forest, handle) or "") if forest.has_hosts else ""


def derived_depth(forest: "Forest", handle: "Handle", facts: Delegation | None = None, level: int | None = None) -> int:
    """Its depth as its path tells it (orchestrator and command come before depth 1), else its level in the tree."""
    path = (facts or forest.delegation(handle)).own_path
    if path:
        return max(len(path) - 2, 0)
    return forest.level(handle) if level is None else level


def depth(forest: "Forest", handle: "Handle") -> int:
    """Its depth as it claims, else as derived."""
    facts = forest.delegation(handle)
    return facts.depth if facts.depth is not None else derived_depth(forest, handle, facts)


def state_rank(forest: "Forest", handle: "Handle") -> int:
    """The place of its state in the order in which states are told."""
    return _STATES.index(forest.state(handle))


def left(forest: "Forest", handle: "Handle") -> int | None:
    """Milliseconds until its deadline, negative when it is over; None if it has none or is done."""
    if forest.state(handle) not in ACTIVE:
        return None
    deadline = forest.deadline(handle)
    return deadline.at - forest.now_of(handle) if deadline else None


def age(forest: "Forest", handle: "Handle", facts: Delegation | None = None) -> int | None:
    """Milliseconds from its start to its end, or to now while nothing says that it ended."""
    facts = facts or forest.delegation(handle)
    if facts.started_at is None:
        return None
    state = forest.state(handle)
    end = forest.now_of(handle) if state in UNENDED else facts.ended_at
    return end - facts.started_at if end is not None else None


def quiet(forest: "Forest", handle: "Handle", facts: Delegation | None = None) -> int | None:
    """Milliseconds since anything came of it, while it is not known to be done."""
    since = silent_since(forest, handle, facts)
    return None if since is None else forest.now_of(handle) - since


def silent_since(forest: "Forest", handle: "Handle", facts: Delegation | None = None) -> Millis | None:
    """Since when nothing came of it, while it is not known to be done. Of one that is lost that is its last word, even
    if it asked its model in vain before that."""
    facts, state = facts or forest.delegation(handle), forest.state(handle)
    if state not in UNENDED:
        return None
    return facts.heard_at if state is State.LOST else facts.quiet_since


def remark(
    forest: "Forest", handle: "Handle", facts: Delegation | None = None, waits_on: "Handle | None" = None
) -> str:
    """What is most worth knowing of it in one line: what it does or waits on, how it failed, what it made. Whoever
    judges knows whom it waits on; else it is the one that began first."""
    told = _worth_knowing(forest, handle, facts or forest.delegation(handle), waits_on)
    return folded(told) if "\n" in told else told


def _worth_knowing(forest: "Forest", handle: "Handle", facts: Delegation, waits_on: "Handle | None") -> str:
    state = forest.state(handle)
    waits = state in (State.WAITING, State.OVERDUE) and facts.phase not in phases.FOR_PEOPLE
    blocker = (forest.blocker(handle) if waits_on is None else waits_on) if waits else None
    if blocker is not None:
        return f"on {label(forest.delegation(blocker))}"
    if state in ACTIVE:
        return doing(forest, handle, facts)
    if state is State.IDLE and (work := phases.work(facts)):
        return work
    if state is State.COMPLETED:
        return facts.report.summary or made(facts)
    told = next((fault.message for fault in facts.errors if fault.message), None) or facts.report.summary
    if state is State.UNKNOWN and facts.outcome is not None:
        return " · ".join(filter(None, (forest.reason(handle), told)))
    if told or (reason := forest.reason(handle)):
        return told or reason
    last_words = f"last: {facts.doing}" if facts.doing else ""
    return " · ".join(filter(None, (made(facts) and f"{made(facts)} left", last_words)))


def doing(forest: "Forest", handle: "Handle", facts: Delegation) -> str:
    """What it does at this moment, as it said; first that its log is ahead of the clock, else why nothing is known."""
    said = phases.now(facts)
    return (
        ": ".join(filter(None, (forest.reason(handle), said)))
        if forest.ahead(handle)
        else said or forest.reason(handle)
    )


def made(facts: Delegation) -> str:
    """`2 artifacts`, nothing if there is none."""
    count = len(facts.artifacts)
    return f"{count} artifact{'' if count == 1 else 's'}" if count else ""
