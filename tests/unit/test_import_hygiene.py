"""What the command line loads, and what it must not: looked up in `sys.modules` of a fresh process."""

import subprocess
import sys
from pathlib import Path

import pytest

from delegtop.cli.commands import COMMANDS

HEAVY = {"textual", "rich", "pydantic", "watchfiles", "msgspec"}


def loaded(*commands: list[str], folder: Path | None = None) -> set[str]:
    """The modules that running these commands in one process adds."""
    runs = "".join(f"main({command!r}); " for command in commands)
    program = (
        "import sys; before = set(sys.modules); from delegtop.cli import main; "
        f"{runs}sys.stdout.write('\\n\\0' + ' '.join(set(sys.modules) - before))"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=folder)
    return set(told.stdout.rpartition("\0")[2].split())


def test_the_version_loads_nothing_but_the_command_line() -> None:
    assert loaded(["--version"]) == {"delegtop", "delegtop.cli"}


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        *([name, "--help"] for name in COMMANDS),
        ["tre"],
        ["tree", "x", "--jsn"],
        ["demo", "--speed", "no"],
        [],
    ],
    ids=lambda arguments: " ".join(arguments) or "nothing",
)
def test_help_and_usage_errors_load_no_heavy_library(arguments: list[str]) -> None:
    assert not loaded(arguments) & HEAVY


def test_headless_commands_never_load_the_screen(tmp_path: Path) -> None:
    (tmp_path / "run.jsonl").write_text(
        '{"event": "register", "at": "2025-12-26T10:00:00Z", "session_id": "s", "subagent": "planner"}\n'
    )
    modules = loaded(["tree", "run.jsonl"], ["tree", "run.jsonl", "--json"], ["config", "show"], folder=tmp_path)
    assert "delegtop.report.text" in modules
    assert not {"textual", "rich", "delegtop.app"} & modules


def test_the_dashboard_opens_without_what_only_some_logs_need() -> None:
    """Settings are given, as whoever has a file of them gives some."""
    program = (
        "import sys; from delegtop import config; config.load(environ={'DELEGTOP_SORT': 'start'}); "
        "import delegtop.app.main; print(*sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "delegtop.app.screens.monitor" in told.stdout.split()
    assert not {"pydantic", "yaml", "watchfiles", "tomllib", "importlib.metadata"} & set(told.stdout.split())
    assert not {"delegtop.diagnosis.rules", "delegtop.diagnosis.engine"} & set(told.stdout.split())


def test_no_format_needs_the_models_before_a_file_has_it() -> None:
    program = (
        "import sys; from delegtop.dialects import load, names; [load(name) for name in names()]; print(*sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "delegtop.dialects.registry" in told.stdout.split()
    assert "pydantic" not in told.stdout.split()
