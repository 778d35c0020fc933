"""The judges: one function for each verdict, the most telling first."""

from collections.abc import Callable

from delegtop.clock import Millis, duration
from delegtop.diagnosis.rule import Case
from delegtop.diagnosis.verdicts.verdict import Certainty, Kind, Verdict
from delegtop.diagnosis.watch import ENDED, life
from delegtop.model import notes, phases
from delegtop.model.delegation import ACTIVE, Basis, Deadline, Delegation, Link, State
from delegtop.model.events import Phase
from delegtop.model.ledger import Handle
from delegtop.model.measures import label
from delegtop.origin import Origin

OPEN = ACTIVE | {State.LOST}
"""What is judged: nothing says that these have ended."""
_ANCESTORS = 50
_SHORT = 120

Judge = Callable[[Case], Verdict | None]


def awaiting_a_person(case: Case) -> Verdict | None:
    """Nothing moves until a person answers. Whoever is gone, or was only copied here, asks no longer."""
    facts = case.facts
    if facts.outcome is not None or case.forest.went_with_its_session(case.handle):
        return None
    if any(note.kind == notes.COPIED for note in facts.notes):
        return None
    if facts.phase is Phase.PERMISSION:
        kind, asked = Kind.AWAITING_PERMISSION, "a person to allow"
    elif facts.phase is Phase.ANSWER:
        kind, asked = Kind.AWAITING_ANSWER, "a person's answer to"
    else:
        return None
    what = _tool(case) or "what it asked"
    since = f" for {duration(_quiet(case))}" if facts.heard_at is not None else ""
    stop = "" if what.endswith(("?", "!", ".")) else "."
    message = f"It waits{since} for {asked} {what}{stop}"
    return Verdict(kind, Certainty.CERTAIN, message, facts.heard_at, _places(facts.heard_origin))


def lost(case: Case) -> Verdict | None:
    """Its writer is gone, or nothing was heard for so long that it must be."""
    if case.forest.state(case.handle) is not State.LOST:
        return None
    facts = case.facts
    gone = facts.outcome is not None or case.forest.went_with_its_session(case.handle)
    sure = Certainty.CERTAIN if gone else Certainty.LIKELY
    why = case.forest.reason(case.handle) or "its process is gone"
    return Verdict(Kind.LOST, sure, f"It is lost: {why}.", facts.heard_at or facts.listed_at, tuple(life(facts)))


def orphaned(case: Case) -> Verdict | None:
    """Who gave it the work has ended, so nobody will take its return."""
    forest = case.forest
    parent = forest.parent(case.handle)
    if parent is None or forest.state(parent) not in ENDED or forest.link(case.handle) is Link.AMBIGUOUS:
        return None
    above = forest.delegation(parent)
    sure = Certainty.CERTAIN if forest.link(case.handle) is Link.EXPLICIT else Certainty.POSSIBLE
    message = f"Its parent {label(above)} ended {forest.state(parent)}, and it is still open."
    return Verdict(Kind.ORPHANED, sure, message, above.ended_at, _places(above.ended_origin, *life(case.facts)))


def looping(case: Case) -> Verdict | None:
    """It goes round: its log says so, or it was given the very work that somebody above it was given."""
    facts = case.facts
    for note in facts.notes:
        if note.kind == notes.LOOP:
            return Verdict(
                Kind.LOOPING, Certainty.LIKELY, f"It goes round: {note.text}.", note.at, _places(note.origin)
            )
    work = facts.prompt or facts.task
    if not work or not facts.agent:
        return None
    above = case.forest.parent(case.handle)
    for _ in range(_ANCESTORS):
        if above is None:
            return None
        given = case.forest.delegation(above)
        if given.agent == facts.agent and work == (given.prompt or given.task):
            message = f"{facts.agent} was given the very work that {label(given)} above it already has."
            places = _places(given.started_origin, facts.started_origin)
            return Verdict(Kind.LOOPING, Certainty.LIKELY, message, facts.started_at, places)
        above = case.forest.parent(above)
    return None


def disagreement(case: Case) -> Verdict | None:
    """The registry gave it up, and its log goes on; or the other way round."""
    facts = case.facts
    if not facts.left_registry or facts.listed_at is None or facts.heard_at is None:
        return None
    if facts.heard_at <= facts.listed_at:
        return None
    message = "It left the registry, which means done or given up, but its log goes on."
    return Verdict(
        Kind.DISAGREEMENT, Certainty.CERTAIN, message, facts.listed_at, _places(facts.heard_origin, *facts.origins[:1])
    )


