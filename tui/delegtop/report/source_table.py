"""The sources as a table and as JSON: what was found, in which format, how big, how alive, and what was left out."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from shlex import quote
from typing import Any, Protocol

from delegtop.base.clock import SECOND, Millis, age, duration, iso
from delegtop.base.text import line
from delegtop.model.delegation import Note
from delegtop.model.forest import Forest
from delegtop.model.notes import LEFT_RUNNING
from delegtop.model.states import ACTIVE
from delegtop.report.figures import count
from delegtop.report.health import Health, standing
from delegtop.report.layout import fit

SCHEMA_VERSION = 1
UNKNOWN = "–"
_UNITS = ("B", "kB", "MB", "GB", "TB")
_COLUMNS = (("FORMAT", 18), ("VERSION", 10), ("SIZE", 8), ("WRITTEN", 9), ("STATUS", 12), ("DELEGATIONS", 12))
_RIGHT = frozenset({"SIZE", "WRITTEN"})


class SourceRow(Health, Protocol):
    """A source with its size and its last change."""

    @property
    def size(self) -> int: ...
    @property
    def changed_at(self) -> Millis | None: ...
    @property
    def told_at(self) -> Millis | None: ...


class SourceEvents:
    """What the sources told: how many delegations each, how many of them are open, and which versions wrote them."""

    def __init__(self, forest: Forest) -> None:
        self.delegations: Counter[str] = Counter()
        self.open: Counter[str] = Counter()
        self.versions: dict[str, dict[str, None]] = {}
        self.ahead: dict[str, int] = {}
        """Milliseconds that the last record of a source is later than now, if it is."""
        self.left_running: list[tuple[str, Note]] = []
        """What sessions that are gone left running, and which."""
        for handle in forest.walk():
            facts = forest.delegation(handle)
            self.left_running += ((facts.id, note) for note in facts.notes if note.kind == LEFT_RUNNING)
            for source in {origin.name for origin in facts.origins}:
                self.delegations[source] += 1
                self.open[source] += forest.state(handle) in ACTIVE
                if ahead := forest.ahead(handle):
                    self.ahead[source] = max(ahead, self.ahead.get(source, 0))
                if facts.version:
                    self.versions.setdefault(source, {})[facts.version] = None


def table(forest: Forest, statuses: Sequence[SourceRow]) -> Iterator[str]:
    """One line a source, those in use first; then how many of which format."""
    told = SourceEvents(forest)
    yield " ".join(fit(title, width, right=title in _RIGHT) for title, width in _COLUMNS) + " SOURCE"
    for status in sorted(statuses, key=lambda status: (status.dialect is None, -(status.changed_at or 0))):
        cells = _cells(status, told, forest.shown_at)
        row = " ".join(
            fit(cell, width, right=title in _RIGHT) for cell, (title, width) in zip(cells, _COLUMNS, strict=True)
        )
        details = line(status.detail), _ahead(status, told), _offer(status, forest.shown_at)
        detail = "; ".join(filter(None, details))
        yield f"{row} {line(status.path)}{f'  ({detail})' if detail else ''}"
    for session, note in told.left_running:
        yield f"Still running: {line(note.text)}, left by {line(session)}; `kill {note.origin.pid}` stops it."
    kinds = Counter(status.dialect for status in statuses if status.dialect)
    counted = ", ".join(f"{many} {name}" for name, many in kinds.most_common()) or "none is read"
    left_out = [status for status in statuses if status.status == "left out"]
    old = sum(status.told_at is None for status in left_out)
    more = f" Of {count(old, 'folder')} the older files are left out (--since 7d, --all)." if old else ""
    yield ""
    yield f"{count(len(statuses) - len(left_out), 'source')}: {counted}.{more}"


def _offer(status: SourceRow, now: Millis) -> str:
    """Of logs that lie here and are not read: how old they are, and what shows them."""
    if status.told_at is None:
        return ""
    return f"last record {age(now - status.told_at)} ago; `delegtop replay {line(quote(status.path))}` shows it"


def _ahead(status: SourceRow, told: SourceEvents) -> str:
    """By how much it is ahead of the clock."""
    ahead = told.ahead.get(status.path)
    return "" if ahead is None else f"its last record is {duration(ahead)} ahead of this machine's clock"


def _cells(status: SourceRow, told: SourceEvents, now: Millis) -> tuple[str, ...]:
    versions = list(told.versions.get(status.path, ()))
    version = f"{versions[-1]}{' …' if len(versions) > 1 else ''}" if versions else UNKNOWN
    written = f"{age(now - status.changed_at)} ago" if status.changed_at is not None else UNKNOWN
    word = standing(status.status, status.changed_at, now)
    all, active = told.delegations[status.path], told.open[status.path]
    delegations = f"{all} ({active} open)" if active else str(all) if status.dialect else UNKNOWN
    return status.dialect or UNKNOWN, line(version), size(status.size), written, word, delegations


def size(bytes: int) -> str:
    """Bytes for people: `812 B`, `1.4 MB`."""
    if not bytes:
        return UNKNOWN
    amount, unit = float(bytes), 0
    while amount >= 1000 and unit < len(_UNITS) - 1:
        amount, unit = amount / 1000, unit + 1
    return f"{amount:.0f} {_UNITS[unit]}" if unit == 0 or amount >= 100 else f"{amount:.1f} {_UNITS[unit]}"


def as_json(forest: Forest, statuses: Sequence[SourceRow]) -> Iterator[str]:
    """The same as JSON, a stable contract."""
    told = SourceEvents(forest)
    sources = [_entry(status, told) for status in statuses]
    # ASCII, so that printing it to a terminal does nothing
    whole = {"schema_version": SCHEMA_VERSION, "at": iso(forest.shown_at), "sources": sources}
    whole["left_running"] = [
        {"session_id": session, "pid": note.origin.pid, "process": note.text} for session, note in told.left_running
    ]
    yield json.dumps(whole, indent=2)


def _entry(status: SourceRow, told: SourceEvents) -> dict[str, Any]:
    return {
        "path": status.path,
        "format": status.dialect,
        "versions": list(told.versions.get(status.path, ())),
        "status": status.status,
        "detail": status.detail,
        "size": status.size,
        "written_at": None if status.changed_at is None else iso(status.changed_at),
        "ahead_seconds": told.ahead.get(status.path, 0) / SECOND,
        "last_record_at": None if status.told_at is None else iso(status.told_at),
        "records": status.records,
        "unreadable": status.unreadable,
        "deviations": status.deviations,
        "delegations": told.delegations[status.path],
        "open": told.open[status.path],
    }
