"""The operator's editor is told the line in its own way, and one that is not there is not started."""

from pathlib import Path

import pytest

from delegtop.app import editor

LOG = Path("/logs/a b.jsonl")


@pytest.fixture
def bin(tmp_path: Path) -> Path:
    for name in ("vim", "nano", "code", "hx", "emacsclient", "strange", "vi"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    return tmp_path


@pytest.mark.parametrize(
    ("variable", "words"),
    [
        ("vim", ["vim", "-R", "+12", str(LOG)]),
        ("vim -n", ["vim", "-n", "-R", "+12", str(LOG)]),
        ("nano", ["nano", "+12", str(LOG)]),
        ("emacsclient -t", ["emacsclient", "-t", "+12", str(LOG)]),
        ("code --wait", ["code", "--wait", "-g", f"{LOG}:12"]),
        ("hx", ["hx", f"{LOG}:12"]),
        ("strange", ["strange", str(LOG)]),
    ],
)
def test_each_editor_is_told_the_line_in_its_own_way(bin: Path, variable: str, words: list[str]) -> None:
    assert editor.command(LOG, 12, {"EDITOR": variable, "PATH": str(bin)}) == words


def test_visual_comes_before_editor_and_vi_where_neither_is_set(bin: Path) -> None:
    assert editor.command(LOG, 1, {"VISUAL": "nano", "EDITOR": "vim", "PATH": str(bin)})[0] == "nano"
    assert editor.command(LOG, 1, {"VISUAL": "", "EDITOR": " ", "PATH": str(bin)})[0] == "vi"


def test_where_no_line_is_known_only_the_file_is_opened(bin: Path) -> None:
    assert editor.command(LOG, 0, {"EDITOR": "vim", "PATH": str(bin)}) == ["vim", str(LOG)]


@pytest.mark.parametrize(
    ("environ", "reason"),
    [
        ({"EDITOR": "gone --wait"}, "gone"),
        ({"EDITOR": "vim 'half"}, "cannot be understood"),
        ({}, "neither $VISUAL nor $EDITOR"),
    ],
)
def test_an_editor_that_is_not_there_is_named(tmp_path: Path, environ: dict[str, str], reason: str) -> None:
    with pytest.raises(editor.NoEditor) as told:
        editor.command(LOG, 1, {**environ, "PATH": str(tmp_path)})
    assert reason in str(told.value)
