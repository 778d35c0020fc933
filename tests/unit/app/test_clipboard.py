"""Copying and crashing write private files, and what hides something is refused."""

import os
import stat
from pathlib import Path

import pytest

from delegtop.app import clipboard, crash


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("text", ["sess_1766743200_abc123", "run lake clean", "ünïcödé is fine"])
def test_plain_text_may_be_copied(text: str) -> None:
    assert clipboard.refusal(text) == ""


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "nothing"),
        ("a\nb", "more than one line"),
        ("a\rb", "more than one line"),
        ("a\x1b[201~b", "U+001B"),
        ("a\u202eb", "RIGHT-TO-LEFT OVERRIDE"),
        ("a\u200bb", "ZERO WIDTH SPACE"),
        ("rm\u00a0-rf", "NO-BREAK SPACE"),
        ("a\tb", "U+0009"),
        ("x" * 5_000, "5,000 characters"),
    ],
)
def test_what_hides_something_is_refused_with_the_reason(text: str, reason: str) -> None:
    assert reason in clipboard.refusal(text)


def test_the_fallback_file_is_private_even_if_it_was_not() -> None:
    path = clipboard.state_directory() / "clipboard.txt"
    path.write_text("old")
    path.chmod(0o644)
    assert clipboard.save("new") == path
    assert path.read_text() == "new\n"
    assert mode(path) == 0o600


def test_a_link_left_in_place_of_the_file_is_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("precious")
    (clipboard.state_directory() / "clipboard.txt").symlink_to(target)
    assert clipboard.save("new") is None
    assert target.read_text() == "precious"


def test_a_directory_that_cannot_be_made_is_no_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    assert clipboard.save("text") is None
    assert "could not be written" in crash.record(ValueError("x"))


def test_a_crash_leaves_a_private_log_without_local_variables() -> None:
    def fails() -> None:
        password = "hunter2"  # noqa: S105 -- the secret that must not show
        raise ValueError(f"bad \x1b[2J value of {len(password)} letters")

    try:
        fails()
    except ValueError as error:
        sentence = crash.record(error)
    path = Path(os.environ["XDG_STATE_HOME"]) / "delegtop" / "crash.log"
    log = path.read_text()
    assert sentence == f"delegtop stopped by an internal error (ValueError); its traceback is in {path}"
    assert "in fails" in log
    assert "hunter2" not in log
    assert "\x1b" not in log
    assert mode(path) == 0o600
