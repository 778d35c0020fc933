"""The incident as one HTML file: no script, no request, readable in light, in dark and on paper.

Every word that is not ours passes `safe` and `escape`; beyond that a policy in the head forbids the page to load or
run anything at all.
"""

import html
from collections.abc import Iterable, Iterator, Sequence

from delegtop.base.text import line, safe
from delegtop.model.states import State
from delegtop.report.incident import incident_words as words
from delegtop.report.incident.incident_gantt import NOW, drawings, drawn_trees
from delegtop.report.incident.incident_report import Excerpt, Incident, Node, Trouble, Words
from delegtop.report.incident.incident_style import STYLE
from delegtop.report.tree_json import Found

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_KINDS = {
    **dict.fromkeys(
        ("State", "Since (UTC)", "Started (UTC)", "Took", "Cost", "Time (UTC)", "Rule", "Severity"), "tight"
    ),
    **dict.fromkeys(("What is wrong", "What happened", "What to do", "Remark"), "prose"),
    "Verdict": "whole",
}
"""How the cells of some columns are set."""


def escaped(text: str) -> str:
    """Foreign text on one line, as text."""
    return html.escape(line(text))


def lines(incident: Incident) -> Iterator[str]:
    """The whole page."""
    yield from (
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        '<meta name="referrer" content="no-referrer">',
        f"<title>Incident report, {words.clock(incident.at)} UTC</title>",
        f"<style>{STYLE}</style>",
        "</head>",
        "<body>",
        "<main>",
    )
    yield from _head(incident)
    yield from _section("hung", "What hung", _hung(incident))
    yield from _section("time", "Over time", _gantt(incident))
    yield from _section("details", "One by one", _details(incident))
    yield from _section("timeline", "Timeline", _timeline(incident))
    yield from _section("tree", "Tree", _tree(incident))
    yield from _section("findings", "What else was found", _findings(incident))
    yield from _section("sources", "Sources", _sources(incident))
    yield from ("</main>", "</body>", "</html>")


def _head(incident: Incident) -> Iterator[str]:
    yield "<header>"
    yield "<h1>Incident report</h1>"
    yield f'<p class="lead">{escaped(incident.headline)}</p>'
    yield '<ul class="chips" aria-label="Delegations by state">'
    yield from (f'<li class="s-{state.colour}"><b>{count}</b> {state}</li>' for state, count in incident.counts.items())
    yield "</ul>"
    only = f" Only {escaped(incident.only)}, with all above and below it." if incident.only is not None else ""
    if used := words.used(incident):
        yield f'<p class="meta">Used: {escaped(used)}.</p>'
    yield (
        f'<p class="meta">State at {words.clock(incident.at)} UTC.{only} Written by {escaped(incident.program)}; '
        "secrets are masked.</p>"
    )
    yield "</header>"


def _section(id: str, title: str, body: Iterable[str]) -> Iterator[str]:
    told = list(body)
    if told:
        yield from (f'<section aria-labelledby="{id}">', f'<h2 id="{id}">{title}</h2>', *told, "</section>")


def _left_out(count: int, of: str) -> Iterator[str]:
    if count:
        yield f'<p class="note">{words.left_out(count, of)}</p>'


# -- tables ----------------------------------------------------------------------------------------------------------


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield from _rows(head, (("", [escaped(cell) for cell in row]) for row in rows))


def _rows(head: Sequence[str], rows: Iterable[tuple[str, Sequence[str]]]) -> Iterator[str]:
    """A table of cells that are escaped already, each row with its class."""
    body = [_row(kind, head, cells) for kind, cells in rows]
    if not body:
        return
    yield from ('<div class="wide"><table>', "<thead><tr>")
    yield from (f'<th scope="col">{name}</th>' for name in head)
    yield from ("</tr></thead>", "<tbody>", *body, "</tbody>", "</table></div>")


def _row(kind: str, head: Sequence[str], cells: Sequence[str]) -> str:
    told = (
        f"<td{_class(_KINDS.get(name, ''))}>{cell or words.UNKNOWN}</td>"
        for name, cell in zip(head, cells, strict=True)
    )
    return f"<tr{_class(kind)}>{''.join(told)}</tr>"


def _class(name: str) -> str:
    return f' class="{name}"' if name else ""


_COLOURS = {state.value: state.colour for state in State}


def _state(state: str) -> str:
    return f'<span class="word s-{_COLOURS[state]}">{state}</span>'


def _badge(is_blocker: bool) -> str:
    return ' <span class="badge">root blocker</span>' if is_blocker else ""


def _hung(incident: Incident) -> Iterator[str]:
    if not incident.troubles:
        yield "<p>Nothing.</p>"
        return
    yield from _rows(words.HUNG_HEAD, map(_hung_row, incident.troubles))
    yield from _left_out(incident.left_out.troubles, "delegations in trouble")


def _hung_row(trouble: Trouble) -> tuple[str, Sequence[str]]:
    name, state, *rest = words.hung_row(trouble)
    cells = (escaped(name) + _badge(trouble.root_blocker), _state(state), *map(escaped, rest))
    return "blocker" if trouble.root_blocker else "", cells


