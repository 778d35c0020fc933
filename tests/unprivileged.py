"""Programs that may not look into a closed folder, whoever runs the tests: root may look into any."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.patience import PATIENCE

_IS_ROOT = os.geteuid() == 0
PREFIX = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"] if _IS_ROOT else []

needs_closed_folders = pytest.mark.skipif(_IS_ROOT and not shutil.which("setpriv"), reason="root may enter any folder")


def python(*arguments: str, home: Path | None = None) -> "subprocess.CompletedProcess[str]":
    """What Python says then and how it ends, with that home and beside it."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
    return subprocess.run(
        [*PREFIX, sys.executable, "-P", *arguments],
        cwd=home.parent if home else None,
        env={**environment, "HOME": str(home)} if home else environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def delegtop(arguments: Sequence[str], home: Path) -> "subprocess.CompletedProcess[str]":
    return python("-m", "delegtop", *arguments, home=home)


@contextmanager
def closed(path: Path) -> Iterator[None]:
    """For a while nobody may read that."""
    mode = path.stat().st_mode
    path.chmod(0)
    try:
        yield
    finally:
        path.chmod(mode)
