"""The rungs of the ladder for one delegation: tool, child, session, process, and the last resort.

What a program can be asked for is declared by its product; a signal is all there is for the others.
"""

import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from delegtop.act.plan_sight import PlanSight
from delegtop.act.planned_steps import PlannedCommand, PlannedInterrupt, PlannedRequest, PlannedSignal, PlannedStep
from delegtop.act.process_identity import ProcessIdentity, taboo
from delegtop.act.stop_plan import Rung, RungPlan, log_of
from delegtop.act.tool_process import tool_process
from delegtop.base.clock import SECOND
from delegtop.base.product import Product
from delegtop.base.secrets import mask
from delegtop.base.text import folded, line
from delegtop.diagnosis.session_process import session_process, upwards
from delegtop.dialects.products import product
from delegtop.kernel import proc_files
from delegtop.kernel.process_table import moment
from delegtop.model import measures
from delegtop.model.delegation import Delegation
from delegtop.model.events import LOCALHOST
from delegtop.model.forest import Forest
from delegtop.model.process_sight import unseen
from delegtop.model.session_manner import PID_DOMAIN, PROC_START, Manner, manner
from delegtop.model.states import ACTIVE, ENDED
from delegtop.model.store.ledger import Handle
from delegtop.sources import processes

PATIENCE = 3.0
"""Seconds in which a process may tidy up after SIGINT before it gets SIGTERM."""
_SLACK = 5 * SECOND
_NAME = 40
_MANY = 500
_OVER = "it has ended"


class Owner(NamedTuple):
    """The session that a delegation belongs to, and the process that runs it."""

    session: Handle
    facts: Delegation
    """Of the session."""
    program: Product | None
    runs_as: Manner = Manner.UNKNOWN
    process: ProcessIdentity | None = None
    why_not: str = ""
    """Why its process cannot be signalled, or asked for anything."""
    job: str | None = None
    """What its program calls it in the background."""

    @property
    def is_hearsay(self) -> bool:
        """Whether only a log says which process it is: nothing that the system shows of it tells whose it is."""
        return self.program is None or not (self.program.executables or self.program.scripts)

    @property
    def words(self) -> str:
        if self.process is None:
            return ""
        return f"{called(self.facts)} (pid {self.process.pid}{', as only its log says' if self.is_hearsay else ''})"


def called(facts: Delegation) -> str:
    """What to call a delegation so that it is known from others of its kind: with its work in a few words."""
    title = measures.title(facts)
    name = line(mask(measures.called(facts)), _NAME)  # half a secret is not known for one
    return f"{name} “{line(folded(mask(title)), _NAME)}”" if title else name


def whose(forest: Forest, handle: Handle, machine: PlanSight) -> Owner:
    """Whose it is, as the logs told and the system shows now."""
    at = session_process(forest, handle)
    if at is None:
        return _by_itself(forest, handle, machine)
    owner = Owner(at.session, at.facts, product(at.facts.product), at.runs_as, job=at.background_id)
    if at.is_gone:
        return owner._replace(why_not="its process is gone: there is nothing left to stop")
    if not at.is_there or at.pid is None:
        why = at.why or "nobody has looked at its process"
        return owner._replace(why_not=f"its processes cannot be seen from here: {why}")
    return _identified(owner, machine)


def _by_itself(forest: Forest, handle: Handle, machine: PlanSight) -> Owner:
    """Of what is no agent program's, the nearest at or above it that has a process."""
    for above in upwards(forest, handle):
        facts = forest.delegation(above)
        if facts.pid is not None:
            owner = Owner(above, facts, None, manner(facts.refs))
            if forest.is_gone(above):
                return owner._replace(why_not="its process is gone: there is nothing left to stop")
            if why := unseen(forest, above):
                return owner._replace(why_not=why)
            return _identified(owner, machine)
    facts = forest.delegation(handle)
    why = unseen(forest, handle) or "its processes cannot be seen from here: nothing tells which process it is"
    return Owner(handle, facts, None, why_not=why)


