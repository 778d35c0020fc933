"""What the body of a subagent file must hold: the sections of the structure standard, and what belongs into each."""

import re
from collections.abc import Iterator, Sequence

from delegtop.diagnosis.finding import Severity
from delegtop.protocols.standard.agent_files.agent_file import AgentFile
from delegtop.protocols.standard.agent_files.agent_file_rule import FileNote, lacks, missing, plain, rule, section_rule
from delegtop.protocols.standard.agent_files.sections import Section
from delegtop.protocols.standard.contract.sentence_count import sentences

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO

SUB_CONTEXTS = {"specialist_domain": 1, "task_scope": 2, "integration": 1, "lifecycle_integration": 2}
"""The four parts of the context, and how many sentences each has at most."""
SECTIONS = (
    *("context", "role", "task", "inputs_required", "inputs_forbidden", "process_flow", "delegation_patterns"),
    *("artifact_creation", "return_format", "quality_standards", "error_handling"),
)
ERROR_TYPES = ("timeout", "validation_failure", "file_operation_failure")
"""The error types every agent can meet; `delegation_failure` and `git_failure` join them where they can happen."""
_GIT = re.compile(r"\bgit\b", re.IGNORECASE)

_NAMED = 3
"""Agents that are named in a message."""
_HANDS_ON = re.compile(r"\bdelegat|\bhand(?:s|ed|ing)?\b|\b(?:sub ?agent|utility|utilities)\b")
_TAG = re.compile(r"<[^<>]*>")
_STEP = re.compile(r"(?:step|stage)_\d")
_LIST_MARK = re.compile(r"(?m)^[ \t]*(?:\d+[.)]|[-*+])[ \t]")


def _length(text: str) -> int:
    return sentences(_LIST_MARK.sub("", _TAG.sub(" ", text)))


@section_rule(
    "context",
    ", ".join(f"<{part}>" for part in SUB_CONTEXTS),
    "AGT-020",
    "context incomplete",
    WARNING,
    "the context has its four parts",
    f"Structure standard, Title and Context: <context> holds {', '.join(SUB_CONTEXTS)}.",
)
def context(section: Section) -> Iterator[FileNote]:
    yield from lacks(section, SUB_CONTEXTS)


@rule(
    "AGT-021",
    "wrong context length",
    WARNING,
    "the parts of the context are short",
    "Structure standard, Title and Context, Guidelines: domain and integration one sentence, scope and lifecycle one "
    "or two.",
)
def context_length(file: AgentFile) -> Iterator[FileNote]:
    section = file.section("context")
    for part, most in SUB_CONTEXTS.items() if section else ():
        child = section.child(part) if section else None
        count = _length(child.text) if child else 1
        if child and count > most:  # of an empty one AGT-020 tells
            asked = "one sentence" if most == 1 else "one or two sentences"
            yield child.line, f"<{part}> has {count} sentences", f"say it in {asked}"


@section_rule(
    "role",
    "one or two sentences on who it is and what it answers for",
    "AGT-022",
    "no fitting role",
    WARNING,
    "the role is one or two sentences",
    "Structure standard, Role and Task: who the agent is and what it answers for.",
)
def role(section: Section) -> Iterator[FileNote]:
    yield from _prose(section, 1, 2, "one or two sentences on who it is and what it answers for")


@section_rule(
    "task",
    "three to five sentences that cover the whole workflow",
    "AGT-023",
    "no fitting task",
    WARNING,
    "the task is three to five sentences",
    "Structure standard, Role and Task: the complete workflow.",
)
def task(section: Section) -> Iterator[FileNote]:
    yield from _prose(section, 3, 5, "three to five sentences that cover the whole workflow")


def _prose(section: Section, least: int, most: int, holds: str) -> Iterator[FileNote]:
    count = _length(section.text)
    if not least <= count <= most:
        message = f"<{section.name}> has {count} sentence{'' if count == 1 else 's'}, not {least} to {most}"
        yield section.line, message, f"write {holds}"


