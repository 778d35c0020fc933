"""A process that reads or writes the index for another: `python -P -m delegtop.feed.index_process`.

It is asked once on standard input and answers on standard output. What it was asked only in part it leaves alone.
"""

import sys
from pathlib import Path

import msgspec

from delegtop.base.clock import Millis
from delegtop.feed.index_apart import BlocksAsked, FindAsked, WriteAsked
from delegtop.feed.index_file import IndexFile
from delegtop.feed.process_messages import received, send


def answer(asked: FindAsked | BlocksAsked | WriteAsked) -> object:
    file, now = IndexFile(Path(asked.path), asked.context), Millis(asked.now)
    if isinstance(asked, BlocksAsked):
        return [*file.find_blocks(asked.names, now)]
    if isinstance(asked, FindAsked):
        return [*file.find(asked.names, now)]
    file.write(asked.logs, asked.blocks, asked.gone, now)
    return True


def main() -> None:
    try:
        asked = msgspec.msgpack.decode(received(sys.stdin.buffer), type=FindAsked | BlocksAsked | WriteAsked)
        send(sys.stdout.buffer, answer(asked))
    except (EOFError, ValueError, BrokenPipeError):
        return  # whoever asked is gone


if __name__ == "__main__":
    main()
