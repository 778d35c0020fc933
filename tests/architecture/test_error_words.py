"""What the system says of an error is told in its own words, and not with the number that Python writes before them."""

import ast
from collections.abc import Iterator

from tests.architecture.package_sources import PACKAGE, together, tree

from delegtop.base.system_errors import place_and_reason, reason_of

SYSTEM = ("OSError", "PermissionError", "FileNotFoundError", "ConnectionError", "Exception")
FOREIGN = {
    "dialects/__init__.py": "a format of somebody else that cannot be imported",
    "feed/formats.py": "the same, that failed",
    "feed/spoken_pages.py": "the same",
}
"""Where any error of other people's code is told as Python tells it."""


def told_whole(handler: ast.ExceptHandler) -> Iterator[ast.expr]:
    """Where the error that it caught is written out as it is."""
    for node in ast.walk(handler):
        if isinstance(node, ast.FormattedValue):
            yield from _error(node.value, handler)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "str" and node.args:
            yield from _error(node.args[0], handler)


def _error(said: ast.expr, handler: ast.ExceptHandler) -> Iterator[ast.expr]:
    if isinstance(said, ast.Name) and said.id == handler.name:
        yield said


@together
def test_no_error_of_the_system_is_told_with_its_number() -> None:
    found = {
        f"{path.relative_to(PACKAGE).as_posix()}:{said.lineno}"
        for path in PACKAGE.rglob("*.py")
        for handler in ast.walk(tree(path))
        if isinstance(handler, ast.ExceptHandler) and handler.type is not None
        if any(name in ast.unparse(handler.type) for name in SYSTEM)
        for said in told_whole(handler)
        if path.relative_to(PACKAGE).as_posix() not in FOREIGN
    }
    assert found == set()


def test_a_reason_names_the_file_only_where_that_is_wanted() -> None:
    full, missing = OSError(28, "No space left on device"), FileNotFoundError(2, "No such file or directory", "/x.log")
    assert [reason_of(each) for each in (full, missing, OSError("said so"), ValueError())] == [
        "No space left on device",
        "No such file or directory",
        "said so",
        "ValueError",
    ]
    assert place_and_reason(missing) == "/x.log: No such file or directory"
    assert place_and_reason(full) == "No space left on device"
