"""What is broken: lines, documents and databases of the samples, and of the real logs that DELEGTOP_REAL_LOGS names."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.samples import SAMPLES

from delegtop.dialects import Dialect, Sample, Unit
from delegtop.feed.formats import Formats
from delegtop.sources.database import columns_of

SAMPLE = 64 * 1024
_LARGEST = 4 << 20
"""Bytes of a file that is taken as a whole."""
_LINES = 2_000
"""Of a longer log the first ones are taken."""


class Text(NamedTuple):
    """One file as it is read: line by line, or as one document."""

    path: str
    dialect: type[Dialect]
    unit: Unit
    lines: tuple[bytes, ...]

    @property
    def family(self) -> tuple[str, str]:
        return self.dialect.name, self.dialect.family(self.path)


class Corpus(NamedTuple):
    """Everything there is to break."""

    texts: tuple[Text, ...]
    databases: tuple[tuple[str, type[Dialect]], ...]

    def families(self) -> dict[tuple[str, str], list[Text]]:
        """The files that one reader reads, together."""
        found: dict[tuple[str, str], list[Text]] = {}
        for text in self.texts:
            found.setdefault(text.family, []).append(text)
        return found


def folders() -> list[Path]:
    real = os.environ.get("DELEGTOP_REAL_LOGS")
    return [SAMPLES, *([Path(real)] if real else [])]


def gather() -> Corpus:
    """Every file of a known format."""
    from datetime import UTC

    formats = Formats(None, UTC)
    texts: list[Text] = []
    databases: list[tuple[str, type[Dialect]]] = []
    for path in _files():
        with path.open("rb") as file:
            head = file.read(SAMPLE)
        sample = Sample(str(path), head, path.stat().st_size <= SAMPLE)
        if sample.is_database:
            sample = Sample(str(path), head, sample.whole, columns_of(str(path)))
        dialect = formats.of(sample)
        if dialect is None:
            continue
        unit = dialect.unit_of(sample)
        if unit is Unit.DATABASE:
            databases.append((str(path), dialect))
        elif path.stat().st_size <= _LARGEST:
            data = path.read_bytes()
            lines = [line for line in data.split(b"\n")[:_LINES] if line] if unit is Unit.LINES else [data]
            texts.append(Text(str(path), dialect, unit, tuple(lines)))
    return Corpus(tuple(texts), tuple(databases))


def _files() -> Iterator[Path]:
    for folder in folders():
        yield from sorted(path for path in folder.rglob("*") if path.is_file() and path.stat().st_size)
