"""Make the pictures of the README anew, all or the named ones, from the real app at a frozen moment.

    pip install -e '.[dev]' && python screenshots/make.py [SCENE…]

Each scene is written as SVG and as PNG. The story is the demo's, so the pictures show what `delegtop demo` shows. In
those of its real hung tool processes run and time passes, so no two of them have the same numbers. The live page is
pictured where there is Chromium (`serve.py`).
"""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
from datetime import UTC
from pathlib import Path
from typing import Any, NamedTuple

import serve  # beside this file
from PIL import Image, ImageDraw, ImageFont
from rich.cells import cell_len
from rich.color import Color, ColorType
from rich.segment import Segment
from rich.terminal_theme import MONOKAI
from textual.pilot import Pilot
from three_hosts import NAMES, lose, make_hosts  # beside this file

from delegtop.act.acting import Acting
from delegtop.app.main import DelegtopApp
from delegtop.base.clock import SECOND, FrozenClock, Millis, WallClock, parse_time
from delegtop.base.ssh_command import SshAddress
from delegtop.demo.hung_tool import HungTool
from delegtop.demo.simulate import RECENT, Simulation
from delegtop.observation.observation import opened, replayed
from delegtop.observation.source_discovery import Places
from delegtop.settings import Settings

HERE = Path(__file__).resolve().parent
SAMPLES = HERE.parent / "sample_logs"
START = parse_time("2026-03-02T10:00:00Z") or Millis(0)
LOOK = Millis(START + 45 * SECOND)
FONT = Path("/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf")
CELL = (9, 18)
BLOCKS = "\0▏▎▍▌▋▊▉█"
"""Filled from the left by so many eighths."""

HOMES = {"claude-code": ".claude", "codex": ".codex", "gemini": ".gemini", "kimi": ".kimi-code", "qwen": ".qwen"}
"""Where samples would lie in the home of somebody who ran these programs."""

SMALL = (140, 22)
"""What several pictures beside each other have room for."""


class Scene(NamedTuple):
    name: str
    size: tuple[int, int]
    keys: tuple[str, ...] = ()
    theme: str = "dark"
    query: str = ""
    sample: str = ""
    """A folder of sample_logs; the demo without one."""
    at: str = ""
    replayed: bool = False
    """In the time of the log, with the replay bar; `at` is the moment."""
    real: bool = False
    """The demo as it runs, with its hung tool."""
    hosts: bool = False
    """The demo on three hosts, one of which is lost."""
    past: bool = False
    """The demo in the home of somebody who has run several programs."""


SCENES = (
    Scene("demo-hang", (160, 45), real=True),
    Scene("demo-stop", (140, 36), ("K", "up"), real=True),
    Scene("monitor", (160, 45)),
    Scene("monitor-light", (160, 45), theme="light"),
    Scene("monitor-safe", (160, 45), theme="safe"),
    Scene("monitor-80x24", (80, 24)),
    Scene("return", (160, 45), (*["e"] * 5, "2")),
    Scene("errors", (160, 45), ("e", "e", "e", "3")),
    Scene("activity", (160, 45), ("4",)),
    Scene("raw", (160, 45), ("5",)),
    Scene("findings", (160, 45), ("6",)),
    Scene("filter", (160, 45), query="state:overdue,failed,partial"),
    Scene("gantt", (160, 45), ("b",)),
    Scene("gantt-light", (140, 30), ("b",), theme="light", sample="15_fan_out", at="2026-03-17T12:12:30Z"),
    Scene("triage", (160, 45), ("t",)),
    Scene("triage-light", (160, 45), ("t", "e", "e"), theme="light"),
    Scene("triage-80x24", (80, 24), ("t",)),
    *(
        Scene(f"triage-{name}", (140, 30), ("t", *["e"] * down), sample="16_second_witness", at="2026-03-19T10:30:00Z")
        for down, name in enumerate(("prompt", "lock", "stopped", "network", "tool-ended"))
    ),
    Scene("second-witness", (160, 30), sample="16_second_witness", at="2026-03-19T10:30:00Z"),
    Scene("replay", (140, 30), sample="02_hang", at="2026-03-03T10:48:30Z", replayed=True),
    Scene("transcript", (140, 30), ("home", "v"), sample="claude-code", at="2026-11-02T10:12:00Z"),
    Scene("transcript-light", (80, 24), ("home", "v"), "light", sample="claude-code", at="2026-11-02T10:12:00Z"),
    Scene("find", SMALL, ("vertical_line", *"test*"), past=True),
    Scene("hosts", (160, 45), ("H",), hosts=True),
    Scene("hosts-light", (160, 45), ("H",), "light", hosts=True),
    Scene("hosts-small", (80, 24), ("H",), hosts=True),
    Scene("hosts-small-light", (80, 24), (), "light", hosts=True),
    Scene("help", (120, 45), ("question_mark",)),
    Scene("sources", (160, 45), ("o",)),
    Scene("claude-code", (140, 30), ("down",), sample="claude-code", at="2026-11-02T10:12:00Z"),
    Scene("codex", (140, 30), sample="codex", at="2026-02-03T09:05:00Z"),
    Scene("opencode", (140, 30), ("down", "down"), sample="opencode", at="2026-03-15T10:10:20Z"),
    Scene("proofchecker", (140, 36), sample="proofchecker", at="2026-09-14T10:00:00Z"),
    Scene("cleo", (140, 30), ("d", "e"), sample="cleo", at="2026-03-20T09:12:00Z"),
    Scene("hyper", (140, 30), sample="hyper", at="2026-03-18T09:12:00Z"),
    Scene("otel", (140, 26), ("down",), sample="otel", at="2026-05-04T09:01:40Z"),
    Scene("copilot", SMALL, sample="copilot", at="2026-04-14T09:10:00Z"),
    Scene("gemini", SMALL, sample="gemini", at="2026-05-19T13:14:00Z"),
    Scene("qwen", SMALL, ("down", "down"), sample="qwen", at="2026-06-09T07:43:00Z"),
    Scene("kimi", SMALL, ("down",), sample="kimi", at="2026-07-07T15:12:00Z"),
    Scene("kilo", SMALL, sample="kilo", at="2026-10-06T09:08:00Z"),
    Scene("cline", SMALL, sample="cline", at="2026-10-13T07:40:00Z"),
    Scene("grok", SMALL, sample="grok", at="2026-10-20T16:20:00Z"),
    Scene("cursor", SMALL, sample="cursor", at="2026-07-21T10:09:00Z"),
    Scene("droid", SMALL, sample="droid", at="2026-08-11T06:47:30Z"),
    Scene("crush", SMALL, ("down", "down"), sample="crush", at="2026-09-01T08:02:50Z"),
    Scene("goose", SMALL, sample="goose", at="2026-09-22T14:09:00Z"),
)


