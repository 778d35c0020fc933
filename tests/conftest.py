"""What every test shares: the machine's own settings are kept out, and options for heavier runs."""

import gc
import os
import re
import signal
import sys
from collections.abc import Callable
from functools import cache
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from tests.waiting_places import waits

if TYPE_CHECKING:
    from tests.dealing import ByFile

PROJECT = Path(__file__).parent.parent

# Hundreds of tests start the program: compiling all of it each time would be half of their time.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Other work may share the machine, and the first draw builds tables of Unicode: slow is not wrong.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that put up processes of agent programs run one after the other: a server of one may serve any folder, so
    that nobody could say of another's session that it is lost."""
    for item in items:
        if isinstance(item, pytest.Function) and _knows_stand_ins(item.module):
            item.add_marker(pytest.mark.xdist_group("agent programs"))


@cache
def _knows_stand_ins(module: ModuleType) -> bool:
    names = ((getattr(each, "__name__", ""), getattr(each, "__module__", "")) for each in vars(module).values())
    return any("tests.stand_ins" in each for each in names)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> "ByFile | None":
    if config.getoption("dist") != "loadgroup":
        return None
    from tests.dealing import ByFile

    return ByFile(config, log)


def pytest_collection() -> None:
    """What is collected stays to the end: looking for garbage among it would only take time."""
    gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--schedules", type=int, default=500, help="random fault schedules for the tail test")
    parser.addoption("--huge-line", type=int, default=16, help="megabytes of the longest line that is read past")
    parser.addoption("--steps", type=int, default=600, help="random keys, clicks and sizes for the monkey test")
    parser.addoption("--seed", type=int, default=1, help="the first seed of the monkey test")
    parser.addoption("--hostile", type=int, default=300, help="hostile strings in the fields of all formats")
    parser.addoption("--planted", type=int, default=249, help="secrets planted in the logs of all formats")
    parser.addoption("--live-full", action="store_true", help="every way to hang and to be slow, with real processes")
    parser.addoption("--fleet-full", action="store_true", help="hosts that are lost three times, and forty at once")
    parser.addoption("--update-golden", action="store_true", help="rewrite golden files and generated reference pages")


NewFolder = Callable[[str], Path]


@pytest.fixture(scope="session")
def _new_folder(tmp_path_factory: pytest.TempPathFactory) -> NewFolder:
    """Makes an empty folder. pytest's own way looks through all those of the run for every new one: with thousands of
    tests that was a tenth of their time.
    """
    numbers, root = count(), tmp_path_factory.getbasetemp()

    def make(name: str) -> Path:
        folder = root / f"{name}-{next(numbers)}"
        folder.mkdir(mode=0o700)
        return folder

    return make


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, _new_folder: NewFolder) -> Path:
    """An empty folder, kept for a look at it afterwards."""
    return _new_folder(re.sub(r"\W", "_", request.node.name)[:30])


@pytest.fixture(scope="session")
def _new_home(_new_folder: NewFolder) -> NewFolder:
    """Gives an empty home to the tests of a file: the same as before, as long as nobody has left anything in it.

    Where processes are started one may outlive its test: there each test has its own.
    """
    spare = [_new_folder("home")]

    def home(place: str) -> Path:
        if waits(place):
            return _new_folder("home")
        if any(spare[0].iterdir()):
            spare[0] = _new_folder("home")
        return spare[0]

    return home


@pytest.fixture(autouse=True)
def _no_user_settings(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, _new_home: NewFolder) -> None:
    """No test sees the developer's configuration, colours or terminal."""
    home = _new_home(request.node.nodeid)
    for name in (
        "NO_COLOR",
        "FORCE_COLOR",
        "TEXTUAL",
        "TEXTUAL_THEME",
        "COLORTERM",
        "COLUMNS",
        "LINES",
        "TMUX",
        "TMUX_PANE",
    ):
        monkeypatch.delenv(name, raising=False)
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(home / name.lower()))
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("TZ", "UTC")


@pytest.fixture(scope="session", autouse=True)
def _no_signal_is_ignored() -> None:
    """What `nohup pytest` or `pytest &` in a script ignores, every program started here would ignore too.

    A handler that does nothing spares the tests as well, and is not inherited.
    """
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


@pytest.fixture(scope="session")
def project() -> Path:
    return PROJECT


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-golden"))
