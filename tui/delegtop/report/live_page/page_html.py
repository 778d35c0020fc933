"""The live page as HTML: whole for whoever opens it, and of what changed for whoever has it before them.

There is no script and no style in it, and nothing in it is asked for elsewhere: the policy it is sent with forbids all
that. Without a script it is a page that comes anew every few seconds.
"""

import html
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from delegtop import __version__
from delegtop.base.clock import iso, parse_time
from delegtop.base.secrets import mask
from delegtop.base.text import line
from delegtop.model.states import State
from delegtop.report.incident import incident_words as words
from delegtop.report.incident.incident_gantt import drawing
from delegtop.report.incident.incident_pieces import GoingOn, article, chips
from delegtop.report.incident.incident_report import Node, Trouble
from delegtop.report.live_page.page_times import PageTimes, written_out

if TYPE_CHECKING:
    from delegtop.report.live_page.page_gather import PagePicture

STYLE, SCRIPT = "live.css", "live.js"
OLD_AFTER = 15
"""Seconds without a word after which the page says that it is old."""
_ANEW = 10
"""Seconds after which it comes anew where no script runs."""


# -- blocks ----------------------------------------------------------------------------------------------------------


def lead(sentence: str, problems: int) -> str:
    """The answer in a sentence."""
    kind = "bad" if problems else "good"
    return f'<p id="lead" class="lead {kind}">{html.escape(sentence)}</p>'


def about(
    counts: Mapping[State, int], hosts: Mapping[str, int], sources: int, ailing: int, hosts_told: str = ""
) -> str:
    """What is looked at: how many in each state, on which machines, from how many sources; `hosts_told` says how those
    stand that were asked."""
    told = {state: counts[state] for state in State if counts.get(state)}
    where = ""
    if any(hosts) and not hosts_told:
        names = (
            f"{html.escape(line(mask(host), 80)) or 'this machine'} {count}" for host, count in sorted(hosts.items())
        )
        where = f'<p class="meta">Hosts: {" · ".join(names)}</p>'
    read = f"{sources} source{'' if sources == 1 else 's'}"
    unwell = f", {ailing} of them not read well" if ailing else ""
    return f'<div id="about">{chips(told)}{where}{hosts_told}<p class="meta">{read}{unwell}</p></div>'


def more(id: str, count: int, of: str) -> str:
    """How many there is no room for."""
    return f'<p id="{id}" class="note">{f"{count} more {of}." if count else ""}</p>'


def earlier(count: int) -> str:
    """What the trees are called of which nothing is open."""
    return f'<summary id="earlier-title">Earlier ({count})</summary>'


# -- pages -----------------------------------------------------------------------------------------------------------


def whole(picture: "PagePicture") -> Iterator[str]:
    """All of it, for whoever opens it."""
    blocks = {id: written_out(block.html, picture.at) for id, block in picture.blocks.items()}
    lists = {
        name: f'<ul id="{name}-list" class="{name}">{"".join(blocks[id] for id in listed.ids)}</ul>'
        for name, listed in picture.lists.items()
    }
    yield from _head(title(picture.problems), "", f' data-version="{picture.name}" data-now="{picture.at}"', _ANEW)
    yield from (
        '<a class="skip" href="#tree-list">To the tree</a>',
        "<header>",
        "<h1>delegtop</h1>",
        f'<p id="pulse" class="meta">As of {words.clock(iso(picture.at))} UTC</p>',
        f'<p id="old" role="alert" hidden>no word for {OLD_AFTER} s: what you see is old</p>',
        "</header>",
        "<main>",
        '<section aria-labelledby="stuck-title">',
        '<h2 id="stuck-title" class="unseen">What is stuck</h2>',
        f'<div aria-live="polite">{blocks["lead"]}{blocks["missing"]}</div>',
        lists["stuck"],
        blocks["more-stuck"],
        "</section>",
        '<section aria-labelledby="tree-title">',
        '<h2 id="tree-title">All delegations</h2>',
        blocks["about"],
        lists["tree"],
        blocks["more-tree"],
        f"<details>{blocks['earlier-title']}{lists['earlier']}{blocks['more-earlier']}</details>",
        "</section>",
        "</main>",
        f'<footer class="meta">Read only; secrets are masked. delegtop {__version__}</footer>',
    )
    yield from _END


def changes(picture: "PagePicture", since: int) -> Iterator[str]:
    """What became another after that version: blocks, and lists by the ids in them."""
    facts = f'data-version="{picture.name}" data-title="{title(picture.problems)}"'
    yield f'<!doctype html><html {facts}><head><meta charset="utf-8"></head><body>'
    for name, listed in picture.lists.items():
        if listed.version > since:
            yield f'<ul data-list="{name}-list" data-order="{" ".join(listed.ids)}"></ul>'
    yield from (block.html for block in picture.blocks.values() if block.version > since)
    yield from _END


def details(trouble: Trouble, message: str, tree: list[Node], times: PageTimes) -> Iterator[str]:
    """All that is known of one delegation, and its tree over time; the message is HTML."""
    at = iso(times.now)

    def ago(moment: str | None) -> str:
        then = parse_time(moment) if moment else None
        known = then is not None and then <= times.now
        return words.clock(moment) + (f" UTC ({times.mark(then)} ago)" if then is not None and known else "")

    as_of = f"{words.clock(at)} UTC"
    told = article(trouble, f"t-{times.now}", ago, GoingOn(message, times.written, as_of))
    yield from _head(html.escape(line(trouble.name, 80)), "../", "")
    yield '<p class="back"><a href="../">All delegations</a></p>'
    yield "<main>"
    yield from (written_out(each, times.shown_at) for each in told)
    yield from drawing(tree, at, f"g-{times.now}")
    yield f'<p class="note">As of {as_of}.</p>'
    yield "</main>"
    yield from _END


def title(problems: int) -> str:
    return f"({problems}) stuck – delegtop" if problems else "delegtop"


_END = ("</body>", "</html>")


def _head(title: str, base: str, facts: str, anew: int = 0) -> Iterator[str]:
    yield from (
        "<!doctype html>",
        f'<html lang="en"{facts}>',
        "<head>",
        '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        f"<title>{title}</title>",
        f'<link rel="stylesheet" href="{base}{STYLE}">',
    )
    if anew:
        yield f'<script src="{base}{SCRIPT}" defer></script>'
        yield f'<noscript><meta http-equiv="refresh" content="{anew}"></noscript>'
    yield from ("</head>", "<body>")
