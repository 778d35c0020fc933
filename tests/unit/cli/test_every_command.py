"""What holds of every command that has an option or takes sources: whoever adds one need not think of it."""

import json
from argparse import Action
from pathlib import Path

import pytest

from delegtop.cli import main
from delegtop.cli.command_table import COMMANDS, LIVE, parser
from delegtop.cli.exit_codes import Exit

NAMES = (LIVE, *COMMANDS)
SOURCES = frozenset({"SOURCE", "RUN", "PATH", "RETURN"})
"""What positional words are called that are read."""
WAITS = {
    LIVE: "a dashboard, which waits for what comes",
    "replay": "a dashboard; see below",
    "serve": "goes on until somebody ends it",
    "mcp": "goes on until whoever asks has left",
    "ship": "goes on until somebody ends it",
}
"""Commands that take sources and do not end because of them."""
ENDING = {
    "watch": ("--timeout", "0.1"),
    "record": ("--once", "-o", "run.delegtop"),
    "bundle": ("-o", "incident.zip"),
}
"""What makes a command end, or do anything at all."""


def actions(name: str) -> list[Action]:
    return parser(name)._actions


def takes(action: Action) -> bool:
    """Whether it names what is read."""
    return action.metavar in SOURCES and (not action.option_strings or action.dest == "sources")


WITH_JSON = [name for name in NAMES if any("--json" in action.option_strings for action in actions(name))]
WITH_SOURCES = [name for name in NAMES if any(map(takes, actions(name))) and name not in WAITS]


@pytest.fixture(autouse=True)
def _nothing_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with neither logs nor settings."""
    monkeypatch.chdir(tmp_path)


def command(name: str, *sources: str) -> list[str]:
    """The command with what it cannot do without; where words are read, these."""
    words: list[str] = [] if name == LIVE else [name]
    for action in actions(name):
        if takes(action):
            count = 2 if action.metavar == "RUN" else 1
            many = (sources * count)[:count] if action.metavar == "RUN" else sources
            words += [word for each in many for word in (*action.option_strings[:1], each)]
        elif not action.option_strings and action.nargs not in ("*", "?"):
            words.append("nobody")
    return [*words, *ENDING.get(name, ())]


@pytest.mark.parametrize("name", WITH_JSON)
@pytest.mark.parametrize("sources", [[], ["empty"], ["nowhere"], ["page.txt"]], ids=["none", "empty", "gone", "no log"])
def test_what_is_printed_as_json_is_json_whatever_there_is(
    name: str, sources: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("empty").mkdir()
    Path("page.txt").write_text("no log")
    if not sources and name in ("diff", "lint"):
        sources = ["empty"]
    main([*command(name, *sources), "--json"])
    told = capsys.readouterr().out
    if name == "watch":  # a line for each change, and nothing changes
        assert told == ""
    else:
        json.loads(told)


@pytest.mark.parametrize("name", WITH_SOURCES)
@pytest.mark.parametrize("source", ["nowhere", "no*where", "torn.json"])
def test_a_source_that_cannot_be_read_is_told_and_exits_4(
    name: str, source: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("torn.json").write_bytes(b"\xff\x00 no log")
    assert main(command(name, source)) == Exit.UNREADABLE
    assert f"delegtop: {source}: " in capsys.readouterr().err


@pytest.mark.parametrize("name", [name for name in WITH_SOURCES if name not in ("lint", "migrate")])
def test_it_does_so_beside_one_that_can_be_read(name: str, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sample = str(project / "sample_logs" / "02_hang")
    known = ["sess_1772532120_h9w4dg" if word == "nobody" else word for word in command(name, sample, "nowhere")]
    assert main([*known, *(["--timeout", "0.1"] if name in ("wait", "stop") else [])]) == Exit.UNREADABLE
    assert "delegtop: nowhere: " in capsys.readouterr().err


READ_SETTINGS = [name for name in NAMES if any("--config" in action.option_strings for action in actions(name))]
SETTINGS = {
    'theme = "nope"': "mine.toml:1: theme: 'nope' will not do: it should be 'dark', 'light' or 'safe'",
    '\ncolumns = ["state", "nope"]': "mine.toml:2: columns: no column is named nope; there are ",
    '[keymap]\nnope = "q"': "mine.toml: keymap: action nope does not exist; ",
    "silent_after = 0": "mine.toml:1: silent_after: 0 will not do: it should be greater than 0",
}
NEEDED = {"config": ("show",), "index": ("update",), "find": ("word",), "ship": ("--to", "nats://127.0.0.1:1")}


@pytest.mark.parametrize("name", READ_SETTINGS)
@pytest.mark.parametrize("text", SETTINGS)
def test_a_wrong_setting_is_blamed_on_file_and_key(
    name: str, text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("mine.toml").write_text(text)
    monkeypatch.setattr("delegtop.cli.output.is_terminal", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    words = [word for word in command(name, ".") if word != "nobody" or name not in NEEDED]
    code = main([*words, *NEEDED.get(name, ()), "--config", "mine.toml"])
    told = capsys.readouterr()
    if name == "status":  # a bar shows nothing of a command that fails
        assert told.out.startswith(f"config broken: {SETTINGS[text]}")
        assert code == Exit.OK
    else:
        assert told.err.startswith(f"delegtop: {SETTINGS[text]}")
        assert (told.out, code) == ("", Exit.USAGE)


@pytest.mark.parametrize("place", ["user", "project"])
def test_a_folder_in_the_place_of_the_settings_is_said_to_be_one(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "delegtop" / "config.toml" if place == "user" else Path("delegtop.toml")
    path.mkdir(parents=True)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert main(["tree"]) == Exit.USAGE
    assert capsys.readouterr().err == f"delegtop: {path}: is a folder, and should be a file\n"


def test_no_replay_begins_of_what_is_not_there(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("delegtop.cli.output.is_terminal", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    assert main(["replay", "nowhere"]) == Exit.UNREADABLE
    assert capsys.readouterr().err == "delegtop: nowhere: not found\n"


def test_every_command_that_takes_sources_is_among_them() -> None:
    assert {"tree", "check", "status", "find", "wait", "stop", "diff", "lint", "migrate"} <= {*WITH_SOURCES}
    assert {"tree", "check", "status", "find", "wait", "stop", "diff", "hosts", "rules"} <= {*WITH_JSON}
