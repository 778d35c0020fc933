"""In whatever way logs are read, the same is said. A few of the comparisons that `python -m tests.logs.sameness` makes:
of each set of logs some, so that every way is taken with every kind of index."""

import os
from pathlib import Path

import pytest
from tests.logs.all_logs import all_logs
from tests.logs.sameness import WAYS, Comparison
from tests.logs.ways import LENT, LENT_THERE, Stage

from delegtop.base.clock import DAY, HOUR
from delegtop.feed.session_index import SessionIndex
from delegtop.model.store.ledger import Ledger

REAL = os.environ.get("DELEGTOP_REAL_LOGS")
LOGS = {logs.name: logs for logs in all_logs(Path(REAL) if REAL else None)}
OF_REAL = [name for name in LOGS if name in ("home of all programs", "real seed_systems/proofchecker")]
OUR_OWN = [name for name in LOGS if "real " not in name and "home of " not in name]
CHANGED = {"claude-code": 1, "codex": 2, "13_rotation": 4, "droid": 5}
"""What is changed, and in which order."""
WAYS_AT_REST = WAYS[1:]


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    return Stage(tmp_path / "stage", monkeypatch)


@pytest.mark.parametrize(("number", "name"), enumerate(OUR_OWN), ids=OUR_OWN)
def test_of_logs_at_rest(number: int, name: str, stage: Stage) -> None:
    found = Comparison(LOGS[name], stage, seed=1)
    found.at(2 * HOUR if number % 2 else 1_000)
    few = stage.commands(found.source).few()
    found.compare("early", [few[number % len(few)]], WAYS_AT_REST)
    found.at(3 * DAY)
    found.compare("late", [few[(number + 3) % len(few)]], WAYS_AT_REST[-1:])
    assert not found.differences, "\n".join(map(str, found.differences))


def test_of_a_home_in_which_something_hangs(stage: Stage) -> None:
    found = Comparison(LOGS["home of an operator, stuck in tool"], stage, seed=1)
    found.at(2 * HOUR)
    found.compare("hours after", stage.commands(found.source).of_the_home(), WAYS_AT_REST[-3:])
    assert not found.differences, "\n".join(map(str, found.differences))


@pytest.mark.parametrize("name", ["claude-code", "made history"])
def test_of_what_other_processes_read(name: str, stage: Stage) -> None:
    found = Comparison(LOGS[name], stage, seed=1)
    found.at(3 * DAY)
    tree, *_, learn = stage.commands(found.source).few()
    found.compare("days after", [tree, learn], (LENT, LENT_THERE))
    assert not found.differences, "\n".join(map(str, found.differences))


def test_of_another_host(stage: Stage) -> None:
    found = Comparison(LOGS["claude-code"], stage, seed=1)
    found.beside_another_host()
    assert not found.differences, "\n".join(map(str, found.differences))


@pytest.mark.parametrize(("name", "seed"), CHANGED.items())
def test_after_anything_happened_to_the_files(name: str, seed: int, stage: Stage) -> None:
    found = Comparison(LOGS[name], stage, seed)
    found.changed(5, seed, only=("tree", "find"))
    assert not found.differences, "\n".join(map(str, found.differences))


def test_a_way_that_tells_less_is_found_out(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the tests above would only show that nothing is compared."""
    found = Comparison(LOGS["claude-code"], stage, seed=1)
    found.at(3 * DAY)
    tell = SessionIndex.tell
    monkeypatch.setattr(SessionIndex, "tell", lambda index: [each._replace(ledger=Ledger()) for each in tell(index)])
    found.compare("late", [["tree", str(found.source)]], WAYS)
    assert [each.way for each in found.differences] == [each.name for each in WAYS if each.is_indexed]


@pytest.mark.skipif(not REAL, reason="DELEGTOP_REAL_LOGS names no real logs")
@pytest.mark.parametrize("name", OF_REAL)
def test_of_real_logs(name: str, stage: Stage) -> None:
    found = Comparison(LOGS[name], stage, seed=1)
    found.at(2 * HOUR)
    tree, *_, learn = stage.commands(found.source).few()
    found.compare("hours after", [tree, learn], WAYS_AT_REST[-3:])
    assert not found.differences, "\n".join(map(str, found.differences))
