"""The incident as Markdown, for an issue, a chat or a mail. What strangers wrote in it stays text."""

import re
from collections.abc import Iterable, Iterator, Sequence

from delegtop.base.text import line, safe
from delegtop.report.incident import incident_words as words
from delegtop.report.incident.incident_report import Excerpt, Incident, Trouble, Words
from delegtop.report.tree_json import Found

_INLINE = re.compile(r"[\\`*\[\]|~$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_AT_START = re.compile(r"^(\s*)([-+#=:]|[0-9]+(?=[.)]))")
_LINKS = re.compile(r":(?=//)|(?<=[wW]{3})\.")
_INDENT = "\u2003"
"""An em space for each level: Markdown drops common ones."""


def escaped(text: str) -> str:
    """Foreign text on one line, every sign in it that Markdown or HTML would act on made harmless."""
    text = line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = _LINKS.sub(r"\\\g<0>", _INLINE.sub(r"\\\g<0>", text))
    text = text.replace("@", "@<!-- -->")  # or a host that knows a user of that name would tell them
    return _AT_START.sub(_first, text.strip())


def _first(match: re.Match[str]) -> str:
    sign = match[2]
    return f"{match[1]}\\{sign}" if not sign[0].isdigit() else f"{match[1]}{sign}\\"


def lines(incident: Incident) -> Iterator[str]:
    """The whole document."""
    yield from ("# Incident report", "", escaped(incident.headline), "")
    yield f"- State at {words.clock(incident.at)} UTC: {escaped(words.counts(incident))}"
    if used := words.used(incident):
        yield f"- Used: {escaped(used)}"
    if incident.only is not None:
        yield f"- Only {escaped(incident.only)}, with all above and below it"
    yield f"- Written by {escaped(incident.program)}; secrets are masked as `[masked]`"
    yield from _section("What hung", _hung(incident))
    for number, trouble in enumerate(words.told_in_full(incident), 1):
        yield from _section(f"{number}. {escaped(words.named(trouble))}", _trouble(trouble, incident.at))
    yield from _section("Timeline", _timeline(incident))
    yield from _section("Tree", _tree(incident))
    yield from _section("What else was found", _findings(incident))
    yield from _section("Sources", _sources(incident))


def _section(title: str, body: Iterable[str]) -> Iterator[str]:
    told = list(body)
    if told:
        yield from ("", f"## {title}", "", *told)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    body = [f"| {' | '.join(escaped(cell) or words.UNKNOWN for cell in row)} |" for row in rows]
    if body:
        yield from (f"| {' | '.join(head)} |", f"| {' | '.join('---' for _ in head)} |", *body)


def _left_out(count: int, of: str) -> Iterator[str]:
    if count:
        yield from ("", words.left_out(count, of))


def _hung(incident: Incident) -> Iterator[str]:
    if not incident.troubles:
        yield "Nothing."
        return
    rows = (words.hung_row(trouble) for trouble in incident.troubles)
    marked = (
        (f"{row[0]} (root blocker)" if trouble.root_blocker else row[0], *row[1:])
        for trouble, row in zip(incident.troubles, rows, strict=True)
    )
    yield from _table(words.HUNG_HEAD, marked)
    yield from _left_out(incident.left_out.troubles, "delegations in trouble")


def _trouble(trouble: Trouble, now: str) -> Iterator[str]:
    if trouble.root_blocker:
        yield from ("**Root blocker:** everything on the path above it waits for it.", "")
    yield from (escaped(trouble.message), "")
    yield from (f"- {name}: {escaped(value)}" for name, value in words.facts(trouble, lambda at: words.ago(at, now)))
    yield from (f"- Error: {escaped(words.error(error))}" for error in trouble.errors)
    yield from _todo(trouble)
    yield from _own_words(trouble.own_words)
    yield from _found(trouble.findings)
    yield from _evidence(trouble.evidence)


def _own_words(told: Sequence[Words]) -> Iterator[str]:
    if told:
        yield from ("", "### In the agent's own words")
    for each in told:
        yield from ("", f"{each.title.capitalize()} ({escaped(words.where(each.place))}):", "")
        yield from (f"> {escaped(part)}" for part in safe(each.text).splitlines() if part.strip())


def _todo(trouble: Trouble) -> Iterator[str]:
    if trouble.todo:
        yield from ("", "### What to do", "")
    yield from (f"{number}. {escaped(step)}" for number, step in enumerate(trouble.todo, 1))
    if trouble.command is not None and words.is_plain(trouble.command):
        yield from ("", *_fenced(trouble.command))
    elif trouble.command is not None:
        yield from ("", f"Not to be copied, for something in it is hidden: {escaped(trouble.command)}")


def _found(findings: Sequence[Found]) -> Iterator[str]:
    if findings:
        yield from ("", "### What the rules find", "")
    for finding in findings:
        yield f"- **{finding.rule}** ({finding.severity}) {escaped(finding.message)}"


def _evidence(evidence: Sequence[Excerpt]) -> Iterator[str]:
    if evidence:
        yield from ("", "### Evidence")
    for excerpt in evidence:
        yield from ("", f"{escaped(words.where(excerpt.place))} ({', '.join(excerpt.shows)}):", "")
        if excerpt.text is None:
            yield f"*{words.missing(excerpt.place)}*"
        else:
            yield from _fenced(excerpt.text + (" …" if excerpt.cut else ""))


def _fenced(text: str) -> Iterator[str]:
    """A code block whose fence is longer than any in it."""
    text = safe(text)
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    yield from (f"{fence}text", *text.splitlines(), fence)


def _timeline(incident: Incident) -> Iterator[str]:
    yield from _table(words.TIMELINE_HEAD, map(words.timeline_row, incident.timeline))
    yield from _left_out(incident.left_out.timeline, "moments")


def _tree(incident: Incident) -> Iterator[str]:
    rows = list(incident.tree)
    if not rows:
        return
    yield from (f"| {' | '.join(words.TREE_HEAD)} |", f"| {' | '.join('---' for _ in words.TREE_HEAD)} |")
    for node in rows:
        sign = "└ " if node.level else ""
        name = escaped(words.named(node)) + (" **(root blocker)**" if node.root_blocker else "")
        cells = (escaped(cell) or words.UNKNOWN for cell in words.tree_row(node))
        yield f"| {_INDENT * min(node.level - 1, 20)}{sign}{name} | {' | '.join(cells)} |"
    yield from _left_out(incident.left_out.tree, "delegations")


def _sources(incident: Incident) -> Iterator[str]:
    rows = words.source_rows(incident)
    yield from _table(words.SOURCES_HEAD, rows)
    yield from _left_out(len(incident.sources) - len(rows), "sources")


def _findings(incident: Incident) -> Iterator[str]:
    yield from _table(words.FINDINGS_HEAD, words.finding_rows(incident))
    yield from _left_out(incident.left_out.findings, "findings")
