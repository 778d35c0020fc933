"""What is broken: lines, documents and databases of the samples, of the small logs of formats that have none, and of
the real logs that DELEGTOP_REAL_LOGS names."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.samples import SAMPLES
from tests.small_logs import BUILT

from delegtop.dialects import Dialect, Sample, Unit
from delegtop.feed.formats import Formats
from delegtop.protocols.standard.dialects.return_file import ReturnFile
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


def folders(small: Path) -> list[Path]:
    """Where logs are; the small ones are put into the folder that is named."""
    for name, build in BUILT.items():
        build(small / name)
    real = os.environ.get("DELEGTOP_REAL_LOGS")
    return [SAMPLES, small, *([Path(real)] if real else [])]


def gather(small: Path) -> Corpus:
    """Every file of a known format."""
    from datetime import UTC

    formats = Formats(None, UTC)
    texts: list[Text] = []
    databases: list[tuple[str, type[Dialect]]] = []
    for path in _files(folders(small)):
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
            if dialect.is_answer:  # no file is taken for a return by itself: somebody says that it is one
                texts.append(Text(str(path), ReturnFile, ReturnFile.unit, (data,)))
    return Corpus(tuple(texts), tuple(databases))


def _files(folders: list[Path]) -> Iterator[Path]:
    for folder in folders:
        yield from sorted(path for path in folder.rglob("*") if path.is_file() and path.stat().st_size)


_TELLING = ("table", "type", "event", "hook_event_name", "subtype", "is", "kind", "role", "op", "name")
_INSIDE = ("payload", "message", "event", "part", "data", "record", "update")


def kind_of(data: bytes) -> str:
    """Which kind of line it is, by the words that readers tell them apart by: `response_item function_call`."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return "text"
    if not isinstance(value, dict):
        return "no object"
    found = _words(value)
    for key in _INSIDE:
        inner = value.get(key)
        if isinstance(inner, dict):
            found += [word for word in _words(inner) if word not in found]
    return " ".join(found) or "document"


def _words(value: dict[str, object]) -> list[str]:
    told = (value.get(key) for key in _TELLING[: -1 if "type" in value else None])
    return [word for word in told if isinstance(word, str) and 0 < len(word) <= 40 and " " not in word][:2]
