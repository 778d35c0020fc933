"""What is usual on this machine: how long each kind of agent took, kept between two runs in a file of delegtop's own.

Agents record no deadline, so their countdown runs against what is usual, and the few sessions that are being looked at
are rarely enough to say it.
"""

from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from delegtop.base.clock import DAY, Millis
from delegtop.base.paths import cache_folder
from delegtop.model.policy import Kind, Usual

STALE = DAY
"""After so long the history is read again."""
_VERSION = 1


class _Known(Struct, frozen=True, forbid_unknown_fields=True):
    """One kind of agent: nearly all of them were done within that time."""

    product: str
    agent: str
    milliseconds: int
    count: int


class Learned(Struct, frozen=True, forbid_unknown_fields=True):
    """The file."""

    schema_version: int = _VERSION
    learned_at: Millis = Millis(0)
    agents: tuple[_Known, ...] = ()

    def usual(self) -> dict[Kind, Usual]:
        return {(one.product, one.agent): (Millis(one.milliseconds), one.count) for one in self.agents}

    def is_stale(self, now: Millis) -> bool:
        return not 0 <= now - self.learned_at < STALE


def place() -> Path:
    """Where it is kept: it can be deleted at any time and is learned again."""
    return cache_folder() / "usual.json"


def load() -> Learned:
    """What was learned; nothing if there is no such file, or one that is not ours."""
    try:
        known = msgspec.json.decode(place().read_bytes(), type=Learned)
    except (OSError, ValueError, RecursionError):
        return Learned()
    return known if known.schema_version == _VERSION else Learned()


def dump(usual: Mapping[Kind, Usual], now: Millis) -> bytes:
    """The file that says so."""
    agents = [_Known(product, agent, took, count) for (product, agent), (took, count) in sorted(usual.items())]
    return msgspec.json.format(msgspec.json.encode(Learned(_VERSION, now, tuple(agents)))) + b"\n"
