"""The programs delegtop is measured against. What is missing is named as missing, or fetched if that is wanted."""

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

from tests.bench.measure import say

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "delegtop-bench"


FETCH = "BENCH_FETCHES"
"""Set where programs that are missing may be fetched from the network."""


@cache
def tool(name: str) -> str | None:
    """The path of a system tool; installed with apt where that is wanted and possible."""
    found = shutil.which(name)
    if found is None and FETCH in os.environ and shutil.which("apt-get") and os.geteuid() == 0:
        say(f"installing {name} with apt-get")
        subprocess.run(["apt-get", "install", "-y", name], capture_output=True, check=False)
        found = shutil.which(name)
    return found


@cache
def python_with(package: str) -> Path | None:
    """The `bin` folder of an environment of its own that holds a Python package; None if it cannot be had."""
    home = CACHE / package
    mark = home / "ready"
    if not mark.exists() and FETCH not in os.environ:
        return None
    if not mark.exists():
        say(f"installing {package} into {home}")
        home.mkdir(parents=True, exist_ok=True)
        made = _quietly(sys.executable, "-m", "venv", str(home))
        if not (made and _quietly(str(home / "bin" / "pip"), "install", "-q", package)):
            say(f"{package} cannot be installed")
            return None
        mark.touch()
    return home / "bin"


def _quietly(*argv: str) -> bool:
    return subprocess.run(argv, capture_output=True, check=False).returncode == 0


SETTINGS = {"DELEGTOP_SORT": "start", "DELEGTOP_LEARN": "no", "XDG_CONFIG_HOME": "/nonexistent"}
"""How delegtop is set for all measurements, whatever the user prefers; what it learns once a day would disturb them."""


@cache
def delegtop() -> str:
    """The console script beside the interpreter that runs the bench."""
    beside = Path(sys.executable).parent / "delegtop"
    return str(beside) if beside.exists() else shutil.which("delegtop") or str(beside)


LNAV_FORMAT = """
{
  "$schema": "https://lnav.org/schemas/format-v1.schema.json",
  "session_log": {
    "title": "session log", "json": true, "timestamp-field": "at", "body-field": "event", "hide-extra": true,
    "line-format": [{"field": "__timestamp__"}, " ", {"field": "event"}, " ", {"field": "session_id"}],
    "value": {
      "session_id": {"kind": "string", "identifier": true},
      "event": {"kind": "string"},
      "activity": {"kind": "string", "hidden": true}
    }
  }
}
"""


def lnav_settings(folder: Path) -> Path:
    """A configuration folder in which lnav knows the session log."""
    formats = folder / "lnav" / "formats" / "session_log"
    formats.mkdir(parents=True, exist_ok=True)
    (formats / "format.json").write_text(LNAV_FORMAT)
    return folder / "lnav"
