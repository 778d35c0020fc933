"""How to go on with what is stuck: what to do in order of use, what to type, and what is worth saving.

A command is only ever text: it is shown and copied, and nothing here or elsewhere runs it. Whoever copies it looks
first whether it hides something.
"""

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum

import msgspec

from delegtop.base.origin import Origin
from delegtop.diagnosis import session_advice
from delegtop.diagnosis.case import Case
from delegtop.diagnosis.finding import Finding, Severity
from delegtop.diagnosis.session_commands import is_single, on_host
from delegtop.diagnosis.session_process import session_process, upwards
from delegtop.diagnosis.verdicts import Kind, Verdict, judge
from delegtop.diagnosis.verdicts.kinds import VerdictRow
from delegtop.model import notes, phases, process_words
from delegtop.model.delegation import Delegation, Note
from delegtop.model.events import WaitsFor
from delegtop.model.forest import Forest
from delegtop.model.process_sight import unseen
from delegtop.model.recovery_hints import hints
from delegtop.model.states import ACTIVE, ENDED, Life, State
from delegtop.model.store.ledger import Handle
from delegtop.protocols.standard.contract import resume_commands

_ITS = "its process"
_ADVICE = 3


class By(StrEnum):
    """Whose word it is."""

    DELEGTOP = "delegtop says"
    AGENT = "the agent says"
    RESUME = "to resume"
    PROTOCOL = "the protocol says"


class Step(msgspec.Struct, frozen=True):
    """One thing to do."""

    by: By
    words: str
    command: str | None = None
    to_agent: bool = False
    """Whether that is typed to an agent, and not in a shell."""


class Salvage(msgspec.Struct, frozen=True):
    """Something that is worth saving."""

    what: str
    """A word or two: `artifact`, `last words`."""
    text: str
    path: str | None = None
    """Where it should be on disk, if it is a file."""
    origin: Origin | None = None


# -- what to do, in order --------------------------------------------------------------------------------------------


def todo(case: Case, findings: Sequence[Finding]) -> tuple[Step, ...]:
    """What to do, ranked by use: what frees the path, what takes the work up again, what to look at, and last what
    the protocol has to remark. How something ended is best known to the agent itself: there its word comes first."""
    verdict, facts = judge(case), case.facts
    row = verdict.kind.row if verdict is not None and not verdict.kind.row.harmless else None
    own, shown = list(_own_words(facts, findings)), list(_of_process(case, verdict))
    freeing = list(_freeing(case, row, shown))
    first = [*freeing, *own] if row and case.state in ACTIVE else [*own, *freeing]
    ended = [Step(By.DELEGTOP, finding.advice) for finding in findings if _tells_of_end(finding)]
    first += [] if own else ended
    advice = _advice(findings, row.rule if row else "")
    last = [
        *_left_running(facts),
        *_unseen(case, verdict),
        *_said(row.look if row and not shown else ""),
        *(Step(By.DELEGTOP, finding.advice) for finding in advice if not _is_of_return(finding)),
        *(ended if own else ()),
        *(Step(By.DELEGTOP, finding.advice) for finding in advice if _is_of_return(finding)),
        *_remarks(case, row.guide if row else "", findings),
    ]
    return tuple(_on_its_host(case, step) for step in _told_once([*first, *resume(case), *last]))


def _on_its_host(case: Case, step: Step) -> Step:
    """A command for a shell is one for a shell of the host that it is about."""
    if step.command is None or step.to_agent or not case.facts.told_by:
        return step
    command, there = on_host(case, step.command)
    words = f"{step.words.removesuffix('.')}; {there}" if there else step.words
    return msgspec.structs.replace(step, words=words, command=command)


def advice(case: Case) -> str:
    """What to do first about what is open, what to look at, and what to see to before typing the command, for a
    finding to say."""
    verdict = judge(case)
    if verdict is None:
        return ""
    row, shown = verdict.kind.row, list(_of_process(case, verdict))
    first = next(iter(_freeing(case, row, shown)), None)
    return " ".join(filter(None, (first.words if first else "", "" if shown else row.look, _caution(case))))


def command(case: Case) -> str | None:
    """What to type, for a finding to name: what all other places show too."""
    typed = _typed(case)
    return None if typed is None else typed.command


def _typed(case: Case) -> Step | None:
    return next((step for step in todo(case, ()) if step.command), None)


