"""Ways to break what is not plain JSON: texts by their lines, recordings behind their checksums, names of files."""

import random
from zlib import crc32

from tests.fuzz.breaking import LARGEST, PIECES, Breaker

_HEAD = b'{"crc":"'
_SUM = len(_HEAD) + 8
_NAMES = (
    "",
    ".",
    "..",
    "-",
    "a b",
    "é",
    "\udcff",
    "\u202e",
    "\x1b[31m",
    "x" * 250,
    "agent-.jsonl",
    "subagents",
    "1" * 40,
)


def broken_text(data: bytes, breaker: Breaker, dice: random.Random) -> bytes:
    """A text, such as the front of a page in YAML, some of its lines gone, doubled, moved, indented or replaced."""
    lines = data.split(b"\n")
    for _ in range(dice.choice((1, 1, 2, 5))):
        at = dice.randrange(len(lines))
        piece = dice.choice(PIECES).encode("utf-8", "surrogatepass")
        name, colon, value = lines[at].partition(b":")
        match dice.randrange(9):
            case 0 if len(lines) > 1:
                del lines[at]
            case 1:
                lines[at:at] = [lines[at]] * dice.choice((1, 10, 300))
            case 2:
                lines[at], lines[-1] = lines[-1], lines[at]
            case 3:
                lines[at] = b" " * dice.choice((1, 2, 40)) + lines[at]
            case 4:
                lines[at] = name + colon + b" " + piece * dice.choice((1, 50, 5_000))
            case 5:
                lines[at] = name + colon + b" " + dice.choice((b"[", b"{a: ")) * dice.choice((1, 20, 1_200))
            case 6:
                lines[at] = (
                    name + colon + dice.choice((b" &a [*a]", b" *a", b" !!python/name:x", b" |", b" 1e400", b" ~"))
                )
            case 7:
                lines[at] = piece * dice.choice((1, 100, 5_000)) + value
            case _:
                lines[at] = breaker.torn(lines[at], lines)
    return b"\n".join(lines)[:LARGEST]


def broken_recording(data: bytes, breaker: Breaker, dice: random.Random) -> bytes:
    """A line of a recording; mostly its checksum is that of what it became, so that it is read and not refused."""
    if not data.startswith(_HEAD) or dice.random() < 0.2:
        return breaker.line(data)
    rest = b'",' + breaker.line(b"{" + data[_SUM + 2 :])[1:]
    return b"%b%08x%b" % (_HEAD, crc32(rest), rest)


def broken_path(path: str, dice: random.Random) -> str:
    """The path with another name in it: names of folders and files tell ids, parents and processes."""
    names = path.split("/")
    at = dice.randrange(max(1, len(names) - 4), len(names))
    stem, dot, ending = names[at].rpartition(".")
    name = dice.choice(_NAMES)
    names[at] = dice.choice((name, stem + name + dot + ending, name + dot + ending, stem + dot + name, names[at] * 2))
    return "/".join(names)
