"""The assessment: one answer to what is the matter with a delegation at a moment, how urgent that is, and why.

Every screen, command, alert and exit code asks for it; none has a notion of its own of what a problem is.
"""

from collections.abc import Iterator
from enum import IntEnum

import msgspec

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.base.text import folded
from delegtop.diagnosis.case import Case
from delegtop.diagnosis.held_up import held_up, is_answered, is_handed_up, is_lost_elsewhere
from delegtop.diagnosis.sentence import Sentence, say
from delegtop.diagnosis.verdicts import Certainty, Kind, Verdict, judge
from delegtop.diagnosis.verdicts.patience import unread
from delegtop.model import phases
from delegtop.model.delegation import Delegation, Note
from delegtop.model.forest import Forest
from delegtop.model.measures import label, remark
from delegtop.model.notes import REVIEW
from delegtop.model.states import ACTIVE, ENDED_BADLY, OPEN, State
from delegtop.model.store.ledger import Handle

NEEDS_REVIEW = "needs review"
_REVIEW_RULE, _ENDED_RULE = "FAM-001", "END-001"
_NAMED = 3


class Urgency(IntEnum):
    """How soon somebody should look, the least soonest. What is old never comes before what is now."""

    words: str
    problem: bool

    def __new__(cls, rank: int, words: str, problem: bool) -> "Urgency":
        urgency = int.__new__(cls, rank)
        urgency._value_, urgency.words, urgency.problem = rank, words, problem
        return urgency

    STUCK = 1, "stuck now, or suspicious and holding up others", True
    PERSON = 2, "a person is needed now", True
    JUST_ENDED = 3, "ended badly a moment ago, and nobody above has answered it", True
    SUSPICIOUS = 4, "suspicious, holding up nobody", True
    AT_WORK = 5, "running or waiting", False
    EARLIER = 6, "earlier trouble", True
    AT_REST = 7, "the rest", False


NOW = frozenset({Urgency.STUCK, Urgency.PERSON, Urgency.JUST_ENDED, Urgency.SUSPICIOUS})
"""The problems of this moment."""
PRESSING = frozenset({Urgency.STUCK, Urgency.PERSON})
"""What stands still until somebody does something."""

Key = tuple[int, int, int, str, str, Handle]
"""The order of looking: by urgency, the surest first, the newest first; two problems that are alike go by host and id,
in whatever order they were read. The least comes first."""


def key_of(forest: Forest, handle: Handle, urgency: Urgency, certainty: Certainty, since: Millis | None) -> Key:
    """The place in the order of looking of one of which that is known."""
    if not urgency.problem:  # nearly all, and asked of every row
        return urgency, 0, -(since or 0), "", "", handle
    return urgency, certainty.rank, -(since or 0), *forest.name(handle), handle


class Assessment(msgspec.Struct, frozen=True):
    """What is the matter with one delegation. It holds until something of it changes, or until `turns`."""

    handle: Handle
    name: tuple[str, str]
    """Its host, and its id there."""
    state: State
    urgency: Urgency
    kind: str
    """What is the matter in the words shown to people: that of a verdict, else the state."""
    short: str
    """The same in at most 20 characters."""
    rule: str
    """The same as a stable word: the id of the rule that says so, else the state."""
    said: Sentence
    since: Millis | None
    certainty: Certainty = Certainty.CERTAIN
    evidence: tuple[Origin, ...] = ()
    verdict: Kind | None = None
    """None for what has ended, and for what is plainly at work."""
    blocks: tuple[Handle, ...] = ()
    """Everybody above who waits for this one before all others, the nearest first."""
    waits_on: Handle | None = None
    """The delegation at the end of its path that it waits on."""
    turns: Millis | None = None
    """The first moment at which time alone may change it."""

    @property
    def problem(self) -> bool:
        return self.urgency.problem

    @property
    def is_now(self) -> bool:
        """Whether it is a problem of this moment, not of an earlier one."""
        return self.urgency in NOW

    @property
    def is_sure(self) -> bool:
        return self.certainty is not Certainty.POSSIBLE

    @property
    def exit(self) -> int:
        """What it means to a script: 3 if it is open and stuck, lost or in need of a person now, 1 if it ended badly or
        was lost long ago, 0 else."""
        is_up = self.urgency in PRESSING or (self.is_now and self.state in OPEN)
        return 3 if is_up and self.is_sure else self.state.exit

    @property
    def key(self) -> Key:
        rank, name = (self.certainty.rank, self.name) if self.problem else (0, ("", ""))
        return self.urgency, rank, -(self.since or 0), *name, self.handle

    def sentence(self, now: Millis) -> str:
        """What is the matter, since when, and whom it holds up."""
        return say(self.said, now)


