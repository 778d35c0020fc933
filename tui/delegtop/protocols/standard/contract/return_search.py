"""Returns in what an agent printed: between markers, in a fence or bare."""

import json
import re
from bisect import bisect_left
from collections import deque
from collections.abc import Iterator
from typing import Any, NoReturn

from delegtop.protocols.standard.contract.output_markers import END, START

REQUIRED = ("status", "summary", "artifacts", "metadata")

_OBJECT = re.compile(r"\n[ \t]*(?:(?:```+|~~~+)\w*[ \t]*)?(?=\{)")
"""Where an object may begin: at the start of a line, or right after the opening of a code fence."""
_TRIED = 2000
"""So many beginnings are tried, the last ones: output that is nothing but braces must not take for ever."""


def returns_in(text: str) -> Iterator[dict[str, Any] | str]:
    """All that means to be a return, the last first. Words between markers that hold no JSON are given as they are."""
    return (found for found, _ in placed_returns(text))


def placed_returns(text: str) -> Iterator[tuple[dict[str, Any] | str, int]]:
    """The same, each with where in the text it begins."""
    found: list[tuple[dict[str, Any] | str, int]] = []
    text = f"\n{text}"
    # Plain searches come first: most output holds neither, and a megabyte of it should cost nothing.
    starts = [match.end() for match in START.finditer(text)] if "AGENT_OUTPUT_START" in text else []
    ends = [match.start() for match in END.finditer(text)] if starts else []
    ends.append(len(text))  # what was cut off ends with the text
    objects = deque((match.end() for match in _OBJECT.finditer(text)) if "{" in text else (), maxlen=_TRIED)
    # A block that is begun again before it was finished counts from its last beginning.
    blocks = {begin: end for end, begin in {ends[bisect_left(ends, begin)]: begin for begin in starts}.items()}
    cursor = 0
    for begin in sorted({*blocks, *objects}):
        if begin < cursor:
            continue
        if begin in blocks:
            cursor = blocks[begin]
            found.append(_marked(text, begin, cursor))
            continue
        value, cursor = _decode(text, begin)
        if value is None:
            continue
        if is_return(value):
            found.append((value, begin - 1))
        elif value.get("type") == "result" and isinstance(value.get("result"), str):
            # an agent CLI's JSON around the final message
            found.extend((inner, begin - 1) for inner in reversed(list(returns_in(value["result"]))))
    yield from reversed(found)


def _marked(text: str, begin: int, end: int) -> tuple[dict[str, Any] | str, int]:
    """What stands between the markers, and where; the text has a newline before its first character."""
    block = text[begin:end]
    brace = block.find("{")
    value = None if brace < 0 else _decode(block, brace)[0]
    return (block.strip(), begin - 1) if value is None else (value, begin + brace - 1)


def is_return(value: dict[str, Any]) -> bool:
    """True for an object that means to be a return, in the standard form or with its status in `meta`."""
    if "meta" in value:
        return "artifacts" in value
    others = [name for name in REQUIRED[1:] if name in value]
    if "status" in value:
        return bool(others)
    metadata = value.get("metadata")  # one that forgot to say how it ended still says whose it is
    if not isinstance(metadata, dict) or "session_id" not in metadata:
        return False
    return len(others) > 1 or bool(metadata.keys() & {"delegation_depth", "delegation_path"})


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_decoder = json.JSONDecoder(parse_constant=_no_number)


def _decode(text: str, begin: int) -> tuple[dict[str, Any] | None, int]:
    """The object that begins there, and where it stops; None if there is none."""
    try:
        # A slice, since an error counts all lines before it.
        value, length = _decoder.raw_decode(text[begin:])
    except (ValueError, RecursionError):
        return None, begin
    return (value, begin + length) if isinstance(value, dict) else (None, begin)
