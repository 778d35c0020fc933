"""The architecture holds: who may import whom, and that a deferred import is really deferred."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "tui" / "delegtop"

LEAVES = {"clock", "ending", "text", "origin", "secrets"}
ALLOWED: dict[str, tuple[set[str], set[str]]] = {
    # layer: (own layers it may import, third-party packages it may import)
    "clock": (set(), set()),
    "ending": (set(), set()),
    "text": (set(), set()),
    "secrets": (set(), set()),
    "origin": (set(), {"msgspec"}),
    "model": ({"clock", "origin", "zstd", "contract.reading"}, {"msgspec"}),
    "contract": ({"clock"}, {"pydantic", "yaml"}),
    "zstd": (set(), {"backports", "compression"}),
    "sources": ({"clock", "origin", "zstd"}, {"msgspec", "watchfiles"}),
    "dialects": (
        {"clock", "contract", "origin", "model.events", "model.notes", "sources.record"},
        {"msgspec", "pydantic"},
    ),
    "diagnosis": ({"clock", "contract", "origin", "model"}, {"msgspec"}),
    "feed": ({"clock", "origin", "sources", "dialects", "model"}, {"msgspec"}),
    "delegate": ({"clock", "contract", "origin", "sources.record", "text"}, set()),
    "report": ({"clock", "text", "origin", "secrets", "model", "diagnosis"}, {"msgspec"}),
    "notify": ({"clock", "text", "secrets", "diagnosis"}, set()),
    "usual": ({"clock", "model.policy"}, {"msgspec"}),
    "values": ({"clock"}, set()),
    "config": ({"clock", "contract.reading", "model.order", "model.policy", "values"}, {"msgspec"}),
    "testing": ({"clock", "dialects", "feed", "model", "origin", "sources"}, {"msgspec"}),
    "cli": (
        LEAVES
        | {
            "model",
            "contract",
            "sources",
            "dialects",
            "diagnosis",
            "feed",
            "delegate",
            "report",
            "config",
            "notify",
            "usual",
            "app",
            "cli",
        },
        set(),
    ),
    "app": (
        LEAVES
        | {"model", "contract", "sources", "dialects", "diagnosis", "feed", "report", "config", "notify", "usual"},
        {"textual", "rich", "msgspec"},
    ),
}
ONLY_IN = {
    "watchfiles": "sources/watch.py",
    "backports": "zstd.py",
    "compression": "zstd.py",
    "yaml": "contract/frontmatter.py",
}
"""Third-party packages of one module alone."""


def modules() -> list[Path]:
    return sorted(
        path for path in PACKAGE.rglob("*.py") if path.name != "__main__.py" and path.parent != PACKAGE / "__init__"
    )


def layer_of(path: Path) -> str:
    if path == PACKAGE / "dialects" / "testing.py":  # it reads samples as the program does
        return "testing"
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


def imports(path: Path) -> Iterator[tuple[str, bool]]:
    """Every imported module, and whether the import stands at the top (and not under TYPE_CHECKING)."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    deferred = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.If)
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for name in node.names:
                yield name.name, id(node) not in deferred
        elif isinstance(node, ast.ImportFrom) and node.module:
            packages = node.module in ("delegtop", "delegtop.model")
            names = [f"{node.module}.{alias.name}" for alias in node.names] if packages else [node.module]
            for name_ in names:
                yield name_, id(node) not in deferred


def test_a_module_imports_only_what_its_layer_may() -> None:
    assert [wrong for path in modules() for wrong in misplaced(path)] == []


def misplaced(path: Path) -> Iterator[str]:
    """The imports of one module that its layer may not have."""
    layer = layer_of(path)
    if layer == "__init__":
        return
    own, third_party = ALLOWED[layer]
    for name, _ in imports(path):
        top = name.split(".")[0]
        if top == "delegtop":
            inner = name.removeprefix("delegtop").removeprefix(".")
            allowed = not inner or inner.startswith("__") or inner.split(".")[0] == layer
            if not allowed and not any(inner == may or inner.startswith(may + ".") for may in own):
                yield f"{path.relative_to(PACKAGE)} ({layer}) imports {name}"
        elif top not in sys.stdlib_module_names:
            where = ONLY_IN.get(top)
            if top not in third_party or (where is not None and path != PACKAGE / where):
                yield f"{path.relative_to(PACKAGE)} ({layer}) imports {top}"


def test_only_the_clock_module_reads_the_time() -> None:
    for path in modules():
        if path == PACKAGE / "clock.py":
            continue
        source = path.read_text(encoding="utf-8")
        assert "time" not in {name for name, _ in imports(path)}, path
        assert "datetime.now(" not in source, path
        assert "time.time(" not in source, path


def test_what_is_due_later_is_never_left_to_a_timer_that_may_be_lost() -> None:
    """On a busy machine Textual drops a timer of `set_timer` that is overdue when it begins: `pace.after` does not."""
    assert [path.name for path in modules() if ".set_timer(" in path.read_text(encoding="utf-8")] == []


def test_the_command_line_opens_the_app_only_inside_a_command() -> None:
    heavy = [
        (path.name, name)
        for path in (PACKAGE / "cli").glob("*.py")
        for name, at_top in imports(path)
        if at_top and name.split(".")[:2] in (["delegtop", "app"], ["delegtop", "config"])
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
        ("import delegtop.feed", {"textual", "watchfiles"}),
        ("import delegtop.report.text, delegtop.report.tree_json", {"textual", "pydantic", "watchfiles"}),
    ],
)
def test_an_import_does_not_drag_in_what_it_does_not_need(statement: str, absent: set[str]) -> None:
    assert not loaded_by(statement) & absent
