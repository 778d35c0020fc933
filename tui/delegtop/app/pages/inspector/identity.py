"""Who it is: the agent, its model and program, its place in the tree, its process, and what it used."""

from textual.content import Content

from delegtop.app.pages.inspector.page_words import DASH, PageSubject, named, one_line, path_of, said
from delegtop.app.state.known_hosts import as_of
from delegtop.app.widgets.sheet import Block, LabelledFact
from delegtop.base import machine
from delegtop.base.clock import SECOND, wall
from delegtop.base.text import line
from delegtop.model.delegation import FACTS, Delegation, Link
from delegtop.model.events import LOCALHOST, Ending
from delegtop.model.measures import derived_depth
from delegtop.model.process_sight import unseen
from delegtop.model.session_manner import SEEN
from delegtop.model.states import ACTIVE, State
from delegtop.model.tree.rollup import Totals
from delegtop.report.figures import dollars
from delegtop.sources import processes

_LINKS = {
    Link.ROOT: "no parent",
    Link.EXPLICIT: "named by the log",
    Link.INFERRED: "inferred from path and time",
    Link.AMBIGUOUS: "unsure: more than one fits",
}


def _labelled() -> dict[str, tuple[str, ...]]:
    """The facts that have a row, by its label; those that share one stand where the last of them does."""
    labelled: dict[str, tuple[str, ...]] = {}
    for fact in FACTS.values():
        if fact.label:
            labelled[fact.label] = (*labelled.pop(fact.label, ()), fact.name)
    return labelled


_LABELLED = _labelled()


def blocks(subject: PageSubject, spent: Totals | None) -> list[Block]:
    forest, handle, delegation = subject.forest, subject.handle, subject.delegation
    found: list[Block] = [
        LabelledFact("session", one_line(delegation.id, "bold")),
        LabelledFact("agent", _agent(subject)),
    ]
    for label, names in _LABELLED.items():
        if told := [str(value) for name in names if (value := getattr(delegation, name)) not in (None, "")]:
            found.append(LabelledFact(label, _words(*told)))
    if delegation.path or not delegation.product:
        found.append(LabelledFact("path", Content(path_of(delegation)) if delegation.path else DASH))
    found += [LabelledFact("depth", _depth(subject)), LabelledFact("parent", _parent(subject))]
    if children := len(forest.children(handle)):
        found.append(LabelledFact("children", Content(f"{children:,}")))
    if delegation.caller:
        found.append(LabelledFact("caller", one_line(delegation.caller)))
    if subject.forest.has_hosts or delegation.told_by:
        found.append(LabelledFact("host", _host(subject)))
    if delegation.pid is not None or (not delegation.told_by and (delegation.host or _unseen(subject))):
        found.append(LabelledFact("process", _process(subject)))
    found.append(LabelledFact("used", _spent(delegation)))
    if spent is not None and spent.nodes > 1 and (spent.tokens, spent.cost) != (None, None):
        used = _used(spent.tokens, spent.cost, is_estimate=spent.is_estimate)
        found.append(LabelledFact("with below", said(used, f"{spent.nodes:,} delegations")))
    return found + [LabelledFact(f"{name}"[:12], one_line(value)) for name, value in _refs(subject)]


def _agent(subject: PageSubject) -> Content:
    delegation = subject.delegation
    command = delegation.command and f"/{delegation.command.lstrip('/')}"
    task = delegation.task and f"task {delegation.task}"
    own = one_line(delegation.own_name, "bold") if delegation.own_name else ""
    agent = "" if delegation.is_command else one_line(delegation.agent)
    return said(agent, own, *(one_line(part) for part in (command, task) if part))


def _words(*parts: str | None) -> Content:
    return said(*(one_line(part) for part in parts if part))


def _depth(subject: PageSubject) -> Content:
    derived, claimed = derived_depth(subject.forest, subject.handle), subject.delegation.depth
    if claimed == derived:
        return Content(str(derived))
    return said(
        Content(f"{claimed if claimed is not None else '–'} claimed"),
        Content.styled(f"{derived} derived", "bold $warning" if claimed is not None else ""),
    )


def _parent(subject: PageSubject) -> Content:
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


def _process(subject: PageSubject) -> Content:
    delegation = subject.delegation
    if delegation.told_by and delegation.pid is not None:
        return _told_process(subject)
    pid = f"pid {delegation.pid}" if delegation.pid is not None else None
    if why := _unseen(subject):
        return _words(pid, _where(delegation), why)
    return said(_words(pid, _where(delegation)), _life(subject) if pid else "")


def _host(subject: PageSubject) -> Content:
    """Whose logs tell of it, and as of when if that is not now."""
    word = subject.forest.word_of(subject.handle)
    name = one_line(subject.delegation.told_by or machine.name())
    if not subject.forest.is_stale(subject.handle) or (at := as_of(word)) is None:
        return name
    return said(name, Content.styled(f"as of {wall(at, subject.zone)}", "bold $warning"))


def _told_process(subject: PageSubject) -> Content:
    """`pid 4711 on dev: there (told 3 s ago)`: what its own host says of it."""
    delegation, forest = subject.delegation, subject.forest
    gone = delegation.ended_by is Ending.GONE or forest.is_gone(subject.handle)
    seen = "there" if SEEN in dict(delegation.refs) else "on another machine, nothing more is told"
    ago = forest.silence_of(subject.handle) // SECOND
    told = f" (told {ago:,} s ago)" if forest.word_of(subject.handle).beats else ""
    return _words(f"pid {delegation.pid} on {delegation.elsewhere}: {'gone' if gone else seen}{told}")


def _where(delegation: Delegation) -> str | None:
    return delegation.elsewhere or delegation.host


def _unseen(subject: PageSubject) -> str:
    """Why nobody looks at the processes of one that is open, and not known to be gone."""
    is_open = subject.forest.state(subject.handle) in (*ACTIVE, State.IDLE)
    return unseen(subject.forest, subject.handle) if is_open and not subject.forest.is_gone(subject.handle) else ""


def _life(subject: PageSubject) -> Content | str:
    """Whether its process is there at the moment that is shown, by what was told; nobody is asked anew."""
    host, state = _where(subject.delegation), subject.forest.state(subject.handle)
    if subject.delegation.ended_by is Ending.GONE or subject.forest.is_gone(subject.handle):
        return Content.styled("gone", "bold $warning")
    if host is None:
        return "alive or gone is unknown"
    if subject.delegation.told_by or host not in (LOCALHOST, processes.hostname()):
        return "on another machine"
    return "seems alive" if state in ACTIVE or state is State.IDLE else ""


def _spent(delegation: Delegation) -> Content:
    used = _used(delegation.tokens, delegation.cost, is_estimate=delegation.cost_estimated)
    return said(used, Content("by list prices")) if delegation.cost_estimated else used


def _used(tokens: int | None, cost: float | None, *, is_estimate: bool) -> Content:
    return said(
        Content(f"{tokens:,} tokens") if tokens is not None else "",
        Content(dollars(cost, is_estimate=is_estimate)),
    )


def _refs(subject: PageSubject) -> list[tuple[str, str]]:
    return [(line(name, 12), value) for name, value in subject.delegation.refs if name not in ("session_id", "task")]
