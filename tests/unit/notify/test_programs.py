"""Somebody is told: by the bell, the desktop or a command of one's own, and no log decides what runs."""

import os
import sys
from pathlib import Path

import pytest
from tests.patience import PATIENCE, until

from delegtop.base.clock import Millis
from delegtop.diagnosis.alerts import Alert, Cause
from delegtop.model.states import State
from delegtop.notify import NotifyError, outbox, programs
from delegtop.notify.notification import Notification
from delegtop.notify.notification import in_words as words
from delegtop.notify.notifier import Hook, Notifier, notifier
from delegtop.notify.outbox import Outbox, Taken
from delegtop.notify.programs import Desktop, NotifyCommand, Programs
from delegtop.setting_tables import Notifications
from delegtop.settings import ConfigError, load

HOSTILE = "</b><b>x\x1b]0;owned\x07\u202egnp\n--option $(touch pwned) `id`\x00"


def alert(name: str = "worker", message: str = "It ended failed.", cause: Cause = Cause.FAILED, **more: str) -> Alert:
    return Alert(cause, 0, more.get("id", "a-1"), name, more.get("title"), State.FAILED, message, Millis(0))


def notice(
    name: str = "worker", message: str = "It ended failed.", cause: Cause = Cause.FAILED, **more: str
) -> Notification:
    return words(alert(name, message, cause, **more))


def idle(way: Programs) -> bool:
    """Look after what runs; True once nothing does."""
    way.tend()
    return not way._running


def script(tmp_path: Path, text: str) -> list[str]:
    """A command that runs these lines of Python."""
    path = tmp_path / "told.py"
    path.write_text(text)
    return [sys.executable, "-S", str(path)]


WRITES = (
    "import json, os, pathlib\n"
    "facts = {k: v for k, v in os.environ.items() if k.startswith('DELEGTOP_')}\n"
    "pathlib.Path(os.environ['DELEGTOP_ID']).write_text(json.dumps(facts))\n"
)


def test_the_bell_rings_once_however_many_alerts_there_are() -> None:
    rung: list[int] = []
    told = notifier(["bell"], (), Notifications(), ring=lambda: rung.append(1), say=pytest.fail)
    told.tell([alert(), alert()])
    told.tell([])
    assert rung == [1]


def test_the_command_gets_the_facts_in_its_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import json

    monkeypatch.chdir(tmp_path)
    for name in ("DELEGTOP_REAL_LOGS", "DELEGTOP_PROTOCOLS"):
        monkeypatch.delenv(name, raising=False)
    way = NotifyCommand(script(tmp_path, WRITES), pytest.fail, timeout=PATIENCE)
    way.tell([notice(title="Prove it", message="It hangs")])
    until(lambda: Path("a-1").exists() and bool(Path("a-1").read_text()))
    facts = json.loads(Path("a-1").read_text())
    assert facts == {
        "DELEGTOP_EVENT": "failed",
        "DELEGTOP_ID": "a-1",
        "DELEGTOP_STATE": "failed",
        "DELEGTOP_NAME": "worker",
        "DELEGTOP_TITLE": "Prove it",
        "DELEGTOP_MESSAGE": "It hangs",
        "DELEGTOP_TODO": "",
        "DELEGTOP_PROJECT": "",
        "DELEGTOP_HOST": "",
        "DELEGTOP_SESSION": "",
        "DELEGTOP_WAS": "",
        "DELEGTOP_PROBLEM_SINCE": "",
        "DELEGTOP_NOTICED_AT": "1970-01-01T00:00:00.000Z",
        "DELEGTOP_MORE": "0",
    }
    until(lambda: idle(way))


def test_the_variables_of_a_command_are_no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in notice().environment():
        monkeypatch.setenv(name, "x")
    load()