def waiting_on_child(case: Case) -> Verdict | None:
    """It cannot go on before somebody below it does."""
    blocker = case.forest.blocker(case.handle)
    if blocker is None:
        return None
    below = case.forest.delegation(blocker)
    path = "" if case.forest.parent(blocker) == case.handle else " at the end of its path"
    over = _past(case, case.forest.deadline(case.handle))
    message = f"It waits on {label(below)}{path}{over}."
    return Verdict(
        Kind.WAITING_ON_CHILD,
        Certainty.CERTAIN,
        message,
        below.started_at,
        _places(below.started_origin, below.heard_origin),
        blocker,
    )


def lost_return(case: Case) -> Verdict | None:
    """What it waited for has ended, and it was never heard of again."""
    facts, forest = case.facts, case.forest
    if facts.phase not in (None, Phase.CHILD) or facts.heard_at is None:
        return None
    ended_at, last = _last_done(case)
    if last is None or ended_at < facts.heard_at or case.now - ended_at <= forest.policy.suspect_after:
        return None
    sure = Certainty.LIKELY if facts.phase is Phase.CHILD else Certainty.POSSIBLE
    how = "ended" if last.ended_at is not None else "was done"
    message = f"{label(last)} {how} {duration(case.now - ended_at)} ago, and nothing shows that it was told."
    places = _places(last.ended_origin or last.heard_origin, facts.heard_origin)
    return Verdict(Kind.LOST_RETURN, sure, message, ended_at, places)


def hung_in_tool(case: Case) -> Verdict | None:
    """It is inside a tool, silent for long, and past a limit that somebody set. Without such a limit it is only
    silent: long quiet tools are healthy."""
    facts = case.facts
    deadline = case.forest.deadline(case.handle)
    if not _in_tool(case) or deadline is None or case.now <= deadline.at or not _is_limit(case, deadline):
        return None
    if _awake_quiet(case) <= case.forest.policy.suspect_after:
        return None
    message = f"It has been inside {_tool(case) or 'a tool'} for {duration(_quiet(case))}{_past(case, deadline)}."
    return Verdict(Kind.HUNG_IN_TOOL, Certainty.LIKELY, message, facts.heard_at, _places(facts.heard_origin))


def worked_never_reported(case: Case) -> Verdict | None:
    """It is silent or overdue, and its work lies on disk."""
    if case.forest.state(case.handle) not in (State.SILENT, State.OVERDUE):
        return None
    for note in case.facts.notes:
        if note.kind == notes.SALVAGE:
            message = f"It never reported, but its work is there: {note.text}."
            return Verdict(Kind.WORKED_NEVER_REPORTED, Certainty.LIKELY, message, note.at, _places(note.origin))
    return None


def host_slept(case: Case) -> Verdict | None:
    """All logs were silent at once, and without that time it was not silent for long."""
    facts = case.facts
    if facts.heard_at is None or _quiet(case) <= _patience(case) or _awake_quiet(case) > _patience(case):
        return None
    asleep = list(case.forest.sleeps(facts.heard_at))
    slept = sum(end - start for start, end in asleep)
    message = f"Every log was silent for {duration(slept)}; the machine slept, and this is not charged to it."
    return Verdict(Kind.HOST_SLEPT, Certainty.LIKELY, message, asleep[0][0], _places(facts.heard_origin))


def overdue(case: Case) -> Verdict | None:
    deadline = case.forest.deadline(case.handle)
    if case.forest.state(case.handle) is not State.OVERDUE or deadline is None:
        return None
    quiet = f"; last heard of {duration(_quiet(case))} ago" if case.facts.heard_at is not None else ""
    over = duration(case.now - deadline.at)
    if _is_limit(case, deadline):
        sure, message = Certainty.CERTAIN, f"It is {over} past its deadline ({deadline.note}){quiet}."
    else:
        sure = Certainty.POSSIBLE
        message = f"Whoever waited for it stopped waiting {over} ago ({deadline.note}){quiet}. It may be well at work."
    return Verdict(Kind.OVERDUE, sure, message, deadline.at, tuple(life(case.facts)))


