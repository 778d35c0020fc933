"""What is known from an earlier run, and what other processes have read, changes no word of what is printed: of samples
that are homes of agents, of a home that is made up, and of real homes where they are."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.bench.make_history import make_history
from tests.unit.feed.test_session_index import LONG_AGO, NOW, aged

from delegtop.base.clock import WallClock
from delegtop.cli import main
from delegtop.feed import file_catalogue, index_file, lending, loaders, log_index

SAMPLES = Path(__file__).parents[2] / "sample_logs"
REAL = os.environ.get("DELEGTOP_REAL_LOGS", "")
HOMES = sorted(each for folder in ("agents", "agents_live") for each in Path(REAL or "/-", folder).glob("*/"))
SAMPLE_HOMES = sorted(each for each in SAMPLES.glob("*/") if not each.name[0].isdigit())
"""Those with a number are logs of the delegation protocol."""
COMMANDS = (["tree", "--json"], ["stats", "--json"], ["report"])


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[str, ...]]:
    monkeypatch.setattr(file_catalogue, "WORTH", 0)
    monkeypatch.setattr(log_index, "LEAST", 0)
    monkeypatch.setattr(lending, "WORTH", 1 << 60)
    monkeypatch.setattr(WallClock, "now", lambda _clock: NOW)

    def printed(folder: Path, *more: str) -> tuple[str, ...]:
        found = []
        for command in COMMANDS:
            main([*command, str(folder), *more])
            found.append(capsys.readouterr().out)
        return tuple(found)

    return printed


def lent(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on another process reads all that it can."""
    monkeypatch.setattr(lending, "WORTH", 1)
    monkeypatch.setattr(lending, "PART", 2)
    monkeypatch.setattr(loaders, "processors", lambda: 1)


def same_in_all_ways(folder: Path, told: Callable[..., tuple[str, ...]], monkeypatch: pytest.MonkeyPatch) -> None:
    plain = told(folder, "--no-index")
    assert not index_file.place().exists()
    assert told(folder) == plain, "while the index is made"
    assert told(folder) == plain, "with the index"
    index_file.remove(index_file.place())
    lent(monkeypatch)
    assert told(folder) == plain, "with other processes"
    assert told(folder) == plain, "with what they have read"


@pytest.mark.parametrize("name", [each.name for each in SAMPLE_HOMES])
def test_a_sample_that_is_a_home(
    name: str, tmp_path: Path, told: Callable[..., tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    same_in_all_ways(aged(SAMPLES / name, tmp_path / "logs"), told, monkeypatch)


def test_a_home_that_is_made_up(
    tmp_path: Path, told: Callable[..., tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    make_history(tmp_path / "logs", 12, 60_000, LONG_AGO * 1_000)
    same_in_all_ways(tmp_path / "logs", told, monkeypatch)


@pytest.mark.skipif(not HOMES, reason="DELEGTOP_REAL_LOGS names no logs of agents")
@pytest.mark.parametrize("home", HOMES, ids=lambda home: f"{home.parent.name}-{home.name}")
def test_a_real_home(
    home: Path, tmp_path: Path, told: Callable[..., tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    same_in_all_ways(aged(home, tmp_path / home.name), told, monkeypatch)
