"""Break the logs of every format by their structure, read them, and say what must not be.

python -m tests.fuzz.run [--lines 1000000] [--seed 1] [--only claude-code,codex] [--kinds] [--keep FOLDER]

The lines are those of the samples and of small logs, and of real logs if DELEGTOP_REAL_LOGS names a folder of them. No
line may raise an exception or take more than 5 ms of processor time (again for each 64 kB of it, and for each 100
delegations that it tells of or lines that a whole file has), and memory may not grow with their number. Rows of
databases count as lines; between them, whole folders are broken, and a command is run on them. What fails is told with
its place; `--keep` writes the very lines there, and beside them, in JSON, all that was read before.

The table says how many lines of each format were broken, how many of those still told something (so that they got past
the first look at them), and how many kinds of lines they had been; `--kinds` names these. `over 5 ms` counts every line
that took longer than that, however long it is, and `too slow` those of them that took longer than they may.
"""

import argparse
import gc
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec
from tests.fuzz import corpus
from tests.fuzz.broken_files import read_database, read_folder
from tests.fuzz.reading_broken import MOST, SLOW, Finding, Reading, resident

from delegtop.dialects import Dialect

WARM = 0.2
"""After this share of the lines all that is kept for good is there."""
READINGS = 4
"""So many of each format there are at least, however few lines are asked for: one long log is not all of its share."""
FEWEST = 20
"""But so many lines are read in a row."""
FOLDER_EVERY = 500
"""Lines, after which a folder is broken as a whole."""
GROWTH = 32 << 20
"""Bytes by which memory may grow after that, whatever the number of lines."""


def main() -> int:
    options = _options()
    reading, spent, grown = fuzz(options.lines, options.seed, options.only)
    _print(reading, spent, grown)
    if options.kinds:
        _print_kinds(reading)
    if options.keep:
        _keep(options.keep, reading.findings)
    return 1 if reading.findings or grown > GROWTH else 0


def fuzz(lines: int, seed: int, only: Sequence[str] | None = None, slow: float = SLOW) -> tuple[Reading, float, int]:
    """So many broken lines: what came of them, the processor time, and by how many bytes memory grew."""
    with tempfile.TemporaryDirectory(prefix="delegtop-fuzz-") as small:
        return _fuzz(corpus.gather(Path(small)), lines, seed, only, slow)


def _fuzz(
    found: corpus.Corpus, lines: int, seed: int, only: Sequence[str] | None, slow: float
) -> tuple[Reading, float, int]:
    dice = random.Random(seed)
    formats: dict[str, list[list[corpus.Text]]] = {}
    for texts in found.families().values():
        formats.setdefault(texts[0].dialect.name, []).append(texts)
    databases: dict[str, list[tuple[str, type[Dialect]]]] = {}
    for path, dialect in found.databases:
        databases.setdefault(dialect.name, []).append((path, dialect))
    names = [name for name in sorted({*formats, *databases}) if not only or name in only]
    reading = Reading(dice, slow, min(MOST, max(FEWEST, lines // (READINGS * len(names)))))
    gc.collect()
    gc.freeze()
    began, warm, folders = time.process_time(), 0, 0
    while chosen := _next(reading, names, lines):
        # Every format gets its share, however many files of it there are.
        name = min(chosen, key=lambda name: tally.lines if (tally := reading.tallies.get(name)) else -1)
        if name in formats and (name not in databases or dice.random() < 0.5):
            reading.family(dice.choice(formats[name]))
        else:
            read_database(reading, dice, *dice.choice(databases[name]))
        if not only and reading.lines // FOLDER_EVERY > folders:
            folders += 1
            read_folder(reading, dice)
        if not warm and reading.lines > WARM * lines:
            warm = resident()
    return reading, time.process_time() - began, resident() - warm


def _next(reading: Reading, names: Sequence[str], lines: int) -> Sequence[str]:
    """The formats of which more is to be read: all, then as many lines again of those that nothing broken has told
    anything of yet."""
    if reading.lines < lines:
        return names
    silent = [name for name in names if name not in reading.tallies or not reading.tallies[name].reached]
    return silent if reading.lines < 2 * lines else []


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=lambda text: text.split(","), metavar="FORMAT,…")
    parser.add_argument("--kinds", action="store_true", help="name every kind of line that was broken, and how often")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="write the lines that fail into this folder")
    return parser.parse_args()


def _print(reading: Reading, spent: float, grown: int) -> None:
    out = sys.stdout.write
    heads = (
        ("lines", 9),
        ("broken", 9),
        ("told", 8),
        ("kinds", 7),
        ("unreadable", 12),
        ("slowest", 11),
        ("over 5 ms", 11),
        ("too slow", 10),
    )
    out(f"{'format':<20}{''.join(f'{head:>{width}}' for head, width in heads)}\n")
    for name, tally in sorted(reading.tallies.items()):
        told = f"{100 * tally.reached / tally.broken:.0f} %" if tally.broken else "–"
        counts = f"{tally.lines:>9,}{tally.broken:>9,}{told:>8}{len(tally.kinds):>7}{tally.unreadable:>12,}"
        out(f"{name:<20}{counts}{tally.slowest * 1e3:>8.1f} ms{tally.over:>11}{tally.long:>10}\n")
    over = sum(tally.over for tally in reading.tallies.values())
    longest = max((tally.short for tally in reading.tallies.values()), default=0.0)
    out(f"{over:,} lines over 5 ms; of those below 64 kB and 100 rows the slowest took {longest * 1e3:.1f} ms\n")
    out(f"{reading.lines:,} lines and {reading.folders:,} folders in {spent:,.0f} s of processor time; ")
    out(f"memory grew by {grown / 1e6:,.1f} MB\n")
    kinds: dict[tuple[str, str, str], list[Finding]] = {}
    for finding in reading.findings:
        detail = finding.detail if finding.what != "slow" else ""
        kinds.setdefault((finding.what, finding.format, detail), []).append(finding)
    for (what, name, _), found in sorted(kinds.items(), key=lambda pair: -len(pair[1])):
        out(f"{len(found):>6} x {what} in {name}: {found[0].detail} ({found[0].path})\n")
    out("nothing must be that was found\n" if not reading.findings else f"{len(reading.findings)} findings\n")


def _print_kinds(reading: Reading) -> None:
    for name, tally in sorted(reading.tallies.items()):
        for kind, times in tally.kinds.most_common():
            sys.stdout.write(f"{name:<20}{times:>9,} {kind}\n")


def _keep(folder: Path, findings: list[Finding]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number, finding in enumerate(findings):
        name = f"{number:04d}-{finding.format}-{finding.what}".replace(" ", "-")
        (folder / name).write_bytes(finding.data)
        (folder / f"{name}.lines").write_bytes(msgspec.json.encode(finding.lines))


if __name__ == "__main__":
    sys.exit(main())
