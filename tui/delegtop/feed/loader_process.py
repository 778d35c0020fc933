"""A process that reads a part of a long history: `python -P -m delegtop.feed.loader_process`.

It is told paths on standard input and answers on standard output with what the sessions told that it could read to
their end, each as the index would keep it. Whoever started it reads everything else itself, so it may end at any time.
"""

import gc
import os
import sys
from queue import SimpleQueue
from threading import Thread

import msgspec

from delegtop.base.clock import WallClock
from delegtop.feed import file_catalogue, formats
from delegtop.feed.live_feed import Feed
from delegtop.feed.loaders import LoadedPart
from delegtop.feed.process_messages import received, send
from delegtop.feed.session_index import Place, SessionIndex, packed_blocks

_NICE = 10
"""Keys of a dashboard, and the agents that are at work, come first."""


class _Collecting(SessionIndex):
    """Keeps what would be written down."""

    lends = False

    def __init__(self) -> None:
        super().__init__(None)
        self._loaded: dict[str, Place] = {}

    def _note(self, unit: str, place: Place) -> None:
        self._loaded[unit] = place

    def _let_go(self, unit: str) -> None:
        super()._let_go(unit)
        self._loaded.pop(unit, None)

    def _tell_later(self, unit: str, place: Place) -> None:
        """Nobody is told here."""

    def part(self) -> LoadedPart:
        """All that was read."""
        blocks = [data for data, _ in packed_blocks(self._loaded.values())]
        return LoadedPart(blocks, {session.name: unit for unit, (_, session) in self._loaded.items()})


def load(paths: list[str]) -> LoadedPart:
    """What the sessions told whose files these are."""
    index = _Collecting()
    feed = Feed(paths, clock=WallClock(), index=lambda: index)
    for _ in feed.read_all():
        pass
    feed.close()
    return index.part()


def main() -> None:
    os.nice(_NICE)
    gc.disable()
    file_catalogue.WORTH = 0  # this process is there for nothing else
    formats.MANY = 1  # and what it is given is a part of very many
    asked = SimpleQueue[list[str] | None]()
    # Whoever asks must never wait until an answer is taken: it is the one who takes it.
    Thread(target=_listen, args=(asked,), daemon=True).start()
    while (paths := asked.get()) is not None:
        send(sys.stdout.buffer, load(paths))


def _listen(asked: "SimpleQueue[list[str] | None]") -> None:
    stream = sys.stdin.buffer
    try:
        while True:
            asked.put(msgspec.msgpack.decode(received(stream), type=list[str]))
    except (EOFError, ValueError):  # whoever asked is gone
        pass
    finally:
        asked.put(None)


if __name__ == "__main__":
    main()