def assess(case: Case) -> Assessment:
    """The assessment of the delegation of a case."""
    review = _review(case)
    if review is not None:
        return _needs_review(case, review)
    verdict = judge(case)
    if verdict is not None:
        return _judged(case, verdict)
    if case.state in ENDED_BADLY:
        return _ended_badly(case)
    return _plain(case)


def trouble(case: Case) -> Key | None:
    """Where the delegation of a case would stand if it held up nobody; None if nothing is the matter with it."""
    forest, handle, review = case.forest, case.handle, _review(case)
    if review is not None:
        return key_of(forest, handle, _urgency_of_review(case, review), Certainty.CERTAIN, review.at)
    verdict = judge(case)
    if verdict is None:
        return None
    urgency = _urgency(case, verdict, holds_up=False)
    return key_of(forest, handle, urgency, verdict.certainty, verdict.since) if urgency.problem else None


def _review(case: Case) -> Note | None:
    return next((note for note in case.facts.notes if note.kind == REVIEW), None)


def _urgency_of_review(case: Case, review: Note) -> Urgency:
    old = review.at is not None and case.is_past(review.at + case.forest.policy.lost_after)
    return Urgency.EARLIER if old else Urgency.PERSON


def _needs_review(case: Case, review: Note) -> Assessment:
    """A person must look at it, however it stands; not in a hurry any more if that has been so for very long."""
    above = held_up(case)
    return Assessment(
        case.handle,
        case.forest.name(case.handle),
        case.state,
        _urgency_of_review(case, review),
        NEEDS_REVIEW,
        NEEDS_REVIEW,
        _REVIEW_RULE,
        (f"A person must look before it goes on: {_stopped(review.text)}", *_holds_up(case.forest, above)),
        review.at,
        evidence=(review.origin,),
        blocks=above,
        turns=case.turns,
    )


def _judged(case: Case, verdict: Verdict) -> Assessment:
    forest, row = case.forest, verdict.kind.row
    above = held_up(case) if not row.harmless else ()
    return Assessment(
        case.handle,
        case.forest.name(case.handle),
        case.state,
        _urgency(case, verdict, holds_up=bool(above)),
        verdict.kind.value,
        row.short,
        row.rule or case.state.value,
        (*verdict.sentence, *_holds_up(forest, above)),
        verdict.since,
        verdict.certainty,
        verdict.evidence,
        verdict.kind,
        above,
        verdict.waits_on,
        case.turns,
    )


def _urgency(case: Case, verdict: Verdict, *, holds_up: bool) -> Urgency:
    if verdict.kind.row.harmless:
        return Urgency.AT_WORK
    if case.state is State.LOST:
        return _urgency_of_lost(case, verdict.since)
    if verdict.kind.row.person:
        return Urgency.PERSON
    return Urgency.STUCK if holds_up or verdict.certainty is not Certainty.POSSIBLE else Urgency.SUSPICIOUS


def _urgency_of_lost(case: Case, since: Millis | None) -> Urgency:
    """It is over without an end. What somebody above still waits for is stuck; a path that was lost is told once."""
    forest, parent = case.forest, case.forest.parent(case.handle)
    if is_lost_elsewhere(forest, case.handle):
        return Urgency.AT_REST
    if since is None or case.is_past(since + forest.policy.recent):
        return Urgency.EARLIER
    return Urgency.STUCK if parent is not None and forest.state(parent) in ACTIVE else Urgency.JUST_ENDED