def test_foreign_text_reaches_neither_shell_nor_terminal_nor_markup() -> None:
    hostile = notice(HOSTILE, HOSTILE, id=HOSTILE, title=HOSTILE)
    shown = [hostile.headline, hostile.body, *hostile.environment().values()]
    assert all(each.isprintable() for each in shown)
    arguments = Desktop("/usr/bin/notify-send", pytest.fail).arguments(Taken(hostile, 0))
    assert arguments[3] == "--"
    assert arguments[4].startswith("delegtop: ")
    assert "<b>" not in arguments[5]
    assert "&lt;b&gt;" in arguments[5]
    mac = Desktop("/usr/bin/osascript", pytest.fail).arguments(Taken(hostile, 0))
    assert "owned" not in mac[2]
    assert mac[3].startswith("delegtop: ")


def test_secrets_are_masked_unless_they_are_wanted() -> None:
    secret = "password=hunter2hunter2"  # noqa: S105 - made up
    assert "hunter2" not in words(alert(message=secret)).body
    assert "hunter2" in words(alert(message=secret), masked=False).body


def test_a_command_that_takes_too_long_is_ended_and_told_of(tmp_path: Path) -> None:
    said: list[str] = []
    way = NotifyCommand(script(tmp_path, "import time; time.sleep(60)"), said.append, timeout=0.1)
    way.tell([notice()])
    (process,) = way._running
    until(lambda: idle(way))
    assert said == [f"the notify command {sys.executable} took longer than 0.1 s and was ended"]
    assert process.poll() is not None


def test_a_command_that_fails_is_told_of_once_and_stops_nothing(tmp_path: Path) -> None:
    said: list[str] = []
    way = NotifyCommand(script(tmp_path, "raise SystemExit(3)"), said.append, timeout=PATIENCE)
    for _ in range(2):
        way.tell([notice()])
        until(lambda: idle(way))
    assert said == [f"the notify command {sys.executable} ended with exit code 3"]


def test_a_command_that_cannot_be_run_is_told_of() -> None:
    said: list[str] = []
    NotifyCommand(["/nowhere/at/all"], said.append).tell([notice()])
    assert said == ["the notify command /nowhere/at/all cannot be run: No such file or directory"]


def test_a_flood_starts_few_programs_and_counts_the_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(outbox, "WAITING", 5)
    way = NotifyCommand(script(tmp_path, WRITES), pytest.fail, timeout=PATIENCE)
    way.tell([notice(id=f"flood-{number}") for number in range(50)])
    assert len(way._running) <= programs.AT_ONCE
    until(lambda: idle(way) and not way._outbox)
    files = sorted(path.name for path in tmp_path.glob("flood-*"))
    assert files == ["flood-45", "flood-46", "flood-47", "flood-48", "flood-49"]
    assert '"DELEGTOP_MORE": "45"' in Path("flood-45").read_text()


def test_no_more_than_a_few_programs_are_started_in_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "AT_ONCE", 1_000)
    way = NotifyCommand(["true"], pytest.fail, Outbox(now=lambda: 0.0), timeout=PATIENCE)
    way.tell([notice()] * 50)
    assert len(way._outbox) == 50 - outbox.PER_MINUTE
    until(lambda: idle(way))
    assert len(way._outbox) == 50 - outbox.PER_MINUTE


def test_what_is_missing_is_said_in_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for ways, command, message in (
        (["desktop"], (), "desktop notifications need notify-send"),
        (["command"], (), "there is no notify command"),
        (["command"], ("no-such-program",), "the notify command no-such-program is not found"),
    ):
        with pytest.raises(NotifyError, match=message):
            notifier(ways, command, Notifications(), ring=pytest.fail, say=pytest.fail)


def test_the_desktop_is_told_by_the_program_that_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "notify-send"
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {tmp_path}/shown\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    told = notifier(["desktop"], (), Notifications(), ring=pytest.fail, say=pytest.fail)
    told.tell([alert(cause=Cause.DONE, message="3 delegations: 3 completed")])
    shown = tmp_path / "shown"
    until(lambda: shown.exists() and "completed" in shown.read_text())
    assert shown.read_text().split("\n")[:5] == [
        "--app-name=delegtop",
        "--urgency=normal",
        "--",
        "delegtop: worker is done",
        "3 delegations: 3 completed",
    ]
    (way,) = told.ways
    assert isinstance(way, Desktop)
    until(lambda: idle(way))


