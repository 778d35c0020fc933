"""The sample logs of every format with other words in them."""

import json
import os
import re
import shutil
import sqlite3
from collections.abc import Callable, Collection
from contextlib import closing
from pathlib import Path
from typing import Any

AT = "2026-11-16T06:00:00Z"
WRITTEN = 1_794_800_000
"""The seconds at which every file was last written: two and a half hours before."""
SAMPLES = Path(__file__).parents[2] / "sample_logs"
_KEPT_WORDS = """
type role event status kind phase subtype outcome op level table hook_event_name schema_version protocol_version
stop_reason state agent_type session_type
"""
_KEPT = frozenset(_KEPT_WORDS.split())
"""What a reader tells records apart by: with other words there they would only be unknown."""
_WORDS_FOR_PEOPLE = """
text content message summary title description prompt command cmd output result stdout stderr recommendation
next_steps activity task query thinking error reason detail lastPrompt displayText
"""
_FOR_PEOPLE = frozenset(_WORDS_FOR_PEOPLE.split())

FEW = ("04_failed", "18_orchestrated", "claude-code", "codex", "opencode")
"""Samples that between them have every kind of text; the default run of the tests takes these."""

Fill = Callable[[str], str]
"""What stands there instead."""


def filled(folder: Path, fill: Fill, *, only_prose: bool, only: Collection[str] = ()) -> Path:
    """A copy of all samples, or of some; `fill` is asked for each text, or only for those written for people."""
    copy = folder / "logs"
    for sample in sorted(SAMPLES.iterdir()):
        if sample.is_dir() and (not only or sample.name in only):
            shutil.copytree(sample, copy / sample.name)
    for path in sorted(path for path in copy.rglob("*") if path.is_file()):
        if path.suffix == ".db":
            _fill_rows(path, fill, only_prose)
        elif path.suffix in (".json", ".jsonl", ".1"):
            _fill_lines(path, fill, only_prose)
        os.utime(path, (WRITTEN, WRITTEN))
    return copy


def _fill_lines(path: Path, fill: Fill, only_prose: bool) -> None:
    text = path.read_text(encoding="utf-8", errors="replace")
    lines = [text] if path.suffix == ".json" else text.splitlines()
    told = []
    for line in lines:
        try:
            told.append(json.dumps(_other(json.loads(line), "", fill, only_prose)))
        except ValueError:
            told.append(line)
    path.write_text("\n".join(told) + "\n", encoding="utf-8")


def _fill_rows(path: Path, fill: Fill, only_prose: bool) -> None:
    def cell(value: Any, column: str) -> Any:
        told = _other(value, column, fill, only_prose)
        return told.encode(errors="replace").decode() if isinstance(told, str) else told

    with closing(sqlite3.connect(path)) as store, store:
        store.create_function("other", 2, cell)
        tables = [name for (name,) in store.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in [name for name in tables if not name.startswith("sqlite_")]:
            columns = [column for _, column, *_ in store.execute(f"PRAGMA table_info({table})")]
            changes = ", ".join(f"{column} = other({column}, '{column}')" for column in columns)
            store.execute(f"UPDATE {table} SET {changes}")  # noqa: S608 - the sample's own names


def _other(value: Any, key: str, fill: Fill, only_prose: bool) -> Any:
    if isinstance(value, dict):
        return {name: _other(inner, name, fill, only_prose) for name, inner in value.items()}
    if isinstance(value, list):
        return [_other(inner, key, fill, only_prose) for inner in value]
    if not isinstance(value, str) or key in _KEPT or re.match(r"\d{4}-\d\d-\d\d[T ]|\d+$", value):
        return value
    if value[:1] in ("[", "{"):
        try:
            return json.dumps(_other(json.loads(value), key, fill, only_prose))
        except ValueError:
            pass
    if only_prose and key.lower().endswith(("id", "ids", "path", "agent", "cwd")):
        return value
    if only_prose and not (key in _FOR_PEOPLE or (" " in value and not value.startswith("<"))):
        return value
    return fill(value)