def _caution(case: Case) -> str:
    """Before a session is taken up again whose program may still be open, that has to be looked at: the command alone
    would not say so."""
    typed, at = _typed(case), session_process(case.forest, case.handle)
    is_unknown = at is not None and not at.is_there and not at.is_gone
    return typed.words if is_unknown and typed is not None and typed.by is By.RESUME else ""


def _freeing(case: Case, row: VerdictRow | None, shown: Sequence[Step]) -> Iterator[Step]:
    """What lets the path go on: about the very process that hangs if it is known (`shown`), and about the session."""
    yield from shown
    frees = _named(row.frees, case.facts) if row else ""
    at = session_process(case.forest, case.handle)
    if row is None or at is None or not at.is_there or case.state not in ACTIVE:
        yield from () if shown else _said(frees)
        return
    for act in session_advice.while_there(case, at, row.needs, frees, tried=bool(shown)):
        yield Step(By.DELEGTOP, act.words, act.command, act.to_agent)


def _of_process(case: Case, verdict: Verdict | None) -> Iterator[Step]:
    """What to do about the very process that hangs, where the kernel showed it: that leaves everything else alone. The
    agent is not ended that way, nor whoever its tool waits for: that may be anybody."""
    seen = case.facts.process
    if seen is None or verdict is None or verdict.kind not in (Kind.HUNG_IN_TOOL, Kind.WAITING_FOR_NETWORK):
        return
    if seen.origin not in verdict.evidence:
        return
    elsewhere = f" on {case.facts.elsewhere}" if case.facts.elsewhere else ""
    which = f"{process_words.process(seen)}{elsewhere}{f', `{seen.command}`' if seen.command else ''}"
    if seen.waits_for is WaitsFor.STOPPED and is_single(seen.pid):
        words = f"Let it go on, if nobody stopped it on purpose: {which}"
        yield Step(By.DELEGTOP, words, f"kill -CONT {seen.pid}")
    if seen.waits_for is WaitsFor.FROZEN:  # no signal reaches it before
        yield Step(By.DELEGTOP, f"Thaw it, as with `docker unpause`: {process_words.what(seen)}")
        return
    pid = seen.pid if seen.call_pid is None else seen.call_pid
    if not is_single(pid) or pid in _agents(case):
        return
    which = which if pid == seen.pid else f"pid {pid}{elsewhere}"
    words = f"Stop only the process of the tool, {which}: its agent gets an error and goes on"
    yield Step(By.DELEGTOP, words, f"kill {pid}")


def _agents(case: Case) -> set[int | None]:
    """The processes of the agent programs that it belongs to."""
    _, *above = upwards(case.forest, case.handle)
    own = case.facts.pid if case.facts.product is not None else None
    return {own, *(case.forest.delegation(each).pid for each in above)}


_OF_KERNEL = frozenset({Kind.HUNG_IN_TOOL, Kind.OVERDUE, Kind.SILENT})
"""What the kernel would have been asked about."""


def _unseen(case: Case, verdict: Verdict | None) -> list[Step]:
    """That nobody knows what its processes do, and why, where that would have told more than its log does."""
    if verdict is None or verdict.kind not in _OF_KERNEL or case.state not in ACTIVE or case.facts.process is not None:
        return []
    why = unseen(case.forest, case.handle)
    return _said(f"{why[:1].upper()}{why[1:]}.") if why else []


def _left_running(facts: Delegation) -> Iterator[Step]:
    """What it started and left, with what stops that."""
    left = [note for note in facts.notes if note.kind == notes.LEFT_RUNNING and note.origin.pid]
    if left:
        told = "; ".join(note.text for note in left)
        pids = " ".join(str(note.origin.pid) for note in left)
        yield Step(
            By.DELEGTOP,
            f"Still running, though its session is gone: {told}. Unless it is needed, stop it",
            f"kill {pids}",
        )


def _said(words: str) -> list[Step]:
    return [Step(By.DELEGTOP, words)] if words else []


def _named(words: str, facts: Delegation) -> str:
    """With the process by its number, where it is known: that is what has to be stopped, or looked at."""
    if facts.pid is None or _ITS not in words:
        return words
    where = f" on {facts.elsewhere}" if facts.elsewhere else ""
    return words.replace(_ITS, f"{_ITS} (pid {facts.pid}{where})", 1)


