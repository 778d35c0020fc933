"""How everything stands, as JSON: a stable contract for whoever reads it (docs/status.md), and what the file holds.

The file may hold anybody's words. What is not as it should be makes all of it nothing; every text becomes one harmless
line of bounded length, every number one that can be.
"""

import json
from typing import Any, TypeVar

from delegtop.base import text
from delegtop.base.clock import Millis, iso, parse_time
from delegtop.report.status.machine_status import (
    URGENCIES,
    FirstProblem,
    MachineStatus,
    SessionStatus,
    Tally,
    UnreadPlace,
)

VERSION = 1
SESSIONS = 200
"""So many are listed, at most."""
IDS = 8
PLACES = 20
"""That cannot be read; the same."""
_STATES = 20
_WORD, _NAME, _PATH, _SENTENCE = 40, 120, 1_000, 600
_LARGEST = 1_000_000_000
_EXITS = (0, 1, 3)

Value = TypeVar("Value", int, str)


class NoStatusError(ValueError):
    """What was read does not say how things stand."""


def encode(status: MachineStatus) -> str:
    return json.dumps(to_json(status), separators=(",", ":"))


def to_json(status: MachineStatus) -> dict[str, Any]:
    return {
        "schema_version": VERSION,
        "at": iso(status.at),
        "by": status.by,
        "cost_ms": status.cost,
        **_tally_json(status.tally),
        "sessions": [_session_json(session) for session in status.sessions],
        "sessions_left_out": status.left_out,
        "unread": [place._asdict() for place in status.unread],
    }


def printed(status: MachineStatus | None, now: Millis, *, is_old: bool, wrong: str = "") -> str:
    """What a script is told: the same, how old it is, whether that is too old to be taken for now, and what is `wrong`
    with the settings."""
    known = {} if status is None else to_json(status)
    age = None if status is None else max(now - status.at, 0)
    told = {"schema_version": VERSION, "known": bool(known), "is_old": is_old, "age_ms": age}
    return json.dumps(told | {"settings_error": text.line(wrong, _SENTENCE) or None} | known)


def _tally_json(tally: Tally) -> dict[str, Any]:
    first = tally.first
    return {
        "states": dict(tally.states),
        "quiet": tally.quiet,
        "problems": tally.problems,
        "exit_code": tally.exit,
        "first": first and {**first._asdict(), "since": None if first.since is None else iso(first.since)},
    }


def _session_json(session: SessionStatus) -> dict[str, Any]:
    return {**session._asdict(), "also": list(session.also), "tally": _tally_json(session.tally)}


def decode(data: bytes) -> MachineStatus:
    """What the text says; NoStatusError if it is no such text, or one of another version."""
    try:
        return _status(_table(json.loads(data)))
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise NoStatusError(str(error)) from None


def _status(read: dict[str, Any]) -> MachineStatus:
    if read["schema_version"] != VERSION:
        raise NoStatusError("another version")
    return MachineStatus(
        at=_moment(read["at"]),
        by=_line(read["by"], _WORD),
        cost=_number(read["cost_ms"]),
        tally=_tally(read),
        sessions=tuple(map(_session, _list(read["sessions"])[:SESSIONS])),
        left_out=_number(read["sessions_left_out"]),
        unread=tuple(map(_place, _list(read.get("unread", []))[:PLACES])),
    )


def _tally(read: dict[str, Any]) -> Tally:
    states = _table(read["states"])
    if len(states) > _STATES:
        raise NoStatusError("more states than there are")
    return Tally(
        states={_line(state, _WORD): _number(count) for state, count in states.items()},
        quiet=_number(read["quiet"]),
        problems=_number(read["problems"]),
        exit=_one_of(_EXITS, read["exit_code"]),
        first=None if read["first"] is None else _trouble(_table(read["first"])),
    )


def _trouble(read: dict[str, Any]) -> FirstProblem:
    return FirstProblem(
        id=_line(read["id"], _NAME),
        name=_line(read["name"], _NAME),
        project=_line(read["project"], _NAME),
        state=_line(read["state"], _WORD),
        urgency=_one_of(URGENCIES, read["urgency"]),
        kind=_line(read["kind"], _NAME),
        short=_line(read["short"], _WORD),
        tool=_line(read["tool"], _WORD),
        sure=read["sure"] is True,
        since=None if read["since"] is None else _moment(read["since"]),
        holds_up=_number(read["holds_up"]),
        sentence=_line(read["sentence"], _SENTENCE),
        host=_line(read.get("host", ""), _NAME),
    )


def _place(read: Any) -> UnreadPlace:
    read = _table(read)
    return UnreadPlace(_line(read["path"], _PATH), _line(read["why"], _NAME))


def _session(read: Any) -> SessionStatus:
    read = _table(read)
    return SessionStatus(
        id=_line(read["id"], _NAME),
        also=tuple(_line(each, _NAME) for each in _list(read["also"])[:IDS]),
        product=_line(read["product"], _WORD),
        name=_line(read["name"], _NAME),
        folder=_line(read["folder"], _PATH),
        project=_line(read["project"], _NAME),
        tally=_tally(_table(read["tally"])),
        host=_line(read.get("host", ""), _NAME),
    )


def _line(read: Any, limit: int) -> str:
    if not isinstance(read, str):
        raise NoStatusError("no text")
    return text.line(read, limit)


def _number(read: Any) -> int:
    if type(read) is not int or not 0 <= read <= _LARGEST:
        raise NoStatusError("no number")
    return read


def _one_of(values: tuple[Value, ...], read: Any) -> Value:
    if read not in values:
        raise NoStatusError("none of what it can be")
    return values[values.index(read)]


def _moment(read: Any) -> Millis:
    at = parse_time(read) if isinstance(read, str) else None
    if at is None:
        raise NoStatusError("no time")
    return at


def _table(read: Any) -> dict[str, Any]:
    if not isinstance(read, dict):
        raise NoStatusError("no table")
    return read


def _list(read: Any) -> list[Any]:
    if not isinstance(read, list):
        raise NoStatusError("no list")
    return read
