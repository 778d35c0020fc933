"""Make the picture of the status line in tmux: the snippet of docs/status.md, run by tmux itself.

    pip install -e '.[dev]' && python screenshots/status.py

It needs tmux. The sessions are made up, and every figure is what delegtop makes of them.
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rich.ansi import AnsiDecoder
from rich.console import Console
from rich.segment import Segment

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from make import draw  # noqa: E402 -- beside this file
from tests.homes import MINUTE, Transcript, _hung, _id, _place  # noqa: E402 -- the sessions that the tests make up, too

SIZE = (110, 6)
SECONDS = 1_000
PATIENCE = 30


def fill(home: Path) -> None:
    """Eight agents at work, and one that was given twenty minutes and is in its tool for longer."""
    now = time.time_ns() // 1_000_000
    _hung(home, "/home/ann/webapp", now - 24 * MINUTE - 51 * SECONDS, answered=False)
    for number, name in enumerate(("webapp", "api", "api", "docs", "infra", "infra", "mobile", "mobile"), 2):
        session = Transcript(_id("a", number), f"/home/ann/{name}")
        session.asked(now - number * MINUTE, "Go on with the plan")
        session.called(now - number * SECONDS, f"toolu_{number}", "Bash", command="make test")
        session.keep(_place(home, session.cwd) / f"{session.session}.jsonl")
    settings = home / ".config" / "delegtop" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('timeouts = { "general-purpose" = "20m" }\n')


def main() -> int:
    page = (HERE.parent / "docs" / "status.md").read_text("utf-8")
    snippet = re.search(r"^### tmux\n.*?^```tmux\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert snippet is not None  # noqa: S101 -- the page has it, and the tests run it
    with tempfile.TemporaryDirectory(prefix="delegtop-status-") as folder:
        home = Path(folder)
        fill(home)
        (home / "tmux.conf").write_text(snippet[1])
        own = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "TMUX"))}
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        environ = own | {"HOME": folder, "PATH": path, "TMUX_TMPDIR": folder, "LC_ALL": "C.UTF-8", "TZ": "UTC"}
        draw(shot(home, environ), *SIZE, HERE / "status-tmux.png")
    return 0


def shot(home: Path, environ: dict[str, str]) -> list[list[Segment]]:
    """What a terminal shows in which tmux shows the line."""

    def tmux(name: str, *words: str) -> str:
        command = ["tmux", "-L", name, "-f", "/dev/null" if name == "outer" else str(home / "tmux.conf"), "-u", *words]
        return subprocess.run(command, env=environ, check=True, capture_output=True, text=True).stdout  # noqa: S603 -- our own

    width, height = SIZE
    shown = r"cd; printf '$ delegtop status\n'; delegtop status --for ansi; printf '$ '; exec sleep 1000"
    inner = shlex.join(["tmux", "-L", "inner", "-f", str(home / "tmux.conf"), "-u", "new-session", "-s", "work", shown])
    try:
        tmux("outer", "new-session", "-d", "-x", str(width), "-y", str(height), f"env TMUX= {inner}")
        tmux("outer", "set", "-g", "status", "off")
        until = time.monotonic() + PATIENCE
        while (
            tmux("outer", "capture-pane", "-p").count("webapp") < len(("words", "glyphs")) and time.monotonic() < until
        ):
            time.sleep(0.2)
        told = tmux("outer", "capture-pane", "-p", "-e", "-N")
    finally:
        for name in ("inner", "outer"):
            subprocess.run(["tmux", "-L", name, "kill-server"], env=environ, capture_output=True, check=False)  # noqa: S603, S607 -- as above
    console = Console(width=width, color_system="truecolor", force_terminal=True)
    return [list(line.render(console)) for line in AnsiDecoder().decode(told)]


if __name__ == "__main__":
    sys.exit(main())
