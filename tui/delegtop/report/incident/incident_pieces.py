"""The pieces that HTML of delegations is put together from: tables, words for states, and all there is to say of one.

The report is made of them, and so is the live page. Every word that is not ours passes `safe` and `escape` here.
"""

import html
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from delegtop.base.text import line, safe
from delegtop.model.states import State
from delegtop.report.incident import incident_words as words
from delegtop.report.incident.incident_report import Excerpt, Trouble, Words
from delegtop.report.tree_json import Found

DEEPEST = 20
"""Levels that are indented; what hangs deeper stands below them."""
_KINDS = {
    **dict.fromkeys(
        ("State", "Since (UTC)", "Started (UTC)", "Took", "Cost", "Time (UTC)", "Rule", "Severity"), "tight"
    ),
    **dict.fromkeys(("What is wrong", "What happened", "What to do", "Remark"), "prose"),
    "Verdict": "whole",
}
"""How the cells of some columns are set."""
_COLOURS = {state.value: state.colour for state in State}


def escaped(text: str) -> str:
    """Foreign text on one line, as text."""
    return html.escape(line(text))


def section(id: str, title: str, body: Iterable[str]) -> Iterator[str]:
    """A part with its title; nothing if there is nothing to tell."""
    told = list(body)
    if told:
        yield from (f'<section aria-labelledby="{id}">', f'<h2 id="{id}">{title}</h2>', *told, "</section>")


# -- tables ----------------------------------------------------------------------------------------------------------


def table(head: Sequence[str], rows_of_it: Iterable[Sequence[str]]) -> Iterator[str]:
    yield from rows(head, (("", [escaped(cell) for cell in row]) for row in rows_of_it))


def rows(head: Sequence[str], rows_of_it: Iterable[tuple[str, Sequence[str]]]) -> Iterator[str]:
    """A table of cells that are escaped already, each row with its class."""
    body = [_row(kind, head, cells) for kind, cells in rows_of_it]
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


def chips(counts: Mapping[State, int]) -> str:
    """How many there are in each state."""
    told = (f'<li class="s-{state.colour}"><b>{count}</b> {state}</li>' for state, count in counts.items())
    return f'<ul class="chips" aria-label="Delegations by state">{"".join(told)}</ul>'


def state_word(state: str) -> str:
    return f'<span class="word s-{_COLOURS[state]}">{state}</span>'


def badge(is_blocker: bool) -> str:
    return ' <span class="badge">root blocker</span>' if is_blocker else ""


def indent(level: int) -> str:
    """The class of what hangs so deep."""
    return f"in{min(level, DEEPEST)}"


# -- one delegation --------------------------------------------------------------------------------------------------

Ago = Callable[[str | None], str]
"""How a moment is told, by its ISO 8601 form."""


class GoingOn(NamedTuple):
    """How one is told where time goes on: the report of a moment needs none of it."""

    message: str | None = None
    """What is wrong with it, as HTML."""
    written: Callable[[str], str] = escaped
    """Makes HTML of a text that has moments in it."""
    as_of: str = ""
    """The moment of what does not go on."""


AT_ONE_MOMENT = GoingOn()


def article(trouble: Trouble, id: str, ago: Ago, going_on: GoingOn = AT_ONE_MOMENT) -> Iterator[str]:
    """All there is to say of one."""
    yield f'<article class="s-{trouble.state.colour}" aria-labelledby="{id}">'
    yield f'<h3 id="{id}">{escaped(words.named(trouble))}{badge(trouble.root_blocker)}</h3>'
    yield f"<p>{escaped(trouble.message) if going_on.message is None else going_on.message}</p>"
    yield "<dl>"
    yield f"<dt>State</dt><dd>{state_word(trouble.state)}</dd>"
    yield from (f"<dt>{name}</dt><dd>{going_on.written(value)}</dd>" for name, value in words.facts(trouble, ago))
    yield from (f"<dt>Error</dt><dd>{escaped(words.error(error))}</dd>" for error in trouble.errors)
    yield "</dl>"
    yield from todo(trouble.todo, trouble.command, "h4")
    yield from _own_words(trouble.own_words)
    yield from _found(trouble.findings, going_on.as_of)
    yield from _evidence(trouble.evidence)
    yield "</article>"


def todo(steps: Sequence[str], command: str | None, title: str) -> Iterator[str]:
    """What to do, and what to type for it, below a title of that rank."""
    if steps:
        told = "".join(f"<li>{escaped(step)}</li>" for step in steps)
        yield f'<{title}>What to do</{title}><ol class="plain">{told}</ol>{typed(command)}'


def typed(command: str | None) -> str:
    """What to type, to be copied; if something in it hides, only to be read."""
    if command is None:
        return ""
    if words.is_plain(command):
        return f'<pre class="command"><code>{html.escape(command)}</code></pre>'
    return f" Not to be copied, for something in it is hidden: <code>{escaped(command)}</code>"


def _own_words(told: Sequence[Words]) -> Iterator[str]:
    if told:
        yield "<h4>In the agent’s own words</h4>"
    for each in told:
        cite = f"<cite>{escaped(each.title)} – {escaped(words.where(each.place))}</cite>"
        yield f"<blockquote>{cite}{html.escape(safe(each.text).strip())}</blockquote>"


def _found(findings: Sequence[Found], as_of: str) -> Iterator[str]:
    if not findings:
        return
    yield from (f"<h4>What the rules find{f', as of {as_of}' if as_of else ''}</h4>", '<ul class="plain">')
    for finding in findings:
        yield f"<li><code>{escaped(finding.rule)}</code> {finding.severity}: {escaped(finding.message)}</li>"
    yield "</ul>"


def _evidence(evidence: Sequence[Excerpt]) -> Iterator[str]:
    if evidence:
        yield "<h4>Evidence</h4>"
    for excerpt in evidence:
        place = f"{words.where(excerpt.place)} ({', '.join(excerpt.shows)})"
        yield f'<div class="note place">{escaped(place)}</div>'
        if excerpt.text is None:
            yield f'<p class="note">{words.missing(excerpt.place)}</p>'
        else:
            yield f"<pre>{html.escape(safe(excerpt.text))}{' …' if excerpt.cut else ''}</pre>"
