"""What the commands make of files that are very many, very large, gone too soon, closed to them, or of no time."""

import gzip
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.patience import PATIENCE
from tests.recorded_feed import RecordedFeed, session_lines
from tests.samples import SAMPLES
from tests.watching import register

from delegtop.base.clock import Millis, WallClock, parse_time
from delegtop.base.origin import Origin
from delegtop.cli import main
from delegtop.cli.exit_codes import Exit
from delegtop.dialects.recording.recording_dialect import HUGE
from delegtop.dialects.recording.tape import VERSION, End, Header, TapeEvents, TapeSource, Written, frames, written
from delegtop.feed.live_feed import Feed
from delegtop.model.events import Heard, Started
from delegtop.sources import database as columns

DATABASES = [
    Path("kilo/kilo.db"),
    Path("cline/data/db/sessions.db"),
    Path("crush/.crush/crush.db"),
    Path("goose/sessions/sessions.db"),
]
NOW = parse_time("2026-05-01T10:00:00Z") or Millis(0)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("logs").mkdir()


class TestManyEmptyFiles:
    def test_are_looked_through_in_portions_that_grow_with_their_number(self) -> None:
        """Every portion costs a look at all that is known: equal ones would cost the square of the number."""
        looks = []
        for number in range(4_000):
            Path(f"logs/{number}.jsonl").touch()
            if number + 1 in (2_000, 4_000):
                feed = Feed(["logs"], clock=WallClock())
                looks.append(0)
                while looks[-1] == 0 or feed.is_behind:
                    list(feed.poll())
                    looks[-1] += 1
                assert len(feed.statuses()) == number + 1
                feed.close()
        assert looks[1] - looks[0] <= 2


class TestALargeCompressedLog:
    def test_says_how_far_it_is_read_while_it_is(self) -> None:
        with gzip.open("logs/a.jsonl.gz", "wb", compresslevel=1) as file:
            for number in range(400):
                file.write((session_lines(os.urandom(700).hex()) + session_lines(f"{number:06}") * 50).encode())
        feed = Feed(["logs"], clock=WallClock())
        told = {feed.progress()[0] for _ in feed.poll()}
        size = Path("logs/a.jsonl.gz").stat().st_size
        assert len(told) > 3
        assert max(told) <= size
        assert feed.progress() == (size, size)
        feed.close()


class TestAFileThatWasEmptyAndIsGone:
    @pytest.fixture
    def recorded(self) -> Iterator[RecordedFeed]:
        Path("logs/a.jsonl").touch()
        Path("logs/b.jsonl").write_text(session_lines("bbb222"))
        recorded = RecordedFeed("logs")
        recorded.look()
        yield recorded
        recorded.close()

    def test_with_something_in_it_that_nobody_has_read_is_said(self, recorded: RecordedFeed) -> None:
        Path("logs/a.jsonl").write_text(session_lines("aaa111"))
        Path("logs/a.jsonl").unlink()
        recorded.look()
        status = recorded.status("a.jsonl")
        assert (status.status, status.detail[:12]) == ("gone", "possible gap")
        assert recorded.look() == ["bbb222"]

    def test_is_no_gap_if_it_only_got_another_name(self, recorded: RecordedFeed) -> None:
        Path("logs/a.jsonl").write_text(session_lines("aaa111"))
        Path("logs/a.jsonl").rename("logs/a.jsonl.1")
        assert sorted(recorded.look()) == ["aaa111", "bbb222"]
        assert {Path(each.path).name for each in recorded.feed.statuses()} == {"a.jsonl.1", "b.jsonl"}

    def test_is_told_no_longer_when_it_comes_back(self, recorded: RecordedFeed) -> None:
        Path("logs/a.jsonl").write_text(session_lines("aaa111"))
        Path("logs/a.jsonl").unlink()
        recorded.look()
        Path("logs/a.jsonl").write_text(session_lines("ccc333"))
        assert sorted(recorded.look()) == ["bbb222", "ccc333"]
        assert recorded.status("a.jsonl").status == "live"

    def test_keeps_no_more_than_a_few_files_open(self, recorded: RecordedFeed) -> None:
        before = len(list(Path("/dev/fd").iterdir()))
        for number in range(100):
            Path(f"logs/{number}.jsonl").touch()
        recorded.look()
        assert len(list(Path("/dev/fd").iterdir())) < before + 30
        recorded.close()
        assert len(list(Path("/dev/fd").iterdir())) < before


