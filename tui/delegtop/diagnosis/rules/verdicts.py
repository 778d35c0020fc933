"""Rules made of verdicts: what is going on with a delegation that is not plainly running or done."""

from collections.abc import Iterator

from delegtop.diagnosis import recovery
from delegtop.diagnosis.finding import Finding, Severity
from delegtop.diagnosis.rule import Case, Rule, rule
from delegtop.diagnosis.verdicts import Kind, Verdict, judge


def _verdict(case: Case) -> Verdict | None:
    """The verdict of the case: ten rules ask for the same one."""
    if "verdict" not in case.known:
        case.known["verdict"] = judge(case)
    found: Verdict | None = case.known["verdict"]
    return found


def _told(case: Case, kind: Kind, rule: Rule, advice: str, *, resumes: bool = False) -> Iterator[Finding]:
    """The verdict as a finding of the rule, if it is the rule's."""
    found = _verdict(case)
    if found is not None and found.kind is kind:
        message = f"{found.message} ({found.certainty})"
        command = recovery.command(case) if resumes else None
        yield rule.finding(case, message, *found.evidence, advice=advice, command=command, since=found.since)


@rule(
    "VER-001",
    "asks permission",
    Severity.ERROR,
    "nobody waits for a permission",
    "The log shows that a person is asked to allow something. Nothing below goes on before that.",
)
def awaiting_permission(case: Case) -> Iterator[Finding]:
    yield from _told(
        case,
        Kind.AWAITING_PERMISSION,
        awaiting_permission,
        "Answer it in its terminal, or allow the tool in the settings.",
    )


@rule(
    "VER-002",
    "asks a question",
    Severity.ERROR,
    "nobody waits for an answer",
    "The log shows that a person was asked something. Nothing below goes on before that.",
)
def awaiting_answer(case: Case) -> Iterator[Finding]:
    yield from _told(case, Kind.AWAITING_ANSWER, awaiting_answer, "Answer it in its terminal.")


@rule(
    "VER-003",
    "looping",
    Severity.ERROR,
    "nobody goes round in circles",
    "The same call again and again, the same work handed down, or a loop guard at its limit: it looks alive and gets "
    "nowhere.",
)
def looping(case: Case) -> Iterator[Finding]:
    advice = "Stop it and look at what it repeats; more time will not help."
    yield from _told(case, Kind.LOOPING, looping, advice, resumes=True)


@rule(
    "VER-004",
    "lost return",
    Severity.WARNING,
    "every return reaches its parent",
    "A child has ended and its parent, which waited for it, was never heard of again.",
)
def lost_return(case: Case) -> Iterator[Finding]:
    advice = "Take the child's result by hand and tell the parent, or resume the task."
    yield from _told(case, Kind.LOST_RETURN, lost_return, advice, resumes=True)


@rule(
    "VER-005",
    "hung in a tool",
    Severity.ERROR,
    "nobody hangs in a tool",
    "It is inside a tool, silent for longer than `suspect_after`, and past a limit that somebody set. Silence alone is "
    "never called hung.",
)
def hung_in_tool(case: Case) -> Iterator[Finding]:
    advice = "Look at the process of the tool and stop it if it does nothing; the agent then goes on with an error."
    yield from _told(case, Kind.HUNG_IN_TOOL, hung_in_tool, advice, resumes=True)


@rule(
    "VER-006",
    "never reported",
    Severity.WARNING,
    "who worked has reported",
    "It is silent or overdue, and files it was to make are there.",
)
def worked_never_reported(case: Case) -> Iterator[Finding]:
    advice = "Look at what it wrote; then take it over by hand or resume the task."
    yield from _told(case, Kind.WORKED_NEVER_REPORTED, worked_never_reported, advice, resumes=True)


@rule(
    "VER-007",
    "no model answer",
    Severity.WARNING,
    "the model answers",
    "The last record asks the model, and no answer came for longer than `silent_after`.",
)
def waiting_for_model(case: Case) -> Iterator[Finding]:
    advice = "Look at the status of the provider; interrupt and send the prompt again if it does not come back."
    yield from _told(case, Kind.WAITING_FOR_MODEL, waiting_for_model, advice, resumes=True)


@rule(
    "VER-008",
    "silent",
    Severity.INFO,
    "nobody is silent for longer than usual",
    "Nothing was written for longer than `suspect_after` (`tool_suspect_after` inside a tool) and longer than its "
    "kind usually takes in all. That is worth a look and no proof of anything.",
)
def silent(case: Case) -> Iterator[Finding]:
    yield from _told(case, Kind.SILENT, silent, "Look at its last record and at its process before you stop it.")


@rule(
    "VER-009",
    "host slept",
    Severity.INFO,
    "time asleep is charged to nobody",
    "Every log was silent at once for more than a quarter of an hour: the machine slept.",
)
def host_slept(case: Case) -> Iterator[Finding]:
    yield from _told(case, Kind.HOST_SLEPT, host_slept, "Give it some minutes to go on.")


@rule(
    "VER-010",
    "registry disagrees",
    Severity.WARNING,
    "registry and log agree",
    "The registry deletes an entry when it is done or given up; this one's log goes on.",
)
def disagreement(case: Case) -> Iterator[Finding]:
    advice = "Its orchestrator no longer waits for it: take its return by hand, or stop it."
    yield from _told(case, Kind.DISAGREEMENT, disagreement, advice)
