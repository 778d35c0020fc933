"""Databases with broken rows, columns and pages, and folders of logs in which any file may be broken."""

import gc
import io
import random
import shutil
import sqlite3
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import closing, redirect_stderr, redirect_stdout, suppress
from functools import partial
from pathlib import Path

from tests.fuzz.breaking import Breaker
from tests.fuzz.breaking_text import broken_recording, broken_text
from tests.fuzz.corpus import kind_of
from tests.fuzz.reading_broken import Finding, Reading
from tests.samples import MOMENTS, lay_out, moment, observed

from delegtop.base.clock import FrozenClock
from delegtop.cli import main
from delegtop.dialects import Dialect
from delegtop.sources.records import Line
from delegtop.sources.row_reader import RowReader

COMMANDS = (
    "tree", "tree --json --prompts", "tree --gantt", "check", "check --json", "report", "stats", "metrics", "sources",
    "status --read",
)  # fmt: skip
_CELLS = 12
"""Cells of a database that are broken, at most."""


def read_database(reading: Reading, dice: random.Random, path: str, dialect: type[Dialect]) -> None:
    """A copy of the database, broken, read as its format reads it."""
    with tempfile.TemporaryDirectory(prefix="delegtop-fuzz-") as folder:
        copy = Path(folder) / Path(path).name
        shutil.copyfile(path, copy)
        with suppress(sqlite3.Error):  # what cannot be broken in this way stays as it is
            _break_rows(copy, dice, dialect)
        if dice.random() < 0.3:
            _break_pages(copy, dice)
        try:
            lines = list(_rows(copy, dialect))
            reading.tally(dialect).kinds.update(kind_of(line.data) for line in lines)
        except Exception as error:  # noqa: BLE001 -- whatever it is, it is what is looked for
            reading.findings.append(Finding("exception", dialect.name, path, b"", f"{type(error).__name__} {error}"))
            return
        reading.read(dialect, lines, {*range(len(lines))})


def _rows(path: Path, dialect: type[Dialect]) -> Iterator[Line]:
    with closing(RowReader(str(path), dialect.queries)) as reader:
        for _ in range(2):
            yield from (found for found in reader.poll() if isinstance(found, Line))


def _break_rows(path: Path, dice: random.Random, dialect: type[Dialect]) -> None:
    breaker = Breaker(dice)
    with closing(sqlite3.connect(path)) as database:
        database.text_factory = lambda data: data.decode("utf-8", "replace")
        there = {name for (name,) in database.execute("SELECT name FROM sqlite_master")}
        tables = [query.table for query in dialect.queries if query.table in there]
        for _ in range(dice.randint(1, _CELLS)):
            table = dice.choice(tables)
            columns = [row[1] for row in database.execute(f'PRAGMA table_info("{table}")')]
            found = database.execute(f'SELECT rowid, * FROM "{table}" ORDER BY random() LIMIT 1').fetchone()  # noqa: S608 -- our own copy
            if not columns or found is None:
                continue
            column = dice.randrange(len(columns))
            with suppress(sqlite3.Error, OverflowError, UnicodeEncodeError):
                database.execute(
                    f'UPDATE "{table}" SET "{columns[column]}" = ? WHERE rowid = ?',  # noqa: S608 -- as above
                    (breaker.value(found[column + 1]), found[0]),
                )
        if dice.random() < 0.2:
            table = dice.choice(tables)
            column = dice.choice([row[1] for row in database.execute(f'PRAGMA table_info("{table}")')] or ["none"])
            ways = (f'DROP TABLE "{table}"', f'ALTER TABLE "{table}" DROP COLUMN "{column}"', f'DROP INDEX "{table}"')
            with suppress(sqlite3.Error):
                database.execute(dice.choice(ways))
        database.commit()


def _break_pages(path: Path, dice: random.Random) -> None:
    data = bytearray(path.read_bytes())
    for _ in range(dice.choice((1, 5, 200))):
        data[dice.randrange(100, len(data))] = dice.randrange(256)
    path.write_bytes(data[: dice.randrange(100, len(data))] if dice.random() < 0.3 else data)


def read_folder(reading: Reading, dice: random.Random) -> None:
    """One of the samples, some of its files broken, read and printed by a command."""
    name = dice.choice(sorted(MOMENTS))
    command, *options = dice.choice(COMMANDS).split()
    breaker = Breaker(dice)
    with tempfile.TemporaryDirectory(prefix="delegtop-fuzz-") as folder:
        copy = lay_out(name, Path(folder))
        files = [path for path in copy.rglob("*") if path.is_file() and path.suffix != ".db"]
        for path in dice.sample(files, min(len(files), dice.randint(1, 4))):
            _break_file(path, breaker, dice)
        try:
            with observed(copy, clock=FrozenClock(moment(MOMENTS[name]))) as seen:
                seen.read()
                failed = [reason for each in seen.statuses for reason in each.reasons if "failed" in reason]
            with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
                main([command, *options, str(copy), "--at", MOMENTS[name]])
        except Exception as error:  # noqa: BLE001 -- as above
            place = traceback.extract_tb(error.__traceback__)[-1]
            told = f"{type(error).__name__} {error} at {Path(place.filename).name}:{place.lineno}"
            reading.findings.append(Finding("exception", f"{command} of {name}", name, b"", told))
            return
        finally:
            gc.enable()  # a command that is soon over does without
        reading.findings += [Finding("exception", f"{command} of {name}", name, b"", told) for told in failed]
        reading.folders += 1


def _break_file(path: Path, breaker: Breaker, dice: random.Random) -> None:
    data = path.read_bytes()
    if dice.random() < 0.1:
        path.unlink()
    elif path.suffix == ".json":
        path.write_bytes(breaker.line(data))
    elif path.suffix in (".md", ".mdx", ".yaml", ".txt"):
        path.write_bytes(broken_text(data, breaker, dice))
    else:
        lines = data.split(b"\n")
        broken = partial(broken_recording, breaker=breaker, dice=dice) if path.suffix == ".delegtop" else breaker.line
        path.write_bytes(b"\n".join(broken(line) if dice.random() < 0.2 else line for line in lines))
