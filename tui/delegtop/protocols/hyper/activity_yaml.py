"""The `activity` list in the frontmatter of a file, read quickly: its file is read again whenever it changes.

Only the list itself is read, by libyaml where PyYAML has it, and of a very long one the newest entries. As everywhere,
aliases, anchors and tags are refused and the depth is limited.
"""

from collections.abc import Iterator
from typing import Any

import yaml

from delegtop.base.lazy_pattern import lazy_pattern

LONGEST = 24 * 1024
"""Characters of the list that are read, its newest entries: two hundred of them."""
_EVENTS = 4_000
_DEPTH = 8
_FENCE = lazy_pattern(r"(?m)^---[ \t]*$")
_LIST = lazy_pattern(r"(?m)^activity:[^\n]*(?:\n(?:[ \t-][^\n]*)?)*")
_ENTRY = lazy_pattern(r"(?m)^( *)- ")
_NOTHING = ("", "~", "null")


class ActivityError(ValueError):
    """The list cannot be read."""


def entries(page: str) -> tuple[Any, bool]:
    """The list as it stands there, None if there is none; and whether older entries were left out."""
    page = page.replace("\r\n", "\n")
    begin = page.find("\n") + 1
    end = _FENCE.search(page, begin)
    if end is None:  # half of a name would be another name
        raise ActivityError("the frontmatter is never closed")
    found = _LIST.search(page, begin, end.start())
    if found is None:
        return None, False
    text = found[0]
    is_cut = len(text) > LONGEST
    if is_cut:
        text = _newest(text)
    try:
        told = _value(_events(text))
    except yaml.YAMLError as error:
        raise ActivityError(f"bad YAML: {getattr(error, 'problem', None) or error}") from None
    return (told.get("activity") if isinstance(told, dict) else None), is_cut


def _newest(text: str) -> str:
    """The key, and as many entries from the end as are read."""
    first = _ENTRY.search(text)
    if first is None:
        raise ActivityError("the activity list is too long")
    start = text.find(f"\n{first[1]}- ", len(text) - LONGEST)
    if start < 0:
        raise ActivityError("an entry of the activity list is too long")
    return "activity:" + text[start:]


def _events(text: str) -> Iterator[yaml.Event]:
    """What the YAML holds, in order."""
    loader = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
    for number, event in enumerate(yaml.parse(text, Loader=loader)):
        if number > _EVENTS:
            raise ActivityError("the activity list has too many parts")
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise ActivityError("aliases and anchors are refused")
        if not isinstance(event, (yaml.StreamStartEvent, yaml.DocumentStartEvent)):
            yield event


def _value(events: Iterator[yaml.Event], depth: int = 0) -> Any:
    """The next value; `StopIteration` is not seen, because every value that begins also ends."""
    event = next(events)
    if depth > _DEPTH:
        raise ActivityError(f"the activity list is nested deeper than {_DEPTH} levels")
    if isinstance(event, yaml.ScalarEvent):
        return None if event.implicit[0] and event.value in _NOTHING else event.value
    if isinstance(event, yaml.SequenceStartEvent):
        return list(iter(lambda: _item(events, depth), _END))
    if isinstance(event, yaml.MappingStartEvent):
        return dict(iter(lambda: _pair(events, depth), _END))
    return _END


_END: Any = object()


def _item(events: Iterator[yaml.Event], depth: int) -> Any:
    return _value(events, depth + 1)


def _pair(events: Iterator[yaml.Event], depth: int) -> Any:
    key = _value(events, depth + 1)
    if key is _END:
        return _END
    if not isinstance(key, str):
        raise ActivityError("a key is a list or a mapping, not a word")
    return key, _value(events, depth + 1)
