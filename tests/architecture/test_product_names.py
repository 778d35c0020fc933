"""What delegtop knows of an agent program stands in the package of that program, and nowhere else by name."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.architecture.package_sources import PACKAGE, together, tree

from delegtop.dialects.format_table import PRODUCTS
from delegtop.dialects.products import products

pytestmark = together
OWNERS = {
    word: PRODUCTS[product.name].removeprefix("delegtop.").replace(".", "/") + "/"
    for product in products()
    for word in (product.name, *product.executables)
}
WORD = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, sorted(OWNERS, key=len, reverse=True)))})(?!\w)")
ALLOWED = {
    ("dialects/format_table.py", "any"): "generated from the packages themselves",
    ("report/status/home_variables.py", "any"): "generated from the packages themselves",
    ("model/known_durations.py", "any"): "generated: counts of what calls of each program took",
    ("model/price_list.py", "any"): "the names of models, and where their prices were read",
    ("model/prices.py", "claude"): "how sellers spell the names of a vendor's models",
    ("app/", "cursor"): "the cursor of a widget",
    ("report/live_page/", "cursor"): "the pointer in a browser",
    ("mcp_server/", "cursor"): "the place up to which a client was told what happened",
    ("model/delegation.py", "claude-code"): "the example that the help gives for a filter",
    ("cli/lint.py", "opencode"): "the help names folders of agent files",
    ("cli/lint.py", "claude"): "as above",
    ("observation/agent_limits.py", "opencode"): "where agent files lie, which are read by their own standard",
    ("observation/agent_limits.py", "claude"): "as above",
    (
        "observation/source_discovery.py",
        "opencode",
    ): "where orchestrators of the standard leave their logs in a project",
    ("protocols/standard/agent_files/", "opencode"): "the standard of agent files was written for it",
    ("protocols/standard/agent_files/", "claude"): "agent files of the other kind have rules of their own",
    ("protocols/standard/contract/artifact_paths.py", "opencode"): "where the standard keeps its artifacts",
    ("protocols/rule_catalogue.py", "hyper"): "the title of a chapter",
    (
        "diagnosis/rules/__init__.py",
        "any",
    ): "the modules of chapters; those of a protocol are in its package",
}


def literals(path: Path) -> Iterator[tuple[int, str]]:
    """The texts in the code of a module; what only documents it is left out."""
    nodes = list(ast.walk(tree(path)))
    documentation = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.Constant) and id(node) not in documentation:
            if isinstance(node.value, str):
                yield node.lineno, node.value
            elif isinstance(node.value, bytes):
                yield node.lineno, node.value.decode("latin-1")


@cache
def named() -> list[tuple[str, int, str]]:
    """Every place where the code names a program that is not its own."""
    return [
        (module, line, word)
        for path in sorted(PACKAGE.rglob("*.py"))
        for module in [path.relative_to(PACKAGE).as_posix()]
        for line, text in literals(path)
        for word in WORD.findall(text)
        if not module.startswith(OWNERS[word])
    ]


def reasons(module: str, word: str) -> list[tuple[str, str]]:
    return [each for each in ALLOWED if module.startswith(each[0]) and each[1] in (word, "any")]


def test_a_program_is_named_only_in_its_own_package() -> None:
    assert [place for place in named() if not reasons(place[0], place[2])] == []


def test_every_exception_is_still_needed() -> None:
    assert {each for module, _, word in named() for each in reasons(module, word)} == set(ALLOWED)
