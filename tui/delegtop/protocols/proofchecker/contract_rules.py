"""Rules on what the agents and scripts of the ProofChecker family write: its contract, its defects, its errors."""

from collections.abc import Iterator

from delegtop.base.clock import duration
from delegtop.base.origin import Origin
from delegtop.diagnosis.case import Case
from delegtop.diagnosis.finding import Severity
from delegtop.diagnosis.return_findings import quoted
from delegtop.diagnosis.rule import RuleNote, rule
from delegtop.model import notes
from delegtop.model.delegation import Delegation
from delegtop.model.states import State
from delegtop.protocols.noted_drift import notes as noted
from delegtop.protocols.proofchecker import task_logs, vocabulary
from delegtop.protocols.proofchecker.conditions import again, is_operation, notes_of, usual

_BREACHES = {
    "status": (
        "The status is off the list: {}.",
        f"Write one of {', '.join(vocabulary.STATUSES)}; scripts act on no other word.",
    ),
    "stop": (
        "The status {} stops the session before it has dealt with the return.",
        "Write what was done: researched, planned or implemented. Then let the postflight run by hand.",
    ),
    "artifacts": ("The list of files is not as agreed: {}.", "Write each as an object with type, path and summary."),
    "session": ("The return does not say whose it is: {}.", "Copy session_id from the delegation context."),
    "shell": (
        "Shell text stands where its value should: {}.",
        "Let the shell fill it in: its here-document is quoted.",
    ),
    "phases": ("It says implemented, but {}.", "Say partial, or finish the phases that are left."),
    "completion": (
        "It says implemented, but {}.",
        "Have it say in a sentence or three what was accomplished: the list of tasks takes it from there.",
    ),
}
"""What is wrong and what to do, by the word a breach begins with."""


def _breaches(
    case: Case, word: str, command: str | None = None, severity: Severity | None = None
) -> Iterator[RuleNote]:
    """Every breach of that kind."""
    sentence, advice = _BREACHES[word]
    for note in notes_of(case, notes.BREACH):
        for line in note.text.splitlines():
            kind, _, told = line.partition(": ")
            if kind == word:
                words = sentence.format(told)
                yield RuleNote(words, note.origin, advice=advice, command=command, severity=severity, since=note.at)


@rule(
    "FAM-020",
    "status off the list",
    Severity.INFO,
    "the status is one that scripts know",
    f"Return metadata, status: {', '.join(vocabulary.STATUSES)}. On another word the postflight does nothing, and the "
    "task stays where it was. Anti-stop patterns: completed, done and finished are forbidden, and refused by the "
    "family's own check, because the session takes them for the end of all work; they are errors.",
)
def known_status(case: Case) -> Iterator[RuleNote]:
    yield from _breaches(case, "stop", severity=Severity.ERROR)
    yield from _breaches(case, "status")


@rule(
    "FAM-021",
    "artifacts malformed",
    Severity.WARNING,
    "artifacts are objects with a path",
    "Return metadata, artifacts: a list of objects. From bare paths the scripts take nothing and say nothing, so the "
    "files are never linked to the task.",
)
def artifact_shape(case: Case) -> Iterator[RuleNote]:
    return _breaches(case, "artifacts")


@rule(
    "FAM-022",
    "session not named",
    Severity.WARNING,
    "a return names its session",
    "Return metadata, metadata.session_id: without it nobody can tell whether the file is of this dispatch or of the "
    "one before.",
)
def session_named(case: Case) -> Iterator[RuleNote]:
    return _breaches(case, "session")


@rule(
    "FAM-023",
    "shell text in field",
    Severity.WARNING,
    "fields hold values, not shell text",
    "Postflight marker, created: a quoted here-document writes `$(date …)` itself. What should be a time or an id is "
    "then none.",
)
def no_shell_text(case: Case) -> Iterator[RuleNote]:
    return _breaches(case, "shell")


@rule(
    "FAM-024",
    "stale return",
    Severity.WARNING,
    "the return is of this dispatch",
    "Defect class HANDOFF_STALE_OR_ABSENT: the file of an earlier dispatch still lies there and is taken for the "
    "present one's. A file older than the dispatch is none of its own.",
)
def stale_return(case: Case) -> Iterator[RuleNote]:
    facts = case.facts
    given = facts.resumed_at
    if facts.outcome is not None or given is None or not case.is_past(given + usual(facts)):
        return
    for note in facts.notes:
        if note.kind == notes.REPORTED and note.at is not None and note.at < given:
            yield RuleNote(
                f"The only return there says {quoted(note.text)} and is {duration(given - note.at)} older than the "
                "dispatch.",
                note.origin,
                facts.started_origin,
                advice="Do not act on it. Ask the agent for the return of this dispatch, or delete the old file.",
                since=given,
            )


