"""The architecture holds: who may import whom, and that a deferred import is really deferred."""

import ast
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.architecture.package_sources import PACKAGE, PROJECT, together, tree

HOLDS_STATEMENTS = ast.stmt | ast.ExceptHandler | ast.match_case
THIRD_PARTY = {
    *(
        "textual",
        "rich",
        "msgspec",
        "psutil",
        *("nats", "nkeys", "cryptography"),
        "pydantic",
        "pydantic_core",
        "watchfiles",
        "yaml",
        "backports",
        "compression",
    ),
    *("mcp", "anyio"),
}
"""What the project file asks for, with what comes with it; who may use it is a contract."""


def test_the_contracts_between_packages_are_kept() -> None:
    """They are in the project file, under sentences."""
    program = "from importlinter.cli import lint_imports; raise SystemExit(lint_imports(no_cache=True, no_logo=True))"
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=PROJECT)
    assert told.returncode == 0, told.stdout + told.stderr


def test_every_package_has_its_place_among_the_layers() -> None:
    """A new one would be bound by nothing."""
    layers = contracts()["What lies above knows what lies below it, and never the other way round"]["layers"]
    placed = {name.strip().split(".")[1] for layer in layers for name in layer.split("|")}
    there = {path.relative_to(PACKAGE).parts[0].removesuffix(".py") for path in PACKAGE.rglob("*.py")}
    assert there - placed == {"__init__"}


@together
def test_nothing_is_imported_that_the_project_does_not_ask_for() -> None:
    named = {name.split(".")[0] for path in modules() for name, _ in imports(path)}
    assert named - sys.stdlib_module_names - {"delegtop"} <= THIRD_PARTY


def contracts() -> dict[str, dict[str, Any]]:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())
    return {each["name"]: each for each in project["tool"]["importlinter"]["contracts"]}


def modules() -> list[Path]:
    return sorted(
        path for path in PACKAGE.rglob("*.py") if path.name != "__main__.py" and path.parent != PACKAGE / "__init__"
    )


@cache
def imports(path: Path) -> list[tuple[str, bool]]:
    """Every imported module, and whether the import stands at the top (and not under TYPE_CHECKING)."""
    found: list[tuple[str, bool]] = []
    below: list[tuple[ast.AST, bool]] = [(node, True) for node in tree(path).body]
    while below:
        node, at_top = below.pop()
        if isinstance(node, ast.Import):
            found += [(name.name, at_top) for name in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            packages = node.module in ("delegtop", "delegtop.base", "delegtop.model")
            names = [f"{node.module}.{alias.name}" for alias in node.names] if packages else [node.module]
            found += [(name, at_top) for name in names]
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.If):
            at_top = False
        below += [(inner, at_top) for inner in ast.iter_child_nodes(node) if isinstance(inner, HOLDS_STATEMENTS)]
    return found


@together
def test_only_the_clock_module_reads_the_time() -> None:
    for path in modules():
        if path == PACKAGE / "base" / "clock.py":
            continue
        source = path.read_text(encoding="utf-8")
        assert "time" not in {name for name, _ in imports(path)}, path
        assert "datetime.now(" not in source, path
        assert "time.time(" not in source, path


def test_what_is_due_later_is_never_left_to_a_timer_that_may_be_lost() -> None:
    """On a busy machine Textual drops a timer of `set_timer` that is overdue when it begins: `after` never does."""
    assert [path.name for path in modules() if ".set_timer(" in path.read_text(encoding="utf-8")] == []


def test_the_command_line_opens_the_app_only_inside_a_command() -> None:
    heavy = [
        (path.name, name)
        for path in (PACKAGE / "cli").glob("*.py")
        for name, at_top in imports(path)
        if at_top and name.split(".")[:2] in (["delegtop", "app"], ["delegtop", "settings"])
    ]
    assert heavy == []


def loaded_by(statement: str) -> set[str]:
    """The modules that a fresh interpreter has loaded after the statement: the only proof that a deferral defers."""
    code = f"{statement}\nimport sys\nprint('\\n'.join(sys.modules))"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {name.split(".")[0] for name in answer.stdout.split()}


@pytest.mark.parametrize(
    ("statement", "absent"),
    [
        ("import delegtop.cli", {"textual", "pydantic", "msgspec", "argparse", "watchfiles"}),
        ("import delegtop.model.forest", {"textual", "pydantic", "watchfiles"}),
        ("import delegtop.feed.live_feed", {"textual", "watchfiles"}),
        ("import delegtop", {"textual", "pydantic", "msgspec", "argparse", "watchfiles", "typing"}),
        ("import delegtop; delegtop.open", {"textual", "pydantic", "argparse", "watchfiles"}),
        ("import delegtop.report.tree_text, delegtop.report.tree_json", {"textual", "pydantic", "watchfiles"}),
    ],
)
def test_an_import_does_not_drag_in_what_it_does_not_need(statement: str, absent: set[str]) -> None:
    assert not loaded_by(statement) & absent
