"""What the file says of what the agent hands over: its artifacts and its return."""

import re
from collections.abc import Iterable, Iterator

from delegtop.base.json_places import places
from delegtop.diagnosis.finding import Severity
from delegtop.protocols.standard.agent_files.agent_file import AgentFile
from delegtop.protocols.standard.agent_files.agent_file_rule import FileNote, lacks, missing, rule, section_rule
from delegtop.protocols.standard.agent_files.sections import Section
from delegtop.protocols.standard.contract.agent_file_contract import PATH_PATTERNS
from delegtop.protocols.standard.contract.artifact_paths import climbs, is_absolute
from delegtop.protocols.standard.contract.protocol_options import SessionIdPlace
from delegtop.protocols.standard.contract.return_contract import (
    ARTIFACT_TYPES,
    STATUSES,
    STRUCTURE_ARTIFACT_TYPES,
    SUMMARY_TOKENS,
)

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO

RETURN_FIELDS = ("status", "summary", "artifacts", "metadata", "session_id")

_SHOWN = 60
_TOKENS = re.compile(r"\W*(\d{1,3}(?:[,.]\d{3})+|\d{1,9})\s*(?:tokens?\b|$)")
_SUMMARY_TOKENS = re.compile(r"[\"']summary[\"']\s*:\s*[\"'][^\"'\n]{0,200}?(\d{1,9})\s*tokens?\b")
_STATUS = re.compile(r"[\"']?\bstatus[\"']?\s*:\s*[\"']([^\"'\n]{1,200})[\"']")


@section_rule(
    "artifact_creation",
    "an <artifact> for each one it makes",
    "AGT-028",
    "artifacts incomplete",
    WARNING,
    "artifacts are described",
    "Structure standard, Artifact Creation: each <artifact> has a type, path, content and validation.",
)
def artifact_creation(section: Section) -> Iterator[FileNote]:
    artifacts = list(section.named("artifact"))
    if not artifacts:
        advice = 'add <artifact type="plan"> with <path>, <content> and <validation>'
        yield section.line, "<artifact_creation> describes no <artifact>", advice
    for artifact in artifacts:
        if not artifact.attributes.get("type"):
            advice = 'write it as <artifact type="plan">, or another type of the return format'
            yield artifact.line, "an <artifact> has no type", advice
        yield from lacks(artifact, ("path", "content", "validation"))


def _artifacts(file: AgentFile) -> Iterator[Section]:
    section = file.section("artifact_creation")
    return section.named("artifact") if section else iter(())


@rule(
    "AGT-038",
    "artifact type odd",
    INFO,
    "artifacts are of a known type",
    f"Structure standard, Artifact Creation: common types are {', '.join(STRUCTURE_ARTIFACT_TYPES)}; the return format "
    "standard has documentation as well. The standard calls them common and not all there are, so another one is only "
    "mentioned; in a return RET-020 tells it.",
)
def artifact_types(file: AgentFile) -> Iterator[FileNote]:
    known = dict.fromkeys((*STRUCTURE_ARTIFACT_TYPES, *ARTIFACT_TYPES, *file.reading.artifact_types))
    for artifact in _artifacts(file):
        given = artifact.attributes.get("type")
        if given and given not in known:
            yield artifact.line, f"there is no artifact type {given[:_SHOWN]}", f"the types are {', '.join(known)}"


@rule(
    "AGT-039",
    "artifact path odd",
    INFO,
    "plans, research and summaries have paths of the standard's patterns",
    f"Structure standard, Artifact Creation, Path patterns: {', '.join(PATH_PATTERNS.values())}. Projects keep them "
    "elsewhere, too, so the folder of the task may be any; another folder or name within it is only mentioned.",
)
def artifact_paths(file: AgentFile) -> Iterator[FileNote]:
    for artifact in _artifacts(file):
        pattern, path = PATH_PATTERNS.get(artifact.attributes.get("type", "")), artifact.child("path")
        given = path.text.strip().strip("`") if path else ""
        if pattern and path and not _follows(given, pattern):
            message = f"the path {given[:_SHOWN] or 'is empty, which'} is not of the pattern {pattern}"
            yield path.line, message, "write the path by the pattern; callers and the path of a return go by it"


def _follows(path: str, pattern: str) -> bool:
    """True if it ends as the pattern does, with anything for its placeholders, below a folder of its own."""
    if is_absolute(path) or climbs(path):
        return False
    folder, name = pattern.split("/")[-2:]
    last = "".join("[^/]+" if part.startswith("{") else re.escape(part) for part in re.split(r"(\{[^}]*\})", name))
    return re.search(rf"[^/]+/{folder}/{last}$", path) is not None