def _identified(owner: Owner, machine: PlanSight) -> Owner:
    """With the very process that its records name, if that can be told from one that has its number by now."""
    facts, refs = owner.facts, dict(owner.facts.refs)
    if facts.told_by or facts.host not in (None, LOCALHOST, processes.hostname()):
        return owner._replace(why_not=f"it is on {line(facts.elsewhere, _NAME)}, and this is another machine")
    if not processes.is_ours(refs.get(PID_DOMAIN)):
        return owner._replace(why_not="its processes cannot be seen from here: they are in another pid namespace")
    process = machine.identity(facts.pid or 0)
    if process is None:
        return owner._replace(why_not=f"its process (pid {facts.pid}) is gone: there is nothing left to stop")
    if why := _stranger(process, facts, refs.get(PROC_START)):
        return owner._replace(why_not=why)
    if owner.program and not owner.is_hearsay and not machine.runs(process, owner.program):
        told = f"its log names {process}, and that is no process of {owner.program.title}"
        return owner._replace(why_not=told)
    if machine.is_written_by_others(facts):
        told = f"its log names {process}, and belongs to another user or is gone: whoever wrote it may name any in it"
        return owner._replace(why_not=told)
    return owner._replace(process=process, why_not=taboo(process))


def _stranger(process: ProcessIdentity, facts: Delegation, begun: str | None) -> str:
    """Why the process of that number is not the one that the records mean, or why that cannot be told."""
    if begun is not None and proc_files.is_mounted():
        is_it = process.started == begun
    elif process.started.isdecimal():
        told_at = max((at for at in (facts.started_at, facts.heard_at) if at is not None), default=None)
        is_it = told_at is not None and moment(int(process.started)) <= told_at + _SLACK
    else:
        return f"nothing tells whether pid {process.pid} is still its process"
    return "" if is_it else f"its process (pid {process.pid}) is gone: another one has its number"


def ladder(forest: Forest, handle: Handle, owner: Owner, machine: PlanSight) -> Iterator[RungPlan]:
    yield _tool(forest, handle, owner, machine)
    yield _child(forest, handle, owner, machine)
    yield _session(forest, handle, owner, machine)
    yield from _process(forest, handle, owner)


# -- tool ------------------------------------------------------------------------------------------------------------


def _tool(forest: Forest, handle: Handle, owner: Owner, machine: PlanSight) -> RungPlan:
    refused = RungPlan(Rung.TOOL)
    facts = forest.delegation(handle)
    if owner.process is None:
        return refused._replace(why_not=owner.why_not)
    if forest.state(handle) in ENDED:
        return refused._replace(why_not=_OVER)
    if facts.process is None:
        told = (
            unseen(forest, handle) or "no process of a tool of it was seen: it is in none, or nobody could tell which"
        )
        return refused._replace(why_not=told)
    found = tool_process(machine.table, owner.process.pid, facts.process)
    target = machine.identity(found.pid) if found.pid is not None else None
    why = found.why_not or ("its process is gone" if target is None else taboo(target))
    if why or target is None:
        return refused._replace(why_not=why)
    gets = _gets(owner.program)
    shell = machine.identity(found.top) if found.top is not None and found.top != found.pid else None
    does = f"ends only {target.name} (pid {target.pid}); {gets}"
    return RungPlan(Rung.TOOL, does, _ending(target, machine), shell=shell)


def _gets(program: Product | None) -> str:
    """What comes of it for whoever waits for the tool, as far as that was seen."""
    if program is None:
        return "whoever started it gets an error"
    if program.hears_tool_end is False:
        return f"{program.title} was seen not to notice that: the next rung may be needed"
    return (
        "its agent gets an error and goes on" if program.hears_tool_end else "its agent should get an error and go on"
    )


def _ending(target: ProcessIdentity, machine: PlanSight) -> tuple[PlannedStep, ...]:
    """SIGINT, and SIGTERM if that is not heeded. Who ignores the first is not sent it, and who is stopped must go on to
    hear anything at all."""
    wakes = [PlannedSignal(target, signal.SIGCONT)] if machine.is_stopped(target.pid) else []
    if machine.ignores(target.pid, signal.SIGINT):
        return PlannedSignal(target, signal.SIGTERM), *wakes
    return PlannedSignal(target, signal.SIGINT), *wakes, PlannedSignal(target, signal.SIGTERM, PATIENCE)


