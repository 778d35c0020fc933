"""`delegtop status`: from the file while somebody keeps it fresh, else from the logs; of all, or of a session."""

import io
import json
import os
import subprocess
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.homes import operators_home
from tests.patience import PATIENCE, until
from tests.samples import MOMENTS

from delegtop import settings
from delegtop.base.clock import HOUR, MINUTE, SECOND, Millis, WallClock, iso
from delegtop.cli import main, status, status_reading
from delegtop.cli.status_reading import keeping
from delegtop.report.status import status_file
from delegtop.report.status.machine_status import MachineStatus, Tally
from delegtop.settings import Loaded


@pytest.fixture
def home() -> Path:
    return Path(os.environ["HOME"])


@pytest.fixture
def session(home: Path) -> str:
    """Of the one that is stuck in a home of three that are at rest and a hundred old ones."""
    return operators_home(home, WallClock().now())


def kept(ago: int = 0, by: str = "dashboard", cost: int = 0, running: int = 5) -> MachineStatus:
    """What somebody wrote that long ago."""
    status = MachineStatus(Millis(WallClock().now() - ago), by, cost, Tally({"running": running}))
    status_file.write(status)
    return status


def told(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    assert main(["status", *arguments]) == code
    return capsys.readouterr().out.removesuffix("\n")


@pytest.fixture
def background(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """What was started and nobody waits for."""
    started: list[tuple[str, ...]] = []
    monkeypatch.setattr(subprocess, "Popen", lambda command, **_: started.append(tuple(command)))
    return started


@contextmanager
def reading_by_somebody_else() -> Iterator[None]:
    with status_file.alone() as alone:
        assert alone
        yield


def test_in_a_folder_that_is_gone_it_is_said(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    kept()
    assert main(["status", "--here"]) == 2
    assert "this folder is gone" in capsys.readouterr().err
    assert told(capsys, "--short") == "▶5"


@pytest.mark.usefixtures("session")
def test_what_is_wrong_has_the_same_name_in_each_form_and_in_every_other_place(
    capsys: pytest.CaptureFixture[str],
) -> None:
    main(["tree", "--json"])
    stuck = next(each["id"] for each in json.loads(capsys.readouterr().out)["delegations"] if each["rank"] == 1)
    for command in (["status"], ["status", "--short"], ["tree"], ["tree", "--json"], ["stop", stuck]):
        main(command)
        assert "no model answer" in capsys.readouterr().out, command


class TestWhereItComesFrom:
    def test_a_fresh_file_is_believed(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(status, "_read", lambda **_: pytest.fail("the logs were read"))
        kept(status_file.FRESH - 5 * SECOND)
        assert told(capsys, "--short") == "▶5"

    @pytest.mark.usefixtures("session")
    def test_without_a_file_the_logs_are_read_and_kept(self, capsys: pytest.CaptureFixture[str]) -> None:
        line = told(capsys, "--short")
        assert line.startswith("▶0 !1 ◀no model answer 31:0")
        assert line.endswith(" webapp")
        found = status_file.read(HOUR)
        assert found is not None
        assert (found.by, found.tally.problems) == ("status", 1)
        assert found.cost > 0

    @pytest.mark.usefixtures("session")
    def test_an_old_file_is_not_believed(self, capsys: pytest.CaptureFixture[str]) -> None:
        kept(5 * MINUTE)
        assert "no model answer" in told(capsys, "--short")

    @pytest.mark.usefixtures("session")
    def test_one_of_the_future_is_not_believed(self, capsys: pytest.CaptureFixture[str]) -> None:
        kept(-5 * MINUTE)
        assert "no model answer" in told(capsys, "--short")

    def test_what_was_costly_to_read_is_not_read_again_at_once_and_says_its_age(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        kept(30 * SECOND, "status", cost=2_000)
        assert told(capsys, "--short") in ("▶5 (30s ago)", "▶5 (31s ago)")
        kept(60 * SECOND, "status", cost=2_000)
        assert told(capsys, "--short") == "▶0"

    def test_while_another_reads_the_logs_the_old_is_told_with_its_age(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        kept(3 * MINUTE)
        with reading_by_somebody_else():
            assert told(capsys, "--short") == "▶5 (3m ago)"

    @pytest.mark.usefixtures("session")
    def test_who_knows_nothing_reads_beside_another_and_keeps_nothing(self, capsys: pytest.CaptureFixture[str]) -> None:
        with reading_by_somebody_else():
            assert "no model answer" in told(capsys, "--short")
        assert status_file.read(HOUR) is None

    def test_what_another_has_written_meanwhile_is_not_read_again(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(status, "_read", lambda **_: pytest.fail("the logs were read"))
        alone = status_file.alone

        @contextmanager
        def waited() -> Iterator[bool]:
            kept(running=9)
            with alone() as is_alone:
                yield is_alone

        monkeypatch.setattr(status_file, "alone", waited)
        assert told(capsys, "--short") == "▶9"

    @pytest.mark.usefixtures("session")
    def test_where_nothing_can_be_kept_the_line_is_told_all_the_same(self, capsys: pytest.CaptureFixture[str]) -> None:
        cache = Path(os.environ["XDG_CACHE_HOME"])
        cache.write_text("no folder")
        assert "no model answer" in told(capsys, "--short")


class TestWithoutWaiting:
    def test_the_old_is_told_and_the_logs_are_read_by_another_process(
        self, capsys: pytest.CaptureFixture[str], background: list[tuple[str, ...]]
    ) -> None:
        kept(3 * MINUTE)
        assert told(capsys, "--short", "--no-wait") == "▶5 (3m ago)"
        assert [command[-3:] for command in background] == [("delegtop", "status", "--read")]

    def test_what_nobody_knows_is_said_to_be_unknown(
        self, capsys: pytest.CaptureFixture[str], background: list[tuple[str, ...]]
    ) -> None:
        assert told(capsys, "--short", "--no-wait") == "–"
        assert told(capsys, "--no-wait") == "nobody knows yet"
        assert json.loads(told(capsys, "--json", "--no-wait"))["known"] is False
        kept(2 * HOUR)
        assert told(capsys, "--short", "--no-wait", "--ascii") == "-"
        assert len(background) == 4

    def test_no_second_process_is_started_while_one_reads(
        self, capsys: pytest.CaptureFixture[str], background: list[tuple[str, ...]]
    ) -> None:
        with reading_by_somebody_else():
            assert told(capsys, "--short", "--no-wait") == "–"
        assert background == []

    def test_a_fresh_file_starts_nothing(
        self, capsys: pytest.CaptureFixture[str], background: list[tuple[str, ...]]
    ) -> None:
        kept()
        assert told(capsys, "--short", "--no-wait") == "▶5"
        assert background == []

    def test_before_it_is_old_it_is_read_anew_but_not_too_often(
        self, capsys: pytest.CaptureFixture[str], background: list[tuple[str, ...]]
    ) -> None:
        kept(status_file.FRESH - 2 * SECOND, "status", cost=2_000)
        assert told(capsys, "--short", "--no-wait") == "▶5"
        assert background == []
        kept(status_file.FRESH - 2 * SECOND, "status", cost=100)
        assert told(capsys, "--short", "--no-wait") == "▶5"
        assert len(background) == 1

    @pytest.mark.usefixtures("session")
    def test_the_process_in_the_background_writes_the_file(self) -> None:
        command = [sys.executable, "-m", "delegtop", "status", "--short", "--no-wait"]
        first = subprocess.run(command, capture_output=True, text=True, check=True)
        assert first.stdout == "–\n"
        until(lambda: status_file.read(HOUR) is not None, "the file is written")
        again = subprocess.run(command, capture_output=True, text=True, check=True)
        assert "no model answer" in again.stdout

    @pytest.mark.usefixtures("session")
    def test_the_process_in_the_background_reads_what_is_still_fresh(self) -> None:
        kept(status_file.FRESH - 2 * SECOND)
        subprocess.run([sys.executable, "-m", "delegtop", "status", "--no-wait"], capture_output=True, check=True)
        until(lambda: (found := status_file.read(HOUR)) is not None and found.by == "status", "it is read anew")


class TestWhatIsAskedFor:
    def test_the_exit_code_is_told_only_to_who_wants_it(self, capsys: pytest.CaptureFixture[str], session: str) -> None:
        told(capsys)
        told(capsys, "--exit-code", code=3)
        told(capsys, "--exit-code", "--session", session, code=3)
        told(capsys, "--exit-code", "--session", "e0000001", code=0)
        assert main(["tree", "--exit-code"]) == 3

    def test_one_session_with_all_below_it(self, capsys: pytest.CaptureFixture[str], session: str) -> None:
        assert "1 waiting, 1 silent; 1 problem" in told(capsys, "--session", session)
        assert told(capsys, "--session", "e0000001") == "nothing is at work"

    @pytest.mark.usefixtures("session")
    def test_a_session_that_is_not_known_is_not_said_to_be_fine(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert told(capsys, "--short", "--session", "0badcafe") == "–"
        assert main(["status", "--session", "0badcafe", "--exit-code"]) == 2
        assert "no session 0badcafe" in capsys.readouterr().err

    def test_one_folder(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, session: str
    ) -> None:
        del session
        monkeypatch.setattr(os, "getcwd", lambda: "/home/ann/webapp")
        assert "1 problem" in told(capsys, "--here")
        monkeypatch.setattr(os, "getcwd", lambda: "/home/ann/gamma")
        assert told(capsys, "--here") == "nothing is at work"

    def test_named_logs_are_read_and_the_file_is_left_alone(
        self, capsys: pytest.CaptureFixture[str], project: Path
    ) -> None:
        kept()
        before = status_file.place().read_bytes()
        hang = str(project / "sample_logs" / "02_hang")
        assert "◀" in told(capsys, "--short", hang, "--at", MOMENTS["02_hang"])
        assert status_file.place().read_bytes() == before

    def test_a_source_that_cannot_be_read_is_told(self, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        assert main(["status", str(tmp_path / "none.jsonl")]) == 4
        assert "none.jsonl" in capsys.readouterr().err

    def test_a_wrong_form_is_told_with_what_was_meant(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["status", "--format", "{runing}"]) == 2
        assert "did you mean running?" in capsys.readouterr().err
        assert main(["status", "--for", "emacs"]) == 2
        assert main(["status", "--short", "--json"]) == 2

    def test_the_bar_of_a_desktop_gets_json(self, capsys: pytest.CaptureFixture[str], session: str) -> None:
        del session
        found = json.loads(told(capsys, "--short", "--for", "waybar"))
        assert found.keys() == {"text", "tooltip", "class"}
        assert found["class"] == "stuck"
        assert 'foreground="red"' in found["text"]
        assert "<" not in found["tooltip"]

    def test_no_colour_where_it_is_not_wanted(
        self, capsys: pytest.CaptureFixture[str], session: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        del session
        assert "\x1b[31m" in told(capsys, "--short", "--for", "ansi")
        assert "\x1b" not in told(capsys, "--short", "--for", "ansi", "--no-color")
        monkeypatch.setenv("NO_COLOR", "1")
        assert "#[" not in told(capsys, "--short", "--for", "tmux")


class TestClaudeCode:
    """What it tells the command of its status line; the fields are those that 2.1.325 sends."""

    @staticmethod
    def tells(monkeypatch: pytest.MonkeyPatch, told: object) -> None:
        text = told if isinstance(told, bytes) else json.dumps(told).encode()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))

    def test_it_is_about_the_session_that_asks(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, session: str
    ) -> None:
        asks = {"hook_event_name": "Status", "session_id": session, "cwd": "/home/ann/webapp", "model": {"id": "x"}}
        self.tells(monkeypatch, asks)
        assert "1 problem" in told(capsys, "--session", "-")
        self.tells(monkeypatch, asks | {"session_id": "e0000001-0000-4000-8000-000000000001"})
        assert told(capsys, "--session", "-") == "nothing is at work"

    def test_without_a_session_it_is_about_the_folder(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, session: str
    ) -> None:
        del session
        self.tells(monkeypatch, {"cwd": "/home/ann/webapp"})
        assert "1 problem" in told(capsys, "--session", "-")

    @pytest.mark.parametrize("text", [b"", b"no json", b"[]", b"{}", b'{"session_id": 7}', b"[" * 100_000, b"\xff"])
    def test_anything_else_is_refused_in_a_sentence(
        self, text: bytes, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.tells(monkeypatch, text)
        assert main(["status", "--session", "-"]) == 2
        assert capsys.readouterr().err.startswith("delegtop: --session -: ")


class TestWhatItDoesNotCount:
    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """One with a log of its own, in which somebody is late."""
        monkeypatch.chdir(tmp_path)
        begun = iso(Millis(WallClock().now() - 10 * MINUTE))
        told = {"event": "register", "at": begun, "session_id": "late", "subagent": "planner", "timeout": 5}
        Path("run.jsonl").write_text(json.dumps(told) + "\n")
        kept()

    def test_a_person_is_told_what_the_tree_would_count_here(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["tree", "--exit-code"]) == 3
        capsys.readouterr()
        assert main(["status", "--exit-code"]) == 0
        assert capsys.readouterr() == (
            "5 running\n",
            "delegtop: 1 delegation in logs of this folder is not counted; `delegtop tree` has them\n",
        )

    def test_a_bar_is_told_nothing_of_it(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr(status_reading, "uncounted", lambda: pytest.fail("the logs were read"))
        for how in ((), ("--short", "--exit-code"), ("--json",), ("--format", "{open}"), ("--for", "tmux")):
            assert main(["status", *how]) == 0
            assert capsys.readouterr().err == ""

    def test_nothing_is_said_where_the_folder_has_none(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path / "elsewhere")
        assert main(["status", "--exit-code"]) == 0
        assert capsys.readouterr().err == ""


class TestBrokenSettings:
    """Whoever looks at a bar sees it; other commands refuse such settings."""

    @pytest.fixture
    def config(self) -> Path:
        path = Path(os.environ["XDG_CONFIG_HOME"]) / "delegtop" / "config.toml"
        path.parent.mkdir(parents=True)
        path.write_text("nonsense = 1\n")
        kept()
        return path

    def test_the_line_says_so_however_fresh_what_is_kept_is(
        self, config: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        why = f"{config}:1: nonsense: no such setting; the keys are theme"
        assert told(capsys, "--short") == told(capsys, "--short", "--no-wait") == "!config broken"
        assert told(capsys, "--short", "--for", "tmux") == "#[bg=yellow,fg=black]!config broken#[default]"
        assert told(capsys).startswith(f"config broken: {why}")
        assert told(capsys, "--format", "{running} {problems? bad}{level} {what}") == "– broken config broken"
        assert json.loads(told(capsys, "--for", "waybar"))["class"] == "broken"
        found = json.loads(told(capsys, "--json"))
        assert found["settings_error"].startswith(why)
        assert (found["known"], "states" in found) == (False, False)

    def test_who_asks_for_the_exit_code_is_told_what_the_tree_tells(
        self, config: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["tree"]) == 2
        said = capsys.readouterr().err
        assert main(["status", "--exit-code"]) == 2
        assert capsys.readouterr().err == said
        assert str(config) in said

    def test_so_it_is_with_other_settings_that_are_named(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (tmp_path / "other.toml").write_text('columns = ["nope"]')
        kept()
        assert told(capsys, "--config", str(tmp_path / "other.toml"), "--short") == "!config broken"
        assert told(capsys, "--short") == "▶5"

    def test_a_variable_counts_too(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        kept()
        monkeypatch.setenv("DELEGTOP_SINCE", "soon")
        assert told(capsys).startswith("config broken: DELEGTOP_SINCE: 'soon' will not do")

    def test_what_was_found_right_is_read_again_only_once_it_was_changed(
        self, config: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        read: list[str] = []

        def nothing_wrong(path: Path) -> dict[str, object]:
            read.append(str(path))
            return {}

        monkeypatch.setattr(settings, "_from_file", nothing_wrong)
        for _ in range(3):
            assert told(capsys, "--short") == "▶5"
        config.write_text("theme = 'light'\n")
        for _ in range(3):
            assert told(capsys, "--short") == "▶5"
        assert read == [str(config)] * 2


class TestWhoKeepsIt:
    @staticmethod
    def keeps(**given: Any) -> bool:
        loaded = settings.load()
        return keeping(Namespace(**given), loaded, "watch") is not None

    def test_only_a_look_at_the_usual_places_does(self) -> None:
        assert self.keeps(sources=[], filter="state:failed", notify="bell")
        for name, value in {
            "sources": ["logs/"],
            "since": "7d",
            "here": True,
            "all": True,
            "format": "codex",
            "at": "now",
            "config": "x.toml",
        }.items():
            assert not self.keeps(**{name: value}), name

    def test_none_that_is_judged_by_the_file_of_a_project(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        assert self.keeps(sources=[])
        Path("delegtop.toml").write_text('silent_after = "1s"\n')
        assert not self.keeps(sources=[])

    @pytest.mark.usefixtures("session")
    def test_the_line_itself_is_judged_by_the_users_settings_alone(
        self, tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.chdir(tmp_path)
        Path("delegtop.toml").write_text('exclude = ["*"]\nrecent = "1s"\n')
        assert "1 problem" in told(capsys)
        del home

    @pytest.mark.usefixtures("session")
    def test_what_was_only_come_across_in_a_folder_is_not_counted(self, tmp_path: Path) -> None:
        """A watch in a folder with logs of its own sees them, too; another in another folder does not."""
        moment = iso(WallClock().now())
        (tmp_path / "run.jsonl").write_text(
            f'{{"event": "register", "at": "{moment}", "session_id": "here", "subagent": "planner", "timeout": 60}}\n'
        )
        command = [sys.executable, "-m", "delegtop", "watch", "--json", "--timeout", f"{PATIENCE:g}"]
        with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as watch:
            assert watch.stdout is not None
            try:
                seen = any(json.loads(line)["id"] == "here" for line in watch.stdout)
                until(lambda: status_file.read(HOUR) is not None, "the watch keeps the file")
            finally:
                watch.terminate()
        found = status_file.read(HOUR)
        assert found is not None
        assert found.by == "watch"
        assert seen
        assert "here" not in {each.id for each in found.sessions}
        assert found.tally.states["waiting"] == 1

    def test_named_logs_are_kept_by_no_watch(self, project: Path) -> None:
        assert main(["watch", str(project / "sample_logs" / "02_hang"), "--timeout", "0.5"]) == 0
        assert status_file.read(HOUR) is None


def test_an_own_source_in_the_settings_is_part_of_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    moment = iso(WallClock().now())
    (tmp_path / "mine.jsonl").write_text(
        f'{{"event": "register", "at": "{moment}", "session_id": "s", "subagent": "planner", "timeout": 600}}\n'
    )
    own = Path(os.environ["XDG_CONFIG_HOME"]) / "delegtop" / "config.toml"
    own.parent.mkdir(parents=True)
    own.write_text(f'sources = ["{tmp_path}", "relative"]\n')
    monkeypatch.chdir("/")
    assert told(capsys, "--short") == "▶1"
    found = status_reading.keeping(Namespace(sources=[]), Loaded(settings.load().settings, {}), "watch")
    assert found is not None