@rule(
    "AGT-036",
    "task names no helper",
    INFO,
    "the task mentions delegation where there is some",
    "Structure standard, Role and Task, Guidelines: mention delegation if applicable. Told if neither an agent of "
    "can_delegate_to nor a word for handing work on is in <task>.",
)
def task_delegates(file: AgentFile) -> Iterator[FileNote]:
    section, others = file.section("task"), file.delegates_to
    if section is None or not others:
        return
    text = plain(section.text)
    if not _HANDS_ON.search(text) and not any(plain(other) in text for other in others):
        message = f"<task> does not mention that it delegates, to {', '.join(others[:_NAMED])}"
        yield section.line, message, "say in <task> what is handed on, and to whom"


@section_rule(
    "inputs_required",
    "a <parameter> for each input",
    "AGT-024",
    "inputs incomplete",
    WARNING,
    "required inputs are listed with name, type and description",
    "Structure standard, Inputs: each <parameter> of <inputs_required> has a name, a type and a description.",
)
def inputs_required(section: Section) -> Iterator[FileNote]:
    parameters = list(section.named("parameter"))
    if not parameters:
        advice = 'add <parameter name="session_id" type="string">, and one for each other input'
        yield section.line, "<inputs_required> lists no <parameter>", advice
    names = [each.attributes.get("name") for each in parameters]
    for index, parameter in enumerate(parameters):
        if (name := names[index]) and name in names[:index]:
            yield parameter.line, f"the parameter {name} stands twice", "keep one of the two, or name the other one"
        absent = [word for word in ("name", "type") if not parameter.attributes.get(word)]
        if absent:
            message = f"a <parameter> has no {' and no '.join(absent)}"
            yield parameter.line, message, 'write it as <parameter name="task_number" type="integer">'
        if not parameter.text.strip():
            message = f"the parameter {name or 'without a name'} has no description"
            yield parameter.line, message, "say between <parameter> and </parameter> what it is"


@rule(
    "AGT-037",
    "no session input",
    WARNING,
    "the session id is an input",
    "Structure standard, Return Format: the session_id of the return must match the input, so <inputs_required> has a "
    "parameter for it.",
)
def session_input(file: AgentFile) -> Iterator[FileNote]:
    section = file.section("inputs_required")
    if section and section.child("parameter") and "session_id" not in _named(section):
        advice = 'add <parameter name="session_id" type="string">'
        yield section.line, "<inputs_required> has no session_id, which the return must match", advice


def _named(section: Section) -> set[str | None]:
    return {each.attributes.get("name") for each in section.named("parameter")}


@section_rule(
    "inputs_forbidden",
    "a <forbidden> for each input to refuse",
    "AGT-025",
    "nothing forbidden",
    WARNING,
    "forbidden inputs are listed",
    "Structure standard, Inputs: <inputs_forbidden> keeps conversation history and whole states out.",
)
def inputs_forbidden(section: Section) -> Iterator[FileNote]:
    yield from _listed(
        section, list(section.named("forbidden")), "<forbidden>", "<forbidden>conversation_history</forbidden>"
    )


def _listed(section: Section, items: Sequence[Section], what: str, such: str) -> Iterator[FileNote]:
    """That nothing is listed, or that an item says nothing."""
    if not items:
        yield section.line, f"<{section.name}> lists no {what}", f"add {such}"
    for each in items:
        if not each.text.strip():
            yield each.line, f"in <{section.name}> <{each.name}> is empty", "fill it in, or take it out"