def watching(scene: Scene, folder: Path) -> DelegtopApp:
    clock = FrozenClock(parse_time(scene.at) or LOOK)
    settings = Settings(theme=scene.theme) if scene.sample else Settings(theme=scene.theme, recent=RECENT)
    return DelegtopApp(opened(Places([str(folder)]), settings, clock), query=scene.query, zone=UTC)


def replaying(scene: Scene, folder: Path) -> DelegtopApp:
    moment = parse_time(scene.at) or LOOK
    settings = Settings(theme=scene.theme)
    seen = replayed(Places([str(folder)]), settings, speed=60.0, start=lambda _: moment)
    if seen.replay is not None:
        seen.replay.clock.pause()
    return DelegtopApp(seen, query=scene.query, zone=UTC)


async def real_picture(scene: Scene) -> None:
    with tempfile.TemporaryDirectory(prefix="delegtop-demo-") as folder:
        tool = HungTool(Path(folder))
        simulation = Simulation(1, 1.0, Path(folder), WallClock(), tool=tool)
        simulation.start()
        try:
            settings = Settings(theme=scene.theme).at_pace(RECENT)
            seen = opened(Places([folder]), settings, policy=settings.policy())
            acting = Acting(enabled=True, only=tool.is_own)
            await shown(DelegtopApp(seen, zone=UTC, acting=acting), scene)
        finally:
            simulation.stop()


async def hosts_picture(scene: Scene, folder: Path) -> None:
    """Once the third has been lost for a while."""
    os.environ |= make_hosts(folder)
    places = Places([], hosts=tuple(SshAddress(name, name) for name in NAMES))
    seen = opened(places, Settings(theme=scene.theme, recent=RECENT))
    await shown(DelegtopApp(seen, zone=UTC), scene, hosts=folder)
    command = [sys.executable, "-m", "delegtop", "hosts", *NAMES]
    told = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 -- our own
    lines = ["$ delegtop hosts", *told.stdout.splitlines()]
    draw([[Segment(line)] for line in lines], 110, len(lines), HERE / "hosts-command.png")


async def past_picture(scene: Scene, folder: Path) -> None:
    """What the samples tell is all over, and kept."""
    home = Path(scene.name).resolve()
    for name, place in HOMES.items():
        shutil.copytree(SAMPLES / name, home / place)
    os.environ["HOME"] = str(home)
    subprocess.run([sys.executable, "-m", "delegtop", "index", "update", "--quiet"], check=True)
    await shown(watching(scene, folder), scene)


async def lost(app: DelegtopApp, pilot: Pilot[Any], hosts: Path) -> None:
    """Wait until all are there, lose the third, and wait until that shows."""
    fleet = app.hosts.fleet
    while fleet is not None and not all(host.state == "live" for host in fleet.hosts()):
        await pilot.pause(0.2)
    lose(hosts)
    while not any(app.board.forest.is_stale(handle) for handle in range(len(app.board.forest))):
        await pilot.pause(0.5)


def is_hung(app: DelegtopApp) -> bool:
    """Whether the kernel has said so, and nothing else is in front of it."""
    first = app.board.first
    return first is not None and first.kind == "hung in a tool" and len(first.evidence) > 1


