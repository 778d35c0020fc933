"""The judges: one function for each kind of verdict."""

from collections.abc import Callable

from delegtop.base.clock import MINUTE, Millis, duration
from delegtop.base.origin import Origin
from delegtop.diagnosis.case import Case
from delegtop.diagnosis.sentence import Sentence
from delegtop.diagnosis.verdicts.kinds import Certainty, Kind
from delegtop.diagnosis.verdicts.verdict import Verdict
from delegtop.model import notes, phases
from delegtop.model.delegation import Basis, Deadline, Delegation, Link
from delegtop.model.events import Phase
from delegtop.model.measures import label
from delegtop.model.states import ENDED, State
from delegtop.model.store.ledger import Handle

_ANCESTORS = 50
_SHORT = 120

Judge = Callable[[Case], Verdict | None]

JUDGES: dict[Kind, Judge] = {}


def judges(kind: Kind) -> Callable[[Judge], Judge]:
    """The function judges whether this is going on."""

    def made(judge: Judge) -> Judge:
        JUDGES[kind] = judge
        return judge

    return made


@judges(Kind.AWAITING_PERMISSION)
def awaiting_permission(case: Case) -> Verdict | None:
    """Nothing moves until a person allows it."""
    return _asking(case, Kind.AWAITING_PERMISSION, "a person to allow") if _asks(case, Phase.PERMISSION) else None


@judges(Kind.AWAITING_ANSWER)
def awaiting_answer(case: Case) -> Verdict | None:
    """Nothing moves until a person answers."""
    return _asking(case, Kind.AWAITING_ANSWER, "a person's answer to") if _asks(case, Phase.ANSWER) else None


def _asks(case: Case, phase: Phase) -> bool:
    """Whoever is gone, or was only copied here, asks no longer."""
    facts = case.facts
    if facts.phase is not phase or facts.outcome is not None or case.forest.went_with_its_session(case.handle):
        return False
    return not any(note.kind == notes.COPIED for note in facts.notes)


def _asking(case: Case, kind: Kind, asked: str) -> Verdict:
    facts = case.facts
    what = _work(case) or "what it asked"
    since: Sentence = (" for ", facts.heard_at) if facts.heard_at is not None else ()
    stop = "" if what.endswith(("?", "!", ".")) else "."
    sentence = ("It waits", *since, f" for {asked} {what}{stop}")
    return Verdict(kind, Certainty.CERTAIN, sentence, facts.heard_at, _places(facts.heard_origin))


@judges(Kind.LOST)
def lost(case: Case) -> Verdict | None:
    """Its writer is gone, or nothing was heard for so long that it must be."""
    if case.state is not State.LOST:
        return None
    facts = case.facts
    gone = facts.outcome is not None or case.forest.went_with_its_session(case.handle)
    heard = facts.heard_at or facts.listed_at
    vanished = next((note.at for note in facts.notes if note.kind == notes.VANISHED), None) if gone else None
    why: Sentence = (case.forest.reason(case.handle) or "its process is gone",)
    if not gone and heard is not None:
        why = ("nothing heard for ", heard, "; its writer is presumably gone (inferred)")
    sure = Certainty.CERTAIN if gone else Certainty.LIKELY
    return Verdict(Kind.LOST, sure, ("It is lost: ", *why, "."), vanished or heard, _life(facts))


@judges(Kind.LOOPING)
def looping(case: Case) -> Verdict | None:
    """It goes round: its log says so, or it was given the very work that somebody above it was given."""
    facts = case.facts
    for note in facts.notes:
        if note.kind == notes.LOOP:
            said = f"It goes round: {note.text}."
            return Verdict(Kind.LOOPING, Certainty.LIKELY, (said,), note.at, _places(note.origin))
    work = facts.prompt or facts.task
    if not work or not facts.agent:
        return None
    above = case.forest.parent(case.handle)
    for _ in range(_ANCESTORS):
        if above is None:
            return None
        given = case.forest.delegation(above)
        if given.agent == facts.agent and work == (given.prompt or given.task):
            said = f"{facts.agent} was given the very work that {label(given)} above it already has."
            places = _places(given.started_origin, facts.started_origin)
            return Verdict(Kind.LOOPING, Certainty.LIKELY, (said,), facts.started_at, places)
        above = case.forest.parent(above)
    return None


@judges(Kind.WAITING_ON_CHILD)
def waiting_on_child(case: Case) -> Verdict | None:
    """It cannot go on before somebody below it does. If that one is well, being late is its own affair."""
    blocker = case.forest.blocker(case.handle)
    if blocker is None or (case.state is State.OVERDUE and not _is_in_trouble(case, blocker)):
        return None
    below = case.forest.delegation(blocker)
    path = "" if case.forest.parent(blocker) == case.handle else " at the end of its path"
    late = _past(case, case.forest.deadline(case.handle))
    return Verdict(
        Kind.WAITING_ON_CHILD,
        Certainty.CERTAIN,
        (f"It waits on {label(below)}{path}", *late, "."),
        below.started_at,
        _places(below.started_origin, below.heard_origin),
        blocker,
    )


