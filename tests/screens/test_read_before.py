"""A dashboard reads no session that an earlier run has read to its end, and keeps those that it reads itself."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.bench.make_history import append_session, make_history
from tests.piloting import until
from textual.pilot import Pilot

from delegtop.app.main import DelegtopApp
from delegtop.base.clock import WallClock
from delegtop.base.paths import index_place
from delegtop.cli import main
from delegtop.cli.exit_codes import Exit
from delegtop.feed import file_catalogue
from delegtop.feed.followed_file import FollowedFile
from delegtop.model.states import State
from delegtop.observation.observation import opened
from delegtop.observation.source_discovery import places
from delegtop.settings import Settings
from delegtop.sources import inode, snapshot

pytestmark = pytest.mark.anyio
SESSIONS = 4
LONG_AGO = 1_700_000_000_000


@pytest.fixture(autouse=True)
def _worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_catalogue, "WORTH", 0)
    for module in (inode, snapshot):  # what was written a moment ago may change without looking otherwise
        monkeypatch.setattr(module, "_SETTLED", 0)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    make_history(tmp_path / "logs", SESSIONS, 20_000, LONG_AGO)
    return tmp_path / "logs"


@asynccontextmanager
async def dashboard(home: Path, **settings: bool) -> AsyncIterator[tuple[DelegtopApp, Pilot[None]]]:
    """One that has read all there is."""
    chosen = Settings(**settings)  # type: ignore[arg-type]  # each of these is a flag
    app = DelegtopApp(opened(places([str(home)], chosen), chosen, rewinds=True, indexed=True))
    async with app.run_test() as pilot:
        await until(pilot, lambda: len(app.board.forest) >= SESSIONS * 4 and not app.reader.busy)
        yield app, pilot


def shown(app: DelegtopApp) -> dict[str, tuple[State, str | None]]:
    forest = app.board.forest
    return {forest.id(handle): (forest.state(handle), forest.delegation(handle).task) for handle in forest.walk()}


def lines_read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files of which lines are read from now on."""
    found: list[str] = []
    read, read_block = FollowedFile.read, FollowedFile.read_block

    def noted(file: FollowedFile, line: object) -> object:
        found.append(file.path)
        return read(file, line)  # type: ignore[arg-type]  # whatever it is

    def noted_block(file: FollowedFile, block: object) -> object:
        found.append(file.path)
        return read_block(file, block)  # type: ignore[arg-type]  # as above

    monkeypatch.setattr(FollowedFile, "read", noted)
    monkeypatch.setattr(FollowedFile, "read_block", noted_block)
    return found


async def kept(pilot: Pilot[None]) -> None:
    await until(pilot, lambda: index_place().exists())


async def test_what_a_dashboard_has_read_the_next_one_does_not_read_and_shows_the_same(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with dashboard(home) as (app, pilot):
        first = shown(app)
        await kept(pilot)
    read = lines_read(monkeypatch)
    async with dashboard(home) as (app, _):
        assert (shown(app), read) == (first, [])


async def test_what_a_command_has_read_a_dashboard_does_not_read(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert main(["tree", str(home)]) == Exit.OK
    read = lines_read(monkeypatch)
    async with dashboard(home) as (app, _):
        assert (len(shown(app)), read) == (SESSIONS * 4, [])


async def test_a_session_that_goes_on_is_read_from_its_top_and_goes_on_on_the_screen(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["tree", str(home)]) == Exit.OK
    read = lines_read(monkeypatch)
    async with dashboard(home) as (app, pilot):
        append_session(home, 1, WallClock().now())
        (new,) = (home / "projects" / "-srv-today").iterdir()
        (old,) = (home / "projects").glob(f"-srv-project-*/{new.name}")
        with old.open("a") as file:
            file.write(new.read_text())
        new.unlink()
        await until(pilot, lambda: shown(app)[old.stem][0] is not State.IDLE)
        assert str(old) in read
        assert all(old.stem in path for path in read), "only what changed"


async def test_whoever_turned_it_off_reads_all_and_keeps_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert main(["tree", str(home)]) == Exit.OK
    before = index_place().read_bytes()
    read = lines_read(monkeypatch)
    async with dashboard(home, index=False) as (app, _):
        assert len({*read}) == sum(1 for path in home.rglob("*.json*"))
        assert len(shown(app)) == SESSIONS * 4
    assert index_place().read_bytes() == before


async def test_who_goes_back_in_time_is_told_every_sign_of_life(home: Path) -> None:
    assert main(["tree", str(home)]) == Exit.OK
    told: list[int] = []
    for index in (True, False):
        async with dashboard(home, index=index) as (app, pilot):
            app.replay.rewind()
            await until(pilot, lambda app=app: app.replay.timeline is not None)  # type: ignore[misc]  # mypy knows no lambda with a default
            assert app.replay.timeline is not None
            told.append(len(app.replay.timeline.events))
    assert told[0] == told[1] > 10 * 4 * SESSIONS
