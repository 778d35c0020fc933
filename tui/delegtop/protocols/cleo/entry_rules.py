"""Rules on the entries of CLEO's manifest: their fields, and the names and lengths the protocol asks for."""

from collections.abc import Iterator

from delegtop.base.origin import Origin
from delegtop.diagnosis.case import Case
from delegtop.diagnosis.finding import Severity
from delegtop.diagnosis.return_findings import choice, listed, quoted
from delegtop.diagnosis.rule import RuleNote, rule
from delegtop.protocols.cleo import entry_drift, manifest_contract
from delegtop.protocols.cleo.entries import is_entry
from delegtop.protocols.cleo.entry_rows import OUTPUT
from delegtop.protocols.cleo.manifest_contract import RICH, STATUSES
from delegtop.protocols.cleo.output_file import OutputFile
from delegtop.protocols.noted_drift import drifted

_PROTOCOL = "CLEO subagent protocol"
_LATER = "CLEO's manifest operations, Manifest Entry Schema"


@rule(
    "OUT-101",
    "entry incomplete",
    Severity.WARNING,
    "an entry has all its fields",
    f"{_PROTOCOL}, Manifest Entry Format, Field Definitions: {', '.join(manifest_contract.FIELDS)}. {_LATER}: one that "
    f"says its `agent_type` is of a later version, and needs {', '.join(RICH.required)}.",
)
def all_fields(case: Case) -> Iterator[RuleNote]:
    if found := drifted(case, entry_drift.MISSING):
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
    if found := drifted(case, entry_drift.RENAMED):
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
    f"{_PROTOCOL}, Field Definitions: four lists of texts, one true or false, the rest text.",
)
def field_types(case: Case) -> Iterator[RuleNote]:
    if found := drifted(case, entry_drift.WRONG_TYPE):
        yield RuleNote(
            f"In the entry {'; '.join(found.details)}.",
            *found.evidence,
            advice="Write a list even for a single item, and every item as a text.",
        )


@rule(
    "OUT-104",
    "odd entry status",
    Severity.WARNING,
    "the status is complete, partial or blocked",
    f"{_PROTOCOL}, Field Definitions: status. `completed`, `done` and `final` are understood; a word like `archived` "
    f"tells what became of the entry, not how the work ended. {_LATER}: entries of later versions may have both.",
)
def known_status(case: Case) -> Iterator[RuleNote]:
    found = drifted(case, entry_drift.WRONG_STATUS)
    for status in found.details if found else ():
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
    if found := drifted(case, entry_drift.BAD_DATE):
        yield RuleNote(
            f"The date is {listed(found.details)}.",
            *found.evidence,
            advice="Write the day alone; a moment goes into a field of its own.",
        )


@rule(
    "OUT-106",
    "id not as asked",
    Severity.INFO,
    "the id is the topic and the date",
    f"{_PROTOCOL}, Field Definitions and Required Tokens: id is `{{topic-slug}}-{{date}}`, and the topic is URL-safe; "
    f"if it is not, that is a warning. Most agents put the task first instead, which is unique as well, and which "
    f"{_LATER} allows.",
)
def id_form(case: Case) -> Iterator[RuleNote]:
    if found := drifted(case, entry_drift.ODD_ID):
        yield RuleNote(
            f"The id {listed(found.details)} does not end in the date of the entry.",
            *found.evidence,
            advice="Name it {topic-slug}-{date}, or see that all readers of this manifest agree on another form.",
        )
    if found := drifted(case, entry_drift.UNSAFE_ID):
        yield RuleNote(
            f"The id {listed(found.details)} is not URL-safe.",
            *found.evidence,
            advice="Use letters of the alphabet, digits and hyphens; commands and addresses break on anything else.",
            severity=Severity.WARNING,
        )


@rule(
    "OUT-107",
    "output file misnamed",
    Severity.INFO,
    "the output file is named by its date and topic",
    f"{_PROTOCOL}, Output Requirements: `{{date}}_{{topic-slug}}.md` in the output folder, by the topic of the id. "
    "An absolute path holds on one machine only and is a warning.",
)
def file_name(case: Case) -> Iterator[RuleNote]:
    for kind, told, severity in (
        (entry_drift.ABSOLUTE_FILE, "is an absolute path", Severity.WARNING),
        (entry_drift.ODD_FILE, "is not named by its date", None),
    ):
        if found := drifted(case, kind):
            yield RuleNote(
                f"The output file {listed(found.details)} {told}.",
                *found.evidence,
                advice="Name it {date}_{topic-slug}.md, in the folder of the manifest.",
                severity=severity,
            )
    if found := drifted(case, entry_drift.OTHER_TOPIC):
        yield RuleNote(
            f"The output file has another topic than the id: {', '.join(found.details)}.",
            *found.evidence,
            advice="Name both by one topic: {topic-slug}-{date} and {date}_{topic-slug}.md.",
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
        summary = OutputFile(case.read(path) or "").section("Summary")
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
    "OUT-109",
    "no task linked",
    Severity.WARNING,
    "an entry is linked to its task",
    f"{_PROTOCOL}, Field Definitions and Required Tokens: linked_tasks holds the epic, if there is one, and the "
    f"task, which every writer of an entry is given. {_LATER}: entries of later versions may leave it empty.",
)
def task_linked(case: Case) -> Iterator[RuleNote]:
    if found := drifted(case, entry_drift.NO_TASK):
        yield RuleNote(
            f"In the entry linked_tasks {', '.join(found.details)}: nobody can tell which task it is about.",
            *found.evidence,
            advice="Link it to the task it was written for.",
        )


@rule(
    "OUT-110",
    "wrong findings count",
    Severity.WARNING,
    "there are three to seven key findings",
    f"{_PROTOCOL}, Key Findings Guidelines. {_LATER}: one to seven, where an entry of a later version has any.",
)
def findings_count(case: Case) -> Iterator[RuleNote]:
    if found := drifted(case, entry_drift.FINDINGS_COUNT):
        yield RuleNote(
            f"Of key findings {'; '.join(found.details)}.",
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
    if found := drifted(case, entry_drift.LONG_FINDING):
        yield RuleNote(
            f"More than one sentence: {listed(found.details)}.",
            *found.evidence,
            advice="Keep the first sentence; details go into the output file.",
        )


@rule(
    "OUT-112",
    "token not filled in",
    Severity.WARNING,
    "no field holds a token of the template",
    f"{_PROTOCOL}, Token Reference: tokens such as `{{{{TASK_ID}}}}` are filled in by whoever hands out the work. One "
    "within a title or a finding may be what it is about, and counts only if it is all there is.",
)
def tokens_filled(case: Case) -> Iterator[RuleNote]:
    if found := drifted(case, entry_drift.UNFILLED):
        yield RuleNote(
            f"Tokens of the template were not filled in: {', '.join(found.details)}.",
            *found.evidence,
            advice="Have the orchestrator fill in all tokens before it hands the prompt to a subagent.",
        )


@rule(
    "OUT-121",
    "duplicate id",
    Severity.WARNING,
    "no two entries have the same id",
    f"{_PROTOCOL}, Field Definitions: id is unique. delegtop shows the later entry as `id~2`; CLEO finds only one.",
)
def unique_id(case: Case) -> Iterator[RuleNote]:
    if found := drifted(case, entry_drift.SAME_ID):
        yield RuleNote(
            f"The id is taken: {', '.join(found.details)}.",
            *found.evidence,
            advice="Give the entry an id of its own, or take out the one it replaces.",
        )
