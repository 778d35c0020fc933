"""The modules of the package as trees, each parsed once by whoever asks for several of them."""

import ast
from functools import cache
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
PACKAGE = PROJECT / "tui" / "delegtop"

together = pytest.mark.xdist_group("the modules as trees")
"""For tests that look at every module: in one worker they are parsed once."""


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))
