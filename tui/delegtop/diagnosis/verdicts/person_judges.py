"""The judges of what only a person can free.

Some programs write nothing while they ask for a permission. There it is inferred: a call that takes a moment and has
been open for a minute was not begun, and a command that is open past the time after which its program ends it neither.
"""

from delegtop.base.clock import MINUTE, Millis, duration
from delegtop.diagnosis.case import Case
from delegtop.diagnosis.sentence import Sentence
from delegtop.diagnosis.verdicts.judge_kit import infers_after, is_quiet_for, judges, origins_of, work_of
from delegtop.diagnosis.verdicts.kinds import Certainty, Kind
from delegtop.diagnosis.verdicts.patience import patience_of, unread
from delegtop.diagnosis.verdicts.permission_mode import asked_by
from delegtop.diagnosis.verdicts.verdict import Verdict
from delegtop.model import notes
from delegtop.model.events import Phase
from delegtop.model.states import State

_MOMENT = MINUTE
"""A call that takes a moment is not open for so long by itself."""


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
    what = work_of(case) or "what it asked"
    waits: Sentence = ("It has waited ", facts.heard_at) if facts.heard_at is not None else ("It waits",)
    stop = "" if what.endswith(("?", "!", ".")) else "."
    sentence = (*waits, f" for {asked} {what}{stop}")
    return Verdict(kind, Certainty.CERTAIN, sentence, facts.heard_at, origins_of(facts.heard_origin))


# -- where the records do not say that a person is asked ---------------------------------------------------------------


@infers_after(Kind.LOOPING)
def quick_call_open(case: Case) -> Verdict | None:
    """A call that takes a moment by itself has been open for longer."""
    tool, since = case.facts.tool, _inside_since(case)
    if since is None or not _is_open_for(case, since, _MOMENT):
        return None
    asks, mode = asked_by(case)
    if asks is None or tool not in asks.quick:
        return None
    seldom = tool in asks.edits and mode in asks.free_edits
    sure = Certainty.POSSIBLE if seldom else Certainty.LIKELY
    return _unbegun(case, sure, since, mode, f"{tool} takes a moment by itself")


@infers_after(Kind.SLEEPS)
def command_open(case: Case) -> Verdict | None:
    """A command has been open for longer than its program lets it, or than nearly all are, and nobody saw it run."""
    facts, since = case.facts, _inside_since(case)
    if since is None or (facts.process is not None and facts.process.at >= since):
        return None
    asks, mode = asked_by(case)
    if asks is None:
        return None
    if facts.call_deadline is not None and _is_open_for(case, since, facts.call_deadline - since + _MOMENT):
        return _unbegun(case, Certainty.POSSIBLE, since, mode, "it is past its own timeout")
    patience = max(asks.longest, case.forest.policy.tool_suspect_after)
    if facts.tool not in asks.runs or not _is_open_for(case, since, patience):
        return None
    if asks.longest and patience_of(case).worth_a_word <= patience:  # else it is given more here
        given = f"its program gives a command {duration(asks.longest)} at most"
        return _unbegun(case, Certainty.POSSIBLE, since, mode, given)
    return _unbegun(case, Certainty.POSSIBLE, since, mode, "few commands take so long") if mode else None


def _inside_since(case: Case) -> Millis | None:
    """Since when it is inside a tool; nothing of who is gone."""
    return case.facts.phase_since if case.state is not State.LOST and _asks(case, Phase.TOOL) else None


def _is_open_for(case: Case, since: Millis, span: int) -> bool:
    """Whether the call is open for longer than that, without the time in which the whole machine slept, and nothing was
    heard of it lately: what tells how it is coming on was begun."""
    asleep = case.forest.silence(case.handle, since).asleep
    return case.is_past(since + asleep + span) and is_quiet_for(case, _MOMENT) and not unread(case.facts)


def _unbegun(case: Case, sure: Certainty, since: Millis, mode: str | None, why: str) -> Verdict:
    under = f" (permission mode {mode})" if mode else ""
    may = "may wait" if sure is Certainty.POSSIBLE else "seems to wait"
    said = (f"It {may} for a person to allow {work_of(case)}{under}: open for ", since, f", and {why}.")
    return Verdict(Kind.AWAITING_PERMISSION, sure, said, since, origins_of(case.facts.heard_origin))
