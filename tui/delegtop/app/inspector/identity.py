"""Who it is: the agent, its model and program, its place in the tree, its process, and what it used."""

from textual.content import Content

from delegtop.app.inspector.words import DASH, Subject, named, one_line, path_of, said
from delegtop.app.widgets.sheet import Block, Fact
from delegtop.model.delegation import Link
from delegtop.model.events import LOCALHOST, Ending
from delegtop.model.measures import derived_depth
from delegtop.model.rollup import Totals
from delegtop.model.states import ACTIVE, State
from delegtop.sources import processes
from delegtop.text import line

_LINKS = {
    Link.ROOT: "no parent",
    Link.EXPLICIT: "named by the log",
    Link.INFERRED: "inferred from path and time",
    Link.AMBIGUOUS: "unsure: more than one fits",
}


def blocks(subject: Subject, spent: Totals | None) -> list[Block]:
    forest, handle, delegation = subject.forest, subject.handle, subject.delegation
    found: list[Block] = [Fact("session", one_line(delegation.id, "bold")), Fact("agent", _agent(subject))]
    if delegation.title:
        found.append(Fact("title", one_line(delegation.title)))
    if delegation.model:
        found.append(Fact("model", one_line(delegation.model)))
    if delegation.product or delegation.version:
        found.append(Fact("program", _words(delegation.product, delegation.version)))
    if delegation.cwd:
        found.append(Fact("folder", one_line(delegation.cwd)))
    if delegation.path or not delegation.product:
        found.append(Fact("path", Content(path_of(delegation)) if delegation.path else DASH))
    found += [Fact("depth", _depth(subject)), Fact("parent", _parent(subject))]
    if children := len(forest.children(handle)):
        found.append(Fact("children", Content(f"{children:,}")))
    if delegation.caller:
        found.append(Fact("caller", one_line(delegation.caller)))
    if delegation.pid is not None or delegation.host:
        found.append(Fact("process", _process(subject)))
    found.append(Fact("used", _used(delegation.tokens, delegation.cost)))
    if spent is not None and spent.nodes > 1 and (spent.tokens, spent.cost) != (None, None):
        found.append(Fact("with below", said(_used(spent.tokens, spent.cost), f"{spent.nodes:,} delegations")))
    return found + [Fact(f"{name}"[:12], one_line(value)) for name, value in _refs(subject)]


def _agent(subject: Subject) -> Content:
    delegation = subject.delegation
    command = delegation.command and f"/{delegation.command.lstrip('/')}"
    task = delegation.task and f"task {delegation.task}"
    own = one_line(delegation.own_name, "bold") if delegation.own_name else ""
    agent = one_line(delegation.agent) if delegation.agent or not command else ""
    return said(agent, own, *(one_line(part) for part in (command, task) if part))


def _words(*parts: str | None) -> Content:
    return said(*(one_line(part) for part in parts if part))


def _depth(subject: Subject) -> Content:
    derived, claimed = derived_depth(subject.forest, subject.handle), subject.delegation.depth
    if claimed == derived:
        return Content(str(derived))
    return said(
        Content(f"{claimed if claimed is not None else '–'} claimed"),
        Content.styled(f"{derived} derived", "bold $warning" if claimed is not None else ""),
    )


def _parent(subject: Subject) -> Content:
    forest, handle = subject.forest, subject.handle
    link, parent, declared = forest.link(handle), forest.parent(handle), subject.delegation.parent
    if parent is not None:
        who = named(subject, parent)
    elif declared:
        return said(one_line(declared), "named by the log, never seen itself")
    else:
        return said(DASH, _LINKS[link])
    if link is not Link.AMBIGUOUS:
        return said(who, _LINKS[link])
    others = [named(subject, candidate) for candidate in forest.candidates(handle)[:8]]
    return said(who, Content.styled(_LINKS[link], "$warning"), *others)


def _process(subject: Subject) -> Content:
    delegation = subject.delegation
    pid = f"pid {delegation.pid}" if delegation.pid is not None else None
    return said(_words(pid, delegation.host), _life(subject) if pid else "")


def _life(subject: Subject) -> Content | str:
    """Whether its process is there at the moment that is shown, by what was told; nobody is asked anew."""
    host, state = subject.delegation.host, subject.forest.state(subject.handle)
    if subject.delegation.ended_by is Ending.GONE or subject.forest.is_gone(subject.handle):
        return Content.styled("gone", "bold $warning")
    if host is None:
        return "alive or gone is unknown"
    if host not in (LOCALHOST, processes.hostname()):
        return "on another machine"
    return "not known to be gone" if state in ACTIVE or state is State.IDLE else ""


def _used(tokens: int | None, cost: float | None) -> Content:
    return said(
        Content(f"{tokens:,} tokens") if tokens is not None else "",
        Content(f"${cost:,.2f}") if cost is not None else "",
    )


def _refs(subject: Subject) -> list[tuple[str, str]]:
    return [(line(name, 12), value) for name, value in subject.delegation.refs if name not in ("session_id", "task")]
