"""A secret of one's own is named, not written down; a file that others can read is refused; none is ever shown."""

import os
from pathlib import Path

import pytest

from delegtop.base.secret_references import SecretError, resolve, shown


def private(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o600)
    return path


def test_a_variable_or_a_file_or_the_thing_itself(tmp_path: Path) -> None:
    path = private(tmp_path / "url", " https://host/secret\n")
    assert resolve("env:URL", {"URL": "https://host/secret\n"}) == "https://host/secret"
    assert resolve(f"file:{path}") == "https://host/secret"
    assert resolve("https://host/secret") == "https://host/secret"


def test_a_file_may_be_named_from_home_on() -> None:
    private(Path.home() / "url", "secret")
    assert resolve("file:~/url") == "secret"


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o620])
def test_a_file_that_others_can_read_or_change_is_refused(tmp_path: Path, mode: int) -> None:
    path = private(tmp_path / "url", "s3cr3t")
    path.chmod(mode)
    with pytest.raises(SecretError, match="others can read or change it; chmod 600 it") as refused:
        resolve(f"file:{path}")
    assert "s3cr3t" not in str(refused.value)


def test_what_is_no_private_file_of_ours_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe", 0o600)
    private(tmp_path / "empty", " \n")
    private(tmp_path / "long", "x" * 5000)
    (tmp_path / "odd").write_bytes(b"\xff\xfe")
    (tmp_path / "odd").chmod(0o600)
    for name, why in {
        f"{tmp_path}/nowhere": "cannot be read: No such file",
        f"{tmp_path}/pipe": "is no file",
        f"{tmp_path}/empty": "is empty",
        f"{tmp_path}/long": "is too long for a secret",
        f"{tmp_path}/odd": "is not UTF-8 text",
        str(tmp_path): "is no file",
        "url": "name the file with its whole path",
        "../url": "name the file with its whole path",
    }.items():
        with pytest.raises(SecretError, match=why):
            resolve(f"file:{name}")


def test_a_variable_that_is_not_set_is_said() -> None:
    for environ in ({}, {"URL": ""}):
        with pytest.raises(SecretError, match="the variable URL is not set"):
            resolve("env:URL", environ)


@pytest.mark.parametrize(
    ("value", "seen"),
    [
        ("", ""),
        ("env:URL", "env:URL"),
        ("file:~/url", "file:~/url"),
        ("https://hooks.slack.com/services/T/B/x", "https://hooks.slack.com/[masked]"),
        ("https://ada:pass@host.example/x", "https://host.example/[masked]"),
        ("https://ada:pass@host.example", "https://host.example/[masked]"),
        ("https://host.example?key=secret", "https://host.example/[masked]"),
        ("https://host.example#secret", "https://host.example/[masked]"),
        ("https://ntfy.sh/", "https://ntfy.sh/"),
        ("http://127.0.0.1:8080/x", "http://127.0.0.1:8080/[masked]"),
        ("tk_secret", "[masked]"),
        ("pass://word://", "[masked]"),
        ("se cret://x", "[masked]"),
    ],
)
def test_of_an_address_its_host_is_shown_and_of_anything_else_nothing(value: str, seen: str) -> None:
    assert shown(value) == seen
