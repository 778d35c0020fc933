"""How the process of a subagent is laid out: step names and numbers, what each step has, and the size of the file."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from delegtop.diagnosis.finding import Severity
from delegtop.protocols.standard.agent_files.agent_file import AgentFile, AgentFileKind
from delegtop.protocols.standard.agent_files.agent_file_rule import FileNote, plain, rule
from delegtop.protocols.standard.agent_files.sections import Section
from delegtop.protocols.standard.contract.protocol_options import ProtocolOptions

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO

LEAST, CHECKLIST_LEAST, MOST = ProtocolOptions().agent_file_lines, 200, 400
"""Lines of a file. The standard's size guidelines start at 150, its overview and checklist at 200."""

_SPARSE = 2
"""Lines of a process that say no more than "do the thing, return the result"."""
_NAMED = 3
_WHERE = "Structure standard, Step Naming Standard"
_VALIDATES = re.compile(r"\b(?:re)?(?:validat|verif|check(?!point)|confirm|ensur|conform)")
_STATUS = re.compile(r"\bstatus|\bmark|\[[a-z _]+\]")
_FORMATS = re.compile(r"format|\bbuild|\bprepar|\bconstruct|\bassembl|\bstructur|\bschema|return object")
_FILES = re.compile(
    r"artifact|\bfiles?\b|\bdisk\b|\bempty\b|\bwritten\b|\b(?:plan|report|summary|document)\w* (?:exist|is|was)"
)
_STEP = re.compile(r"(step|stage)_(?:([0-9]{1,6})|([^_]+))(?:_(\w+))?")
_OWN_PARTS = frozenset({"action", "process", "checkpoint"})
"""What only a step has."""
_PREFLIGHT, _POSTFLIGHT, _RETURN = "preflight", "postflight", "return"
_ROLES = (_PREFLIGHT, _POSTFLIGHT, _RETURN)
"""What may stand behind the number of a step; those of the main workflow have the number alone."""


class ProcessStep(NamedTuple):
    """A step of the process, and what its name says."""

    section: Section
    word: str
    """Empty if it is called neither a step nor a stage."""
    number: int | None
    """None if it is a placeholder such as N."""
    suffix: str


def steps_of(file: AgentFile) -> list[ProcessStep]:
    """The steps, whatever they are called: what has the parts of one is one."""
    flow = file.section("process_flow")
    return [step for each in (flow.children if flow else ()) if (step := _step(each))]


def _step(section: Section) -> ProcessStep | None:
    if match := _STEP.fullmatch(section.name):
        return ProcessStep(section, match[1], int(match[2]) if match[2] else None, match[4] or "")
    if not _OWN_PARTS & {child.name for child in section.children}:
        return None
    name = section.name.lower()
    return ProcessStep(section, "", None, next((role for role in _ROLES if name.endswith(role)), ""))


@rule(
    "AGT-026",
    "no process steps",
    ERROR,
    "the process has steps",
    "Structure standard, Process Flow: a subagent has <process_flow>; <workflow_execution> is for commands.",
)
def process_flow(file: AgentFile) -> Iterator[FileNote]:
    flow = file.section("process_flow")
    if flow is None:
        other = file.section("workflow_execution")
        line = other.line if other else file.body_line
        message = (
            "it has <workflow_execution>, which is for commands" if other else "there is no <process_flow> section"
        )
        yield line, message, "write the workflow as steps in <process_flow>, from <step_0_preflight> on"
        return
    steps = steps_of(file)
    if not steps:
        yield flow.line, "<process_flow> has no steps", "add <step_0_preflight>, <step_1> and so on"
    elif all(step.suffix in _ROLES for step in steps):
        message = "<process_flow> has no step of the main workflow"
        yield flow.line, message, "write what the agent does as <step_1>, <step_2> and so on"


