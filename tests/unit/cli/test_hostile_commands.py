"""Every sample log of every format with hostile text in all its words, through every command that prints.

Whatever the words are, the output holds nothing a terminal acts on, nothing that hides or reorders text, and in a page
nothing a browser runs.
"""

import json
import os
import re
import shutil
import sqlite3
import unicodedata
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from delegtop.cli import main, reading
from delegtop.cli.exit_codes import Exit
from delegtop.observation.observation import Observation

AT = "2026-11-16T06:00:00Z"
WRITTEN = 1_794_800_000
"""The seconds at which every file was last written: two and a half hours before."""
EVIL = (
    "\x1b]52;c;RVZJTA==\x07\x1b]0;EVIL\x07\x1b[2J\x9b31m\x90q\x9c\x1bc\r\x08\x7f\u202egnp\u2066\u200b\ufeff\u2028\u061c"
    " one\ntwo\r\nthree\tfour\vfive \udcff [@click=app.quit]x[/] [/x] [bold <script>evil()</script> ]]> --> </b> | ``` "
    "[y](javascript:evil())"
)
_KEPT = """
type role event status kind phase subtype outcome op level table hook_event_name schema_version protocol_version
stop_reason state agent_type session_type
"""
KEPT = frozenset(_KEPT.split())
"""What a reader tells records apart by: with other words there they would only be unknown."""
COMMANDS = [
    "tree", "tree --plain", "tree --ascii", "tree --gantt", "tree --json --prompts", "check", "check --json",
    "check --sarif", "check --junit", "sources", "sources --json", "stats", "stats --json", "report", "metrics",
]  # fmt: skip
LOOKING = frozenset({"tree", "sources", "stats", "metrics"})
"""Those to whom what was read is the same, and stays so."""


def poisoned(value: Any, key: str) -> Any:
    if isinstance(value, dict):
        return {name: poisoned(inner, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [poisoned(inner, key) for inner in value]
    if not isinstance(value, str) or key in KEPT or re.match(r"\d{4}-\d\d-\d\d[T ]|\d+$", value):
        return value
    return value + EVIL


def poison(path: Path) -> None:
    text = path.read_text(encoding="utf-8", errors="replace")
    whole = path.suffix == ".json"
    lines = [text] if whole else text.splitlines()
    path.write_text("".join(_line(line) for line in lines), encoding="utf-8")
    os.utime(path, (WRITTEN, WRITTEN))


def poison_rows(path: Path) -> None:
    """The words in the rows of a database, and in the JSON that some of them hold."""
    with closing(sqlite3.connect(path)) as store, store:
        store.create_function("poisoned", 2, _cell)
        tables = [name for (name,) in store.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in [name for name in tables if not name.startswith("sqlite_")]:
            columns = [column for _, column, *_ in store.execute(f"PRAGMA table_info({table})")]
            changes = ", ".join(f"{column} = poisoned({column}, '{column}')" for column in columns)
            store.execute(f"UPDATE {table} SET {changes}")  # noqa: S608 - the sample's own names
    os.utime(path, (WRITTEN, WRITTEN))


def _cell(value: Any, column: str) -> Any:
    if isinstance(value, str) and value[:1] in ("[", "{"):
        return json.dumps(poisoned(json.loads(value), column))
    evil = poisoned(value, column)
    return evil.encode(errors="replace").decode() if isinstance(evil, str) else evil


def _line(line: str) -> str:
    try:
        return json.dumps(poisoned(json.loads(line), "")) + "\n"
    except ValueError:
        return line + EVIL.replace("\n", " ").encode(errors="replace").decode() + "\n"


@pytest.fixture(scope="module")
def logs(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("evil") / "logs"
    shutil.copytree(project / "sample_logs", folder)
    for path in [path for path in folder.rglob("*") if path.is_file() and path.suffix not in (".zst", ".toml", "")]:
        poison_rows(path) if path.suffix == ".db" else poison(path)
    return folder


def dangerous(text: str) -> list[str]:
    found = (
        char for char in set(text) if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") and char != "\n"
    )
    return [f"U+{ord(char):04X}" for char in found]


@pytest.fixture(scope="module")
def seen() -> list[Observation]:
    """What the first of the commands has read that only look at it."""
    return []


def _read_once(seen: list[Observation], read: Callable[..., Observation], *asked: Any) -> Observation:
    if not seen:
        seen.append(read(*asked))
    return seen[0]


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_prints_what_a_terminal_acts_on(
    command: str,
    logs: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    seen: list[Observation],
) -> None:
    name, *options = command.split()
    if name in LOOKING:
        monkeypatch.setattr(reading, "read", partial(_read_once, seen, reading.read))
    assert main([name, str(logs), "--at", AT, *options]) in (Exit.OK, Exit.FINDINGS, Exit.STUCK)
    out, err = capfd.readouterr()
    assert len(out) > 1_000
    assert dangerous(out + err) == []


def test_a_comparison_prints_nothing_a_terminal_acts_on(
    logs: Path, project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["diff", str(logs), str(project / "sample_logs"), "--at", AT]) == Exit.FINDINGS
    out, err = capfd.readouterr()
    assert dangerous(out + err) == []


@pytest.mark.parametrize("ending", ["md", "html", "json"])
def test_no_report_holds_what_a_terminal_or_a_browser_acts_on(logs: Path, ending: str, tmp_path: Path) -> None:
    page = tmp_path / f"report.{ending}"
    assert main(["report", str(logs), "--at", AT, "-o", str(page)]) == Exit.OK
    text = page.read_text(encoding="utf-8")
    assert dangerous(text) == []
    if ending == "html":
        assert "<script>evil" not in text
        assert 'href="javascript:' not in text


def test_the_poison_reaches_every_format(logs: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Else the tests above would only show that nothing is read."""
    main(["tree", str(logs), "--at", AT, "--json"])
    rows = json.loads(capfd.readouterr().out)["delegations"]
    hurt = {row["product"] for row in rows if "app.quit" in json.dumps(row)}
    assert hurt >= {None, "claude-code", "codex", "opencode", "proofchecker", "cleo", "hyper"}