@rule(
    "AGT-054",
    "no token limit",
    WARNING,
    "the limit of a summary is told",
    "Structure standard, Artifact Creation, Token limits: summaries have fewer than 100 tokens; an <artifact> has a "
    "<token_limit> where one applies.",
)
def token_limits(file: AgentFile) -> Iterator[FileNote]:
    for artifact in _artifacts(file):
        if artifact.attributes.get("type") != "summary":
            continue
        advice = "<token_limit>100 tokens</token_limit>: it protects the context of the orchestrator"
        limit = artifact.child("token_limit")
        if limit is None or not limit.text.strip():
            yield artifact.line, "<artifact> summary has no <token_limit>", f"add {advice}"
        elif (given := _TOKENS.match(limit.text)) and int(re.sub(r"\D", "", given[1])) > SUMMARY_TOKENS:
            yield limit.line, f"the limit of a summary is {given[1]} tokens, not {SUMMARY_TOKENS}", f"write {advice}"
    section = file.section("return_format")
    structure = section.child("structure") if section else None
    for found in _SUMMARY_TOKENS.finditer(structure.text) if structure else ():
        if structure and int(found[1]) > SUMMARY_TOKENS:
            line = structure.line + structure.text.count("\n", 0, found.start(1))
            message = f"the limit of the summary in the return is {found[1]} tokens, not {SUMMARY_TOKENS}"
            yield line, message, "ask for fewer than 100 tokens: it protects the context of the orchestrator"


@rule(
    "AGT-029",
    "wrong return format",
    ERROR,
    "the return format names the required fields",
    f"Structure standard, Return Format: <structure> shows {', '.join(RETURN_FIELDS)}; the status is one of "
    f"{', '.join(STATUSES)}, and an artifact has type and path. The return format standard has session_id in the "
    "metadata, which a structure need not spell out: with protocol.session_id_place = metadata it is not asked for.",
)
def return_format(file: AgentFile) -> Iterator[FileNote]:
    section = file.section("return_format")
    if section is None:
        yield missing(file, "return_format", "a <structure> that shows the return as JSON")
        return
    structure = section.child("structure")
    if structure is None:
        advice = "show the return as JSON between <structure> and </structure>"
        yield section.line, "<return_format> has no <structure>", advice
        return
    asked = RETURN_FIELDS[:-1] if file.reading.session_id_place is SessionIdPlace.METADATA else RETURN_FIELDS
    if absent := _unnamed(structure.text, asked, file.reading.session_id_place is SessionIdPlace.EITHER):
        message = f"the return structure does not name {', '.join(absent)}"
        yield structure.line, message, "name every required field of the return format"
    yield from _artifacts_shown(structure)
    status = _STATUS.search(structure.text)
    for word in status[1].split("|") if status else ():
        if word.strip() not in STATUSES:
            line = structure.line + structure.text.count("\n", 0, status.start(1)) if status else structure.line
            message = f"the return structure has the status {word.strip()}"
            yield line, message, f"the statuses are {', '.join(STATUSES)}"


def _artifacts_shown(structure: Section) -> Iterator[FileNote]:
    """The artifacts that the return is shown with, if they lack what each must have."""
    shown = (
        {place.field: place.offset for place in places(structure.text, is_one=False)} if "{" in structure.text else {}
    )
    for number in range(_SHOWN):
        artifact = f"artifacts[{number}]"
        if not any(field.startswith(f"{artifact}.") for field in shown):
            return
        if absent := [f"{artifact}.{name}" for name in ("type", "path") if f"{artifact}.{name}" not in shown]:
            line = structure.line + structure.text.count("\n", 0, shown[artifact])
            message = f"the return structure does not name {', '.join(absent)}"
            yield line, message, "show type and path of each artifact, which the return format standard requires"


def _unnamed(structure: str, asked: Iterable[str], is_either: bool) -> list[str]:
    """The fields that the return is not shown with. Those of an artifact are not its own; the session id may be among
    the metadata. What is no JSON is searched for the words."""
    if "{" not in structure:
        return [name for name in asked if not re.search(rf"\b{name}\b[\"']?\s*:", structure)]
    named = {place.field for place in places(structure, is_one=False)}
    if is_either and "metadata.session_id" in named:
        named.add("session_id")
    return [name for name in asked if name not in named]


@rule(
    "AGT-053",
    "no return checks",
    INFO,
    "the return format says how the return is validated",
    "Structure standard, Return Format: <return_format> has a <validation> with the rules. Its own Explicit Return "
    "Format has none, so this is only mentioned.",
)
def return_validation(file: AgentFile) -> Iterator[FileNote]:
    section = file.section("return_format")
    told = any(each.text.strip() for each in section.named("validation")) if section else False
    if section and section.child("structure") and not told:
        advice = "add <validation>: the summary is short, the session id that of the input, the artifacts exist"
        yield section.line, "<return_format> has no <validation>", advice
