"""How the process of a subagent is laid out: step names and numbers, what each step has, and the size of the file."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from delegtop.contract.agent_file import AgentFile, Kind
from delegtop.contract.sections import Section
from delegtop.diagnosis.agent_rules.rule import rule
from delegtop.diagnosis.finding import Finding, Severity

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO

LEAST, CHECKLIST_LEAST, MOST = 150, 200, 400
"""Lines of a file. The standard's size guidelines start at 150, its overview and checklist at 200."""

_WHERE = "Structure standard, Step Naming Standard"
_STEP = re.compile(r"(step|stage)_(?:([0-9]{1,6})|([^_]+))(?:_(\w+))?")


class Step(NamedTuple):
    """A step of the process, and what its name says."""

    section: Section
    word: str
    number: int | None
    """None if it is a placeholder such as N."""
    suffix: str


def steps_of(file: AgentFile) -> list[Step]:
    flow = file.section("process_flow")
    named = [(each, _STEP.fullmatch(each.name)) for each in flow.children] if flow else []
    return [Step(each, match[1], int(match[2]) if match[2] else None, match[4] or "") for each, match in named if match]


@rule(
    "AGT-026",
    ERROR,
    "the process has steps",
    "Structure standard, Process Flow: a subagent has <process_flow>; <workflow_execution> is for commands.",
)
def process_flow(file: AgentFile) -> Iterator[Finding]:
    flow = file.section("process_flow")
    if flow is None:
        other = file.section("workflow_execution")
        line = other.line if other else file.body_line
        message = (
            "it has <workflow_execution>, which is for commands" if other else "there is no <process_flow> section"
        )
        advice = "write the workflow as steps in <process_flow>, from <step_0_preflight> on"
        yield process_flow.finding(file, line, message, advice)
    elif not steps_of(file):
        advice = "add <step_0_preflight>, <step_1> and so on"
        yield process_flow.finding(file, flow.line, "<process_flow> has no steps", advice)


@rule(
    "AGT-040",
    ERROR,
    "preflight is step 0",
    f"{_WHERE}: <step_0_preflight>, so that it is run before everything else; <stage_1_preflight> was skipped.",
)
def preflight(file: AgentFile) -> Iterator[Finding]:
    steps = steps_of(file)
    if not steps or steps[0].section.name == "step_0_preflight":
        return
    wrong = next((step for step in steps if step.suffix == "preflight"), None)
    section = wrong.section if wrong else steps[0].section
    message = f"preflight is <{section.name}>" if wrong else f"the first step is <{section.name}>, not a preflight"
    advice = "make <step_0_preflight> the first step: validate the inputs, set the status"
    yield preflight.finding(file, section.line, message, advice)


@rule(
    "AGT-041",
    ERROR,
    "steps are numbered from 0 on without a gap",
    f"{_WHERE}, Key Requirements: <step_0_preflight>, <step_1>, <step_2> and so on.",
)
def numbering(file: AgentFile) -> Iterator[Finding]:
    steps = steps_of(file)
    for step in steps:
        name = step.section.name
        if step.word == "stage":
            message, advice = f"<{name}> is called a stage", f"call it <{name.replace('stage', 'step', 1)}>"
            yield numbering.finding(file, step.section.line, message, advice)
        if step.number is None:
            advice = "write its number in place of the placeholder"
            yield numbering.finding(file, step.section.line, f"<{name}> has no number", advice)
    numbered = [step for step in steps if step.number is not None]
    for place, step in enumerate(numbered):
        if step.number != place and len(numbered) == len(steps):
            message = f"<{step.section.name}> stands where step {place} is expected"
            yield numbering.finding(file, step.section.line, message, "number the steps 0, 1, 2 and so on, in order")
            return


@rule(
    "AGT-042",
    ERROR,
    "there is a postflight step",
    f"{_WHERE}, Key Requirements: the step before the return is <step_N_postflight>.",
)
def postflight(file: AgentFile) -> Iterator[Finding]:
    steps = steps_of(file)
    if steps and not any(step.suffix == "postflight" for step in steps):
        advice = f"name the step that sets the status and commits <step_{max(len(steps) - 1, 1)}_postflight> or so"
        yield postflight.finding(file, _flow_line(file), "no step is the postflight", advice)


