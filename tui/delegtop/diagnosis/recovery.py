"""How to go on with what is stuck: what is worth saving, what to do in order of whose word it is, and what to type.

A command is only ever text: it is shown and copied, and nothing here or elsewhere runs it. Whoever copies it looks
first whether it hides something.
"""

import shlex
from enum import StrEnum

import msgspec

from delegtop.contract import commands
from delegtop.diagnosis.finding import Finding, Severity
from delegtop.diagnosis.rule import Case
from delegtop.diagnosis.verdicts.verdict import Kind
from delegtop.model import notes, phases
from delegtop.model.delegation import Delegation, Note, State
from delegtop.model.forest import Forest
from delegtop.model.ledger import Handle
from delegtop.model.recovery import hints
from delegtop.origin import Origin

_ABOVE = 50
_ADVICE = 3

RESUME: dict[str, tuple[str, ...]] = {
    "claude-code": ("claude", "--resume"),
    "opencode": ("opencode", "-s"),
    "codex": ("codex", "resume"),
    "copilot": ("copilot", "--resume"),
    "gemini": ("gemini", "--resume"),
    "qwen": ("qwen", "--resume"),
    "kimi": ("kimi", "--session"),
    "cursor": ("cursor-agent", "--resume"),
    "droid": ("droid", "--resume"),
    "goose": ("goose", "session", "--resume", "--session-id"),
    # What this one hands out runs inside Claude Code, and names the session.
    "proofchecker": ("claude", "--resume"),
}
"""What takes up a session of a program again; the id of the session follows."""
_NAMED = ("session_id", "thread_id")
_THREADS = ("thread_id", "session_id")


class By(StrEnum):
    """Whose word it is, who knows best first."""

    AGENT = "the agent says"
    PROTOCOL = "the protocol says"
    RULE = "delegtop says"
    RESUME = "to resume"


class Step(msgspec.Struct, frozen=True):
    """One thing to do."""

    by: By
    words: str
    command: str | None = None


class Salvage(msgspec.Struct, frozen=True):
    """Something that is worth saving."""

    what: str
    """A word or two: `artifact`, `last words`."""
    text: str
    path: str | None = None
    """Where it should be on disk, if it is a file."""
    origin: Origin | None = None


def resume(forest: Forest, handle: Handle) -> tuple[Step, ...]:
    """What to type to take it up again: the command of the protocol, then that of the program it ran in."""
    steps: list[Step] = []
    if (task := _task_command(forest, handle)) is not None:
        steps.append(Step(By.RESUME, "Typed to the orchestrator, it takes the task up again", task))
    session = _session(forest, handle)
    if session is not None and (command := session_command(session)) is not None:
        own = session.id == forest.delegation(handle).id
        words = "Opens its session again" if own else "Opens the session it belongs to again"
        steps.append(Step(By.RESUME, _where(words, session), command))
    return tuple(steps)


def command(case: Case) -> str | None:
    """The first of these commands, for a finding to name."""
    return next((step.command for step in resume(case.forest, case.handle)), None)


def session_command(facts: Delegation) -> str | None:
    """The command that opens the session of this delegation again, from the folder it worked in; None if its program
    has none, or it is not known what the session is called."""
    program = RESUME.get(facts.product or "")
    refs = dict(facts.refs)
    order = _THREADS if facts.product == "codex" else _NAMED
    named = next((refs[name] for name in order if refs.get(name)), None)
    if named is None and facts.product != "proofchecker":
        named = facts.id
    if program is None or not named or named.startswith("-"):  # it would be taken for an option
        return None
    command = shlex.join((*program, named))
    if not facts.cwd:
        return command
    return f"cd {'-- ' if facts.cwd.startswith('-') else ''}{shlex.quote(facts.cwd)} && {command}"


def _task_command(forest: Forest, handle: Handle) -> str | None:
    """`/implement 191`: its own, else that of the nearest above it that has one."""
    for facts in _upwards(forest, handle):
        if (command := commands.resume(facts.command, facts.task)) is not None:
            return command
    return None


def _session(forest: Forest, handle: Handle) -> Delegation | None:
    """Whom a person talks to: the topmost of the same program. Agents below it cannot be opened by themselves."""
    path = _upwards(forest, handle)
    same = [facts for facts in path if facts.product == path[0].product]
    return same[-1] if path[0].product in RESUME else None


def _upwards(forest: Forest, handle: Handle) -> list[Delegation]:
    path: list[Delegation] = []
    climber: Handle | None = handle
    while climber is not None and len(path) < _ABOVE:
        path.append(forest.delegation(climber))
        climber = forest.parent(climber)
    return path


