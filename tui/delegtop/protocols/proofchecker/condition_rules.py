"""Rules on the file-based system of the ProofChecker family: what a person must look at, and the five ways in which a
delegation of it comes to nothing, each with its own remedy."""

from collections.abc import Iterator

from delegtop.base.clock import MINUTE, duration
from delegtop.diagnosis.case import Case
from delegtop.diagnosis.finding import Severity
from delegtop.diagnosis.rule import RuleNote, rule
from delegtop.model import notes
from delegtop.model.states import State
from delegtop.protocols.proofchecker import vocabulary
from delegtop.protocols.proofchecker.conditions import (
    Condition,
    again,
    condition,
    evidence,
    notes_of,
    quiet,
    quiet_for,
    usual,
    work,
)
from delegtop.protocols.standard.contract import resume_commands

SETTLED = 5 * MINUTE
"""What is left undone for this long is no mere matter of order between two writers."""


@rule(
    "FAM-001",
    "needs review",
    Severity.ERROR,
    "nothing waits for a person",
    "Return metadata, requires_user_review: the agent stopped because somebody has to decide. No script clears the "
    "flag, and whoever starts the next operation over it decides without knowing. It comes before everything else.",
)
def needs_review(case: Case) -> Iterator[RuleNote]:
    for note in notes_of(case, notes.REVIEW):
        yield RuleNote(
            "A person must look before it goes on.",
            note.origin,
            advice=note.text,
            by="agent",
            since=note.at,
        )


@rule(
    "FAM-010",
    "open and silent",
    Severity.WARNING,
    "an open delegation moves",
    "Postflight marker: it is made before the agent starts and deleted when the result was taken. One that stays while "
    "the return still says in_progress, or a preflight that nothing follows, is an agent that died or hangs. Silence "
    "alone proves little, so the limit is what nineteen of twenty of its kind need.",
)
def open_and_silent(case: Case) -> Iterator[RuleNote]:
    still = quiet(case)
    if still is None or not quiet_for(case, usual(case.facts)) or condition(case) is not Condition.SILENT:
        return
    grave = case.state is State.LOST or quiet_for(case, vocabulary.MARKER_LIMIT)
    stage = f" It was last at: {case.facts.doing}." if case.facts.doing else ""
    yield RuleNote(
        f"It is open and nothing of it has moved for {duration(still)}.{stage}",
        *evidence(case, notes.MARKER),
        advice="See whether its process is still there; if not, give the same command again: it takes the work up "
        "where it stopped.",
        command=again(case),
        severity=Severity.ERROR if grave else None,
        since=case.facts.heard_at,
    )


@rule(
    "FAM-011",
    "work not reported",
    Severity.WARNING,
    "what worked also reports",
    "Defect classes META_MISSING_AFTER_NARRATION and HANDOFF_STALE_OR_ABSENT: the work lies on disk and the return was "
    "never written, or is of an earlier dispatch, so the next operation does not know of it.",
)
def never_reported(case: Case) -> Iterator[RuleNote]:
    still = quiet(case)
    if (
        still is None
        or not quiet_for(case, min(usual(case.facts), vocabulary.MARKER_LIMIT))
        or condition(case) is not Condition.UNREPORTED
    ):
        return
    yield RuleNote(
        f"It has worked ({work(case)}) and has not reported; it was last heard of {duration(still)} ago.",
        *evidence(case, notes.SALVAGE, notes.DEFECT),
        advice="Do not start over. Give the same dispatch to the agent once more and ask only for its return; check "
        "what is on disk before you go on.",
        since=case.facts.heard_at,
    )


@rule(
    "FAM-012",
    "parked on a job",
    Severity.WARNING,
    "nothing is parked on a background wait",
    "An agent that starts a job in the background and ends its turn to wait for the notification waits for ever: the "
    "notification does not reach a subagent. Nothing else in the system looks for this.",
)
def parked(case: Case) -> Iterator[RuleNote]:
    still = quiet(case)
    if still is None or not quiet_for(case, SETTLED) or condition(case) is not Condition.PARKED:
        return
    told = notes_of(case, notes.PARKED)[0]
    yield RuleNote(
        f"It is parked: {told.text.rstrip('.')}, {duration(still)} ago.",
        told.origin,
        advice="Look at the job it waits for and at its transcript. When the job is done, prompt the agent to go on: "
        "nothing will wake it by itself.",
        since=told.at,
    )