def _own_words(facts: Delegation, findings: Iterable[Finding]) -> Iterator[Step]:
    for hint in hints(facts):
        if hint.kind not in _SHOWN_ELSEWHERE:
            words = f"{hint.title}: {hint.text}" if hint.kind in _TITLED else hint.text
            yield Step(By.AGENT if hint.by_agent else By.DELEGTOP, words)
    for finding in findings:
        if finding.by == "agent" and finding.advice:
            yield Step(By.AGENT, finding.advice)


def _advice(findings: Sequence[Finding], told: str) -> list[Finding]:
    """What the rules advise beside the verdict's: those that found an error; if none did, the worst."""
    ours = [finding for finding in findings if finding.by != "agent" and finding.advice and finding.rule != told]
    ours = [finding for finding in ours if not _tells_of_end(finding)]
    grave = [finding for finding in ours if finding.severity is Severity.ERROR]
    return (grave or ours[:1])[:_ADVICE]


def _tells_of_end(finding: Finding) -> bool:
    return finding.rule.startswith("END-") and bool(finding.advice)


def _is_of_return(finding: Finding) -> bool:
    """It is of use the next time, and comes last."""
    return finding.rule.startswith("RET-")


_TIMED_OUT = (
    "Set the timeout by the kind of work (research 3600 s, planning 1800 s, implementation 7200 s) and compare it with "
    "how long such work really takes."
)
_BROKEN_RETURN = (
    "Have the agent return the standard format and check it before it returns; try the agent by itself, and see that "
    "the session id is the one it was given."
)
_OF_STATES = {State.TIMEOUT: _TIMED_OUT, State.UNKNOWN: _BROKEN_RETURN}


def _remarks(case: Case, guide: str, findings: Iterable[Finding]) -> list[Step]:
    """The delegation guide's own troubleshooting: only for what follows the guide."""
    if case.facts.product is not None:
        return []
    remark = guide or _OF_STATES.get(case.state)
    if remark is None and any(map(_is_of_return, findings)):
        remark = _BROKEN_RETURN
    return [Step(By.PROTOCOL, remark)] if remark else []


def _told_once(steps: Sequence[Step]) -> Iterator[Step]:
    """Without those that another step says too, and more; an agent's advice often stands in several files."""
    for number, step in enumerate(steps):
        others = (other for place, other in enumerate(steps) if place < number or len(other.words) > len(step.words))
        if step.command or not any(step.words in other.words for other in others):
            yield step


_TITLED = frozenset({notes.REVIEW, notes.BLOCKER, notes.RESUME, notes.NEXT, notes.FOLLOWUP, notes.DEFECT})
_SHOWN_ELSEWHERE = frozenset({notes.HANDOFF, notes.SALVAGE, notes.LOOP, notes.PARKED})


# -- taking it up again ----------------------------------------------------------------------------------------------


def resume(case: Case) -> tuple[Step, ...]:
    """What to type to take it up again: the command of the protocol, then that of the program it ran in. A program
    that is still there is not opened a second time: two would write one transcript."""
    steps: list[Step] = []
    is_over = case.state in ENDED or case.state.life is Life.LOST
    if (task := _task_command(case.forest, case.handle)) is not None:
        words = "Typed to the orchestrator, it takes the task up again"
        steps.append(
            Step(By.RESUME, words if is_over else f"Once it is stopped: {words[0].lower()}{words[1:]}", task, True)
        )
    at = session_process(case.forest, case.handle)
    if at is None:
        return tuple(steps)
    if not at.is_there:
        acts = session_advice.taken_up(case, at)
    else:
        acts = session_advice.told_there(case, at) if case.state in ENDED else iter(())
    by = By.DELEGTOP if at.is_there else By.RESUME
    return (*steps, *(Step(by, act.words, act.command, act.to_agent) for act in acts))


def _task_command(forest: Forest, handle: Handle) -> str | None:
    """`/implement 191`: its own, else that of the nearest above it that has one."""
    for above in upwards(forest, handle):
        facts = forest.delegation(above)
        if (command := resume_commands.resume(facts.command, facts.task)) is not None:
            return command
    return None


# -- what can be saved -----------------------------------------------------------------------------------------------

_WORTH = {
    notes.SALVAGE: "on disk",
    notes.HANDOFF: "handoff",
    notes.PROGRESS: "progress",
    notes.CHANGED: "changed",
    notes.PARKED: "parked",
    notes.LEFT_RUNNING: "still running",
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
