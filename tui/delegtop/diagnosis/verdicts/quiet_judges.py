"""The judges of silence: when it is worth a word, what is said of it, and how sure that is."""

from delegtop.base.clock import MINUTE, Millis, duration
from delegtop.diagnosis.case import Case
from delegtop.diagnosis.sentence import Sentence
from delegtop.diagnosis.verdicts.judge_kit import (
    in_tool,
    is_limit,
    is_quiet_for,
    judges,
    last_done,
    life_of,
    origins_of,
    past,
    work_of,
)
from delegtop.diagnosis.verdicts.kinds import Certainty, Kind
from delegtop.diagnosis.verdicts.verdict import Verdict
from delegtop.model.delegation import AGAIN
from delegtop.model.events import Phase


@judges(Kind.HUNG_IN_TOOL)
def hung_in_tool(case: Case) -> Verdict | None:
    """It is inside a tool, silent for long, and past a limit that somebody set. Without such a limit it is only
    silent: long quiet tools are healthy."""
    facts = case.facts
    deadline = case.forest.deadline(case.handle)
    if not in_tool(case) or deadline is None or not is_limit(case, deadline) or not case.is_past(deadline.at):
        return None
    if facts.heard_at is None or not is_quiet_for(case, case.forest.policy.suspect_after):
        return None
    said = (f"It has been inside {work_of(case) or 'a tool'} for ", facts.heard_at, *past(case, deadline), ".")
    return Verdict(Kind.HUNG_IN_TOOL, Certainty.LIKELY, said, facts.heard_at, origins_of(facts.heard_origin))


@judges(Kind.HOST_SLEPT)
def host_slept(case: Case) -> Verdict | None:
    """All logs were silent at once, and without that time it was not silent for long."""
    heard, patience = case.facts.heard_at, _patience(case)
    if heard is None or not case.is_past(heard + patience) or is_quiet_for(case, patience):
        return None
    asleep = list(case.forest.sleeps_of(case.handle, heard))
    slept = sum(end - start for start, end in asleep)
    said = f"Every log was silent for {duration(slept)}; the machine slept, and this is not charged to it."
    return Verdict(Kind.HOST_SLEPT, Certainty.LIKELY, (said,), asleep[0][0], origins_of(case.facts.heard_origin))


@judges(Kind.WAITING_FOR_MODEL)
def waiting_for_model(case: Case) -> Verdict | None:
    """It asked the model and no answer came."""
    facts, policy = case.facts, case.forest.policy
    since = facts.quiet_since
    if facts.phase is not Phase.MODEL or since is None or not is_quiet_for(case, policy.silent_after):
        return None
    late = past(case, case.forest.deadline(case.handle))
    sure = Certainty.LIKELY if is_quiet_for(case, policy.suspect_after) else Certainty.POSSIBLE
    said: Sentence = ("It has waited ", since, " for the model's answer", *late, ".")
    if facts.asked is not None and facts.asked >= AGAIN:
        said = (f"It asked the model {facts.asked} times in ", since, ", and no answer came", *late, ".")
    return Verdict(Kind.WAITING_FOR_MODEL, sure, said, since, origins_of(facts.heard_origin))


@judges(Kind.SILENT)
def silent(case: Case) -> Verdict | None:
    """It wrote nothing for longer than its kind usually takes in all, and was not waiting for a child meanwhile."""
    heard, patience = case.facts.heard_at, _patience(case)
    if heard is None or not is_quiet_for(case, patience) or not case.is_past(last_done(case)[0] + patience):
        return None
    usual = case.forest.usual(case.handle)
    than = f"; {case.facts.agent} is usually done within {duration(usual[0])}" if usual else ""
    work = work_of(case)
    inside = f" inside {work}" if work and in_tool(case) else ""
    said = ("Nothing was heard of it for ", heard, f"{inside}{than}. Quiet is not hung.")
    places = origins_of(case.facts.heard_origin, *life_of(case.facts))
    return Verdict(Kind.SILENT, Certainty.POSSIBLE, said, heard, places)


def _patience(case: Case) -> int:
    """How long silence of this one is nothing to speak of."""
    policy, usual, facts = case.forest.policy, case.forest.usual(case.handle), case.facts
    limit = policy.tool_suspect_after if in_tool(case) else policy.suspect_after
    if facts.product is not None and facts.heard_at is not None and case.is_past(facts.heard_at + limit):
        case.look_again(case.now + MINUTE)  # what is usual may become known or change whenever another one is done
    return max(limit, usual[0] if usual else Millis(0))