# -- child -----------------------------------------------------------------------------------------------------------


def _child(forest: Forest, handle: Handle, owner: Owner, machine: PlanSight) -> RungPlan:
    refused = RungPlan(Rung.CHILD)
    if owner.program is None:
        return refused._replace(why_not="it is of no agent program that could be asked")
    if handle == owner.session:
        return refused._replace(why_not="it is the session itself, and no child of one")
    title = owner.program.title
    if not (owner.program.abort_path or owner.program.control_socket):
        return refused._replace(why_not=f"{title} gives no outside handle on a sub-agent")
    if owner.process is None:
        return refused._replace(why_not=owner.why_not)
    if forest.state(handle) in ENDED:
        return refused._replace(why_not=_OVER)
    asked = _requests(forest, [handle], owner, machine)
    if isinstance(asked, str):
        return refused._replace(why_not=asked)
    does = f"asks {title} to abort this one alone; who waits for it is told so"
    return RungPlan(Rung.CHILD, does, asked, loses=_at_work(forest, _below(forest, handle)))


def _requests(forest: Forest, handles: list[Handle], owner: Owner, machine: PlanSight) -> tuple[PlannedStep, ...] | str:
    """What the program's own server is asked, a request for each; or why it cannot be."""
    program, process = owner.program, owner.process
    if program is None or process is None:
        return owner.why_not
    names = [_session_id(forest.delegation(each), program) for each in handles]
    ids = [name for name in names if name is not None]
    if len(ids) < len(names) or not ids:
        return f"what {program.title} calls it is not known"
    if machine.runs_us(process.pid):
        return f"delegtop was started by it ({process}), and would stop itself"
    if program.abort_path:
        where = machine.ports(process.pid)
        if not where:
            return f"its process ({process}) listens on no port of this machine: it cannot be asked"
        host, port = where[0]
        return tuple(PlannedRequest(process, host, port, program.abort_path.format(id=id), program.name) for id in ids)
    if program.control_socket:
        path = _control_socket(owner, machine)
        if path is None:
            return f"no server of {program.title} listens at {program.control_socket}: it cannot be asked"
        if not machine.listens_at(process.pid, path):
            return f"its process ({process}) is not the server that listens at {program.control_socket}"
        return tuple(PlannedInterrupt(path, id) for id in ids)
    return f"{program.title} has no server that could be asked"


def _control_socket(owner: Owner, machine: PlanSight) -> Path | None:
    log = log_of(owner.facts)
    return machine.socket_above(log, owner.program.control_socket) if log and owner.program else None


def _session_id(facts: Delegation, program: Product) -> str | None:
    """What the program calls its session. It becomes part of a request: whatever has another shape is none."""
    refs = dict(facts.refs)
    named = [refs.get(name) for name in program.session_refs] + [facts.id if program.is_session else None]
    shape = program.session_id
    return next((name for name in named if name and shape and re.fullmatch(shape, name)), None)


# -- session ---------------------------------------------------------------------------------------------------------


def _session(forest: Forest, handle: Handle, owner: Owner, machine: PlanSight) -> RungPlan:
    refused = RungPlan(Rung.SESSION)
    if owner.process is None or owner.why_not:
        return refused._replace(why_not=owner.why_not)
    loses = _at_work(forest, [each for each in _below(forest, owner.session) if each != handle])
    if owner.runs_as is Manner.BACKGROUND:
        return _in_background(owner, machine, loses)
    process, whose = owner.process, "its session" if handle != owner.session else "it"
    inside = [
        each for each in _below(forest, owner.session) if forest.state(each) in ACTIVE and _is_own(forest, each, owner)
    ]
    asked = _requests(forest, [*reversed(inside), owner.session], owner, machine)
    if owner.program and not isinstance(asked, str):
        does = f"asks {owner.program.title} to abort {whose}, the agents below it first; its process stays"
        return RungPlan(Rung.SESSION, does, asked, loses=loses)
    if owner.runs_as is Manner.SERVER:
        told = f"its process serves other sessions too, and a signal would be to all of them; {asked}"
        return refused._replace(why_not=told)
    if machine.ignores(process.pid, signal.SIGINT):
        return refused._replace(why_not=f"its process ({process}) ignores SIGINT")
    does = f"interrupts {whose} as Ctrl-C would; its conversation is kept"
    if owner.program is None:
        does = "interrupts its process, which only its log says it is, as Ctrl-C would"
    return RungPlan(Rung.SESSION, does, (PlannedSignal(process, signal.SIGINT),), loses=loses)