def _timeline(incident: Incident) -> Iterator[str]:
    yield from _table(words.TIMELINE_HEAD, map(words.timeline_row, incident.timeline))
    yield from _left_out(incident.left_out.timeline, "moments")


def _tree(incident: Incident) -> Iterator[str]:
    yield from _rows(words.TREE_HEAD, map(_tree_row, incident.tree))
    yield from _left_out(incident.left_out.tree, "delegations")


def _tree_row(node: Node) -> tuple[str, Sequence[str]]:
    indent = f'<span style="padding-left:{1.2 * min(node.level, 20):.1f}em"></span>'
    sign = "└ " if node.level else ""
    state, *rest = words.tree_row(node)
    name = f"{indent}{sign}{escaped(words.named(node))}{_badge(node.root_blocker)}"
    return "blocker" if node.root_blocker else "", (name, _state(state), *map(escaped, rest))


def _sources(incident: Incident) -> Iterator[str]:
    rows = words.source_rows(incident)
    yield from _table(words.SOURCES_HEAD, rows)
    yield from _left_out(len(incident.sources) - len(rows), "sources")


def _findings(incident: Incident) -> Iterator[str]:
    yield from _table(words.FINDINGS_HEAD, words.finding_rows(incident))
    yield from _left_out(incident.left_out.findings, "findings")


# -- the drawing, and one section for each in trouble ----------------------------------------------------------------


def _gantt(incident: Incident) -> Iterator[str]:
    drawn = list(drawings(incident))
    if not drawn:
        return
    yield from ("<figure>", *drawn)
    yield (
        "<figcaption>Times are UTC. A filled bar runs from the start to the end or to the last sign of life; after "
        "that it is pale while it waits for another, and dashed while it is silent. ⊤ is a deadline"
        f"{', the dashed line the moment of this report' if any(NOW in line for line in drawn) else ''}."
        "</figcaption></figure>"
    )
    shown = sum(len(tree) for tree in drawn_trees(incident))
    if rest := len(incident.tree) - shown:
        yield f'<p class="note">Not drawn: {rest} more. The tree below has all of them.</p>'


def _details(incident: Incident) -> Iterator[str]:
    for number, trouble in enumerate(words.told_in_full(incident), 1):
        yield f'<article class="s-{trouble.state.colour}" aria-labelledby="t{number}">'
        yield f'<h3 id="t{number}">{escaped(words.named(trouble))}{_badge(trouble.root_blocker)}</h3>'
        yield f"<p>{escaped(trouble.message)}</p>"
        yield "<dl>"
        yield f"<dt>State</dt><dd>{_state(trouble.state)}</dd>"
        yield from (f"<dt>{name}</dt><dd>{escaped(value)}</dd>" for name, value in words.facts(trouble, incident.at))
        yield from (f"<dt>Error</dt><dd>{escaped(words.error(error))}</dd>" for error in trouble.errors)
        yield "</dl>"
        yield from _todo(trouble)
        yield from _own_words(trouble.own_words)
        yield from _found(trouble.findings)
        yield from _evidence(trouble.evidence)
        yield "</article>"


def _own_words(told: Sequence[Words]) -> Iterator[str]:
    if told:
        yield "<h4>In the agent’s own words</h4>"
    for each in told:
        cite = f"<cite>{escaped(each.title)} – {escaped(words.where(each.place))}</cite>"
        yield f"<blockquote>{cite}{html.escape(safe(each.text).strip())}</blockquote>"


def _todo(trouble: Trouble) -> Iterator[str]:
    if trouble.todo:
        steps = "".join(f"<li>{escaped(step)}</li>" for step in trouble.todo)
        yield f'<h4>What to do</h4><ol class="plain">{steps}</ol>{_command(trouble.command)}'


def _found(findings: Sequence[Found]) -> Iterator[str]:
    if not findings:
        return
    yield from ("<h4>What the rules find</h4>", '<ul class="plain">')
    for finding in findings:
        yield f"<li><code>{escaped(finding.rule)}</code> {finding.severity}: {escaped(finding.message)}</li>"
    yield "</ul>"


def _command(command: str | None) -> str:
    if command is None:
        return ""
    if words.is_plain(command):
        return f'<pre class="command"><code>{html.escape(command)}</code></pre>'
    return f" Not to be copied, for something in it is hidden: <code>{escaped(command)}</code>"


def _evidence(evidence: Sequence[Excerpt]) -> Iterator[str]:
    if evidence:
        yield "<h4>Evidence</h4>"
    for excerpt in evidence:
        place = f"{words.where(excerpt.place)} ({', '.join(excerpt.shows)})"
        yield f'<div class="note place">{escaped(place)}</div>'
        if excerpt.text is None:
            yield '<p class="note">The line is no longer there.</p>'
        else:
            yield f"<pre>{html.escape(safe(excerpt.text))}{' …' if excerpt.cut else ''}</pre>"