def waiting_for_model(case: Case) -> Verdict | None:
    """It asked the model and no answer came."""
    facts = case.facts
    if facts.phase is not Phase.MODEL or _awake_quiet(case) <= case.forest.policy.silent_after:
        return None
    deadline = case.forest.deadline(case.handle)
    sure = Certainty.LIKELY if _awake_quiet(case) > case.forest.policy.suspect_after else Certainty.POSSIBLE
    message = f"It has waited {duration(_quiet(case))} for the model's answer{_past(case, deadline)}."
    return Verdict(Kind.WAITING_FOR_MODEL, sure, message, facts.heard_at, _places(facts.heard_origin))


def silent(case: Case) -> Verdict | None:
    """It wrote nothing for longer than its kind usually takes in all, and was not waiting for a child meanwhile."""
    if case.facts.heard_at is None or _awake_quiet(case) <= _patience(case):
        return None
    if case.now - _last_done(case)[0] <= _patience(case):
        return None
    usual = case.forest.usual(case.handle)
    than = f"; {case.facts.agent} is usually done within {duration(usual[0])}" if usual else ""
    tool = _tool(case)
    inside = f" inside {tool}" if tool and _in_tool(case) else ""
    message = f"Nothing was heard of it for {duration(_quiet(case))}{inside}{than}. Quiet is not hung."
    return Verdict(
        Kind.SILENT,
        Certainty.POSSIBLE,
        message,
        case.facts.heard_at,
        _places(case.facts.heard_origin, *life(case.facts)),
    )


JUDGES: tuple[Judge, ...] = (
    awaiting_a_person,
    lost,
    looping,
    waiting_on_child,
    orphaned,
    disagreement,
    lost_return,
    hung_in_tool,
    worked_never_reported,
    host_slept,
    waiting_for_model,
    overdue,
    silent,
)


# -- what the judges share ------------------------------------------------------------------------------------------


def _quiet(case: Case) -> int:
    """Milliseconds since it was last heard of; 0 if it never was."""
    return case.now - case.facts.heard_at if case.facts.heard_at is not None else 0


def _awake_quiet(case: Case) -> int:
    """The same without the time in which the whole machine slept."""
    heard = case.facts.heard_at
    if heard is None:
        return 0
    return _quiet(case) - sum(end - start for start, end in case.forest.sleeps(heard))


def _last_done(case: Case) -> tuple[Millis, Delegation | None]:
    """The child that was done last, and when; its log may say no more than that its turn is over."""
    forest = case.forest
    last: tuple[Millis, Delegation | None] = (Millis(0), None)
    for child in forest.offspring(case.handle):
        below = forest.delegation(child)
        idle = forest.state(child) is State.IDLE and case.facts.phase is Phase.CHILD
        done = below.heard_at if idle else below.ended_at
        if done is not None and done > last[0]:
            last = done, below
    return last


def _patience(case: Case) -> int:
    """How long silence of this one is nothing to speak of."""
    policy, usual = case.forest.policy, case.forest.usual(case.handle)
    limit = policy.tool_suspect_after if _in_tool(case) else policy.suspect_after
    return max(limit, usual[0] if usual else Millis(0))


def _in_tool(case: Case) -> bool:
    """Whether its last word was that it is inside a tool; some logs name the tool and no phase."""
    phase = case.facts.phase
    return phase is Phase.TOOL or (phase is None and bool(case.facts.tool))


def _is_limit(case: Case, deadline: Deadline) -> bool:
    """Whether passing it means that something is wrong. Somebody who waited so long and then did something else for a
    while has set no limit."""
    climber: Handle | None = case.handle
    for _ in range(_ANCESTORS):
        if deadline.basis is not Basis.PARENT or climber is None:
            break
        climber = case.forest.parent(climber)
        above = case.forest.deadline(climber) if climber is not None else None
        deadline = above or deadline
    return deadline.is_firm and deadline.basis is not Basis.WAIT


def _past(case: Case, deadline: Deadline | None) -> str:
    if deadline is None or not deadline.is_firm or case.now <= deadline.at:
        return ""
    return f", {duration(case.now - deadline.at)} past its deadline"


def _tool(case: Case) -> str:
    """The tool with what it does, short."""
    told = phases.work(case.facts)
    return told if len(told) <= _SHORT else f"{told[: _SHORT - 1]}…"


def _places(*origins: Origin | None) -> tuple[Origin, ...]:
    return tuple(dict.fromkeys(origin for origin in origins if origin is not None))
