"""The snippets of docs/status.md, run as they stand there, by the programs they are for where these can be had; the log
holds words that would run something or paint the bar if they were not escaped."""

import configparser
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.terminal.conftest import Terminal

from delegtop.base.clock import MINUTE, Millis, WallClock, iso
from delegtop.base.paths import logs_folder

TOOL = "#S%n#(touch p)$(touch p)`>p`"
SHOWN = f"!1 ◀{TOOL}"
MARKUP = SHOWN.replace(">", "&gt;")


def snippet(project: Path, name: str) -> str:
    """The first block of code below a heading."""
    page = (project / "docs" / "status.md").read_text("utf-8")
    found = re.search(rf"^### {re.escape(name)}\n.*?^```\w+\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert found is not None, name
    return found[1]


@pytest.fixture(autouse=True)
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is overdue in a tool of that name, and `delegtop` on the path."""
    now = WallClock().now()
    about: dict[str, object] = {"schema_version": 1, "session_id": "sess_1790000000_late01"}
    lines: list[dict[str, object]] = [
        {"event": "register", "at": iso(Millis(now - 30 * MINUTE)), "subagent": "implementer", "timeout": 600},
        {"event": "heartbeat", "at": iso(Millis(now - 29 * MINUTE)), "tool": TOOL, "activity": "x"},
    ]
    logs_folder().mkdir(parents=True)
    (logs_folder() / "session.jsonl").write_text("".join(json.dumps(about | line) + "\n" for line in lines), "utf-8")
    program = tmp_path / "bin" / "delegtop"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m delegtop "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    (tmp_path / "cwd").mkdir()
    monkeypatch.chdir(tmp_path / "cwd")


@pytest.fixture(autouse=True)
def _nothing_is_run(log: None) -> Iterator[None]:
    del log
    yield
    assert os.listdir() == [], "a word of the log was run"  # noqa: PTH208 -- this folder


def line_of(command: str, stdin: str = "") -> str:
    told = subprocess.run(["sh", "-c", command], input=stdin, capture_output=True, text=True, check=True)
    return told.stdout.removesuffix("\n")


def known_line_of(command: str, stdin: str = "") -> str:
    """Of one that does not wait: what it says once somebody has read the log."""
    line_of("delegtop status")
    return line_of(command, stdin)


def test_tmux_shows_the_line_and_takes_nothing_in_it_for_its_own(terminal: Terminal, project: Path) -> None:
    config = terminal.folder / "tmux.conf"
    config.write_text(snippet(project, "tmux"))
    inner = f"tmux -L inner -f {shlex.quote(str(config))} -u"
    try:
        terminal.shell(f"cd {shlex.quote(os.getcwd())}; TMUX= {inner} new-session 'sleep 1000'")  # noqa: PTH109 -- as above
        screen = terminal.wait_for(f"▶0 {SHOWN}")
        assert re.search(rf"▶0 {re.escape(SHOWN)}\S* \d+:\d\d", screen), screen
        assert re.search(rf"\x1b\[37m\x1b\[41m{re.escape(SHOWN)}".encode(), terminal.written())
    finally:
        terminal.close_inner("inner")


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_a_shell_shows_it_in_its_prompt_and_runs_nothing_of_it(terminal: Terminal, project: Path, shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    plain = {"bash": "bash --norc --noprofile", "zsh": "zsh -f"}[shell]
    terminal.shell(f"cd {shlex.quote(os.getcwd())}; PS1='% ' {plain}")  # noqa: PTH109 -- as above
    terminal.wait_for("% ")
    for line in snippet(project, shell).splitlines():
        terminal.type(line)
        terminal.keys("Enter")

    def is_shown() -> bool:
        terminal.keys("Enter")
        return f"▶0 {SHOWN}" in terminal.screen()

    terminal.wait_until(is_shown, "a prompt with the line, once somebody has read the log")
    terminal.type("echo $((6*7))")
    terminal.keys("Enter")
    terminal.wait_for("42")


def test_claude_code_runs_it_for_its_session(project: Path) -> None:
    told = json.loads(snippet(project, "Claude Code"))["statusLine"]
    assert told["type"] == "command"
    asks = json.dumps({"session_id": "sess_1790000000_late01", "cwd": "/", "version": "2.1.325"})
    assert known_line_of(told["command"], asks).startswith(f"▶0 \x1b[31m{SHOWN}")
    assert line_of(told["command"], json.dumps({"session_id": "another-one"})) == "–"


def test_starship_has_a_module_that_runs_it(project: Path) -> None:
    module = tomllib.loads(snippet(project, "starship"))["custom"]["delegtop"]
    assert module["when"] is True
    assert "$output" in module["format"]
    assert known_line_of(module["command"]).startswith(f"▶0 {SHOWN}")


def test_waybar_gets_json_with_escaped_markup(project: Path) -> None:
    module = json.loads(snippet(project, "Waybar"))["custom/delegtop"]
    assert module["return-type"] == "json"
    told = json.loads(line_of(module["exec"]))
    assert MARKUP in told["text"]
    assert told["class"] == "stuck"


def test_i3blocks_gets_markup(project: Path) -> None:
    blocks = configparser.ConfigParser()
    blocks.read_string(snippet(project, "i3blocks"))
    assert blocks["delegtop"]["markup"] == "pango"
    assert line_of(blocks["delegtop"]["command"]).startswith(f'▶0 <span foreground="red">{MARKUP}')


def test_the_form_on_the_page_works(project: Path) -> None:
    assert re.match(r"0 up, 1 down: \S+", line_of(snippet_of_forms(project)))


def snippet_of_forms(project: Path) -> str:
    page = (project / "docs" / "status.md").read_text("utf-8")
    return page.split("## Forms of one's own")[1].split("```sh\n")[1].split("\n```")[0]
