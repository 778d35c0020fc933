"""Session ids: `sess_20251226_abc123` names a day, `sess_1766743200_abc123` a second, which may have milliseconds; a
child may add `_195`."""

from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from delegtop.base.clock import SECOND, Millis, parse_time
from delegtop.base.lazy_pattern import lazy_pattern

SHAPE = r"sess_(?:([0-9]{8})|([0-9]{10})(?:[0-9]{3})?)_([0-9A-Za-z]+)(?:_([0-9A-Za-z]+))?"
"""The form of an id, as a regular expression."""
_SHAPE = lazy_pattern(SHAPE)
_EPOCH_FORM = lazy_pattern(r"sess_[0-9]{10}(?:[0-9]{3})?_[0-9A-Za-z]+")


class Form(StrEnum):
    """What the middle part of the id says."""

    DAY = "day"
    EPOCH = "epoch"


class SessionId(NamedTuple):
    """A well-formed session id, taken apart."""

    text: str
    form: Form
    at: Millis
    """The second it names, or the first moment of the day it names, UTC."""
    random: str
    child: str | None
    """What a child added to the id of its parent; None for an id of its own."""

    @property
    def parent(self) -> str | None:
        """The id this one was made from by adding a child's suffix."""
        return None if self.child is None else self.text[: -len(self.child) - 1]


def parse(text: str) -> SessionId | None:
    """The parts of a session id; None if it is not well-formed."""
    match = _SHAPE.fullmatch(text)
    if match is None:
        return None
    day, epoch, random, child = match.groups()
    if day is None:
        return SessionId(text, Form.EPOCH, Millis(int(epoch) * SECOND), random, child)
    at = _start_of(day)
    return None if at is None else SessionId(text, Form.DAY, at, random, child)


def is_well_formed(text: str) -> bool:
    """True if `text` is a session id of one of the two forms: what `parse` would say, for less."""
    if _EPOCH_FORM.fullmatch(text) is not None:
        return True
    match = _SHAPE.fullmatch(text)
    return match is not None and (match[1] is None or _start_of(match[1]) is not None)


@lru_cache(maxsize=1024)
def _start_of(day: str) -> Millis | None:
    """The first moment of `20251226`; None for `20251332`, which is no day."""
    return parse_time(f"{day[:4]}-{day[4:6]}-{day[6:]}T00:00:00Z")