class TestADatabaseInAFolder:
    @pytest.mark.parametrize("name", ["other.db", "renamed.sqlite", "renamed.sqlite3"])
    @pytest.mark.parametrize("sample", DATABASES, ids=lambda path: path.parts[0])
    def test_goes_by_its_shape_and_not_by_its_name(
        self, sample: Path, name: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        shutil.copy(SAMPLES / sample, f"logs/{name}")
        assert main(["sources", "logs"]) == Exit.OK
        assert f" logs/{name}" in capsys.readouterr().out

    def test_that_is_of_no_program_it_knows_is_nothing_to_speak_of(self, capsys: pytest.CaptureFixture[str]) -> None:
        with sqlite3.connect("logs/mine.db") as database:
            database.execute("CREATE TABLE mine (id)")
        Path("logs/none.sqlite").write_text("no database")
        Path("logs/a.jsonl").write_text(register("aaa111"))
        assert main(["sources", "logs"]) == Exit.OK
        told = capsys.readouterr()
        assert "1 source: 1 session-log." in told.out
        assert ".db" not in told.out + told.err
        assert main(["tree", "logs/mine.db"]) != Exit.OK
        assert "logs/mine.db: no known log format" in capsys.readouterr().err

    def test_is_asked_for_its_tables_only_if_it_grew(self, monkeypatch: pytest.MonkeyPatch) -> None:
        asked: list[str] = []
        with sqlite3.connect("logs/mine.db") as database:
            database.execute("CREATE TABLE mine (id)")
        monkeypatch.setattr(columns, "columns_of", lambda path: asked.append(path) or frozenset())  # type: ignore[func-returns-value]  # append is called for its effect
        recorded = RecordedFeed("logs")
        for _ in range(3):
            recorded.look()
            os.utime("logs/mine.db")
        recorded.close()
        assert asked == ["logs/mine.db"]


class TestAHomeThatMayNotBeEntered:
    @pytest.mark.skipif(os.geteuid() == 0 and not shutil.which("setpriv"), reason="root may enter any folder")
    @pytest.mark.parametrize(
        ("command", "code"),
        [
            ("tree", Exit.UNREADABLE),  # whatever agents keep is in there
            ("sources", Exit.UNREADABLE),
            ("learn", Exit.USAGE),  # it has nowhere to write
            ("tree logs", Exit.OK),
            ("config show", Exit.OK),
        ],
    )
    def test_stops_no_command(self, command: str, code: Exit, tmp_path: Path) -> None:
        Path("logs/a.jsonl").write_text(register("aaa111"))
        home = tmp_path / "home"
        (home / ".config/delegtop").mkdir(parents=True)
        (home / ".config/delegtop/config.toml").write_text("")
        for folder in (*tmp_path.parents[:-2], tmp_path):
            if os.geteuid() == 0:
                folder.chmod(folder.stat().st_mode | 0o055)
        home.chmod(0)
        nobody = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"] if os.geteuid() == 0 else []
        environment = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}

        def ran(*arguments: str) -> "subprocess.CompletedProcess[str]":
            return subprocess.run(
                [*nobody, sys.executable, *arguments],
                env={**environment, "HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1"},
                capture_output=True,
                text=True,
                timeout=PATIENCE,
                check=False,
            )

        if ran("-c", "import delegtop, msgspec").returncode != 0:
            pytest.skip("nobody but its owner can run this Python: it lies in a private folder")
        done = ran("-m", "delegtop", *command.split())
        home.chmod(0o700)
        assert done.returncode == code
        assert "rror" not in done.stderr
        assert ("1 delegation" in done.stdout) == (command == "tree logs")


class TestARecordingOfATimeThatCannotBe:
    @pytest.mark.parametrize("at", [1 << 63, (1 << 64) - 1, 1 << 70, -(1 << 64)], ids=hex)
    @pytest.mark.parametrize("place", ["started", "heard", "seen", "end"])
    def test_is_told_and_all_else_in_it_is_read(self, at: int, place: str, capsys: pytest.CaptureFixture[str]) -> None:
        here, origin = (1, 1, 0), Origin("a.jsonl", 1, 0)

        def when(which: str) -> Millis:
            return Millis(at if which == place else NOW)

        told: list[Written] = [Header(VERSION, "delegtop", NOW), TapeSource(1, "a.jsonl")]
        for event in (Started("sess_a", when("started"), origin), Heard("sess_a", when("heard"), origin)):
            told.append(TapeEvents(here, when("seen"), (written(event, here, here),)))
        told.append(TapeEvents(here, NOW, (written(Started("sess_b", NOW, origin), here, here),)))
        told.append(End(when("end"), 3))
        Path("r.delegtop").write_bytes(b"".join(line for record in told for line in frames(record)))
        assert main(["tree", "r.delegtop", "--at", "2026-05-01T10:01:00Z"]) == Exit.OK
        assert "sess_b" in capsys.readouterr().out
        main(["check", "r.delegtop", "--at", "2026-05-01T10:01:00Z"])
        assert HUGE in capsys.readouterr().out
