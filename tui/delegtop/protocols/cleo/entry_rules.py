"""Rules on the entries of CLEO's manifest: their fields, and the names and lengths the protocol asks for."""

import re
from collections.abc import Iterator

from delegtop.base.origin import Origin
from delegtop.diagnosis.case import Case
from delegtop.diagnosis.finding import Severity
from delegtop.diagnosis.return_findings import choice, listed, quoted
from delegtop.diagnosis.rule import RuleNote, rule
from delegtop.protocols.cleo import manifest_contract
from delegtop.protocols.cleo.entries import is_entry, section
from delegtop.protocols.cleo.entry_rows import OUTPUT
from delegtop.protocols.cleo.manifest_contract import KEY_FINDINGS, STATUSES
from delegtop.protocols.noted_drift import drifted

_PROTOCOL = "CLEO subagent protocol"
_ABSOLUTE = re.compile(r"[/\\~]|[A-Za-z]:[/\\]")


@rule(
    "OUT-101",
    "entry incomplete",
    Severity.WARNING,
    "an entry has all ten fields",
    f"{_PROTOCOL}, Manifest Entry Format, Field Definitions: {', '.join(manifest_contract.FIELDS)}.",
)
def all_fields(case: Case) -> Iterator[RuleNote]:
    if found := drifted(case, manifest_contract.MISSING):
        yield RuleNote(
            f"The entry has no {', '.join(found.details)}.",
            *found.evidence,
            advice="Let the agent write the entry by the template; what it leaves out cannot be looked up.",
        )


@rule(
    "OUT-102",
    "renamed fields",
    Severity.INFO,
    "the fields go by their own names",
    f"{_PROTOCOL}, Manifest Entry Format. delegtop knows the usual other names and reads them; `jq` queries do not.",
)
def own_names(case: Case) -> Iterator[RuleNote]:
    if found := drifted(case, manifest_contract.RENAMED):
        yield RuleNote(
            f"The entry uses other names: {', '.join(found.details)}.",
            *found.evidence,
            advice="Use the names of the protocol.",
        )


@rule(
    "OUT-103",
    "wrong field types",
    Severity.WARNING,
    "the fields are of their types",
    f"{_PROTOCOL}, Field Definitions: four lists, one true or false, the rest text.",
)
def field_types(case: Case) -> Iterator[RuleNote]:
    if found := drifted(case, manifest_contract.WRONG_TYPE):
        yield RuleNote(
            f"In the entry {'; '.join(found.details)}.",
            *found.evidence,
            advice="Write a list even for a single item.",
        )


@rule(
    "OUT-104",
    "odd entry status",
    Severity.WARNING,
    "the status is complete, partial or blocked",
    f"{_PROTOCOL}, Field Definitions: status. `completed`, `done` and `final` are understood; a word like `archived` "
    "tells what became of the entry, not how the work ended.",
)
def known_status(case: Case) -> Iterator[RuleNote]:
    status = case.facts.report.status
    if not is_entry(case) or status is None or status in STATUSES:
        return
    meant = "complete" if status.lower() in manifest_contract.COMPLETE_WORDS else None
    yield RuleNote(
        f"The status {quoted(status)} is none of {choice(STATUSES)}.",
        case.facts.ended_origin,
        advice=f'Write "{meant}".' if meant else "Ask how the work ended; nobody can act on this word.",
    )


@rule(
    "OUT-105",
    "malformed date",
    Severity.INFO,
    "the date is a day, written YYYY-MM-DD",
    f"{_PROTOCOL}, Field Definitions: date.",
)
def date_is_day(case: Case) -> Iterator[RuleNote]:
    if found := drifted(case, manifest_contract.BAD_DATE):
        yield RuleNote(
            f"The date is {listed(found.details)}.",
            *found.evidence,
            advice="Write the day alone; a moment goes into a field of its own.",
        )


