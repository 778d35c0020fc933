"""Whatever keys, clicks and sizes come, in whatever order and however fast, the program does not fall over.

`pytest --steps 100000 tests/screens/test_monkey.py` tries harder; `--seed N` begins with that seed.
"""

import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.bench.make_logs import make_log
from tests.screens.monkey import Growing, Hours, Monkey

from delegtop.app.main import DelegtopApp
from delegtop.base.clock import Clock, Millis, ReplayClock, parse_time
from delegtop.diagnosis.appearances import Appearances
from delegtop.feed.live_feed import Feed
from delegtop.feed.replay_feed import Replay
from delegtop.model.history.timeline import SPACING
from delegtop.observation.observation import Observation, opened
from delegtop.observation.source_discovery import Places
from delegtop.settings import Settings

pytestmark = pytest.mark.anyio
SAMPLES = Path(__file__).parents[2] / "sample_logs"
MOMENTS = tomllib.loads((SAMPLES / "moments.toml").read_text())
ROUND = 250
"""Steps until another seed begins with another program."""
LONG = "long"
"""No sample: a log with more events than are folded afresh when somebody goes back."""
CASES = [
    ("02_hang", "live"),
    ("15_fan_out", "live"),
    ("12_malformed", "replay"),
    ("14_broken_returns", "live"),
    ("proofchecker", "live"),
    ("claude-code", "live"),
    ("codex", "live"),
    ("opencode", "replay"),
    (LONG, "replay"),
]


class Deaf(DelegtopApp):
    """The program, which cannot be left."""

    async def action_quit(self) -> None:
        """Nothing."""

    def action_help_quit(self) -> None:
        """Nothing."""

    def action_suspend_process(self) -> None:
        """Nothing."""


def watching(logs: Path, clock: Clock) -> DelegtopApp:
    return Deaf(opened(Places([str(logs)]), Settings(), clock, rewinds=True))


def replaying(logs: Path, clock: Clock) -> DelegtopApp:
    past = ReplayClock(Millis(0), 60)
    replay = Replay(past, lambda: Feed([str(logs)], clock=past), present=clock, observe=Appearances)
    return Deaf(Observation(replay, past, places=Places([str(logs)])))


MODES: dict[str, Callable[[Path, Clock], DelegtopApp]] = {"live": watching, "replay": replaying}


def rounds(config: pytest.Config) -> list[tuple[int, int]]:
    """The seeds of one case, each with its number of steps."""
    first, steps = config.getoption("--seed"), config.getoption("--steps") // len(CASES)
    return [(first + n, min(ROUND, steps - n * ROUND)) for n in range(-(-steps // ROUND))]


def long_log(folder: Path) -> Path:
    path = folder / LONG / "session.jsonl"
    if not path.parent.exists():
        path.parent.mkdir()
        make_log(path, 3 * SPACING // 4, parse_time("2026-03-03T10:30:00Z") or 0)
    return path.parent


@pytest.mark.parametrize("case", range(len(CASES)), ids=["-".join(case) for case in CASES])
async def test_no_key_no_click_and_no_size_stops_the_program(
    case: int, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    sample, mode = CASES[case]
    moment = MOMENTS.get(sample, {}).get("at", "2026-03-03T10:30:00Z")
    for seed, steps in rounds(pytestconfig):
        hours = Hours(parse_time(moment) or Millis(0))
        logs = Growing(long_log(tmp_path) if sample == LONG else SAMPLES / sample, tmp_path / f"{seed}")
        app = MODES[mode](logs.folder, hours)
        monkey = Monkey(app, hours, logs, f"{sample} {mode} {seed}")
        try:
            async with app.run_test(size=(120, 35)):
                await monkey.play(steps)
        except Exception as error:
            raise AssertionError(
                f"--seed {seed} on {sample}, {mode}, fell over. The last it did: {' '.join(monkey.lived)}"
            ) from error
