"""The judges of what only a person can free.

Some programs write nothing while they ask for a permission. There it is inferred: a call that takes a moment and has
been open for a minute was not begun, and a command that is open past the time after which its program ends it neither.
"""

from delegtop.base.clock import MINUTE, Millis
from delegtop.base.product import Permissions
from delegtop.diagnosis.case import Case
from delegtop.diagnosis.sentence import Sentence
from delegtop.diagnosis.verdicts.judge_kit import ANCESTORS, infers_after, is_quiet_for, judges, origins_of, work_of
from delegtop.diagnosis.verdicts.kinds import Certainty, Kind
from delegtop.diagnosis.verdicts.verdict import Verdict
from delegtop.dialects.products import product
from delegtop.model import notes
from delegtop.model.events import Phase
from delegtop.model.states import State
from delegtop.model.store.ledger import Handle

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
    since: Sentence = (" for ", facts.heard_at) if facts.heard_at is not None else ()
    stop = "" if what.endswith(("?", "!", ".")) else "."
    sentence = ("It waits", *since, f" for {asked} {what}{stop}")
    return Verdict(kind, Certainty.CERTAIN, sentence, facts.heard_at, origins_of(facts.heard_origin))


# -- where the records do not say that a person is asked ---------------------------------------------------------------


@infers_after(Kind.LOOPING)
def quick_call_open(case: Case) -> Verdict | None:
    """A call that takes a moment by itself has been open for longer."""
    tool, since, asks, mode = case.facts.tool, case.facts.phase_since, *_asked_by(case)
    if since is None or asks is None or tool not in asks.quick or not _is_open_for(case, since, _MOMENT):
        return None
    seldom = tool in asks.edits and mode in asks.free_edits
    sure = Certainty.POSSIBLE if seldom else Certainty.LIKELY
    return _unbegun(case, sure, since, mode, f"{tool} takes a moment by itself")


@infers_after(Kind.SLEEPS)
def command_open(case: Case) -> Verdict | None:
    """A command has been open for longer than its program lets it, or than nearly all are, and nobody saw it run."""
    facts = case.facts
    tool, since, asks, mode = facts.tool, facts.phase_since, *_asked_by(case)
    if since is None or asks is None or (facts.process is not None and facts.process.at >= since):
        return None
    if facts.call_deadline is not None and _is_open_for(case, since, facts.call_deadline - since + _MOMENT):
        return _unbegun(case, Certainty.POSSIBLE, since, mode, "it is past its own timeout")
    if tool in asks.runs and mode is not None and _is_open_for(case, since, case.forest.policy.tool_suspect_after):
        return _unbegun(case, Certainty.POSSIBLE, since, mode, "few commands take so long")
    return None


def asks_nobody(case: Case) -> bool:
    """Whether it works in a mode in which its program asks nobody: then no call of it waits for a permission."""
    program = product(case.facts.product)
    return program is not None and program.permissions is not None and _mode(case) in program.permissions.free


def _asked_by(case: Case) -> tuple[Permissions | None, str | None]:
    """When its program asks a person, and the permission mode it works in; nothing where nobody is asked."""
    if case.state is State.LOST or not _asks(case, Phase.TOOL):
        return None, None
    program, mode = product(case.facts.product), _mode(case)
    asks = program.permissions if program else None
    return (None if asks is None or mode in asks.free else asks), mode


def _mode(case: Case) -> str | None:
    """Its permission mode; where it does not tell its own, that of whoever started it."""
    handle: Handle | None = case.handle
    for _ in range(ANCESTORS):
        if handle is None:
            return None
        if (mode := case.forest.permission_mode(handle)) is not None:
            return mode
        handle = case.forest.parent(handle)
    return None


def _is_open_for(case: Case, since: Millis, span: int) -> bool:
    """Whether the call is open for longer than that, without the time in which the whole machine slept, and nothing was
    heard of it lately: what tells how it is coming on was begun."""
    slept = sum(end - start for start, end in case.forest.sleeps_of(case.handle, since))
    return case.is_past(since + slept + span) and is_quiet_for(case, _MOMENT)


def _unbegun(case: Case, sure: Certainty, since: Millis, mode: str | None, why: str) -> Verdict:
    under = f" (permission mode {mode})" if mode else ""
    may = "may wait" if sure is Certainty.POSSIBLE else "seems to wait"
    said = (f"It {may} for a person to allow {work_of(case)}{under}: open for ", since, f", and {why}.")
    return Verdict(Kind.AWAITING_PERMISSION, sure, said, since, origins_of(case.facts.heard_origin))