def _in_background(owner: Owner, machine: PlanSight, loses: tuple[str, ...]) -> RungPlan:
    refused, program = RungPlan(Rung.SESSION), owner.program
    if program is None or not program.stop or not owner.job or owner.job.startswith("-"):
        return refused._replace(why_not="it runs in the background, and what it is called there is not known")
    if machine.command(program.stop[0]) is None:
        return refused._replace(why_not=f"the command {program.stop[0]} is not found here")
    if owner.process is not None and machine.runs_us(owner.process.pid):
        return refused._replace(why_not=f"delegtop was started by it ({owner.process}), and would stop itself")
    does = f"has {program.title} stop it; its conversation is kept"
    return RungPlan(Rung.SESSION, does, (PlannedCommand((*program.stop, owner.job)),), loses=loses)


def _is_own(forest: Forest, handle: Handle, owner: Owner) -> bool:
    """Whether a delegation is a session of the same program, that can be asked for by its own id."""
    facts = forest.delegation(handle)
    if owner.program is None or facts.product != owner.facts.product:
        return False
    return _session_id(facts, owner.program) is not None


# -- process ---------------------------------------------------------------------------------------------------------


def _process(forest: Forest, handle: Handle, owner: Owner) -> Iterator[RungPlan]:
    process = owner.process
    why = owner.why_not
    if owner.runs_as is Manner.BACKGROUND and owner.program and not why:
        why = f"{owner.program.title}'s supervisor would start it again"
    if process is None or why:
        yield RungPlan(Rung.PROCESS, why_not=why)
        yield RungPlan(Rung.KILL, why_not=why)
        return
    loses = _at_work(forest, [each for each in _of_process(forest, owner) if each != handle])
    hearsay = ", as only its log says" if owner.is_hearsay else ""
    what = f"its process ({_typed(owner, process)}, pid {process.pid}{hearsay})"
    tidy = PlannedSignal(process, signal.SIGTERM)
    yield RungPlan(Rung.PROCESS, f"ends {what}, which may tidy up", (tidy,), loses=loses)
    hard = PlannedSignal(process, signal.SIGKILL)
    yield RungPlan(Rung.KILL, f"kills {what}, which cannot tidy up", (hard,), loses=loses, typed=_typed(owner, process))


def _typed(owner: Owner, process: ProcessIdentity) -> str:
    """What its program is called; of an interpreter that runs it, not that."""
    return owner.program.executables[0] if owner.program and owner.program.executables else process.name


def _of_process(forest: Forest, owner: Owner) -> list[Handle]:
    """All that run in that process, or below what does."""
    pid = owner.facts.pid
    tops = [handle for handle, _ in forest.in_states(ACTIVE) if forest.delegation(handle).pid == pid]
    return list(dict.fromkeys(each for top in (owner.session, *tops) for each in (top, *_below(forest, top))))


def _below(forest: Forest, handle: Handle) -> list[Handle]:
    """All below it, the nearest first."""
    found: list[Handle] = []
    pending = [handle]
    while pending and len(found) < _MANY:
        new = [child for each in pending for child in forest.children(each)]
        found += new
        pending = new
    return found


def _at_work(forest: Forest, handles: list[Handle]) -> tuple[str, ...]:
    """What those are called that are at work."""
    return tuple(called(forest.delegation(each)) for each in handles if forest.state(each) in ACTIVE)
