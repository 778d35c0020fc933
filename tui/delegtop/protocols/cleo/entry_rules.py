"""Rules on the entries of CLEO's manifest: their fields, and the names and lengths the protocol asks for."""

from collections.abc import Iterator

from delegtop.diagnosis.case import Case
from delegtop.diagnosis.finding import Severity
from delegtop.diagnosis.return_findings import choice, listed, quoted
from delegtop.diagnosis.rule import RuleNote, rule
from delegtop.model import notes as kinds
from delegtop.protocols.cleo import entry_drift, manifest_contract
from delegtop.protocols.cleo.entry_lookup import output_files
from delegtop.protocols.cleo.manifest_contract import RICH, STATUSES
from delegtop.protocols.cleo.output_file import LINKED
from delegtop.protocols.noted_drift import drifted, notes
from delegtop.protocols.standard.contract.sentence_count import sentences

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
    Severity.WARNING,
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
    Severity.WARNING,
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
    Severity.WARNING,
    "the id is the topic and the date",
    f"{_PROTOCOL}, Field Definitions and Required Tokens: id is `{{topic-slug}}-{{date}}`, and the topic is URL-safe. "
    f"{_LATER}: in later versions the task may come first instead, which is unique as well.",
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
        )


@rule(
    "OUT-107",
    "output file misnamed",
    Severity.WARNING,
    "the output file is named by its date and topic",
    f"{_PROTOCOL}, Output Requirements: `{{date}}_{{topic-slug}}.md` in the output folder, by the topic of the id. An "
    "absolute path holds on one machine only, and one that climbs with `..` leads out of that folder. What later "
    "versions call a file by its task instead is only mentioned.",
)
def file_name(case: Case) -> Iterator[RuleNote]:
    for kind, told, severity in (
        (entry_drift.ABSOLUTE_FILE, "is an absolute path", None),
        (entry_drift.CLIMBING_FILE, "climbs out of the output folder", None),
        (entry_drift.ODD_FILE, "is not named by its date", None),
        (entry_drift.OWN_FILE, "is not named by its date", Severity.INFO),
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
    Severity.WARNING,
    "the summary of the output file has two or three sentences",
    f"{_PROTOCOL}, Output File Format: the overview that others read first. Judged where the file can be read.",
)
def summary_length(case: Case) -> Iterator[RuleNote]:
    for output in output_files(case):
        summary = output.file.section("Summary")
        count = None if summary is None else sentences(summary)
        if count is None or 2 <= count <= 3:
            continue
        yield RuleNote(
            f"The summary of {quoted(output.name)} has {count} sentence{'' if count == 1 else 's'}; 2 or 3 are asked "
            "for.",
            case.facts.ended_origin,
            output.at(output.file.line_of("Summary")),
            advice="Say what was found and what follows from it; the rest belongs under the findings.",
        )


@rule(
    "OUT-109",
    "no task linked",
    Severity.WARNING,
    "an entry is linked to its task",
    f"{_PROTOCOL}, Field Definitions and Required Tokens: linked_tasks holds the epic, if there is one, and the "
    f"task, which every writer of an entry is given. {_LATER}: entries of later versions may leave it empty. Output "
    "File Format: the file names the same epic and task, where it can be read.",
)
def task_linked(case: Case) -> Iterator[RuleNote]:
    if found := drifted(case, entry_drift.NO_TASK):
        yield RuleNote(
            f"In the entry linked_tasks {', '.join(found.details)}: nobody can tell which task it is about.",
            *found.evidence,
            advice="Link it to the task it was written for.",
        )
    linked = _linked_tasks(case)
    for output in output_files(case) if linked else ():
        named = output.file.linked_tasks()
        others = [each for each in named if each.is_own and each.id not in linked]
        if others:
            yield RuleNote(
                f"{quoted(output.name)} is linked to {listed(each.id for each in others)}, "
                f"its entry to {listed(linked)}.",
                *(output.at(each.line) for each in others),
                case.facts.ended_origin,
                advice="Find out which task the work was done for, and name that in both.",
            )
        elif named and case.facts.task not in {each.id for each in named}:
            yield RuleNote(
                f"{quoted(output.name)} does not name the task of its entry, {quoted(case.facts.task or '')}.",
                output.at(output.file.line_of(LINKED)),
                case.facts.ended_origin,
                advice="Name the task under Linked Tasks, as `- Task: T1234`.",
            )


def _linked_tasks(case: Case) -> tuple[str, ...]:
    """The tasks that the entry is linked to."""
    told = [text for note in notes(case, kinds.LINKED) for text in note.text.splitlines()]
    return tuple(filter(None, (dict(case.facts.refs).get("epic"), case.facts.task, *told)))


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
    Severity.WARNING,
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
    "within a title or a finding may be what it is about, and counts only if it is all there is. In the output file, "
    "where it can be read, so does one that is all of its line.",
)
def tokens_filled(case: Case) -> Iterator[RuleNote]:
    if found := drifted(case, entry_drift.UNFILLED):
        yield RuleNote(
            f"Tokens of the template were not filled in: {', '.join(found.details)}.",
            *found.evidence,
            advice=_FILL_IN,
        )
    for output in output_files(case):
        if tokens := output.file.tokens():
            yield RuleNote(
                f"In {quoted(output.name)} tokens of the template were not filled in: "
                f"{', '.join(dict.fromkeys(token for _, token in tokens[:_SHOWN]))}.",
                *(output.at(line) for line, _ in tokens[:_SHOWN]),
                case.facts.ended_origin,
                advice=_FILL_IN,
            )


_FILL_IN = "Have the orchestrator fill in all tokens before it hands the prompt to a subagent."
_SHOWN = 10


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
