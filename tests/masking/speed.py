"""What masking costs against another revision of it, on text that holds no secret: CPU time, both in turns.

`python -m tests.masking.speed REVISION` takes `secrets.py` of that revision out of git; it must stand for itself.
"""

import argparse
import subprocess
import sys
import types
from collections.abc import Callable, Sequence
from statistics import median
from time import process_time

from tests.masking.ordinary import PROJECT, code

from delegtop.base import secrets

ROUNDS = 15
BLOCK = 5_000
LINES = 4_000
Mask = Callable[[str], str]


def at(revision: str) -> Mask:
    """`mask` as it was there."""
    where = f"{revision}:tui/delegtop/base/secrets.py"
    source = subprocess.run(["git", "show", where], cwd=PROJECT, capture_output=True, check=True, text=True).stdout
    module = types.ModuleType("secrets_before")
    exec(compile(source, where, "exec"), module.__dict__)  # noqa: S102 - our own code of another day
    return module.__dict__["mask"]  # type: ignore[no-any-return] # a module made by hand knows no types


def blocks(lines: Sequence[str]) -> list[str]:
    text = "\n".join(lines)
    return [text[start : start + BLOCK] for start in range(0, len(text), BLOCK)]


def cost(mask: Mask, texts: Sequence[str]) -> float:
    """Microseconds for each."""
    began = process_time()
    for text in texts:
        mask(text)
    return (process_time() - began) / len(texts) * 1_000_000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("revision")
    before, now = at(parser.parse_args().revision), secrets.mask
    lines = [line for line in code(LINES) if before(line) == line == now(line)]
    worst = 0.0
    for name, texts in (("a line", lines), ("5 KB", blocks(lines))):
        pairs = [(cost(before, texts), cost(now, texts)) for _ in range(ROUNDS)]
        then, here = (median(each) for each in zip(*pairs, strict=True))
        ratio = median(mine / theirs for theirs, mine in pairs)
        worst = max(worst, ratio)
        sys.stdout.write(f"{name:7} {then:7.1f} µs before, {here:7.1f} µs now: {ratio:.2f}×\n")
    return int(worst > 1.1)


if __name__ == "__main__":
    sys.exit(main())
