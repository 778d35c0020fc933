"""Make the pictures of the plan for stopping a delegation: real tools that hang, below a stand-in session.

    pip install -e '.[dev]' && python screenshots/stop.py

The processes are those of the live tests, and end with it.
"""

import asyncio
import os
import sys
import tempfile
from datetime import UTC
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from make import draw  # noqa: E402 -- beside this file
from tests.live.live_case import Case, Truth  # noqa: E402 -- as the tests put them on
from tests.live.stage import Stage  # noqa: E402 -- likewise

from delegtop.act.acting import Acting  # noqa: E402 -- after the paths
from delegtop.app.main import DelegtopApp  # noqa: E402 -- likewise
from delegtop.observation.observation import opened  # noqa: E402 -- likewise
from delegtop.observation.source_discovery import Places  # noqa: E402 -- likewise
from delegtop.settings import Settings  # noqa: E402 -- likewise

CASES = [
    Case("own", "sleep 4000", Truth.SLEEPS, alone=True),
    Case(
        "migration",
        "flock db.lock make migrate",
        Truth.HUNG,
        beside="exec flock db.lock sh -c 'touch ready; exec sleep 5000'",
    ),
    Case("tests", "pytest -q | tee out.txt | cat queue", Truth.HUNG, prepare="mkfifo queue"),
]
PICTURES = (("stop", (160, 45), "dark"), ("stop-80x24", (80, 24), "dark"))


async def picture(stage: Stage, name: str, size: tuple[int, int], theme: str) -> None:
    claude = stage.home / ".claude"
    places = Places([str(claude / "projects"), str(claude / "sessions")])
    app = DelegtopApp(opened(places, Settings(theme=theme)), acting=Acting(True), zone=UTC)
    async with app.run_test(size=size) as pilot:
        for _ in range(600):
            await pilot.pause(0.1)
            if (first := app.board.first) is not None and first.kind == "hung in a tool":
                break
        await pilot.press("e", "K", "1", "enter")
        await pilot.pause(0.5)
        (HERE / f"{name}.svg").write_text(app.export_screenshot(title="delegtop"), encoding="utf-8")
        draw([list(strip) for strip in app.screen._compositor.render_strips()], *size, HERE / f"{name}.png")


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="delegtop-") as folder:
        os.chdir(folder)
        os.environ["XDG_STATE_HOME"] = folder
        with Stage(Path(folder) / "stage", CASES) as stage:
            for name, size, theme in PICTURES:
                asyncio.run(picture(stage, name, size, theme))
                sys.stdout.write(f"{name}\n")


if __name__ == "__main__":
    main()