@rule(
    "AGT-027",
    "delegation unclear",
    WARNING,
    "delegations are described where the agent delegates",
    "Structure standard, Delegation Patterns, and the checklist: each agent in can_delegate_to has a <delegate_to> "
    "with when, context, expected_return and integration. Delegation Safety: none is to the agent itself.",
)
def delegation_patterns(file: AgentFile) -> Iterator[FileNote]:
    section = file.section("delegation_patterns")
    others = file.delegates_to
    if section is None:
        if others:
            yield missing(file, "delegation_patterns", "a <delegate_to> for each agent it calls")
        return
    described = {each.attributes.get("name", ""): each for each in section.named("delegate_to")}
    for each in described.values():
        yield from lacks(each, ("when", "context", "expected_return", "integration"))
    for other in others:
        if other not in described:
            message = f"it may delegate to {other}, which <delegation_patterns> does not describe"
            yield section.line, message, f'add <delegate_to name="{other}">, or take it out of can_delegate_to'
    listed = set(others)
    for other, each in described.items():
        if other in listed:
            continue
        if other == file.stem:
            advice = "take it out; an agent goes on with its own work in a step"
            yield each.line, "it describes a delegation to itself: a cycle", advice
        else:
            message = f"`can_delegate_to` does not list {other or 'the agent without a name'}, which is described here"
            advice = "name the agent in can_delegate_to of the frontmatter, or take the description out"
            yield each.line, message, advice


@section_rule(
    "quality_standards",
    "a tag for each requirement",
    "AGT-030",
    "no quality standards",
    WARNING,
    "quality standards are listed",
    "Structure standard, Quality Standards: <quality_standards> lists the key requirements, one tag each.",
)
def quality_standards(section: Section) -> Iterator[FileNote]:
    yield from _listed(section, section.children, "requirement", "<atomic_updates>, <token_limits> and their like")


@section_rule(
    "error_handling",
    "an <error_type> for each error it can meet",
    "AGT-031",
    "error handling gaps",
    WARNING,
    "errors are handled",
    "Structure standard, Error Handling: each <error_type> has a name, detection, handling, recovery and logging.",
)
def error_handling(section: Section) -> Iterator[FileNote]:
    kinds = list(section.named("error_type"))
    if not kinds:
        advice = 'add <error_type name="timeout"> with detection, handling, recovery and logging'
        yield section.line, "<error_handling> describes no <error_type>", advice
    for kind in kinds:
        if not kind.attributes.get("name"):
            yield kind.line, "an <error_type> has no name", 'write it as <error_type name="timeout">'
        yield from lacks(kind, ("detection", "handling", "recovery", "logging"))


@rule(
    "AGT-032",
    "errors not covered",
    INFO,
    "the common errors are covered",
    f"Structure standard, Error Handling, and the checklist: {', '.join(ERROR_TYPES)}, delegation_failure where it "
    "delegates, and git_failure where its process speaks of git.",
)
def common_errors(file: AgentFile) -> Iterator[FileNote]:
    section = file.section("error_handling")
    if section is None or section.child("error_type") is None:
        return
    covered = {kind.attributes.get("name") for kind in section.named("error_type")}
    flow = file.section("process_flow")
    commits = flow is not None and _GIT.search(flow.text) is not None
    asked = (
        *ERROR_TYPES,
        *(("delegation_failure",) if file.delegates_to else ()),
        *(("git_failure",) if commits else ()),
    )
    absent = [name for name in asked if name not in covered]
    if absent:
        message = f"<error_handling> does not cover {', '.join(absent)}"
        yield section.line, message, "add an <error_type> for each that can happen to it"


@rule(
    "AGT-033",
    "section not closed",
    WARNING,
    "every section is closed",
    "Structure standard, File Structure: a section without its closing tag swallows the ones after it. Told of the "
    "sections of the standard and of the steps of the process.",
)
def closed(file: AgentFile) -> Iterator[FileNote]:
    flow = file.section("process_flow")
    told = {section.name for section in (*file.sections.outermost, *(flow.children if flow else ()))}
    for name, line in file.sections.unclosed:
        if (name in SECTIONS or _STEP.match(name)) and name not in told:
            told.add(name)
            yield line, f"<{name}> is never closed", f"add </{name}> where the section ends"


@rule(
    "AGT-034",
    "no title on top",
    WARNING,
    "the body starts with a title",
    "Structure standard, Title and Context: a heading with the name of the agent.",
)
def title(file: AgentFile) -> Iterator[FileNote]:
    first = file.body.lstrip()
    if not first.startswith("# "):
        line = file.body_line + file.body[: len(file.body) - len(first)].count("\n")
        yield line, "the body does not start with a heading", f"start it with `# {file.stem}`"
