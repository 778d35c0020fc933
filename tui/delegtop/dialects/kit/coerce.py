"""Reading what other programs write: every value may be missing, of another type or garbled, and none may hurt."""

import re
from collections.abc import Iterator
from datetime import UTC, tzinfo
from functools import lru_cache
from typing import Any

from delegtop.base.clock import SECOND, Millis, parse_time
from delegtop.base.origin import Origin
from delegtop.base.text import cut, first_line
from delegtop.dialects import Sample
from delegtop.model.events import PROMPT
from delegtop.sources.records import Line, Record, decoded, records

TITLE = 80
"""Characters of a prompt that serve as a title."""
_SNIFFED = 16
_MILLIS_FROM = 100_000_000_000
"""A bigger number of seconds would be a date in the year 5138: it counts milliseconds."""
_LATEST = 253_402_300_800_000
"""The year 10000: no clock says so."""
_MOST = 10**15
_RICH = 1e12
"""US dollars."""
_BLANK = b"\0\xef\xbb\xbf \t\r"
_AROUND = b"\xef\xbb\xbf \t\r\n"
"""What may stand around a document."""
_NOWHERE = Origin("", 1, 0)
_SPACE = re.compile(r"\s+")
_TELLING = ("command", "cmd", "description", "query", "pattern", "path", "file_path", "filePath", "url", "prompt")


def obj(value: object) -> dict[str, Any]:
    """The object, or an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: object) -> list[Any]:
    """The list, or an empty one."""
    return value if isinstance(value, list) else []


def word(value: object) -> str | None:
    """The text, if it is one and not empty."""
    return value if isinstance(value, str) and value else None


def number(value: object) -> int | None:
    """The whole number, if it is one, not negative and not beyond belief."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST else None


def dollars(value: object) -> float | None:
    """The US dollars, if it is a sum of money, not negative and not beyond belief."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= _RICH:
        return None
    return float(value)


def moment(value: object, zone: tzinfo = UTC) -> Millis | None:
    """The moment an ISO time or a number of seconds or milliseconds names."""
    if isinstance(value, str):
        return parse_time(value, zone)
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value < _LATEST:
        return None
    return Millis(int(value if value >= _MILLIS_FROM else value * SECOND))


def refs_of(**ids: str | None) -> tuple[tuple[str, str], ...]:
    """The foreign ids of a delegation by their names, without those that are not known."""
    return tuple((name, id) for name, id in ids.items() if id)


def clip(text: str | None) -> str | None:
    """As much of a prompt or an answer as is kept."""
    return cut(text, PROMPT) if text else None


def title(text: str | None) -> str | None:
    """The first line that says something, cut to a few words."""
    short = _SPACE.sub(" ", first_line((text or "")[: 10 * PROMPT]))
    return (short if len(short) <= TITLE else short[: TITLE - 1].rstrip() + "…") or None


def prose(content: object) -> str | None:
    """The text of a message: a text itself, or parts that have one."""
    if isinstance(content, str):
        return content or None
    parts = [part if isinstance(part, str) else word(obj(part).get("text")) for part in items(content)]
    return "\n".join(part for part in parts if part) or None


def parsed(value: object) -> Any:
    """The value a JSON text holds; one that is no text stays what it is, and what is no JSON is None."""
    return decoded(value) if isinstance(value, str) else value


def gist(arguments: dict[str, Any], telling: tuple[str, ...] = _TELLING) -> str | None:
    """What a tool call is about: the first of its arguments that tells people most."""
    for key in telling:
        value = arguments.get(key)
        if isinstance(value, list):
            value = command_line(value)
        if isinstance(value, str) and value.strip():
            return title(value)
    return None


def command_line(words: list[Any]) -> str:
    """The command that a shell is told to run, else all the words."""
    texts = [text for text in words if isinstance(text, str)]
    if len(texts) == 3 and texts[1] in ("-lc", "-c"):
        return texts[2]
    return " ".join(texts)


def objects(sample: Sample) -> Iterator[dict[str, Any]]:
    """The JSON objects on the first whole lines of a sample; none if it is one document over several lines."""
    return iter(_objects(sample))


@lru_cache(maxsize=1)
def _objects(sample: Sample) -> tuple[dict[str, Any], ...]:
    """Many formats ask the same of one sample, one after the other."""
    lines = [line.strip(_BLANK) for line in sample.head.split(b"\n", _SNIFFED)]
    if not sample.whole or len(lines) > _SNIFFED:
        lines.pop()
    if next(filter(None, lines), b"") in (b"{", b"["):
        return ()
    found = (each for line in lines if line.startswith(b"{") for each in records(Line(_NOWHERE, line)))
    return tuple(each.value for each in found if isinstance(each, Record))


def document(sample: Sample) -> dict[str, Any]:
    """The one JSON object that the whole sample is; empty if it is none."""
    if not sample.whole:
        return {}
    first, _, rest = sample.head.partition(b"\n")
    if first.rstrip().endswith(b"}") and rest.strip(_AROUND) and decoded(first) is not None:
        return {}  # a log: to find that out at its end takes ten times as long
    return obj(decoded(sample.head))
