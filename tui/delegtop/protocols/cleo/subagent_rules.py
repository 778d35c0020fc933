"""Rules on CLEO subagents: the line they leave in the manifest, their output file, and the way on."""

import re
from collections.abc import Iterator

from delegtop.base.clock import MINUTE, duration
from delegtop.diagnosis.case import Case
from delegtop.diagnosis.finding import Severity
from delegtop.diagnosis.return_findings import listed, quoted
from delegtop.diagnosis.rule import RuleNote, rule
from delegtop.model import notes as kinds
from delegtop.model.deviation_kinds import UNLISTED
from delegtop.model.events import Outcome
from delegtop.model.states import ACTIVE
from delegtop.protocols.cleo import PRODUCT, entry_drift
from delegtop.protocols.cleo.entry_lookup import is_entry, objected, objections, output_files, words
from delegtop.protocols.cleo.entry_rows import OUTPUT
from delegtop.protocols.cleo.output_file import OF_ANY_KIND, SECTIONS, TITLE
from delegtop.protocols.noted_drift import drifted, notes

DEVIATIONS = {entry_drift.SPREAD: frozenset({"OUT-002"})}
LEFT = {entry_drift.SPREAD: "OUT-002", UNLISTED: "OUT-002"}
STALE_AFTER = 3 * MINUTE
_PROTOCOL = "CLEO subagent protocol"
_NO_LINE = "MANIFEST-001"
_REGISTERED = "agent_instance"
_TASK = re.compile(r"[A-Z]+-?\d+")
"""What is nothing but the id of a task."""


def may_find(case: Case) -> bool:
    """What is no entry is judged by what was noted of it, or because it is registered as an agent."""
    facts = case.facts
    return facts.product == PRODUCT.name or bool(facts.notes) or any(name == _REGISTERED for name, _ in facts.refs)


# What it leaves behind: two of the four rules the protocol itself has a name for


@rule(
    "OUT-001",
    "output file lacking",
    Severity.ERROR,
    "the findings are in an output file with its sections",
    f"{_PROTOCOL}, Output Requirements and Output File Format: findings are written to a file that has a title and the "
    f"sections {', '.join(SECTIONS)}, each with something in it. What is missing there is a warning. Other kinds of "
    "work than research have templates of their own: of their files a title and a summary are asked for. Where "
    "delegtop cannot tell whether the file is there, LOG-004 says so.",
)
def output_file(case: Case) -> Iterator[RuleNote]:
    yield from objected(case, "OUT-001")
    if not is_entry(case):
        return
    asked = SECTIONS if case.facts.agent in (None, "research") else OF_ANY_KIND
    for path in (each.path for each in case.facts.artifacts if each.type == OUTPUT):
        if case.exists(path) is False:
            yield RuleNote(
                f"The output file {quoted(path)} does not exist.",
                case.facts.ended_origin,
                advice="Do not rely on the key findings alone: find the file, or have the work done again.",
            )
    for output in output_files(case):
        missing, empty = output.file.lacks(asked), output.file.empty(asked)
        if missing or empty:
            lines = [*([1] if missing else []), *map(output.file.line_of, empty)]
            yield RuleNote(
                f"The output file {quoted(output.name)} {_lacks(missing, empty)}.",
                *map(output.at, lines),
                case.facts.ended_origin,
                advice="Let the agent write the file by the template of the protocol; other agents look for these.",
                severity=Severity.WARNING,
            )


@rule(
    "OUT-002",
    "manifest line wrong",
    Severity.ERROR,
    "exactly one line is appended to the manifest",
    f"{_PROTOCOL}, Output Requirements: one line, no pretty-printing. A reader that takes the manifest line by line "
    "sees nothing of an entry that is spread over several, and half of two that share one. CLEO's own check tells of "
    "subagents that left no line at all; an output file beside the manifest that no line in that folder names is a "
    "warning: its entry may be kept elsewhere.",
)
def one_line(case: Case) -> Iterator[RuleNote]:
    for note, violation in objections(case):
        if violation.requirement in (_NO_LINE, "OUT-002"):
            yield RuleNote(
                f"It left no line in the manifest: {violation.message}.".replace("..", "."),
                note,
                advice="Look at its transcript for what it found, then have it write its output file and its line.",
                since=case.facts.ended_at,
            )
    for kind, message in (
        (entry_drift.SPREAD, "The entry is spread over {}."),
        (entry_drift.SHARED, "The entry shares its line: {}."),
        (entry_drift.TWICE, "The entry is there twice: {}."),
    ):
        if found := drifted(case, kind):
            yield RuleNote(
                message.format(", ".join(found.details)),
                *found.evidence,
                advice="Write each entry on one line of its own, for example with `jq -c`.",
                severity=Severity.WARNING,
            )


# What to do about it


@rule(
    "OUT-130",
    "no reason in entry",
    Severity.WARNING,
    "partial and blocked entries say what is in the way",
    f"{_PROTOCOL}, Error Handling: the reason goes into `needs_followup`, which otherwise has ids of tasks: if it has "
    "only these, that is mentioned. A blocked task is left open for the orchestrator to decide.",
)
def reason_given(case: Case) -> Iterator[RuleNote]:
    stuck = case.facts.outcome in (Outcome.PARTIAL, Outcome.BLOCKED)
    if not is_entry(case) or not stuck:
        return
    given = notes(case, kinds.FOLLOWUP)
    if given and all(_TASK.fullmatch(line.strip()) for note in given for line in note.text.splitlines()):
        yield RuleNote(
            f"The work is {case.facts.report.status}, and needs_followup names tasks but not what is in the way.",
            case.facts.ended_origin,
            advice="Read its output file for the reason; the tasks that it names may say it, too.",
            severity=Severity.INFO,
        )
    if not given:
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
    for origin, violation in objections(case):
        if violation.requirement in (_NO_LINE, "OUT-001", "OUT-002", "OUT-003", "OUT-004"):
            continue
        yield RuleNote(
            f"CLEO objects: {words(violation)}.".replace("..", "."),
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
    live = case.forest.state(case.handle) in ACTIVE and any(name == _REGISTERED for name, _ in facts.refs)
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


def _lacks(missing: tuple[str, ...], empty: tuple[str, ...]) -> str:
    """What a file lacks, in words."""
    sections = [name for name in missing if name != TITLE]
    told = ["has no title"] if TITLE in missing else []
    told += [f"has no section {listed(sections)}"] if sections else []
    told += [f"says nothing under {listed(empty)}"] if empty else []
    return ", and ".join(told)