@rule(
    "AGT-040",
    "preflight not step 0",
    ERROR,
    "preflight is step 0",
    f"{_WHERE}: <step_0_preflight>, so that it is run before everything else; <stage_1_preflight> was skipped.",
)
def preflight(file: AgentFile) -> Iterator[FileNote]:
    steps = steps_of(file)
    if not steps or steps[0].section.name == "step_0_preflight":
        return
    wrong = next((step for step in steps if step.suffix == _PREFLIGHT), None)
    section = wrong.section if wrong else steps[0].section
    message = f"preflight is <{section.name}>" if wrong else f"the first step is <{section.name}>, not a preflight"
    yield section.line, message, "make <step_0_preflight> the first step: validate the inputs, set the status"


@rule(
    "AGT-041",
    "steps misnumbered",
    ERROR,
    "steps are named by their numbers, from 0 on without a gap",
    f"{_WHERE}, Key Requirements: <step_0_preflight>, <step_1>, <step_2> and so on. Only the preflight, the postflight "
    "and the return have a word behind the number.",
)
def numbering(file: AgentFile) -> Iterator[FileNote]:
    steps = steps_of(file)
    for place, step in enumerate(steps):
        if note := _misnamed(step, place, steps):
            yield step.section.line, *note
    for place, step in enumerate(steps):
        if step.number is not None and step.number != place and all(each.number is not None for each in steps):
            message = f"<{step.section.name}> stands where step {place} is expected"
            yield step.section.line, message, "number the steps 0, 1, 2 and so on, in order"
            return


def _misnamed(step: ProcessStep, place: int, steps: list[ProcessStep]) -> tuple[str, str] | None:
    """What is wrong with the name of a step, and what to call it."""
    name, number = step.section.name, place if step.number is None else step.number
    if not step.word:
        role = f"_{step.suffix}" if step.suffix else ""
        return f"<{name}> is a step by another name", f"call it <step_{number}{role}>"
    if step.word == "stage":
        return f"<{name}> is called a stage", f"call it <{name.replace('stage', 'step', 1)}>"
    if step.number is None:
        return f"<{name}> has no number", "write its number in place of the placeholder"
    if step.suffix and step.suffix not in _ROLES:
        return f"<{name}> is a step of the main workflow with a name of its own", f"call it <step_{number}>"
    if step.suffix and any(each.suffix == step.suffix for each in _before_or_after(step, place, steps)):
        return f"<{name}> is not the only {step.suffix}", f"call it <step_{number}> if it is of the main workflow"
    return None


def _before_or_after(step: ProcessStep, place: int, steps: list[ProcessStep]) -> list[ProcessStep]:
    """Where the one stands that counts, if there are several: the first preflight, the last of the others."""
    return steps[:place] if step.suffix == _PREFLIGHT else steps[place + 1 :]


@rule(
    "AGT-042",
    "no postflight",
    ERROR,
    "there is a postflight step",
    f"{_WHERE}, Key Requirements: the step before the return is <step_N_postflight>.",
)
def postflight(file: AgentFile) -> Iterator[FileNote]:
    steps = steps_of(file)
    if steps and not any(step.suffix == _POSTFLIGHT for step in steps):
        advice = f"name the step that sets the status and commits <step_{max(len(steps) - 1, 1)}_postflight> or so"
        yield _flow_line(file), "no step is the postflight", advice


@rule(
    "AGT-043",
    "wrong last steps",
    ERROR,
    "the last step is the return",
    f"{_WHERE}, Key Requirements: the last step is <step_N+1_return>, right after the postflight.",
)
def returns_last(file: AgentFile) -> Iterator[FileNote]:
    steps = steps_of(file)
    if not steps:
        return
    last = steps[-1]
    if last.suffix != _RETURN:
        message = f"the last step is <{last.section.name}>, not the return"
        advice = f"end with a step such as <step_{len(steps)}_return>, which formats and validates the return"
        yield last.section.line, message, advice
    elif any(step.suffix == _POSTFLIGHT for step in steps) and steps[-2].suffix != _POSTFLIGHT:
        message = f"<{steps[-2].section.name}> stands between the postflight and the return"
        yield steps[-2].section.line, message, "move it before the postflight"


