"""Where the fields of a JSON text stand: the line that a finding on `artifacts[1].path` points at.

Text that only looks like JSON, such as a template with comments and `[...]`, is gone through as well as can be.
"""

import json
import re
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import NamedTuple, NoReturn

_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|[{}\[\],:]|[^\s{}\[\],:"]+')
_QUOTED = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_BLANK = re.compile(r"\s*")
_AROUND = re.compile(r"\s*(?:<!--[^\n]*-->[ \t]*\n\s*)?(?:(?:```+|~~~+)[^\n]*(?:\n\s*|$))?")
"""What may stand before an object: a marker, and the opening of a fence."""
_END = re.compile(r"^[ \t]*(?:```|~~~|<!--)", re.MULTILINE)
_INDEX = re.compile(r"\[\d+\]$")
_LOOKED_AT = 1_000_000
"""Characters; what stands further on is told at what stands around it."""


class JsonPlace(NamedTuple):
    """A field, or an item of a list, and where it begins."""

    field: str
    """Such as `artifacts[1].path`; empty for the value itself."""
    offset: int


def places(text: str, start: int = 0, *, is_one: bool = True) -> Iterator[JsonPlace]:
    """Every field of the first value from there on, in the order of the text; of all that follow it too, if not one."""
    opened: list[tuple[str, int | None]] = []  # what is open: its name, and for a list the number of its next item
    named: tuple[str, int] | None = None  # a word that is a key, if a colon follows
    value = ""  # the name of the value that comes next
    for token in _TOKEN.finditer(text, start, start + _LOOKED_AT):
        said, at = token[0], token.start()
        if said in "}]":
            if opened:
                opened.pop()
            if not opened and is_one:
                return
            named, value = None, ""
        elif said == ":":
            if named and opened and opened[-1][1] is None:
                value = f"{opened[-1][0]}.{named[0]}".lstrip(".")
                yield JsonPlace(value, named[1])
            named = None
        elif said == ",":
            named, value = None, ""
        elif not said.startswith("//"):
            in_list = bool(opened) and opened[-1][1] is not None
            if in_list and not value:
                name, number = opened[-1]
                value = f"{name}[{number}]"
                opened[-1] = name, (number or 0) + 1
                yield JsonPlace(value, at)
            elif not opened and said in "{[":
                yield JsonPlace("", at)
            if said in "{[":
                opened.append((value, 0 if said == "[" else None))
                named, value = None, ""
            else:
                named = (said.strip("\"'"), at)


def lines_of(text: str, fields: Iterable[str], start: int = 0) -> dict[str, int]:
    """The line of each field, counted from the beginning of the text; that of what is around it if it is missing. Of
    `timeout|deadline` the first that is there counts."""
    wanted = {field: field.split("|") for field in fields}
    around = {part for names in wanted.values() for name in names for part in _around(name)}
    found = {place.field: place.offset for place in places(text, start) if place.field in around}
    return {field: 1 + text.count("\n", 0, found.get(_nearest(names, found), start)) for field, names in wanted.items()}


def _nearest(names: Sequence[str], found: Container[str]) -> str:
    there = next((name for name in names if name in found), None)
    return there or max((next((part for part in _around(name) if part in found), "") for name in names), key=len)


def _around(field: str) -> Iterator[str]:
    """The field and what holds it, from the inside out."""
    while field:
        yield field
        index = _INDEX.search(field)
        field = field[: index.start()] if index else field.rpartition(".")[0]
    yield ""


class _NoNumberError(Exception):
    """NaN or Infinity, which JSON does not have."""


def _refuse(name: str) -> NoReturn:
    raise _NoNumberError(name)


_decoder = json.JSONDecoder(parse_constant=_refuse)


def fault_line(text: str, *, is_alone: bool = True) -> int | None:
    """The line on which the text stops to be one JSON object; None if it is one. If it need not be alone, more may
    follow. Markers and a fence around it are left out."""
    around = _AROUND.match(text)
    start = around.end() if around else 0
    end = found.start() if (found := _END.search(text, start)) else len(text)
    body = text[start:end]
    if not body.startswith("{"):
        return _line(text, start)
    try:
        _, length = _decoder.raw_decode(body)
    except json.JSONDecodeError as error:
        return _line(text, start + error.pos)
    except _NoNumberError as error:
        bare = _QUOTED.sub(lambda match: " " * len(match[0]), body)
        return _line(text, start + bare.find(str(error)))
    except RecursionError:
        return None
    rest = _BLANK.match(body, length)
    behind = rest.end() if rest else length
    return _line(text, start + behind) if is_alone and behind < len(body) else None


def _line(text: str, offset: int) -> int:
    return 1 + text.count("\n", 0, offset)
