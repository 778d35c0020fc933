"""A page in a real browser: does it load, and does anything in it run?

`python -m tests.masking.browser PAGE` opens a report and says so.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
LONGEST = 10
"""Seconds that a page may take to load."""
_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--no-first-run", "--disable-dev-shm-usage",
)  # fmt: skip
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


def main() -> int:
    page = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as profile:
        ran = ran_a_script(page, Path(profile))
    sys.stdout.write(f"{page}: {'a script ran' if ran else 'loaded, and nothing ran'}\n")
    return ran


if __name__ == "__main__":
    sys.exit(main())
