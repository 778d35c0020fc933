"""The judges of silence: when it is worth a word, what is said of it, and how sure that is.

How long is long is asked of what is normal for the very call, the model or the kind of agent (`patience`).
"""

from delegtop.base.clock import duration
from delegtop.diagnosis.case import Case
from delegtop.diagnosis.sentence import Sentence
from delegtop.diagnosis.verdicts.judge_kit import (
    in_tool,
    is_quiet_for,
    judges,
    last_done,
    life_of,
    origins_of,
    past,
    was_awake,
    work_of,
)
from delegtop.diagnosis.verdicts.kernel_judges import hung_by_kernel, shown
from delegtop.diagnosis.verdicts.kinds import Certainty, Kind
from delegtop.diagnosis.verdicts.patience import compared, has_no_log, inside_since, patience_of, unread
from delegtop.diagnosis.verdicts.permission_mode import asks_nobody
from delegtop.diagnosis.verdicts.verdict import Verdict
from delegtop.model.events import Phase, WaitsFor


@judges(Kind.HUNG_IN_TOOL)
def hung_in_tool(case: Case) -> Verdict | None:
    """The kernel shows that its tool waits for what cannot come; or it is inside a tool, for longer than such calls
    take, and past a limit that somebody set. Without either it is only silent: long quiet tools are healthy."""
    seen = shown(case)
    if seen is not None and seen.waits_for not in (
        WaitsFor.UNKNOWN,
        WaitsFor.HIDDEN,
    ):  # whoever sees what it does need not guess
        return hung_by_kernel(case)
    facts, since = case.facts, inside_since(case.facts)
    if since is None or not in_tool(case):
        return None
    late = _past_its_limit(case)
    if not late or unread(facts) or not is_quiet_for(case, patience_of(case).in_vain):
        return None
    said = (f"It has been inside {work_of(case) or 'a tool'} for ", since, *late, compared(case, since), ".")
    return Verdict(Kind.HUNG_IN_TOOL, Certainty.LIKELY, said, since, origins_of(facts.heard_origin))


def _past_its_limit(case: Case) -> Sentence:
    """That it is past its deadline; or, where no call waits for a permission, that the call is long past the time it
    was given."""
    late = past(case, case.forest.deadline(case.handle))
    due = case.facts.call_deadline
    if late or due is None or not asks_nobody(case) or not case.is_past(due + case.forest.policy.suspect_after):
        return late
    return (", ", due, " past the time it was given")


@judges(Kind.HOST_SLEPT)
def host_slept(case: Case) -> Verdict | None:
    """All logs were silent at once, and without that time it was not silent for long."""
    heard, patience = case.facts.quiet_since, patience_of(case).worth_a_word
    if heard is None or not case.is_past(heard + patience) or is_quiet_for(case, patience):
        return None
    silent = case.forest.silence(case.handle, heard)
    slept = "the machine slept"
    if silent.by_kernel:
        slept = f"the machine slept for {duration(silent.asleep)} at most, as its kernel says"
    said = f"Every log was silent for {duration(silent.span)}; {slept}, and this is not charged to it."
    return Verdict(Kind.HOST_SLEPT, Certainty.LIKELY, (said,), silent.began, origins_of(case.facts.heard_origin))


@judges(Kind.NO_MODEL_ANSWER)
def waiting_for_model(case: Case) -> Verdict | None:
    """It asked the model and no answer came for longer than answers take, however often it was asked again."""
    facts, since = case.facts, case.facts.quiet_since
    if facts.phase is not Phase.MODEL or since is None or unread(facts):
        return None
    if not is_quiet_for(case, patience_of(case).worth_a_word):
        return None
    late = past(case, case.forest.deadline(case.handle))
    sure = _certainty(case)
    said: Sentence = ("It has waited ", since, " for the model's answer", *late)
    if facts.asks_again:
        said = (f"It asked the model {facts.asked} times in ", since, ", and no answer came", *late)
    said = (*said, compared(case, since), ".", *was_awake(case, since))
    return Verdict(Kind.NO_MODEL_ANSWER, sure, said, since, origins_of(facts.heard_origin))


@judges(Kind.SILENT)
def silent(case: Case) -> Verdict | None:
    """It wrote nothing for longer than such calls, or its kind, take, and was not waiting for a child meanwhile."""
    heard, patience = case.facts.quiet_since, patience_of(case).worth_a_word
    if heard is None or not is_quiet_for(case, patience) or not case.is_past(last_done(case)[0] + patience):
        return None
    closed = unread(case.facts)
    work = work_of(case) if in_tool(case) and not closed else ""
    since = inside_since(case.facts) or heard if work else heard
    said: Sentence = (f"It has been inside {work} for ", since) if work else ("Nothing was heard of it for ", since)
    alone = "; no log of its own was found that could tell more" if has_no_log(case.facts) else ""
    alone = f"; what could tell more cannot be read: {closed}" if closed else alone
    said = (*said, f"{alone}{compared(case, since)}. Quiet is not hung.", *was_awake(case, heard))
    places = origins_of(case.facts.heard_origin, *life_of(case.facts))
    return Verdict(Kind.SILENT, Certainty.POSSIBLE if closed else _certainty(case), said, heard, places)


def _certainty(case: Case) -> Certainty:
    """Likely is only what hardly ever comes to a good end."""
    longest = patience_of(case).unheard_of
    return Certainty.LIKELY if longest is not None and is_quiet_for(case, longest) else Certainty.POSSIBLE
