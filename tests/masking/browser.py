"""A page in a real browser: does it load, how long does that take, and does anything in it run?

`python -m tests.masking.browser` opens the report of logs with 10,000 hostile strings and says so; `--hostile 100000`
of logs with more, `--page PAGE` any other. It may take 10 seconds to be loaded and to be painted, beyond what an empty
page takes; of three tries the best counts, since others use the machine, too.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from time import monotonic

from tests.masking.filled_logs import AT
from tests.masking.hostile import hostile_logs

from delegtop.cli import main as delegtop

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
LONGEST = 10
"""Seconds that a page may take to be there."""
_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--no-first-run", "--disable-dev-shm-usage", "--disable-quic",
)  # fmt: skip
_TRIES = 3
_EVIL = "<script>function evil(){document.documentElement.setAttribute('data-evil','ran')}</script>"
"""What every payload calls; put before the page, so that a call that runs leaves a mark."""


def document(page: Path, profile: Path, patience: float = 120) -> str:
    """What the page is once it is loaded; `patience` is for a machine that others keep busy."""
    assert CHROMIUM is not None
    command = [
        CHROMIUM,
        *_FLAGS,
        f"--user-data-dir={profile}",
        f"--timeout={LONGEST * 1_000}",
        "--dump-dom",
        page.as_uri(),
    ]
    done = subprocess.run(command, capture_output=True, timeout=patience, check=True)
    return done.stdout.decode("utf-8", "replace")


def ran_a_script(page: Path, profile: Path) -> bool:
    """Whether anything in it ran: as it is, and without its own rule that nothing may."""
    text = page.read_text("utf-8")
    bare = page.with_name("bare.html")
    bare.write_text(_EVIL + text.replace("Content-Security-Policy", "X-No-Policy"), "utf-8")
    return any('data-evil="ran"' in document(each, profile) for each in (page, bare))


def seconds(page: Path, profile: Path, *how: str) -> float:
    """How long the browser takes for it, from its start to its end."""
    assert CHROMIUM is not None
    command = [CHROMIUM, *_FLAGS, f"--user-data-dir={profile}", *how, page.as_uri()]
    took = []
    for _ in range(_TRIES):
        began = monotonic()
        subprocess.run(command, capture_output=True, timeout=600, check=True)
        took.append(monotonic() - began)
    return min(took)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hostile", type=int, default=10_000, metavar="COUNT")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--page", type=Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        for variable in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
            os.environ[variable] = name
        page = asked.page.resolve() if asked.page else _report(folder, asked.hostile, asked.seed)
        empty = folder / "empty.html"
        empty.write_text("<!doctype html><title>x</title>", "utf-8")
        sys.stdout.write(f"{page}: {page.stat().st_size:,} bytes\n")
        slowest = 0.0
        for what, how in (("loaded", ("--dump-dom",)), ("painted", (f"--screenshot={folder / 'shot.png'}",))):
            took, nothing = (seconds(each, folder / "profile", *how) for each in (page, empty))
            slowest = max(slowest, took - nothing)
            sys.stdout.write(f"{what} in {took:.1f} s, an empty page in {nothing:.1f} s\n")
        ran = ran_a_script(page, folder / "profile")
    sys.stdout.write("a script ran\n" if ran else "nothing in it ran\n")
    return int(ran or slowest > LONGEST)


def _report(folder: Path, count: int, seed: int) -> Path:
    page = folder / "report.html"
    delegtop(["report", str(hostile_logs(folder, count, seed)), "--at", AT, "-o", str(page)])
    return page


if __name__ == "__main__":
    sys.exit(main())