@rule(
    "FAM-025",
    "phases unfinished",
    Severity.WARNING,
    "implemented means all phases",
    "Return metadata, phases_completed and phases_total: a task that is implemented has all of them.",
)
def all_phases(case: Case) -> Iterator[RuleNote]:
    return _breaches(case, "phases", again(case))


@rule(
    "FAM-026",
    "files missing",
    Severity.WARNING,
    "the files of a return are there",
    "Defect class ARTIFACTS_MISSING_ON_SUCCESS: the next operation reads what this one is said to have written.",
)
def files_exist(case: Case) -> Iterator[RuleNote]:
    facts = case.facts
    if case.forest.state(case.handle) is not State.COMPLETED:
        return
    missing = [artifact.path for artifact in facts.artifacts if case.exists(artifact.path) is False]
    if missing:
        more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
        yield RuleNote(
            f"It says it succeeded, but {', '.join(quoted(path) for path in missing[:3])}{more} cannot be found.",
            facts.ended_origin,
            advice="Look for the files before the next operation; if they were never written, repeat this one.",
            since=facts.ended_at,
        )


@rule(
    "FAM-027",
    "no reason given",
    Severity.WARNING,
    "what did not succeed says why",
    "Return metadata, errors, next_steps, review_reason: a return that is partial, blocked or failed says what is in "
    "the way and how to go on. Any of the places will do.",
)
def says_why(case: Case) -> Iterator[RuleNote]:
    facts = case.facts
    if case.forest.state(case.handle) not in (State.PARTIAL, State.BLOCKED, State.FAILED) or not is_operation(facts):
        return
    kinds = {notes.REVIEW, notes.BLOCKER, notes.RESUME, notes.NEXT, notes.HANDOFF, notes.FOLLOWUP, notes.PROGRESS}
    if facts.errors or any(note.kind in kinds for note in facts.notes):
        return
    yield RuleNote(
        f"It ended {facts.outcome} and says neither why nor how to go on.",
        facts.ended_origin,
        advice="Read its summary and its last changes before you give the command again.",
        command=again(case),
        since=facts.ended_at,
    )


@rule(
    "FAM-028",
    "no completion data",
    Severity.WARNING,
    "what is implemented says what it came to",
    "Return metadata, completion_data: mandatory for implemented, with completion_summary. Scripts copy it into the "
    "list of tasks; without it the task is done and nobody can read there what was.",
)
def completion_data(case: Case) -> Iterator[RuleNote]:
    return _breaches(case, "completion")


@rule(
    "FAM-030",
    "defect recorded",
    Severity.WARNING,
    "the system finds nothing wrong with itself",
    "Defect recorder: fourteen classes of faults that scripts see in passing and write down, and that nobody reads.",
)
def system_defects(case: Case) -> Iterator[RuleNote]:
    told: set[str] = set()
    for note in notes_of(case, notes.DEFECT):
        for line in note.text.splitlines():
            name, _, detail = line.partition(": ")
            if line in told:
                continue
            told.add(line)
            known = vocabulary.DEFECTS.get(name)
            meaning = f" ({known.meaning})" if known else ""
            yield RuleNote(
                f"{name}{meaning}: {detail[:300]}",
                note.origin,
                advice=known.advice if known else "Look at what the recorder says of it.",
                since=note.at,
            )


@rule(
    "FAM-031",
    "error recorded",
    Severity.WARNING,
    "recorded errors are mended",
    "errors.json: errors of commands and agents with the way to mend them; those that nobody has marked as fixed.",
)
def recorded_errors(case: Case) -> Iterator[RuleNote]:
    facts = case.facts
    places = _fault_places(facts)
    for fault in facts.faults if places else ():
        what = f"{fault.type}: " if fault.type else ""
        yield RuleNote(
            f"{what}{fault.message or 'an error without a message'}",
            *places,
            advice=fault.recommendation or "",
            by="agent" if fault.recommendation else "delegtop",
            severity=Severity.INFO if fault.recoverable else None,
        )


@rule(
    "FAM-032",
    "issue open",
    Severity.WARNING,
    "what stood in the way is settled",
    "Issue log: agents note what goes wrong as it happens, with how much it cost and what became of it, and nobody "
    "reads it before the end. What was blocking and is still open is told; what cost a detour and is open is only "
    "mentioned.",
)
def open_issues(case: Case) -> Iterator[RuleNote]:
    for note in noted(case, notes.ISSUE):  # of any dispatch: what is open stays so
        for issue in task_logs.issues(note.text):
            if issue.is_open and issue.severity in ("blocking", "costly"):
                yield RuleNote(
                    f"{issue.kind.rstrip(':')}: {issue.what.rstrip('.')}.",
                    note.origin,
                    advice="See whether it is settled; if so, note that, else make a task of it.",
                    severity=None if issue.severity == "blocking" else Severity.INFO,
                    since=note.at,
                )


def _fault_places(facts: Delegation) -> list[Origin]:
    return [origin for origin in facts.origins if "errors" in origin.source.rpartition("/")[2]][:3]