def test_without_any_way_nothing_happens() -> None:
    Notifier(()).tell([alert()])


def test_the_command_gets_the_facts_on_its_standard_input_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import json

    monkeypatch.chdir(tmp_path)
    reads = "import os, pathlib, sys; pathlib.Path(os.environ['DELEGTOP_ID']).write_text(sys.stdin.read())"
    way = NotifyCommand(script(tmp_path, reads), pytest.fail, timeout=PATIENCE)
    way.tell([notice(title="Prove it", message="It hangs")])
    until(lambda: Path("a-1").exists() and Path("a-1").read_text().endswith("\n"))
    told = json.loads(Path("a-1").read_text())
    assert (told["schema_version"], told["event"], told["id"], told["message"]) == (1, "failed", "a-1", "It hangs")
    until(lambda: idle(way))


def test_a_command_that_does_not_read_what_it_is_told_is_none_the_worse() -> None:
    way = NotifyCommand(["true"], pytest.fail, timeout=PATIENCE)
    for _ in range(3):
        way.tell([notice()])
        until(lambda: idle(way))


class TestHook:
    """`watch --exec`."""

    def test_it_is_run_for_problems_and_when_they_are_over_and_not_for_what_is_done(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        writes = "import os, pathlib; pathlib.Path(os.environ['DELEGTOP_EVENT']).write_text('')"
        hook = Hook(script(tmp_path, writes), pytest.fail)
        hook._way._timeout = PATIENCE
        hook.tell([alert(cause=Cause.HUNG), alert(cause=Cause.DONE, id="root")])
        until(lambda: idle(hook._way))
        hook.tell([alert(cause=Cause.RESOLVED, id="never told"), alert(cause=Cause.RESOLVED)])
        until(lambda: idle(hook._way) and not hook._way._outbox)
        assert sorted(path.name for path in tmp_path.iterdir()) == ["hung", "resolved", "told.py"]
        hook.close()

    def test_a_program_that_is_not_there_is_said_at_once(self) -> None:
        with pytest.raises(NotifyError, match="the command of --exec no-such-program is not found"):
            Hook(["no-such-program"], pytest.fail)


class TestSettings:
    @pytest.fixture(autouse=True)
    def _here(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)

    def test_a_project_may_not_say_what_runs(self) -> None:
        Path("delegtop.toml").write_text('notify_command = "evil --now"\n')
        with pytest.raises(ConfigError, match=r"delegtop.toml: notify_command: a project may not set this"):
            load()

    @pytest.mark.parametrize("line", ["notify = ['bell']", "[notifications]\nslack_url = 'env:URL'"])
    def test_nor_that_anything_is_told_or_where_it_goes(self, line: str) -> None:
        Path("delegtop.toml").write_text(line)
        with pytest.raises(ConfigError, match=r"delegtop.toml: \S+: a project may not set this"):
            load()

    def test_a_file_that_is_named_may(self) -> None:
        Path("mine.toml").write_text("notify = ['command']\nnotify_command = 'tell \"two words\"'\n")
        settings = load(Path("mine.toml")).settings
        assert (settings.notify, settings.notify_command) == (("command",), ("tell", "two words"))

    def test_a_way_that_does_not_exist_is_said(self) -> None:
        with pytest.raises(ConfigError, match="it may name bell, desktop, command, ntfy, slack"):
            load(flags={"notify": "bell,pigeon"})

    def test_a_quote_that_does_not_end_is_said(self) -> None:
        with pytest.raises(ConfigError, match=r"--notify-command: .* it is no command"):
            load(flags={"notify_command": "tell 'me"})
