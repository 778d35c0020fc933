"""The incident as one HTML file: no script, no request, readable in light, in dark and on paper.

It is put together from pieces that escape every word that is not ours; beyond that a policy in the head forbids the
page to load or run anything at all.
"""

from collections.abc import Iterator, Sequence

from delegtop.report.incident import incident_words as words
from delegtop.report.incident.incident_gantt import NOW, drawings, drawn_trees
from delegtop.report.incident.incident_pieces import (
    article,
    badge,
    chips,
    escaped,
    indent,
    rows,
    section,
    state_word,
    table,
)
from delegtop.report.incident.incident_report import Incident, Node, Trouble
from delegtop.report.incident.incident_style import STYLE

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


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
    yield from section("hung", "What hung", _hung(incident))
    yield from section("time", "Over time", _gantt(incident))
    yield from section("details", "One by one", _details(incident))
    yield from section("timeline", "Timeline", _timeline(incident))
    yield from section("tree", "Tree", _tree(incident))
    yield from section("findings", "What else was found", _findings(incident))
    yield from section("sources", "Sources", _sources(incident))
    yield from ("</main>", "</body>", "</html>")


def _head(incident: Incident) -> Iterator[str]:
    yield "<header>"
    yield "<h1>Incident report</h1>"
    yield f'<p class="lead">{escaped(incident.headline)}</p>'
    yield chips(incident.counts)
    only = f" Only {escaped(incident.only)}, with all above and below it." if incident.only is not None else ""
    if used := words.used(incident):
        yield f'<p class="meta">Used: {escaped(used)}.</p>'
    yield (
        f'<p class="meta">State at {words.clock(incident.at)} UTC.{only} Written by {escaped(incident.program)}; '
        "secrets are masked.</p>"
    )
    yield "</header>"


def _left_out(count: int, of: str) -> Iterator[str]:
    if count:
        yield f'<p class="note">{words.left_out(count, of)}</p>'


def _hung(incident: Incident) -> Iterator[str]:
    if not incident.troubles:
        yield "<p>Nothing.</p>"
        return
    yield from rows(words.HUNG_HEAD, map(_hung_row, incident.troubles))
    yield from _left_out(incident.left_out.troubles, "delegations in trouble")


def _hung_row(trouble: Trouble) -> tuple[str, Sequence[str]]:
    name, state, *rest = words.hung_row(trouble)
    cells = (escaped(name) + badge(trouble.root_blocker), state_word(state), *map(escaped, rest))
    return "blocker" if trouble.root_blocker else "", cells


def _timeline(incident: Incident) -> Iterator[str]:
    yield from table(words.TIMELINE_HEAD, map(words.timeline_row, incident.timeline))
    yield from _left_out(incident.left_out.timeline, "moments")


def _tree(incident: Incident) -> Iterator[str]:
    yield from rows(words.TREE_HEAD, map(_tree_row, incident.tree))
    yield from _left_out(incident.left_out.tree, "delegations")


def _tree_row(node: Node) -> tuple[str, Sequence[str]]:
    inset = f'<span class="{indent(node.level)}"></span>' if node.level else ""
    sign = "└ " if node.level else ""
    state, *rest = words.tree_row(node)
    name = f"{inset}{sign}{escaped(words.named(node))}{badge(node.root_blocker)}"
    return "blocker" if node.root_blocker else "", (name, state_word(state), *map(escaped, rest))


def _sources(incident: Incident) -> Iterator[str]:
    rows = words.source_rows(incident)
    yield from table(words.SOURCES_HEAD, rows)
    yield from _left_out(len(incident.sources) - len(rows), "sources")


def _findings(incident: Incident) -> Iterator[str]:
    yield from table(words.FINDINGS_HEAD, words.finding_rows(incident))
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
        yield from article(trouble, f"t{number}", lambda at: words.ago(at, incident.at))