async def picture(scene: Scene, folder: Path) -> None:
    await shown(replaying(scene, folder) if scene.replayed else watching(scene, folder), scene)


async def shown(app: DelegtopApp, scene: Scene, hosts: Path | None = None) -> None:
    async with app.run_test(size=scene.size) as pilot:
        if hosts is not None:
            await lost(app, pilot, hosts)
        while scene.real and not is_hung(app):
            await pilot.pause(0.5)
        for _ in range(50):
            await pilot.pause(0.05)
            if not app.reader.loading:
                break
        for key in scene.keys:
            await pilot.press(key)
            await pilot.pause(0.2)
        await pilot.pause(0.5)
        # The title bar of the SVG is left empty: the picture is the terminal.
        (HERE / f"{scene.name}.svg").write_text(app.export_screenshot(title="delegtop"), encoding="utf-8")
        width, height = scene.size
        rows = [list(strip) for strip in app.screen._compositor.render_strips()]
        draw(rows, width, height, HERE / f"{scene.name}.png")


def draw(rows: list[list[Segment]], width: int, height: int, out: Path) -> None:
    regular = ImageFont.truetype(str(FONT), 15)
    bold = ImageFont.truetype(str(FONT.with_name("DejaVuSansMono-Bold.ttf")), 15)
    image = Image.new("RGB", (width * CELL[0], height * CELL[1]), MONOKAI.background_color)
    pen = ImageDraw.Draw(image)
    for y, row in enumerate(rows[:height]):
        x = 0
        for segment in row:
            style = segment.style
            fore = rgb(style.color if style else None, MONOKAI.foreground_color)
            back = rgb(style.bgcolor if style else None, MONOKAI.background_color)
            if style and style.reverse:
                fore, back = back, fore
            if style and style.dim:
                fore = tuple((a + b) // 2 for a, b in zip(fore, back, strict=True))
            for character in segment.text:
                cells = cell_len(character)
                pen.rectangle((x, y * CELL[1], x + max(cells, 1) * CELL[0] - 1, (y + 1) * CELL[1] - 1), fill=back)
                if character in BLOCKS:  # fonts leave gaps between them, terminals do not
                    filled = x + CELL[0] * BLOCKS.index(character) // 8 - 1
                    pen.rectangle((x, y * CELL[1], filled, (y + 1) * CELL[1] - 1), fill=fore)
                else:
                    pen.text((x, y * CELL[1]), character, font=bold if style and style.bold else regular, fill=fore)
                if style and style.underline:
                    pen.line((x, (y + 1) * CELL[1] - 2, x + cells * CELL[0], (y + 1) * CELL[1] - 2), fill=fore)
                x += cells * CELL[0]
    image.quantize(256).save(out, optimize=True)


def rgb(color: Color | None, fallback: tuple[int, int, int]) -> tuple[int, ...]:
    return tuple(fallback) if color is None or color.type is ColorType.DEFAULT else tuple(color.get_truecolor(MONOKAI))


def sample(scene: Scene) -> Path:
    """A copy of the sample whose files were written when the sample says, or shortly before the moment of looking."""
    copy = Path(shutil.copytree(SAMPLES / scene.sample, scene.sample, dirs_exist_ok=True))
    latest = (parse_time(scene.at) or LOOK) - 90 * SECOND
    times = copy / "times.json"
    written = json.loads(times.read_text()) if times.exists() else {}
    for path in copy.rglob("*"):
        at = parse_time(written.get(str(path.relative_to(copy)), "")) or latest
        os.utime(path, (at / 1000, at / 1000))
    for aside in (times, copy / "README.md"):
        aside.unlink(missing_ok=True)
    return copy


def main() -> int:
    if not FONT.exists():
        sys.stderr.write("the PNGs need DejaVu Sans Mono (Debian: fonts-dejavu-core)\n")
        return 1
    wanted = set(sys.argv[1:]) or {scene.name for scene in SCENES}
    with tempfile.TemporaryDirectory() as home:
        os.chdir(home)
        os.environ["XDG_STATE_HOME"] = os.environ["XDG_CACHE_HOME"] = home  # nobody's own marks are in the pictures
        folder = Path("demo")
        Simulation(1, 1.0, folder, FrozenClock(START)).write_all(40)
        stamp = (START + 40 * SECOND) / 1000
        for path in folder.rglob("*"):
            os.utime(path, (stamp, stamp))
        for scene in SCENES:
            if scene.name in wanted:
                if scene.hosts:
                    asyncio.run(hosts_picture(scene, Path(scene.name)))
                elif scene.past:
                    asyncio.run(past_picture(scene, folder))
                elif scene.real:
                    asyncio.run(real_picture(scene))
                else:
                    asyncio.run(picture(scene, sample(scene) if scene.sample else folder))
                sys.stdout.write(f"{scene.name}\n")
    return serve.main() if not sys.argv[1:] or wanted & (serve.PICTURES.keys() | serve.HOSTS.keys()) else 0


if __name__ == "__main__":
    sys.exit(main())