def _ended_badly(case: Case) -> Assessment:
    forest, facts, state = case.forest, case.facts, case.state
    why = remark(forest, case.handle, facts)
    places = (facts.ended_origin, facts.started_origin)
    return Assessment(
        case.handle,
        case.forest.name(case.handle),
        state,
        urgency_of_end(case, facts.ended_at),
        state.value,
        state.value,
        _ENDED_RULE,
        (f"It ended {state}", *_ago(facts.ended_at), f": {_stopped(why)}" if why else " and does not say why."),
        facts.ended_at,
        evidence=tuple(dict.fromkeys(origin for origin in places if origin is not None)),
        turns=case.turns,
    )


def urgency_of_end(case: Case, ended_at: Millis | None) -> Urgency:
    """What only says again how a child ended is told there; what was long ago, or answered since, was earlier."""
    if is_handed_up(case.forest, case.handle):
        return Urgency.AT_REST
    if ended_at is None or case.is_past(ended_at + case.forest.policy.recent):
        return Urgency.EARLIER
    return Urgency.EARLIER if is_answered(case.forest, case.handle, ended_at) else Urgency.JUST_ENDED


def _plain(case: Case) -> Assessment:
    facts, state = case.facts, case.state
    at_work = state in ACTIVE
    since = facts.started_at if at_work else facts.ended_at or facts.heard_at or facts.listed_at
    return Assessment(
        case.handle,
        case.forest.name(case.handle),
        state,
        Urgency.AT_WORK if at_work else Urgency.AT_REST,
        state.value,
        state.value,
        state.value,
        tuple(_plainly(case, facts)),
        since,
        turns=case.turns,
    )


def _plainly(case: Case, facts: Delegation) -> Iterator[str | Millis]:
    """How it is doing, where nothing is the matter."""
    if case.state is State.SILENT and facts.quiet_since is not None:
        closed = unread(facts)
        asked = f"It asked the model {facts.asked} times in ", facts.quiet_since, ", and no answer came"
        yield from asked if facts.asks_again else ("Nothing was heard of it for ", facts.quiet_since)
        yield f"; what could tell more cannot be read: {closed}." if closed else "; quiet is not hung."
    elif case.state in ACTIVE:
        doing = folded(phases.now(facts))
        if case.forest.ahead(case.handle) and facts.heard_at is not None:
            case.look_again(facts.heard_at)
            yield "Its log is ahead of the clock, so nobody can say for how long. "
        yield f"It is at work{f': {_stopped(doing)}' if doing else '.'}"
    elif case.state is State.COMPLETED:
        why = remark(case.forest, case.handle, facts)
        yield from ("It completed", *_ago(facts.ended_at), f": {_stopped(why)}" if why else ".")
    elif case.state is State.IDLE and facts.heard_at is not None:
        yield from ("Its turn ended ", facts.heard_at, " ago.")
    else:
        yield f"It is {case.state}: {_stopped(case.forest.reason(case.handle) or 'nothing more is told')}"


def _ago(at: Millis | None) -> Sentence:
    return () if at is None else (" ", at, " ago")


def _holds_up(forest: Forest, above: tuple[Handle, ...]) -> Sentence:
    """` task-executor and /implement 191 wait for it.`"""
    if not above:
        return ()
    named = [label(forest.delegation(handle)) for handle in above[:_NAMED]]
    if len(above) > _NAMED:
        named.append(f"{len(above) - _NAMED} more")
    *others, last = named
    names = f"{', '.join(others)} and {last}" if others else last
    return (f" {names} {'waits' if len(named) == 1 else 'wait'} for it.",)


def _stopped(words: str) -> str:
    """The words, on one line and with a full stop."""
    words = folded(words)
    return words if words.endswith((".", "!", "?", "…")) else f"{words}."