@rule(
    "AGT-044",
    "step incomplete",
    WARNING,
    "each step has action, process and checkpoint",
    "Structure standard, Process Flow, Guidelines, and the checklist. The examples of its Step Naming Standard write "
    "<output> where the guidelines ask for <checkpoint>; either is taken.",
)
def step_parts(file: AgentFile) -> Iterator[FileNote]:
    for step in steps_of(file):
        has = {child.name for child in step.section.children if child.text.strip()}
        absent = [part for part in ("action", "process") if part not in has]
        if not has & {"checkpoint", "output"}:
            absent.append("checkpoint")
        if absent:
            tags = ", ".join(f"<{part}>" for part in absent)
            yield step.section.line, f"<{step.section.name}> has no {tags}", f"add {tags} to the step"


@rule(
    "AGT-045",
    "no status or commit",
    INFO,
    "the postflight sets the status and commits",
    "Structure standard, Workflow Ownership, Stage 7: the subagent updates the status and creates the commit itself.",
)
def ownership(file: AgentFile) -> Iterator[FileNote]:
    for step in steps_of(file):
        if step.suffix == _POSTFLIGHT:
            yield from _silent(step, {"the status": re.compile("status"), "the commit": re.compile("commit")})


@rule(
    "AGT-046",
    "sparse process",
    INFO,
    "the process is described in detail",
    "Structure standard, Process Flow, Guidelines, the checklist and Anti-Patterns (Minimal Process Flow): a subagent "
    "is the execution layer, so its steps have implementation details, and code where it helps. A process in which no "
    f"step has more than {_SPARSE} lines, an <implementation> or code is sparse.",
)
def detailed(file: AgentFile) -> Iterator[FileNote]:
    flow, steps = file.section("process_flow"), steps_of(file)
    if flow is None or not steps or "```" in flow.text or flow.text.count("<implementation>"):
        return
    longest = max(_process_lines(step) for step in steps)
    if longest <= _SPARSE:
        message = f"no step has more than {longest} lines of process, and none has an <implementation> or code"
        yield flow.line, message, "say in each step how it is done: what is read, which command is run, what decides"


def _process_lines(step: ProcessStep) -> int:
    process = step.section.child("process")
    return sum(bool(line.strip()) for line in process.text.splitlines()) if process else 0


@rule(
    "AGT-047",
    "no postflight helper",
    INFO,
    "the postflight hands its work to those it delegates to",
    "Structure standard, Delegation Best Practices and Workflow Ownership, and the checklist: states and commits are "
    "handed to utility agents, so the postflight of an agent that delegates names one of them.",
)
def delegates_postflight(file: AgentFile) -> Iterator[FileNote]:
    others = file.delegates_to
    for step in steps_of(file):
        text = plain(step.section.text)
        speaks = "status" in text or "commit" in text  # else AGT-045 tells it
        if step.suffix == _POSTFLIGHT and others and speaks and not any(plain(other) in text for other in others):
            message = f"<{step.section.name}> names none of {', '.join(others[:_NAMED])}, to whom it may delegate"
            advice = "let a utility agent update the status and create the commit, and name it there"
            yield step.section.line, message, advice


@rule(
    "AGT-048",
    "idle preflight",
    INFO,
    "the preflight validates the inputs and sets the status",
    f"{_WHERE}: <step_0_preflight> validates the inputs and updates the status before the main workflow begins. Told "
    "by the words for it, so it is only mentioned.",
)
def preflight_work(file: AgentFile) -> Iterator[FileNote]:
    for step in steps_of(file):
        if step.suffix == _PREFLIGHT:
            yield from _silent(step, {"validating the inputs": _VALIDATES, "the status": _STATUS})


@rule(
    "AGT-049",
    "return not checked",
    INFO,
    "the return step formats and validates the return",
    f"{_WHERE}, and Workflow Ownership, Stage 8: the return is formatted per subagent-return-format.md and validated "
    "before it is handed to the caller. Told by the words for it, so it is only mentioned.",
)
def return_work(file: AgentFile) -> Iterator[FileNote]:
    for step in steps_of(file):
        if step.suffix == _RETURN:
            yield from _silent(step, {"the format of the return": _FORMATS, "validating the return": _VALIDATES})