def _where(words: str, facts: Delegation) -> str:
    return f"{words}, on {facts.host}" if facts.host else words


_HANGS = (
    "See that the command receives results, that a timeout is set (3600 s if nothing else is), that the agent returns "
    "the standard format, and that its session id is kept."
)
_LOOPS = (
    "Switch on cycle detection in the orchestrator: look at the delegation path before handing on, hold the depth "
    "limit, and log the paths."
)
_TIMED_OUT = (
    "Set the timeout by the kind of work (research 3600 s, planning 1800 s, implementation 7200 s) and compare it with "
    "how long such work really takes."
)
_BROKEN_RETURN = (
    "Have the agent return the standard format and check it before it returns; try the agent by itself, and see that "
    "the session id is the one it was given."
)
REMEDIES: dict[Kind | State, str] = {
    Kind.HUNG_IN_TOOL: _HANGS,
    Kind.OVERDUE: _HANGS,
    Kind.LOST: _HANGS,
    Kind.LOST_RETURN: _HANGS,
    Kind.WORKED_NEVER_REPORTED: _HANGS,
    Kind.SILENT: _HANGS,
    Kind.LOOPING: _LOOPS,
    State.TIMEOUT: _TIMED_OUT,
    State.UNKNOWN: _BROKEN_RETURN,
}
"""The delegation guide's own troubleshooting: only for what follows the guide."""


def steps(
    forest: Forest,
    handle: Handle,
    kind: Kind | None,
    findings: tuple[Finding, ...],
    facts: Delegation,
    rule: str = "",
) -> tuple[Step, ...]:
    """What to do, ranked: the agent's own word, the protocol's and the rules' remedy, the command that resumes it.

    `facts` are those to be shown, with what is to be hidden hidden; `rule` is the one that speaks of this problem.
    """
    found: list[Step] = [
        Step(By.AGENT, f"{hint.title}: {hint.text}" if hint.kind in _TITLED else hint.text)
        for hint in hints(facts)
        if hint.kind not in _SAVED
    ]
    found += [Step(By.AGENT, finding.advice) for finding in findings if finding.by == "agent" and finding.advice]
    remedy = REMEDIES.get(kind or forest.state(handle))
    if any(finding.rule.startswith("RET-") for finding in findings):
        remedy = remedy or _BROKEN_RETURN
    if remedy and facts.product is None:
        found.append(Step(By.PROTOCOL, remedy))
    found += [Step(By.RULE, words) for words in _advice(findings, rule)]
    found += resume(forest, handle)
    return tuple({step.command or step.words: step for step in reversed(found)}.values())[::-1]


def _advice(findings: tuple[Finding, ...], rule: str) -> list[str]:
    """What the rules advise: the one of the problem first, then those that found an error; if none did, the worst."""
    ours = [finding for finding in findings if finding.by != "agent" and finding.advice]
    own = [finding for finding in ours if finding.rule == rule]
    grave = [finding for finding in ours if finding.severity is Severity.ERROR]
    return list(dict.fromkeys(finding.advice for finding in [*own, *grave] or ours[:1]))[:_ADVICE]


_TITLED = frozenset({notes.REVIEW, notes.BLOCKER, notes.RESUME, notes.NEXT, notes.FOLLOWUP, notes.DEFECT})
_SAVED = frozenset({notes.HANDOFF, notes.SALVAGE, notes.LOOP, notes.PARKED})
_WORTH = {
    notes.SALVAGE: "on disk",
    notes.HANDOFF: "handoff",
    notes.PROGRESS: "progress",
    notes.CHANGED: "changed",
    notes.PARKED: "parked",
}


def salvage(facts: Delegation) -> tuple[Salvage, ...]:
    """What there is of its work: files, what it came back with, what it noted, its last words."""
    found = [Salvage("artifact", artifact.path, artifact.path, facts.ended_origin) for artifact in facts.artifacts]
    for note in facts.notes:
        if note.kind in _WORTH:
            found += [_noted(note, line) for line in note.text.splitlines() if line]
    if facts.report.summary:
        found.append(Salvage("result", facts.report.summary, None, facts.ended_origin))
    if last := phases.work(facts):
        found.append(Salvage("last words", last, None, facts.heard_origin))
    return tuple(found)


def _noted(note: Note, line: str) -> Salvage:
    is_path = note.kind in (notes.SALVAGE, notes.HANDOFF, notes.CHANGED) and _is_path(line)
    return Salvage(_WORTH[note.kind], line, line if is_path else None, note.origin)


def _is_path(text: str) -> bool:
    return "/" in text and not any(char.isspace() for char in text)
