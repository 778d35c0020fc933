"""Drift: how far something written by an agent has moved from its protocol, in lines that people and rules can read.

A format that reads such a thing knows its fields and their places; the rules that judge it later know only the
delegation. So what was found on reading is kept as a note of one line each, `kind: detail`.
"""

from collections.abc import Iterable
from typing import NamedTuple

NOTE = "drift"
"""The kind of the note."""
_DETAIL = 200


class Drift(NamedTuple):
    """One way in which it departs; `kind` is a short stable word."""

    kind: str
    detail: str


def written(drifts: Iterable[Drift]) -> str:
    """All of them as the text of a note."""
    return "\n".join(f"{kind}: {_one_line(detail)}" for kind, detail in drifts)


def read(text: str) -> dict[str, list[str]]:
    """The details by kind, from the text of a note."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        kind, _, detail = line.partition(": ")
        found.setdefault(kind, []).append(detail)
    return found


def _one_line(text: str) -> str:
    flat = " ".join(text.split())
    return flat[:_DETAIL] + "…" if len(flat) > _DETAIL else flat


def json_type(value: object) -> str:
    """What a JSON value is, for people."""
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "text"
        case list():
            return "a list"
        case _:
            return "an object"
