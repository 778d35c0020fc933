"""What a command file must hold that hands work to subagents: the stages of the standard delegation pattern."""

import re
from collections.abc import Iterator

from delegtop.diagnosis.finding import Severity
from delegtop.protocols.standard.agent_files.agent_file import AgentFile, AgentFileKind
from delegtop.protocols.standard.agent_files.agent_file_rule import FileNote, rule
from delegtop.protocols.standard.agent_files.sections import Section

KINDS = (AgentFileKind.COMMAND,)
PREPARE, INVOKE, RECEIVE, VALIDATE, PROCESS = (
    *("PrepareDelegation", "InvokeSubagent", "ReceiveResults", "ValidateReturn", "ProcessResults"),
)
STAGES = (PREPARE, INVOKE, RECEIVE, VALIDATE, PROCESS)
"""In their order."""
_WHERE = "Delegation guide, Standard Delegation Pattern"
_INVOKES = re.compile(r"\btask_tool\s*\(|\bsubagent_type\b")
_CONTEXT = re.compile(r"session_id")
_VALIDATES = re.compile(r"\bvalidat", re.IGNORECASE)
ASKED = {
    "the session id": re.compile(r"session.?id", re.IGNORECASE),
    "the depth": re.compile(r"depth", re.IGNORECASE),
    "the path": re.compile(r"delegation_path|\bpath\b", re.IGNORECASE),
    "the timeout": re.compile(r"time.?out", re.IGNORECASE),
    "validating the return": _VALIDATES,
    "the artifacts": re.compile(r"artifact", re.IGNORECASE),
    "errors": re.compile(r"error", re.IGNORECASE),
    "the status": re.compile(r"status", re.IGNORECASE),
}
"""What a command does with a delegation, and the words for it."""
ASKED_BY_THE_GUIDE = {
    PREPARE: ("cycles", re.compile(r"cycl|circle|loop|target is in|already in", re.IGNORECASE)),
    RECEIVE: ("exceptions", re.compile(r"exception", re.IGNORECASE)),
    VALIDATE: ("returns that are not valid", re.compile(r"fail|invalid|not valid|refus|reject", re.IGNORECASE)),
}
"""The same of single stages; only the guide's own pattern has them, and only that is asked for them."""


def stages_of(file: AgentFile) -> dict[str, Section]:
    """The stages of the pattern, by name, in the order of the file."""
    found: dict[str, Section] = {}
    pending = list(reversed(file.sections.outermost))
    while pending:
        section = pending.pop()
        if section.name == "stage" and (name := section.attributes.get("name", "")) in STAGES:
            found.setdefault(name, section)
        pending.extend(reversed(section.children))
    return found


def _hands_out(file: AgentFile) -> bool:
    return bool(stages_of(file)) or _INVOKES.search(file.body) is not None


@rule(
    "AGT-070",
    "stages not as asked",
    Severity.WARNING,
    "a command that invokes a subagent has the stages for it, in their order",
    f"{_WHERE}: {', '.join(STAGES)}. The return format standard's own example has three of them: it prepares the "
    f"delegation in {INVOKE} and validates the return in {RECEIVE}, which is taken as well. Troubleshooting: a missing "
    f"{RECEIVE} is the first cause of a hang.",
    KINDS,
)
def pattern(file: AgentFile) -> Iterator[FileNote]:
    stages = stages_of(file)
    if not _hands_out(file):
        return
    missing = [name for name in STAGES if name not in stages and not _is_done_elsewhere(name, stages)]
    if missing:
        line = next(iter(stages.values())).line if stages else file.body_line
        names = ", ".join(missing)
        yield line, f"it invokes a subagent and has no stage {names}", f'add <stage name="{missing[0]}"> and its like'
    given = [STAGES.index(name) for name in stages]
    for place, index in enumerate(given[1:], 1):
        if index < given[place - 1]:
            name, before = STAGES[index], STAGES[given[place - 1]]
            yield stages[name].line, f"the stage {name} stands behind {before}", f"move it before {before}"


def _is_done_elsewhere(name: str, stages: dict[str, Section]) -> bool:
    """As the example of the return format standard has it."""
    home, words = {PREPARE: (INVOKE, _CONTEXT), VALIDATE: (RECEIVE, _VALIDATES)}.get(name, ("", _CONTEXT))
    return home in stages and words.search(stages[home].text) is not None


@rule(
    "AGT-071",
    "no timeout handling",
    Severity.WARNING,
    "a command says what it does when no return comes",
    f"{_WHERE}, Stage 3, and return format standard, Usage in Commands: {RECEIVE} has a <timeout_handling>: no caller "
    "waits without end.",
    KINDS,
)
def timeout_handling(file: AgentFile) -> Iterator[FileNote]:
    receive = stages_of(file).get(RECEIVE)
    if receive and not any(each.text.strip() for each in receive.named("timeout_handling")):
        advice = "add it: log the timeout, look for partial artifacts, return partial, say how to go on"
        yield receive.line, f"the stage {RECEIVE} has no <timeout_handling>", advice


@rule(
    "AGT-072",
    "stages leave out",
    Severity.INFO,
    "a command does with a delegation what is asked of it",
    "Return format standard, Usage in Commands: it makes a session id, passes depth and path on, sets a timeout, "
    "validates the return, takes its artifacts, handles its errors and updates the state; delegation guide: it "
    "looks for cycles, and says what follows an exception and an invalid return. Told by the words for it in the "
    "stages, so it is only mentioned.",
    KINDS,
)
def usage(file: AgentFile) -> Iterator[FileNote]:
    stages = stages_of(file)
    words = "\n".join(stage.text for stage in stages.values())
    absent = [what for what, asked in ASKED.items() if not asked.search(words)]
    if PREPARE in stages or VALIDATE in stages:
        given = ((stages[name].text, *asked) for name, asked in ASKED_BY_THE_GUIDE.items() if name in stages)
        absent += [what for text, what, asked in given if not asked.search(text)]
    if stages and absent:
        message = f"its stages say nothing about {', '.join(absent)}"
        yield next(iter(stages.values())).line, message, "say in the stage that it belongs to what the command does"