@rule(
    "FAM-013",
    "going in circles",
    Severity.WARNING,
    "nothing goes round in circles",
    "Loop guards: the stop hook gives up after three refused stops, an orchestrator after its cycles. The same "
    "operation dispatched again without a result, and cycles without progress, come to the same.",
)
def looping(case: Case) -> Iterator[RuleNote]:
    if case.forest.state(case.handle) is State.COMPLETED:
        return
    for note in notes_of(case, notes.LOOP):
        yield RuleNote(
            f"It goes round in circles: {note.text}.",
            note.origin,
            advice="Stop it and read its last return and the plan before the next round: the same dispatch will do "
            "the same again.",
            since=note.at,
        )


@rule(
    "FAM-014",
    "reported, not over",
    Severity.WARNING,
    "what has reported is over",
    "A report is no termination: an agent that reported can wake and write again, and its later file is then taken for "
    "the next dispatch's. And a marker that stays after the return says that nobody took the result.",
)
def reported_but_alive(case: Case) -> Iterator[RuleNote]:
    facts = case.facts
    if facts.outcome is None or facts.ended_at is None:
        return
    if facts.heard_at is not None and facts.heard_at > facts.ended_at + SETTLED:
        later = duration(facts.heard_at - facts.ended_at)
        yield RuleNote(
            f"It reported {facts.outcome} and was active again {later} later.",
            facts.ended_origin,
            facts.heard_origin,
            advice="Make sure that it has stopped before you dispatch again, and do not take its later file for the "
            "next return.",
            since=facts.heard_at,
        )
    markers = notes_of(case, notes.MARKER)
    if markers and case.is_past(facts.ended_at + SETTLED):
        yield RuleNote(
            f"It reported {facts.outcome} {duration(case.now - facts.ended_at)} ago and its marker is still there: "
            "nobody took the result.",
            facts.ended_origin,
            markers[0].origin,
            advice="Give the command again so that its postflight runs; it finds the return and takes it.",
            command=again(case),
            since=facts.ended_at,
        )


@rule(
    "FAM-015",
    "stale lock",
    Severity.WARNING,
    "a lock is given back",
    "Task lock: while it is there no other session may work on the task. Its heartbeat is seldom renewed, so an old "
    "one alone does not prove that its holder is gone; with nothing else heard of the session it is likely.",
)
def stale_lock(case: Case) -> Iterator[RuleNote]:
    facts = case.facts
    if case.forest.state(case.handle) is State.WAITING or facts.heard_at is None:
        return
    still = case.now - facts.heard_at
    for note in notes_of(case, notes.LOCK):
        if case.is_past(facts.heard_at + vocabulary.LOCK_LIMIT):
            yield RuleNote(
                f"It {note.text}, and nothing was heard of it for {duration(still)}.",
                note.origin,
                advice="If no process of the session is left, remove the lock's folder; until then nobody else can "
                "work on the task.",
                since=note.at,
            )


@rule(
    "FAM-016",
    "says how to go on",
    Severity.INFO,
    "what can be resumed is resumed",
    "Return metadata: next_steps, resume_hint, continuation_context, handoff_path and blockers say how to go on. They "
    "are the agent's words; delegtop only finds them.",
)
def says_how_to_go_on(case: Case) -> Iterator[RuleNote]:
    facts = case.facts
    state = case.forest.state(case.handle)
    if state in (State.COMPLETED, State.RUNNING, State.WAITING):
        return
    kinds = [notes.BLOCKER, notes.DEFERRED]
    if state is not State.IDLE:
        kinds += [notes.RESUME, notes.NEXT, notes.HANDOFF, notes.FOLLOWUP]
    told = [note for kind in kinds for note in notes_of(case, kind)]
    texts = dict.fromkeys([fault.recommendation for fault in facts.report.errors if fault.recommendation])
    texts |= dict.fromkeys(note.text for note in told)
    if not texts:
        return
    hint = next((typed for text in texts if (typed := resume_commands.typable(text)) is not None), None)
    yield RuleNote(
        f"It is {state}; this is how to go on, or what is in the way.",
        *(dict.fromkeys(note.origin for note in told) or (facts.ended_origin,)),
        advice="\n".join(texts),
        command=hint or again(case),
        by="agent",
        since=facts.ended_at,
    )


@rule(
    "FAM-017",
    "task without session",
    Severity.WARNING,
    "the list of tasks is true",
    "state.json: a task that is researching, planning or implementing has a session that does it. Such a status with "
    "no session behind it stays for weeks, and nothing shows it.",
)
def listed_in_work(case: Case) -> Iterator[RuleNote]:
    facts = case.facts
    for note in notes_of(case, notes.LISTED):
        recent = facts.heard_at is not None and not case.is_past(facts.heard_at + vocabulary.SESSION_LIMIT)
        if facts.parent is not None or recent:
            continue
        yield RuleNote(
            f"The list of tasks says {note.text}, and no session is known that does it.",
            note.origin,
            advice="Give the command again, or put the status right.",
            command=again(case),
        )
