"""The judges that ask the kernel: a log is silent both when a tool works and when it hangs, and the kernel is not.

What it showed is a fact with a time like any other. Nothing is asked anew here.
"""

from delegtop.base.clock import MINUTE, SECOND
from delegtop.diagnosis.case import Case
from delegtop.diagnosis.sentence import Sentence
from delegtop.diagnosis.verdicts.judge_kit import judges, origins_of, work_of
from delegtop.diagnosis.verdicts.kinds import Certainty, Kind
from delegtop.diagnosis.verdicts.verdict import Verdict
from delegtop.model import process_words
from delegtop.model.events import Outlook, ProcessSeen, WaitsFor
from delegtop.model.states import State

FRESH = 3 * MINUTE
"""What was seen longer ago may be otherwise by now."""
_STILL = 20 * SECOND
"""So long a process does nothing before that is called a hang, where its wait might still end."""
_ENDED = 8 * SECOND
"""So long a result may take from the tool to the log."""
_ALL_THREE = 3
_SUSPICIOUS = frozenset(
    {
        *(WaitsFor.INPUT, WaitsFor.OUTPUT, WaitsFor.THREADS, WaitsFor.QUEUE, WaitsFor.SIGNAL, WaitsFor.DEVICE),
        *(WaitsFor.STOPPED, WaitsFor.CHILD, WaitsFor.PARENT, WaitsFor.KEEPS),
    }
)
"""What a process at work hardly waits for that long."""


def shown(case: Case) -> ProcessSeen | None:
    """What the kernel showed of it, if that is of now."""
    seen = case.facts.process
    return seen if seen is not None and not case.is_past(seen.at + FRESH) else None


def hung_by_kernel(case: Case) -> Verdict | None:
    """Nothing of its tool moves, and it waits for something that cannot come."""
    seen = shown(case)
    if seen is None or seen.still_since is None or seen.outlook is Outlook.AT_WORK:
        return None
    if seen.outlook is Outlook.ENDLESS:
        sure = Certainty.CERTAIN if len(seen.fits) == _ALL_THREE else Certainty.LIKELY
    elif seen.waits_for in _SUSPICIOUS and case.is_past(seen.still_since + _STILL):
        sure = Certainty.LIKELY
    else:
        return None
    return _verdict(case, Kind.HUNG_IN_TOOL, sure, seen, (f": {process_words.what(seen)}.",))


@judges(Kind.TOOL_ENDED)
def tool_ended(case: Case) -> Verdict | None:
    """The process of its tool has ended, and its log does not say so."""
    seen = shown(case)
    if seen is None or seen.waits_for is not WaitsFor.ENDED or seen.still_since is None:
        return None
    if not case.is_past(seen.still_since + _ENDED):
        return None
    said: Sentence = (f": its process (pid {seen.pid}) ended ", seen.still_since, " ago, and no result came.")
    return _verdict(case, Kind.TOOL_ENDED, Certainty.CERTAIN, seen, said)


@judges(Kind.WAITING_FOR_NETWORK)
def waiting_for_network(case: Case) -> Verdict | None:
    """Its tool does nothing but wait for somebody at the other end of a connection, or for connections."""
    seen = shown(case)
    if seen is None or seen.waits_for not in (WaitsFor.NETWORK, WaitsFor.CLIENTS) or seen.still_since is None:
        return None
    if seen.outlook is not Outlook.OPEN or not case.is_past(seen.still_since + _STILL):
        return None
    sure = Certainty.LIKELY if case.is_past(seen.still_since + case.forest.policy.silent_after) else Certainty.POSSIBLE
    said: Sentence = (f": {process_words.what(seen)}; nothing came in for ", seen.still_since, ".")
    return _verdict(case, Kind.WAITING_FOR_NETWORK, sure, seen, said)


@judges(Kind.WORKS_QUIETLY)
def works_quietly(case: Case) -> Verdict | None:
    """It says nothing, and its tool is at work."""
    seen = shown(case)
    if seen is None or case.state is not State.SILENT:
        return None
    if seen.waits_for is not WaitsFor.NOTHING and seen.outlook is not Outlook.AT_WORK:
        return None
    said: Sentence = (f" without a word, while {process_words.what(seen)}.",)
    return _verdict(case, Kind.WORKS_QUIETLY, Certainty.CERTAIN, seen, said)


@judges(Kind.SLEEPS)
def sleeps(case: Case) -> Verdict | None:
    """Its tool waits for a moment that will come."""
    seen = shown(case)
    if seen is None or seen.waits_for is not WaitsFor.TIMER or case.state is not State.SILENT:
        return None
    if seen.until is None or case.is_past(seen.until):
        return None
    said: Sentence = (f": {process_words.what(seen)}.",)
    return _verdict(case, Kind.SLEEPS, Certainty.CERTAIN, seen, said)


def _verdict(case: Case, kind: Kind, sure: Certainty, seen: ProcessSeen, said: Sentence) -> Verdict:
    facts = case.facts
    since = facts.phase_since or facts.heard_at
    for_: Sentence = (" for ", since) if since is not None else ()
    sentence: Sentence = (f"It has been inside {work_of(case) or 'its work'}", *for_, *said)
    return Verdict(kind, sure, sentence, since, origins_of(seen.origin, facts.heard_origin))