@rule(
    "AGT-043",
    ERROR,
    "the last step is the return",
    f"{_WHERE}, Key Requirements: the last step is <step_N+1_return>, right after the postflight.",
)
def returns_last(file: AgentFile) -> Iterator[Finding]:
    steps = steps_of(file)
    if not steps:
        return
    last = steps[-1]
    if last.suffix != "return":
        message = f"the last step is <{last.section.name}>, not the return"
        advice = f"end with a step such as <step_{len(steps)}_return>, which formats and validates the return"
        yield returns_last.finding(file, last.section.line, message, advice)
    elif any(step.suffix == "postflight" for step in steps) and steps[-2].suffix != "postflight":
        message = f"<{steps[-2].section.name}> stands between the postflight and the return"
        yield returns_last.finding(file, steps[-2].section.line, message, "move it before the postflight")


@rule(
    "AGT-044",
    WARNING,
    "each step has action, process and checkpoint",
    "Structure standard, Process Flow, Guidelines, and the checklist. The examples of its Step Naming Standard write "
    "<output> where the guidelines ask for <checkpoint>; either is taken.",
)
def step_parts(file: AgentFile) -> Iterator[Finding]:
    for step in steps_of(file):
        has = {child.name for child in step.section.children}
        absent = [part for part in ("action", "process") if part not in has]
        if not has & {"checkpoint", "output"}:
            absent.append("checkpoint")
        if absent:
            tags = ", ".join(f"<{part}>" for part in absent)
            message = f"<{step.section.name}> has no {tags}"
            yield step_parts.finding(file, step.section.line, message, f"add {tags} to the step")


@rule(
    "AGT-045",
    INFO,
    "the postflight sets the status and commits",
    "Structure standard, Workflow Ownership, Stage 7: the subagent updates the status and creates the commit itself.",
)
def ownership(file: AgentFile) -> Iterator[Finding]:
    for step in steps_of(file):
        text = step.section.text.lower()
        absent = [word for word in ("status", "commit") if word not in text]
        if step.suffix == "postflight" and absent:
            message = f"<{step.section.name}> says nothing about the {' or the '.join(absent)}"
            advice = "let the postflight update the status and create the git commit"
            yield ownership.finding(file, step.section.line, message, advice)


@rule(
    "AGT-050",
    WARNING,
    f"the file has {LEAST} to {MOST} lines",
    f"Structure standard, Size Guidelines: {LEAST} at least, 200-300 as a target, {MOST} at most.",
)
def size(file: AgentFile) -> Iterator[Finding]:
    if file.lines < LEAST:
        message = f"the file has {file.lines} lines: under {LEAST}, the least of the size guidelines"
        advice = (
            f"describe the workflow in full: the target is 200 to 300 lines, the checklist's least {CHECKLIST_LEAST}"
        )
        yield size.finding(file, file.lines or 1, message, advice)
    elif file.lines > MOST:
        advice = (
            "move details to context files, split it, or delegate to utility agents; the target is 200 to 300 lines"
        )
        yield size.finding(file, MOST + 1, f"the file has {file.lines} lines: over {MOST}", advice)


@rule(
    "AGT-051",
    INFO,
    f"the file has the {CHECKLIST_LEAST} lines of the checklist",
    f"The structure standard names two minima: {LEAST} lines in its Size Guidelines, {CHECKLIST_LEAST} in its overview "
    "and its checklist.",
)
def checklist_size(file: AgentFile) -> Iterator[Finding]:
    if LEAST <= file.lines < CHECKLIST_LEAST:
        both = f"the size guidelines ({LEAST}), not for the checklist ({CHECKLIST_LEAST})"
        message = f"{file.lines} lines are enough for {both}"
        advice = "fine for a simple agent; else describe it in more detail"
        yield checklist_size.finding(file, file.lines, message, advice)


@rule(
    "AGT-052",
    INFO,
    "only subagents follow the whole standard",
    "Structure standard, Overview: it is the standard of subagent files, and mode is always subagent. Of a primary "
    "agent only the frontmatter is judged.",
    (Kind.PRIMARY,),
)
def primary(file: AgentFile) -> Iterator[Finding]:
    message = "the mode is primary: only the frontmatter is judged"
    advice = "nothing, if it is an orchestrator; write `mode: subagent` if others delegate to it"
    yield primary.finding(file, file.line("mode"), message, advice)


def _flow_line(file: AgentFile) -> int:
    flow = file.section("process_flow")
    return flow.line if flow else file.body_line
