"""Make the pictures of the live page: an ordinary afternoon in which one agent hangs, on a phone and on a desk.

    pip install -e '.[dev]' && python screenshots/serve.py

It needs Chromium (Debian: `apt-get install chromium`). The sessions are made up, and every word is what `delegtop
serve` makes of them. `python screenshots/make.py` makes them, too, where Chromium is.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent)]

from tests.browsing import CHROMIUM, WHY_NOT, browser  # noqa: E402 -- the browser that the tests drive, too
from tests.homes import MINUTE, operators_home  # noqa: E402 -- the sessions that the tests make up, too
from three_hosts import NAMES, lose, make_hosts  # noqa: E402 -- beside this file

PICTURES = {"serve-phone": (390, 844, True, "light"), "serve-desk": (1180, 820, False, "dark")}
HOSTS = {"serve-hosts-phone": (390, 844, True, "dark"), "serve-hosts-desk": (1180, 820, False, "light")}
"""The same over three hosts, one of which cannot be reached."""


def main() -> int:
    if CHROMIUM is None:
        sys.stderr.write(f"the pictures of the live page: {WHY_NOT}\n")
        return 1
    with tempfile.TemporaryDirectory(prefix="delegtop-serve-") as folder:
        home = Path(folder)
        operators_home(home, time.time_ns() // 1_000_000, hang=31 * MINUTE, stuck="model")
        with serving(home) as address:
            take(address, home / "profile", PICTURES)
    with tempfile.TemporaryDirectory(prefix="delegtop-hosts-") as folder:
        hosts = Path(folder) / "hosts"
        environ = make_hosts(hosts)
        with serving(Path(folder), environ, *(f"ssh://{name}" for name in NAMES)) as address:
            lose(hosts)
            take(address, Path(folder) / "profile", HOSTS, "document.body.innerText.includes('as of')")
    return 0


def take(address: str, profile: Path, pictures: dict[str, tuple[int, int, bool, str]], when: str = "true") -> None:
    """Pictures of the page there, once that holds."""
    with browser(profile) as running:
        page = running.open(address)
        page.until("document.getElementById('pulse')?.textContent.startsWith('live')")
        page.until(when)
        for name, (width, height, mobile, colour) in pictures.items():
            page.size(width, height, mobile=mobile)
            page.prefer(colour=colour)
            page.picture(HERE / f"{name}.png")
            sys.stdout.write(f"{name}\n")


@contextmanager
def serving(home: Path, more: dict[str, str] | None = None, *sources: str) -> Iterator[str]:
    """The address at which a server of what is in that home, or of these sources, can be looked at."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "DELEGTOP_"))}
    (home / "work").mkdir()
    command = [sys.executable, "-m", "delegtop", "serve", "--port", "0", *sources]
    environ = own | {"HOME": str(home), "TZ": "UTC"} | (more or {})
    server = subprocess.Popen(command, cwd=home / "work", env=environ, stdout=subprocess.PIPE, text=True)  # noqa: S603 -- our own
    try:
        assert server.stdout is not None  # noqa: S101 -- it was asked for
        yield server.stdout.readline().strip()
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    sys.exit(main())
