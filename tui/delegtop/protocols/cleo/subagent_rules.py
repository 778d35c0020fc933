"""Rules on CLEO subagents: the line they leave in the manifest, their output file, what they answer, and the way on."""

import re
from collections.abc import Iterator

from delegtop.base.clock import MINUTE, duration
from delegtop.base.origin import Origin
from delegtop.diagnosis.case import Case
from delegtop.diagnosis.finding import Severity
from delegtop.diagnosis.return_findings import listed, quoted
from delegtop.diagnosis.rule import RuleNote, rule
from delegtop.model import notes as kinds
from delegtop.model.events import Outcome
from delegtop.model.states import ACTIVE
from delegtop.protocols.cleo import PRODUCT, manifest_contract
from delegtop.protocols.cleo.entries import headings, is_entry
from delegtop.protocols.cleo.entry_rows import OUTPUT
from delegtop.protocols.cleo.manifest_contract import (
    LATER_LINES,
    LATER_MESSAGES,
    MESSAGES,
    RESPONSE,
    SECTIONS,
    Violation,
    violations,
)
from delegtop.protocols.noted_drift import drifted, notes

DEVIATIONS = {manifest_contract.SPREAD: frozenset({"OUT-002"})}
STALE_AFTER = 3 * MINUTE
_PROTOCOL = "CLEO subagent protocol"
_NO_LINE = "MANIFEST-001"


# The four rules the protocol itself has a name for


@rule(
    "OUT-001",
    "output file lacking",
    Severity.ERROR,
    "the findings are in an output file with its sections",
    f"{_PROTOCOL}, Output Requirements and Output File Format: findings are written to a file that has the sections "
    f"{', '.join(SECTIONS)}. A section that is missing is a warning. Where delegtop cannot tell whether the file is "
    "there, it says nothing.",
)
def output_file(case: Case) -> Iterator[RuleNote]:
    if not is_entry(case):
        return
    for path in (each.path for each in case.facts.artifacts if each.type == OUTPUT):
        if case.exists(path) is False:
            yield RuleNote(
                f"The output file {quoted(path)} does not exist.",
                case.facts.ended_origin,
                advice="Do not rely on the key findings alone: find the file, or have the work done again.",
            )
            continue
        text = case.read(path)
        missing = _missing_sections(text) if text is not None else []
        if missing:
            yield RuleNote(
                f"The output file {quoted(path)} has no section {listed(missing)}.",
                case.facts.ended_origin,
                advice="Let the agent write the file by the template of the protocol; other agents look for these.",
                severity=Severity.WARNING,
            )
    yield from _objections(case, "OUT-001")


@rule(
    "OUT-002",
    "manifest line wrong",
    Severity.ERROR,
    "exactly one line is appended to the manifest",
    f"{_PROTOCOL}, Output Requirements: one line, no pretty-printing. A reader that takes the manifest line by line "
    "sees nothing of an entry that is spread over several, and half of two that share one. CLEO's own check tells of "
    "subagents that left no line at all.",
)
def one_line(case: Case) -> Iterator[RuleNote]:
    for note, violation in _violations(case):
        if violation.requirement in (_NO_LINE, "OUT-002"):
            yield RuleNote(
                f"It left no line in the manifest: {violation.message}.".replace("..", "."),
                note,
                advice="Look at its transcript for what it found, then have it write its output file and its line.",
                since=case.facts.ended_at,
            )
    for kind, message in (
        (manifest_contract.SPREAD, "The entry is spread over {}."),
        (manifest_contract.SHARED, "The entry shares its line: {}."),
        (manifest_contract.TWICE, "The entry is there twice: {}."),
    ):
        if found := drifted(case, kind):
            yield RuleNote(
                message.format(", ".join(found.details)),
                *found.evidence,
                advice="Write each entry on one line of its own, for example with `jq -c`.",
                severity=Severity.WARNING,
            )


@rule(
    "OUT-003",
    "wrong response",
    Severity.ERROR,
    "the response is exactly the message of the protocol",
    f"{_PROTOCOL}, Output Requirements and Error Handling: the subagent answers with one of three sentences, by the "
    "status of its entry. Later versions have the kind of work in place of `Research`, or `[Type] complete. Manifest "
    "appended to pipeline_manifest.`, or four lines: `[Type] complete. manifest:ID`, `commits:`, `gates:` and "
    "`blocker:`; all are taken. A text that is all content is only taken for an answer with `--format cleo-response`.",
)
def exact_response(case: Case) -> Iterator[RuleNote]:
    for origin, text in _responses(case):
        if not any(_is_message(line) and not LATER_LINES.fullmatch(line.strip()) for line in text.splitlines()):
            yield RuleNote(
                f"The response does not hold the message of the protocol; it begins {quoted(_beginning(text))}.",
                origin,
                advice=f"Let it answer with nothing but {quoted(MESSAGES[_status_of(text)])}.",
            )
    yield from _objections(case, "OUT-003")


@rule(
    "OUT-004",
    "content in response",
    Severity.ERROR,
    "the response holds no content",
    f"{_PROTOCOL}, Output Requirements and Anti-Patterns: whatever else is in the answer fills the context of the "
    "orchestrator, which is what the manifest is there to prevent.",
)
def no_content(case: Case) -> Iterator[RuleNote]:
    for origin, text in _responses(case):
        rest = [line.strip() for line in text.splitlines() if line.strip() and not _is_message(line)]
        if not rest or (len(rest) == 1 and RESPONSE.search(rest[0])):
            continue  # nothing else, or the message in other words, which OUT-003 tells
        yield RuleNote(
            f"The response holds {len(rest)} line{'' if len(rest) == 1 else 's'} beside the message "
            f"({sum(map(len, rest))} characters), beginning {quoted(rest[0])}.",
            origin,
            advice="Move the content into the output file; the manifest gives the orchestrator the key findings.",
        )
    yield from _objections(case, "OUT-004")