def _is_in_trouble(case: Case, blocker: Handle) -> bool:
    """Whether something is wrong with whom it waits on; that one waits on nobody itself."""
    if case.forest.needs_review(blocker):
        return True
    below = Case(case.forest, blocker)
    kind = next((kind for kind in Kind if JUDGES[kind](below) is not None), None)
    if below.turns is not None:
        case.look_again(below.turns)
    return kind is not None and not kind.row.harmless


@judges(Kind.ORPHANED)
def orphaned(case: Case) -> Verdict | None:
    """Who gave it the work has ended, so nobody will take its return."""
    forest = case.forest
    parent = forest.parent(case.handle)
    if parent is None or forest.state(parent) not in ENDED or forest.link(case.handle) is Link.AMBIGUOUS:
        return None
    above, heard = forest.delegation(parent), case.facts.heard_at
    declared = forest.link(case.handle) is Link.EXPLICIT
    quiet = heard is None or case.is_past(heard + forest.policy.suspect_after)  # else it may come to its end by itself
    sure = Certainty.CERTAIN if declared and quiet else Certainty.POSSIBLE
    since: Sentence = (" ", above.ended_at, " ago") if above.ended_at is not None else ()
    inferred = "" if declared else " (parent inferred)"
    said = (f"Its parent {label(above)} ended {forest.state(parent)}", *since, f", and it is still open{inferred}.")
    return Verdict(Kind.ORPHANED, sure, said, above.ended_at, _places(above.ended_origin, *_life(case.facts)))


@judges(Kind.DISAGREEMENT)
def disagreement(case: Case) -> Verdict | None:
    """The registry gave it up, and its log goes on; or the other way round."""
    facts = case.facts
    if not facts.left_registry or facts.listed_at is None or facts.heard_at is None:
        return None
    if facts.heard_at <= facts.listed_at:
        return None
    said = "It left the registry, which means done or given up, but its log goes on."
    places = _places(facts.heard_origin, *facts.origins[:1])
    return Verdict(Kind.DISAGREEMENT, Certainty.CERTAIN, (said,), facts.listed_at, places)


@judges(Kind.LOST_RETURN)
def lost_return(case: Case) -> Verdict | None:
    """What it waited for has ended, and it was never heard of again."""
    facts = case.facts
    if facts.phase not in (None, Phase.CHILD) or facts.heard_at is None:
        return None
    if not case.is_past(facts.heard_at + case.forest.policy.suspect_after):  # it may have many children
        return None
    ended_at, last = _last_done(case)
    if last is None or ended_at < facts.heard_at or not case.is_past(ended_at + case.forest.policy.suspect_after):
        return None
    sure = Certainty.LIKELY if facts.phase is Phase.CHILD else Certainty.POSSIBLE
    how = "ended" if last.ended_at is not None else "was done"
    said = (f"{label(last)} {how} ", ended_at, " ago, and nothing shows that it was told.")
    places = _places(last.ended_origin or last.heard_origin, facts.heard_origin)
    return Verdict(Kind.LOST_RETURN, sure, said, ended_at, places)


@judges(Kind.HUNG_IN_TOOL)
def hung_in_tool(case: Case) -> Verdict | None:
    """It is inside a tool, silent for long, and past a limit that somebody set. Without such a limit it is only
    silent: long quiet tools are healthy."""
    facts = case.facts
    deadline = case.forest.deadline(case.handle)
    if not _in_tool(case) or deadline is None or not _is_limit(case, deadline) or not case.is_past(deadline.at):
        return None
    if facts.heard_at is None or not _is_quiet_for(case, case.forest.policy.suspect_after):
        return None
    said = (f"It has been inside {_work(case) or 'a tool'} for ", facts.heard_at, *_past(case, deadline), ".")
    return Verdict(Kind.HUNG_IN_TOOL, Certainty.LIKELY, said, facts.heard_at, _places(facts.heard_origin))


@judges(Kind.WORKED_NEVER_REPORTED)
def worked_never_reported(case: Case) -> Verdict | None:
    """It is silent or overdue, and its work lies on disk."""
    if case.state not in (State.SILENT, State.OVERDUE):
        return None
    for note in case.facts.notes:
        if note.kind == notes.SALVAGE:
            said = f"It never reported, but its work is there: {note.text}."
            return Verdict(Kind.WORKED_NEVER_REPORTED, Certainty.LIKELY, (said,), note.at, _places(note.origin))
    return None


@judges(Kind.HOST_SLEPT)
def host_slept(case: Case) -> Verdict | None:
    """All logs were silent at once, and without that time it was not silent for long."""
    heard, patience = case.facts.heard_at, _patience(case)
    if heard is None or not case.is_past(heard + patience) or _is_quiet_for(case, patience):
        return None
    asleep = list(case.forest.sleeps_of(case.handle, heard))
    slept = sum(end - start for start, end in asleep)
    said = f"Every log was silent for {duration(slept)}; the machine slept, and this is not charged to it."
    return Verdict(Kind.HOST_SLEPT, Certainty.LIKELY, (said,), asleep[0][0], _places(case.facts.heard_origin))


