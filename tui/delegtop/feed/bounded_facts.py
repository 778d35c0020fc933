"""Ids, names and words that a long line tells, cut to what anybody can use: an id of megabytes would be searched,
masked and drawn again with every look."""

from typing import TypeVar

import msgspec

from delegtop.base.origin import Origin

LONGEST = 4_096
"""Characters of an id, a name or another short fact; a line of no more bytes cannot hold a longer one, so such lines
are not looked through."""
TEXT = 100_000
"""Characters of a text for people."""
_IDS = frozenset({"id", "parent", "ids", "session_id", "beside"})
_TEXTS = frozenset({"text", "summary", "message", "recommendation", "next_steps"})

T = TypeVar("T")
_packed = msgspec.msgpack.Encoder().encode


def bounded(told: T) -> T:
    """The same event; a new one if something in it is too long."""
    if not isinstance(told, msgspec.Struct) or is_short(told):
        return told
    changed: dict[str, object] = {}
    for name in told.__struct_fields__:
        before = getattr(told, name)
        after = _cut(name, before)
        if after is not before:
            changed[name] = after
    return msgspec.structs.replace(told, **changed) if changed else told


def is_short(told: msgspec.Struct) -> bool:
    """Whether all of it together is shorter than anything that is cut."""
    try:
        return len(_packed(told)) <= LONGEST
    except (TypeError, ValueError, OverflowError):  # half a character, or a number past all use
        return False


def _cut(name: str, value: object) -> object:
    if type(value) is str:
        limit = TEXT if name in _TEXTS else LONGEST
        return value if len(value) <= limit else _shortened(value, limit, name in _IDS)
    if type(value) is tuple:
        cut = tuple(_cut(name, each) for each in value)
        return value if all(one is other for one, other in zip(cut, value, strict=True)) else cut
    if type(value) is list:
        return [_cut(name, each) for each in value]
    if isinstance(value, msgspec.Struct) and not isinstance(value, Origin):
        return bounded(value)
    return value


def _shortened(text: str, limit: int, is_id: bool) -> str:
    """Two ids that differ only in what is cut off stay two."""
    from hashlib import blake2b  # hardly any line needs it

    mark = f"…{blake2b(text.encode('utf-8', 'replace'), digest_size=8).hexdigest()}" if is_id else "…"
    return text[: limit - len(mark)] + mark