def _silent(step: ProcessStep, asked: Mapping[str, re.Pattern[str]]) -> Iterator[FileNote]:
    """What the step should speak of and does not."""
    text = step.section.text.lower()
    if absent := [what for what, words in asked.items() if not words.search(text)]:
        message = f"<{step.section.name}> says nothing about {' or '.join(absent)}"
        yield step.section.line, message, f"say in its <process> how it goes about {' and '.join(absent)}"


@rule(
    "AGT-055",
    "files not verified",
    INFO,
    "a step verifies the artifacts",
    "Structure standard, Workflow Ownership, Stage 7: the subagent verifies its artifacts on disk. Any step may; told "
    "if the file describes artifacts, no line of its process speaks of it, and its postflight verifies nothing.",
)
def artifacts_verified(file: AgentFile) -> Iterator[FileNote]:
    flow, artifacts = file.section("process_flow"), file.section("artifact_creation")
    steps = steps_of(file)
    if flow is None or not steps or artifacts is None or artifacts.child("artifact") is None:
        return
    if any(step.suffix == _POSTFLIGHT and _VALIDATES.search(step.section.text.lower()) for step in steps):
        return
    lines = (line for line in flow.text.lower().splitlines() if _VALIDATES.search(line) or "<checkpoint>" in line)
    if not any(map(_FILES.search, lines)):
        advice = "let a step before the return verify that each artifact exists and is not empty"
        yield flow.line, "no step verifies that the artifacts are on disk", advice


@rule(
    "AGT-050",
    "wrong file length",
    WARNING,
    f"the file has {LEAST} to {MOST} lines",
    f"Structure standard, Size Guidelines: {LEAST} at least, 200-300 as a target, {MOST} at most. Its overview and its "
    f"checklist start at {CHECKLIST_LEAST}. The setting for the least is protocol.agent_file_lines.",
)
def size(file: AgentFile) -> Iterator[FileNote]:
    if file.lines < file.reading.agent_file_lines:
        message = (
            f"the file has {file.lines} lines: {LEAST} is the least of the size guidelines, {CHECKLIST_LEAST} that of "
            f"the checklist{file.reading.chosen('agent_file_lines')}"
        )
        yield file.lines or 1, message, "describe the workflow in full: the target is 200 to 300 lines"
    elif file.lines > MOST:
        advice = (
            "move details to context files, split it, or delegate to utility agents; the target is 200 to 300 lines"
        )
        yield MOST + 1, f"the file has {file.lines} lines: over {MOST}", advice


@rule(
    "AGT-051",
    "short for checklist",
    INFO,
    f"the file has the {CHECKLIST_LEAST} lines of the checklist",
    f"The structure standard names two minima: {LEAST} lines in its Size Guidelines, {CHECKLIST_LEAST} in its overview "
    "and its checklist.",
)
def checklist_size(file: AgentFile) -> Iterator[FileNote]:
    if file.reading.agent_file_lines <= file.lines < CHECKLIST_LEAST:
        both = f"the size guidelines ({LEAST}), not for the checklist ({CHECKLIST_LEAST})"
        message = f"{file.lines} lines are enough for {both}"
        yield file.lines, message, "fine for a simple agent; else describe it in more detail"


@rule(
    "AGT-052",
    "primary agent",
    INFO,
    "only subagents follow the whole standard",
    "Structure standard, Overview: it is the standard of subagent files, and mode is always subagent. Of a primary "
    "agent only the frontmatter is judged.",
    (AgentFileKind.PRIMARY,),
)
def primary(file: AgentFile) -> Iterator[FileNote]:
    message = "the mode is primary: only the frontmatter is judged"
    advice = "nothing, if it is an orchestrator; write `mode: subagent` if others delegate to it"
    yield file.at("mode").line, message, advice


def _flow_line(file: AgentFile) -> int:
    flow = file.section("process_flow")
    return flow.line if flow else file.body_line
