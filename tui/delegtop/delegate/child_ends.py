"""How the delegations ended that another one had handed out, and what of it must be handed up."""

import json
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from delegtop.base.clock import Millis, parse_time
from delegtop.base.text import cut
from delegtop.delegate.error_objects import error_fields
from delegtop.protocols.standard.contract import own_words
from delegtop.protocols.standard.contract.return_contract import ERROR_CODES, ERROR_TYPES, STATUSES

_MOST = 20
"""Errors that are handed up, at most: they become one line of a log."""
_LONGEST = 2_000
"""Characters of a text in an error that is handed up as it is."""
_NAMED, _NAME = 3, 40
_TIMEOUT = "timeout"


@dataclass
class ChildEnd:
    """One of them."""

    name: str
    parent: str | None
    started: Millis
    ended: Millis | None = None
    outcome: str = ""
    """The status of its return, or `timeout`."""
    errors: list[object] = field(default_factory=list)
    """What its return says."""
    noted: list[object] = field(default_factory=list)
    """What was noted of it otherwise."""

    def returned(self, at: Millis, given: object) -> None:
        """It gave a return, which outweighs that it was given up."""
        status = given.get("status") if isinstance(given, Mapping) else None
        if isinstance(given, Mapping) and status in STATUSES:
            errors = given.get("errors")
            self.ended, self.outcome, self.errors = at, status, list(errors) if isinstance(errors, list) else []

    def timed_out(self, at: Millis) -> None:
        if not self.outcome:
            self.ended, self.outcome = at, _TIMEOUT


def undone(children: Iterable[ChildEnd]) -> list[ChildEnd]:
    """Those that did not succeed, and were not called again with success, in the order in which they ended."""
    ended = sorted((child for child in children if child.outcome), key=lambda child: child.ended or child.started)
    done = [child for child in ended if child.outcome == "completed"]
    return [child for child in ended if child.outcome != "completed" and not _again(child, done)]


def _again(child: ChildEnd, done: list[ChildEnd]) -> bool:
    return any(other.name == child.name and child.ended is not None and child.ended <= other.started for other in done)


def named(children: list[ChildEnd]) -> str:
    """Who they are, in words for a summary."""
    shown = ", ".join(f"{cut(child.name, _NAME)} ({child.outcome})" for child in children[:_NAMED])
    return shown + (f" and {len(children) - _NAMED} more" if len(children) > _NAMED else "")


def errors_of(children: list[ChildEnd]) -> list[dict[str, Any]]:
    """Their errors, for who hands them up. Each is as its agent gave it, if the standard has it so."""
    errors: list[dict[str, Any]] = []
    for child in children:
        given = [each for each in child.errors or child.noted if isinstance(each, Mapping)]
        found = [_standard(child, each) for each in given] or [
            _own(f"{child.name} ended {child.outcome} and did not say why")
        ]
        errors += [each for each in found if each not in errors]
    if len(errors) > _MOST:
        more = f"{len(errors) - _MOST} more errors of children are in the log"
        errors = [*errors[:_MOST], _own(more)]
    return errors


def _standard(child: ChildEnd, error: Mapping[str, Any]) -> dict[str, Any]:
    texts = [error.get(name) for name in ("message", "code", "recommendation")]
    said = all(isinstance(text, str) and text.strip() and len(text) <= _LONGEST for text in texts)
    known = said and error.get("type") in ERROR_TYPES and error["code"] in ERROR_CODES
    if known and isinstance(error.get("recoverable"), bool):
        return {name: error[name] for name in _FIELDS if name in error}
    message = error.get("message")
    return _own(f"{child.name}: {message if isinstance(message, str) and message.strip() else 'no message'}")


_FIELDS = ("type", "message", "code", "recoverable", "recommendation", "made_by")


def _own(message: str) -> dict[str, Any]:
    return error_fields("execution", "UNKNOWN_ERROR", message, own_words.READ_CHILD)


def lines_since(log: Path, offset: int) -> Iterator[bytes]:
    """The lines of a log from there on; from its beginning if it was begun anew since. Those that are far too long, or
    that no file holds, are left out."""
    try:
        with log.open("rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                return
            file.seek(offset if found.st_size >= offset else 0)
            while line := file.readline(_LINE):
                yield line
    except OSError:
        return


def ids_in(lines: Iterable[bytes]) -> set[str]:
    """The delegations they speak of."""
    return {found[1].decode("utf-8", "replace") for line in lines for found in _ID.finditer(line)}


def children_in(lines: Iterable[bytes], parent: str) -> dict[str, ChildEnd]:
    """The delegations that one handed out, by their session ids."""
    children: dict[str, ChildEnd] = {}
    known = {parent.encode()}
    for line in lines:
        # Others may have written most of it, so it is not all decoded.
        if not any(found[1] in known for found in _ID.finditer(line)):
            continue
        record = _decoded(line)
        id, event, at = record.get("session_id"), record.get("event"), _time(record.get("at"))
        if not isinstance(id, str) or at is None:
            continue
        if event == "register" and record.get("parent_session_id") == parent:
            children[id] = ChildEnd(_name(record), parent, at)
            known.add(id.encode())
        elif id in children and event == "return":
            children[id].returned(at, record.get("return"))
        elif id in children and event == "timeout":
            children[id].timed_out(at)
        elif id in children and event == "error":
            children[id].noted.append(record.get("error"))
    return children


_LINE = 4 * 1024 * 1024
_ID = re.compile(rb'session_id"\s*:\s*"([^"]+)"')


def _decoded(line: bytes) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


def _time(text: object) -> Millis | None:
    return parse_time(text) if isinstance(text, str) else None


def _name(register: Mapping[str, Any]) -> str:
    path = register.get("delegation_path")
    names = [register.get("subagent"), *(reversed(path) if isinstance(path, list) else ()), register.get("command")]
    return next((name for name in names if isinstance(name, str) and name), "an agent")