# What to do about it


@rule(
    "OUT-130",
    "no reason in entry",
    Severity.WARNING,
    "partial and blocked entries say what is in the way",
    f"{_PROTOCOL}, Error Handling: the reason goes into `needs_followup`. A blocked task is left open for the "
    "orchestrator to decide.",
)
def reason_given(case: Case) -> Iterator[RuleNote]:
    stuck = case.facts.outcome in (Outcome.PARTIAL, Outcome.BLOCKED)
    if is_entry(case) and stuck and not notes(case, kinds.FOLLOWUP):
        yield RuleNote(
            f"The work is {case.facts.report.status}, and needs_followup does not say why.",
            case.facts.ended_origin,
            advice="Read its output file for the reason, then decide whether to go on with the task.",
        )


@rule(
    "OUT-131",
    "work left to do",
    Severity.INFO,
    "what an entry leaves to do is done",
    f"{_PROTOCOL}, Field Definitions: needs_followup. Tasks or words of the agent itself; of partial and blocked work "
    "they are the way on, and a warning.",
)
def followup(case: Case) -> Iterator[RuleNote]:
    if not is_entry(case):
        return
    stuck = case.facts.outcome in (Outcome.PARTIAL, Outcome.BLOCKED)
    for note in notes(case, kinds.FOLLOWUP):
        items = note.text.splitlines()
        tasks = [item for item in items if re.fullmatch(r"T\d+", item)]
        yield RuleNote(
            f"{len(items)} thing{' is' if len(items) == 1 else 's are'} left to do.",
            note.origin,
            advice="; ".join(items),
            command=f"cleo show {tasks[0]}" if tasks else None,
            severity=Severity.WARNING if stuck else None,
            by="agent",
        )


@rule(
    "OUT-140",
    "compliance objection",
    Severity.WARNING,
    "CLEO's own check has no objection",
    "CLEO checks every subagent when it stops and writes what it finds to COMPLIANCE.jsonl. What it says of the four "
    "rules above is told by those; everything else is told here, with the fix CLEO itself names.",
)
def own_check(case: Case) -> Iterator[RuleNote]:
    for origin, violation in _violations(case):
        if violation.requirement in (_NO_LINE, "OUT-001", "OUT-002", "OUT-003", "OUT-004"):
            continue
        yield RuleNote(
            f"CLEO objects: {_words(violation)}.".replace("..", "."),
            origin,
            advice=violation.fix or "See its transcript for what it did.",
            severity=Severity.ERROR if violation.severity == "error" else None,
            since=case.facts.ended_at,
        )


@rule(
    "OUT-150",
    "no heartbeat",
    Severity.WARNING,
    "a live agent touches its heartbeat",
    "CLEO's agents write a heartbeat every 30 seconds, and CLEO itself calls one crashed after three minutes without.",
)
def heartbeat(case: Case) -> Iterator[RuleNote]:
    facts = case.facts
    live = case.forest.state(case.handle) in ACTIVE and any(name == "agent_instance" for name, _ in facts.refs)
    if not live or facts.heard_at is None or not case.is_past(facts.heard_at + STALE_AFTER):
        return
    yield RuleNote(
        f"Its last heartbeat was {duration(case.now - facts.heard_at)} ago, but it is registered as "
        f"{facts.doing or 'alive'}.",
        facts.heard_origin,
        advice="See whether its process is there; if not, look for work it did not commit before starting it again.",
        since=facts.heard_at,
    )


# Helpers


def _missing_sections(text: str) -> list[str]:
    found = headings(text)
    return [name for name in SECTIONS if name.lower() not in found]


def _violations(case: Case) -> Iterator[tuple[Origin, Violation]]:
    for note in notes(case, kinds.VIOLATION):
        for violation in violations(note.text):
            yield note.origin, violation


def _objections(case: Case, requirement: str) -> Iterator[RuleNote]:
    """What CLEO's own check says of one of the four rules."""
    for origin, violation in _violations(case):
        if violation.requirement == requirement:
            yield RuleNote(
                f"CLEO objects: {_words(violation)}.".replace("..", "."),
                origin,
                advice=violation.fix or "See its transcript for what it answered.",
                since=case.facts.ended_at,
            )


def _words(violation: Violation) -> str:
    return f"{violation.message} ({violation.requirement})" if violation.requirement else violation.message


def _responses(case: Case) -> Iterator[tuple[Origin | None, str]]:
    """What it answered, if that is known and means to be an answer by this protocol."""
    for note in notes(case, kinds.RESPONSE):
        yield note.origin, note.text
    facts = case.facts
    summary = facts.report.summary
    if facts.product != PRODUCT.name and summary and RESPONSE.search(summary):
        yield facts.ended_origin, summary


def _is_message(line: str) -> bool:
    text = line.strip()
    return text in MESSAGES.values() or any(each.fullmatch(text) for each in (*LATER_MESSAGES, LATER_LINES))


def _status_of(text: str) -> str:
    found = RESPONSE.search(text)
    return found[1].lower() if found else "complete"


def _beginning(text: str) -> str:
    return text.strip().splitlines()[0] if text.strip() else ""
