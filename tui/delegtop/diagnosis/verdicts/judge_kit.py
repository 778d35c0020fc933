"""What the judges share: the table they enter themselves in, and what several of them ask of a case."""

from collections.abc import Callable
from functools import cache

from delegtop.base.clock import Millis, duration
from delegtop.base.origin import Origin
from delegtop.base.text import cut, folded
from delegtop.diagnosis.case import Case
from delegtop.diagnosis.sentence import Sentence
from delegtop.diagnosis.verdicts.kinds import Kind
from delegtop.diagnosis.verdicts.verdict import Verdict
from delegtop.model import phases
from delegtop.model.delegation import Deadline, Delegation
from delegtop.model.events import Phase
from delegtop.model.states import State
from delegtop.model.store.ledger import Handle

_SHORT = 120

Judge = Callable[[Case], Verdict | None]

JUDGES: dict[Kind, Judge] = {}
_AFTER: dict[Kind, Judge] = {}
"""Those that come to a verdict of an earlier kind by inference, and are heard only after the judge of that kind."""


def judges(kind: Kind) -> Callable[[Judge], Judge]:
    """The function judges whether this is going on."""

    def made(judge: Judge) -> Judge:
        JUDGES[kind] = judge
        return judge

    return made


def infers_after(kind: Kind) -> Callable[[Judge], Judge]:
    """The function is heard after the judge of that kind, and its verdict is of another."""

    def made(judge: Judge) -> Judge:
        _AFTER[kind] = judge
        return judge

    return made


@cache
def _in_order() -> tuple[Judge, ...]:
    """All judges in the order of the kinds, once all have entered themselves."""
    return tuple(judge for kind in Kind for judge in (JUDGES[kind], _AFTER.get(kind)) if judge is not None)


def first_verdict(case: Case) -> Verdict | None:
    """Of all judges, in their order, the first that has something to say."""
    for judge in _in_order():
        found = judge(case)
        if found is not None:
            return found
    return None


def is_quiet_for(case: Case, span: int) -> bool:
    """Whether nothing came of it for longer than that, without the time in which the whole machine slept."""
    heard = case.facts.quiet_since
    if heard is None:
        return False
    return case.is_past(heard + case.forest.silence(case.handle, heard).asleep + span)


def was_awake(case: Case, since: Millis) -> Sentence:
    """That all logs were silent at once, and that this is no excuse: the machine did not sleep."""
    silent = case.forest.silence(case.handle, since)
    if silent.began is None or silent.asleep:
        return ()
    return (f" Every log was silent for {duration(silent.span)} meanwhile; the machine was awake, as its kernel says.",)


def last_done(case: Case) -> tuple[Millis, Handle | None]:
    """The child that was done last, and when; its log may say no more than that its turn is over. Of several in the
    same moment it is always the same one, whichever was heard of first."""
    forest = case.forest
    last: tuple[Millis, str] = (Millis(0), "")
    found: Handle | None = None
    for child in forest.offspring(case.handle):
        _, heard, ended = forest.times(child)
        idle = forest.state(child) is State.IDLE and case.facts.phase is Phase.CHILD
        done = heard if idle else ended
        if done is not None and done >= last[0] and (done, forest.id(child)) > last:
            found, last = child, (done, forest.id(child))
    return last[0], found


def in_tool(case: Case) -> bool:
    """Whether its last word was that it is inside a tool; some logs name the tool and no phase."""
    phase = case.facts.phase
    return phase is Phase.TOOL or (phase is None and bool(case.facts.tool))


def past(case: Case, deadline: Deadline | None) -> Sentence:
    if deadline is None or not deadline.is_firm or not case.is_past(deadline.at):
        return ()
    return (", ", deadline.at, " past its deadline")


def work_of(case: Case) -> str:
    """The tool with what it does, short and on one line."""
    return cut(folded(phases.work(case.facts)), _SHORT)


def life_of(facts: Delegation) -> tuple[Origin, ...]:
    """Where it started and where it was last heard of."""
    return origins_of(facts.started_origin, facts.heard_origin)


def origins_of(*origins: Origin | None) -> tuple[Origin, ...]:
    return tuple(dict.fromkeys(origin for origin in origins if origin is not None))
