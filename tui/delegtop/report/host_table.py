"""Hosts as a table and as JSON: how each stands, which version it has, how old its news is, how much it tells of."""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from delegtop.base import machine
from delegtop.base.clock import SECOND, Millis, age, iso
from delegtop.base.text import line
from delegtop.model.forest import Forest
from delegtop.model.states import ACTIVE
from delegtop.report.figures import count
from delegtop.report.layout import fit

SCHEMA_VERSION = 1
UNKNOWN = "–"
TELLING = 2 * SECOND
"""Clocks that differ by more are told to."""
_COLUMNS = (("HOST", 20), ("STATE", 12), ("VERSION", 10), ("NEWS", 8), ("CLOCK", 8), ("DELEGATIONS", 0))
_RIGHT = frozenset({"NEWS", "CLOCK"})


class HostRow(Protocol):
    """How a host stands. The feed's statuses fit; reports do not import the feed."""

    @property
    def name(self) -> str: ...
    @property
    def state(self) -> str: ...
    @property
    def plain(self) -> str: ...
    @property
    def news_at(self) -> Millis | None: ...
    @property
    def offset(self) -> int: ...
    @property
    def version(self) -> str: ...


def called(host: HostRow) -> str:
    """Its name, that of this machine included."""
    return line(host.name or machine.name(), 60)


def table(forest: Forest, hosts: Sequence[HostRow]) -> Iterator[str]:
    """One line a host; then what is to be said of those that are not live."""
    width = max((len(called(host)) for host in hosts), default=0)
    columns = (("HOST", min(max(width, 6), 40)), *_COLUMNS[1:])
    yield " ".join(fit(title, width, right=title in _RIGHT) if width else title for title, width in columns)
    for host in hosts:
        cells = (called(host), str(host.state), *_cells(forest, host))
        yield " ".join(
            fit(cell, width, right=title in _RIGHT) if width else cell
            for cell, (title, width) in zip(cells, columns, strict=True)
        )
    told = [line(host.plain, 400) for host in hosts if str(host.state) != "live"]
    yield from ("", *told) if told else ()


def _cells(forest: Forest, host: HostRow) -> tuple[str, str, str, str]:
    news = UNKNOWN if host.news_at is None or not host.name else f"{age(news_age(forest, host))} ago"
    handles = list(forest.on_host(host.name))
    active = sum(forest.state(handle) in ACTIVE for handle in handles)
    told = (
        f"{count(len(handles), 'delegation').split()[0]}{f', {active} open' if active else ''}" if handles else UNKNOWN
    )
    return line(host.version, 20) or UNKNOWN, news, clock(host) or UNKNOWN, told


def news_age(forest: Forest, host: HostRow) -> int:
    """How old its news is, in milliseconds."""
    return 0 if host.news_at is None else max(forest.shown_at - host.offset - host.news_at, 0)


def clock(host: HostRow) -> str:
    """By how much its clock is otherwise, as `+600 s`; nothing if that is not worth telling."""
    return f"{-host.offset / SECOND:+,.0f} s" if abs(host.offset) > TELLING else ""


def entry(host: HostRow) -> dict[str, Any]:
    """One host as JSON, a stable contract."""
    return {
        "name": called(host),
        "state": str(host.state),
        "news_at": None if host.news_at is None else iso(host.news_at),
        "offset_ms": host.offset,
        "version": host.version or None,
    }


def as_json(forest: Forest, hosts: Sequence[HostRow]) -> Iterator[str]:
    import json  # the dashboard prints none, and its first picture does not wait for it

    told = []
    for host in hosts:
        handles = list(forest.on_host(host.name))
        active = sum(forest.state(handle) in ACTIVE for handle in handles)
        told.append({**entry(host), "text": host.plain, "delegations": len(handles), "open": active})
    # ASCII, so that printing it to a terminal does nothing
    yield json.dumps({"schema_version": SCHEMA_VERSION, "at": iso(forest.shown_at), "hosts": told}, indent=2)
