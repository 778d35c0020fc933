"""What is usual on this machine: how long each kind of agent, each tool and the model took, kept between two runs in a
file of delegtop's own.

Agents record no deadline, so their countdown runs against what is usual, and the few sessions that are being looked at
are rarely enough to say it.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from delegtop.base.clock import DAY, Millis
from delegtop.base.paths import cache_folder
from delegtop.model.policy import Counts, Kind, Usual

STALE = DAY
"""After so long the history is read again."""
_VERSION = 2
_STEPS = 200
"""Steps that a curve can have: the last is longer than anything that was ever timed."""
_READABLE = (1, 2)
"""A file of version 1 knows only agents: what it says counts until the history is read again."""
_Number = Annotated[int, Meta(ge=0, le=10**15)]
"""No duration and no count is longer: whatever is, nobody has learned."""


class _Known(Struct, frozen=True, forbid_unknown_fields=True):
    """One kind of agent: nearly all of them were done within that time."""

    product: str
    agent: str
    milliseconds: _Number
    count: _Number


class _Spread(Struct, frozen=True, forbid_unknown_fields=True):
    """One kind of call: how many took how long."""

    product: str
    name: str
    counts: Annotated[tuple[_Number, ...], Meta(max_length=_STEPS)]


class Learned(Struct, frozen=True, forbid_unknown_fields=True):
    """The file."""

    schema_version: int = _VERSION
    learned_at: Millis = Millis(0)
    agents: tuple[_Known, ...] = ()
    durations: tuple[_Spread, ...] = ()

    def usual(self) -> dict[Kind, Usual]:
        return {(one.product, one.agent): (Millis(one.milliseconds), one.count) for one in self.agents}

    def counts(self) -> dict[Kind, Counts]:
        """How many calls of each kind took how long."""
        return {(one.product, one.name): one.counts for one in self.durations}

    def is_stale(self, now: Millis) -> bool:
        return self.schema_version != _VERSION or not 0 <= now - self.learned_at < STALE


def place() -> Path:
    """Where it is kept: it can be deleted at any time and is learned again."""
    return cache_folder() / "usual.json"


def load() -> Learned:
    """What was learned; nothing if there is no such file, or one that is not ours."""
    try:
        known = msgspec.json.decode(place().read_bytes(), type=Learned)
    except (OSError, ValueError, RecursionError):
        return Learned()
    return known if known.schema_version in _READABLE else Learned()


def dump(usual: Mapping[Kind, Usual], counts: Mapping[Kind, Counts], now: Millis) -> bytes:
    """The file that says so."""
    agents = [_Known(product, agent, took, count) for (product, agent), (took, count) in sorted(usual.items())]
    spreads = [_Spread(product, name, spread) for (product, name), spread in sorted(counts.items())]
    learned = Learned(_VERSION, now, tuple(agents), tuple(spreads))
    return msgspec.json.format(msgspec.json.encode(learned), indent=0) + b"\n"
