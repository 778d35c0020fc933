"""The judges: one function for each kind of verdict."""

from delegtop.diagnosis.case import Case
from delegtop.diagnosis.sentence import Sentence
from delegtop.diagnosis.verdicts.judge_kit import (
    judges,
    last_done,
    life_of,
    origins_of,
    past,
)
from delegtop.diagnosis.verdicts.kinds import Certainty, Kind
from delegtop.diagnosis.verdicts.verdict import Verdict
from delegtop.model import notes
from delegtop.model.delegation import Link
from delegtop.model.events import Phase
from delegtop.model.measures import label
from delegtop.model.plain_work import given_before
from delegtop.model.states import ENDED, State


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
    return Verdict(Kind.LOST, sure, ("It is lost: ", *why, "."), vanished or heard, life_of(facts))


@judges(Kind.LOOPING)
def looping(case: Case) -> Verdict | None:
    """It goes round: its log says so, or it was given the very work that somebody above it was given."""
    facts = case.facts
    for note in facts.notes:
        if note.kind == notes.LOOP:
            said = f"It goes round: {note.text}."
            return Verdict(Kind.LOOPING, Certainty.LIKELY, (said,), note.at, origins_of(note.origin))
    above = given_before(case.forest.work, case.forest.parent, case.handle)
    if above is None:
        return None
    same = case.forest.delegation(above)
    said = f"{facts.agent} was given the very work that {label(same)} above it already has."
    places = origins_of(same.started_origin, facts.started_origin)
    return Verdict(Kind.LOOPING, Certainty.LIKELY, (said,), facts.started_at, places)


@judges(Kind.WAITING_ON_CHILD)
def waiting_on_child(case: Case) -> Verdict | None:
    """It cannot go on before somebody below it does. If that one is well, being late is its own affair."""
    blocker = case.ends.of(case.handle)
    if blocker is None or (case.state is State.OVERDUE and not case.ends.is_in_trouble(case.handle)):
        return None
    below = case.forest.delegation(blocker)
    path = "" if case.forest.parent(blocker) == case.handle else " at the end of its path"
    late = past(case, case.forest.deadline(case.handle))
    return Verdict(
        Kind.WAITING_ON_CHILD,
        Certainty.CERTAIN,
        (f"It waits on {label(below)}{path}", *late, "."),
        below.started_at,
        origins_of(below.started_origin, below.heard_origin),
        blocker,
    )


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
    return Verdict(Kind.ORPHANED, sure, said, above.ended_at, origins_of(above.ended_origin, *life_of(case.facts)))


@judges(Kind.DISAGREEMENT)
def disagreement(case: Case) -> Verdict | None:
    """The registry gave it up, and its log goes on; or the other way round."""
    facts = case.facts
    if not facts.left_registry or facts.listed_at is None or facts.heard_at is None:
        return None
    if facts.heard_at <= facts.listed_at:
        return None
    said = "It left the registry, which means done or given up, but its log goes on."
    places = origins_of(facts.heard_origin, *facts.origins[:1])
    return Verdict(Kind.DISAGREEMENT, Certainty.CERTAIN, (said,), facts.listed_at, places)


@judges(Kind.LOST_RETURN)
def lost_return(case: Case) -> Verdict | None:
    """What it waited for has ended, and it was never heard of again."""
    facts = case.facts
    if facts.phase not in (None, Phase.CHILD) or facts.heard_at is None:
        return None
    if not case.is_past(facts.heard_at + case.forest.policy.suspect_after):  # it may have many children
        return None
    ended_at, found = last_done(case)
    if found is None or ended_at < facts.heard_at or not case.is_past(ended_at + case.forest.policy.suspect_after):
        return None
    last = case.forest.delegation(found)
    sure = Certainty.LIKELY if facts.phase is Phase.CHILD else Certainty.POSSIBLE
    how = "ended" if last.ended_at is not None else "was done"
    said = (f"{label(last)} {how} ", ended_at, " ago, and nothing shows that it was told.")
    places = origins_of(last.ended_origin or last.heard_origin, facts.heard_origin)
    return Verdict(Kind.LOST_RETURN, sure, said, ended_at, places)


@judges(Kind.WORKED_NEVER_REPORTED)
def worked_never_reported(case: Case) -> Verdict | None:
    """It is silent or overdue, and its work lies on disk."""
    if case.state not in (State.SILENT, State.OVERDUE):
        return None
    for note in case.facts.notes:
        if note.kind == notes.SALVAGE:
            said = f"It never reported, but its work is there: {note.text}."
            return Verdict(Kind.WORKED_NEVER_REPORTED, Certainty.LIKELY, (said,), note.at, origins_of(note.origin))
    return None


@judges(Kind.OVERDUE)
def overdue(case: Case) -> Verdict | None:
    """It is past its deadline."""
    deadline, facts = case.forest.deadline(case.handle), case.facts
    if case.state is not State.OVERDUE or deadline is None:
        return None
    blocker = case.ends.of(case.handle)
    rest: Sentence = ("; last heard of ", facts.heard_at, " ago") if facts.heard_at is not None else ()
    if blocker is not None:
        rest = (f"; {label(case.forest.delegation(blocker))}, on which it waits, is at work",)
    said = ("It is ", deadline.at, f" past its deadline ({deadline.note})", *rest, ".")
    return Verdict(Kind.OVERDUE, Certainty.CERTAIN, said, deadline.at, life_of(facts), blocker)


# -- what the judges share ------------------------------------------------------------------------------------------
