"""What the commands make of logs that writers and rotations have left in an odd shape."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.recorded_feed import RecordedFeed
from tests.watching import append, register, returned

from delegtop.base.clock import WallClock, iso
from delegtop.cli import main
from delegtop.cli.exit_codes import Exit

SESSION = "sess_20260501_aaa111"


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("logs").mkdir()
    return Path("logs/session.jsonl")


@pytest.fixture
def recorded(log: Path) -> Iterator[RecordedFeed]:
    feed = RecordedFeed(log.parent)
    yield feed
    feed.close()


def now(text: str) -> str:
    """The same, told just now."""
    record = json.loads(text)
    return json.dumps(record | {"at": iso(WallClock().now())}) + "\n"


def states(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    capsys.readouterr()
    main(["tree", "--json", *arguments])
    return [each["state"] for each in json.loads(capsys.readouterr().out)["delegations"]]


class TestALastLineWithoutItsNewline:
    def test_ends_a_wait(self, log: Path) -> None:
        log.write_text(now(register("aaa111")) + now(returned("aaa111")).rstrip("\n"))
        assert main(["wait", SESSION, "logs", "--timeout", "60"]) == Exit.OK

    def test_is_news_of_a_watch(self, log: Path) -> None:
        log.write_text(now(register("aaa111")) + now(returned("aaa111")).rstrip("\n"))
        assert main(["watch", "logs", "--exit-when", "done", "--timeout", "60"]) == Exit.OK

    def test_ends_a_wait_if_it_is_the_only_line(self, log: Path) -> None:
        log.write_text(returned("aaa111").rstrip("\n"))
        assert main(["wait", SESSION, "logs", "--timeout", "60", "--appear"]) == Exit.OK

    def test_is_recorded_once_though_its_newline_comes_later(self, log: Path, recorded: RecordedFeed) -> None:
        append(log, register("aaa111"))
        append(log, returned("aaa111").rstrip("\n"))
        recorded.until(2)
        append(log, "\n")
        append(log, register("bbb222"))
        assert recorded.until(3) == ["aaa111", "aaa111", "bbb222"]


class TestALogBehindAHole:
    @pytest.mark.parametrize("hole", [1, 64 * 1024, 1 << 20, 4 << 30])
    def test_is_read_however_large_the_hole(self, log: Path, hole: int, capsys: pytest.CaptureFixture[str]) -> None:
        with log.open("wb") as file:
            os.truncate(file.fileno(), hole)
            file.seek(hole)
            file.write((register("aaa111") + returned("aaa111")).encode())
        assert states(capsys, "logs") == ["completed"]

    def test_is_read_when_a_file_seen_empty_gets_one(self, log: Path, recorded: RecordedFeed) -> None:
        log.touch()
        recorded.look()
        with log.open("r+b") as file:
            file.seek(1 << 20)
            file.write(register("aaa111").encode())
        assert recorded.until(1) == ["aaa111"]
