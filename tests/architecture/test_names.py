"""A name means one thing: whoever searches for it finds one module, or one class."""

import ast
from collections import defaultdict

from tests.architecture.package_sources import PACKAGE, together, tree

IN_SCHEMAS = {"Basis", "Product"}
"""These stand in a JSON schema under this name, which is a contract, and mean something else besides."""


def test_a_module_has_a_name_of_its_own() -> None:
    modules = defaultdict(list)
    for path in PACKAGE.rglob("*.py"):
        if path.name != "__init__.py":
            modules[path.stem].append(path.relative_to(PACKAGE).as_posix())
    assert {name: paths for name, paths in modules.items() if len(paths) > 1} == {}


@together
def test_a_class_has_a_name_of_its_own() -> None:
    classes = defaultdict(list)
    for path in PACKAGE.rglob("*.py"):
        for node in tree(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                classes[node.name].append(path.relative_to(PACKAGE).as_posix())
    several = {name: paths for name, paths in classes.items() if len(paths) > 1}
    assert {name: paths for name, paths in several.items() if name not in IN_SCHEMAS} == {}
    assert set(classes) >= IN_SCHEMAS