@rule(
    "OUT-106",
    "id without date",
    Severity.INFO,
    "the id is the topic and the date",
    f"{_PROTOCOL}, Field Definitions: id is `{{topic-slug}}-{{date}}`. Most agents put the task first instead, which "
    "is unique as well.",
)
def id_form(case: Case) -> Iterator[RuleNote]:
    if found := drifted(case, manifest_contract.ODD_ID):
        yield RuleNote(
            f"The id {listed(found.details)} does not end in the date of the entry.",
            *found.evidence,
            advice="Name it {topic-slug}-{date}, or see that all readers of this manifest agree on another form.",
        )


@rule(
    "OUT-107",
    "output file misnamed",
    Severity.INFO,
    "the output file is named by its date and topic",
    f"{_PROTOCOL}, Output Requirements: `{{date}}_{{topic-slug}}.md` in the output folder. An absolute path holds on "
    "one machine only and is a warning.",
)
def file_name(case: Case) -> Iterator[RuleNote]:
    found = drifted(case, manifest_contract.ODD_FILE)
    if found is None:
        return
    absolute = [path for path in found.details if _ABSOLUTE.match(path)]
    yield RuleNote(
        f"The output file {listed(found.details)} is {'an absolute path' if absolute else 'not named by its date'}.",
        *found.evidence,
        advice="Name it {date}_{topic-slug}.md, in the folder of the manifest.",
        severity=Severity.WARNING if absolute else None,
    )


@rule(
    "OUT-108",
    "wrong summary length",
    Severity.INFO,
    "the summary of the output file has two or three sentences",
    f"{_PROTOCOL}, Output File Format: the overview that others read first. Judged where the file can be read.",
)
def summary_length(case: Case) -> Iterator[RuleNote]:
    if not is_entry(case):
        return
    for path in (each.path for each in case.facts.artifacts if each.type == OUTPUT):
        summary = section(case.read(path) or "", "summary")
        count = None if summary is None else manifest_contract.sentences(summary) if summary else 0
        if count is None or 2 <= count <= 3:
            continue
        yield RuleNote(
            f"The summary of {quoted(path)} has {count} sentence{'' if count == 1 else 's'}; 2 or 3 are asked for.",
            case.facts.ended_origin,
            Origin(path, 1, 0),
            advice="Say what was found and what follows from it; the rest belongs under the findings.",
        )


@rule(
    "OUT-110",
    "wrong findings count",
    Severity.WARNING,
    "there are three to seven key findings",
    f"{_PROTOCOL}, Key Findings Guidelines.",
)
def findings_count(case: Case) -> Iterator[RuleNote]:
    least, most = KEY_FINDINGS
    if found := drifted(case, manifest_contract.FINDINGS_COUNT):
        yield RuleNote(
            f"Of key findings {least} to {most} are asked for, and the entry has {' and '.join(found.details)}.",
            *found.evidence,
            advice="Name what an orchestrator must know, and leave the rest to the output file.",
        )


@rule(
    "OUT-111",
    "wordy key finding",
    Severity.INFO,
    "a key finding is one sentence",
    f"{_PROTOCOL}, Key Findings Guidelines. That findings are action-oriented and free of details no rule can tell.",
)
def finding_sentence(case: Case) -> Iterator[RuleNote]:
    if found := drifted(case, manifest_contract.LONG_FINDING):
        yield RuleNote(
            f"More than one sentence: {listed(found.details)}.",
            *found.evidence,
            advice="Keep the first sentence; details go into the output file.",
        )


@rule(
    "OUT-121",
    "duplicate id",
    Severity.WARNING,
    "no two entries have the same id",
    f"{_PROTOCOL}, Field Definitions: id is unique. delegtop shows the later entry as `id~2`; CLEO finds only one.",
)
def unique_id(case: Case) -> Iterator[RuleNote]:
    if found := drifted(case, manifest_contract.SAME_ID):
        yield RuleNote(
            f"The id is taken: {', '.join(found.details)}.",
            *found.evidence,
            advice="Give the entry an id of its own, or take out the one it replaces.",
        )