@judges(Kind.WAITING_FOR_MODEL)
def waiting_for_model(case: Case) -> Verdict | None:
    """It asked the model and no answer came."""
    facts, policy = case.facts, case.forest.policy
    if facts.phase is not Phase.MODEL or facts.heard_at is None or not _is_quiet_for(case, policy.silent_after):
        return None
    late = _past(case, case.forest.deadline(case.handle))
    sure = Certainty.LIKELY if _is_quiet_for(case, policy.suspect_after) else Certainty.POSSIBLE
    said = ("It has waited ", facts.heard_at, " for the model's answer", *late, ".")
    return Verdict(Kind.WAITING_FOR_MODEL, sure, said, facts.heard_at, _places(facts.heard_origin))


@judges(Kind.OVERDUE)
def overdue(case: Case) -> Verdict | None:
    """It is past its deadline."""
    deadline, facts = case.forest.deadline(case.handle), case.facts
    if case.state is not State.OVERDUE or deadline is None:
        return None
    blocker = case.forest.blocker(case.handle)
    rest: Sentence = ("; last heard of ", facts.heard_at, " ago") if facts.heard_at is not None else ()
    if blocker is not None:
        rest = (f"; {label(case.forest.delegation(blocker))}, on which it waits, is at work",)
    if _is_limit(case, deadline):
        sure, said = Certainty.CERTAIN, ("It is ", deadline.at, f" past its deadline ({deadline.note})", *rest, ".")
    else:
        sure = Certainty.POSSIBLE
        said = (f"Whoever waited for it ({deadline.note}) stopped ", deadline.at, " ago", *rest)
        said = (*said, ". It may be well at work.")
    return Verdict(Kind.OVERDUE, sure, said, deadline.at, _life(facts), blocker)


@judges(Kind.SILENT)
def silent(case: Case) -> Verdict | None:
    """It wrote nothing for longer than its kind usually takes in all, and was not waiting for a child meanwhile."""
    heard, patience = case.facts.heard_at, _patience(case)
    if heard is None or not _is_quiet_for(case, patience) or not case.is_past(_last_done(case)[0] + patience):
        return None
    usual = case.forest.usual(case.handle)
    than = f"; {case.facts.agent} is usually done within {duration(usual[0])}" if usual else ""
    work = _work(case)
    inside = f" inside {work}" if work and _in_tool(case) else ""
    said = ("Nothing was heard of it for ", heard, f"{inside}{than}. Quiet is not hung.")
    places = _places(case.facts.heard_origin, *_life(case.facts))
    return Verdict(Kind.SILENT, Certainty.POSSIBLE, said, heard, places)


# -- what the judges share ------------------------------------------------------------------------------------------


def _is_quiet_for(case: Case, span: int) -> bool:
    """Whether it was last heard of longer ago than that, without the time in which the whole machine slept."""
    heard = case.facts.heard_at
    if heard is None:
        return False
    slept = sum(end - start for start, end in case.forest.sleeps_of(case.handle, heard))
    return case.is_past(heard + slept + span)


def _last_done(case: Case) -> tuple[Millis, Delegation | None]:
    """The child that was done last, and when; its log may say no more than that its turn is over."""
    forest = case.forest
    last: tuple[Millis, Handle | None] = (Millis(0), None)
    for child in forest.offspring(case.handle):
        _, heard, ended = forest.times(child)
        idle = forest.state(child) is State.IDLE and case.facts.phase is Phase.CHILD
        done = heard if idle else ended
        if done is not None and done > last[0]:
            last = done, child
    return last[0], None if last[1] is None else forest.delegation(last[1])


def _patience(case: Case) -> int:
    """How long silence of this one is nothing to speak of."""
    policy, usual, facts = case.forest.policy, case.forest.usual(case.handle), case.facts
    limit = policy.tool_suspect_after if _in_tool(case) else policy.suspect_after
    if facts.product is not None and facts.heard_at is not None and case.is_past(facts.heard_at + limit):
        case.look_again(case.now + MINUTE)  # what is usual may become known or change whenever another one is done
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


def _past(case: Case, deadline: Deadline | None) -> Sentence:
    if deadline is None or not deadline.is_firm or not case.is_past(deadline.at):
        return ()
    return (", ", deadline.at, " past its deadline")


def _work(case: Case) -> str:
    """The tool with what it does, short and on one line."""
    told = " ".join(phases.work(case.facts).split())
    return told if len(told) <= _SHORT else f"{told[: _SHORT - 1]}…"


def _life(facts: Delegation) -> tuple[Origin, ...]:
    """Where it started and where it was last heard of."""
    return _places(facts.started_origin, facts.heard_origin)


def _places(*origins: Origin | None) -> tuple[Origin, ...]:
    return tuple(dict.fromkeys(origin for origin in origins if origin is not None))
