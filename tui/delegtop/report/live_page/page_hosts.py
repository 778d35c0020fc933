"""Other machines on the live page: which are there, and above all else which are not, since when and why."""

import html
from collections.abc import Sequence

from delegtop.base.clock import Millis
from delegtop.base.secrets import mask
from delegtop.base.text import line
from delegtop.model.forest import Forest
from delegtop.model.states import ACTIVE
from delegtop.report.host_table import HostRow, called, clock
from delegtop.report.live_page.page_rows import as_of_words
from delegtop.report.live_page.page_times import since

_THERE = frozenset({"live", "behind"})
_SAYS_NO_MORE = frozenset({"connecting", "stale"})
"""States of which the word says all; why it is so would be another sentence every second."""
_WHY, _MOST = 300, 100


def told(forest: Forest, hosts: Sequence[HostRow]) -> str:
    """How each stands, and how much there is of it; nothing if only this machine is looked at."""
    if not hosts:
        return ""
    items = "".join(f'<li class="{_kind(host)}">{_one(forest, host)}</li>' for host in hosts[:_MOST])
    rest = f"<li>and {len(hosts) - _MOST} more</li>" if len(hosts) > _MOST else ""
    return f'<ul class="hosts" aria-label="Hosts">{items}{rest}</ul>'


def missing(hosts: Sequence[HostRow]) -> str:
    """Those that do not tell what happens there: their rows are how it was."""
    away = [host for host in hosts if str(host.state) not in _THERE]
    items = "".join(f'<li class="{_kind(host)}">{_away(host)}</li>' for host in away[:_MOST])
    return f'<ul id="missing">{items}</ul>'


def _one(forest: Forest, host: HostRow) -> str:
    handles = list(forest.on_host(host.name))
    active = sum(forest.state(handle) in ACTIVE for handle in handles)
    counted = f", {active} open of {len(handles)}" if handles else ""
    wrong = f", clock {offset}" if (offset := clock(host)) else ""
    return f"<b>{_safe(called(host))}</b> {host.state}{counted}{wrong}"


def _away(host: HostRow) -> str:
    known = None if host.news_at is None else Millis(host.news_at + host.offset)
    for_ = "" if known is None else f" for {since(known, known)}"
    why = "" if str(host.state) in _SAYS_NO_MORE else _safe(host.plain.removeprefix(f"{host.name}: "))
    as_of = "" if known is None else f"its rows are as of {as_of_words(known)}"
    more = "; ".join(filter(None, (why, as_of)))
    return f"<b>{_safe(called(host))}</b> <b>{host.state}</b>{for_}{f'<span>: {more}</span>' if more else ''}"


def _kind(host: HostRow) -> str:
    state = str(host.state)
    return "there" if state in _THERE else "calm" if state == "connecting" else "late" if state == "stale" else "lost"


def _safe(foreign: str) -> str:
    return html.escape(line(mask(foreign), _WHY))
