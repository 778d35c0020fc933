"""Copying: what may be copied as it is, and a file beside the terminal's clipboard.

Not every terminal passes OSC 52 on, so whatever is copied also lands in a private file. A recommendation often looks
like a command and is pasted into a shell: one that hides something is refused, with the reason.
"""

import os
import unicodedata
from pathlib import Path

from delegtop.base.lazy_pattern import lazy_pattern
from delegtop.base.paths import make_private, state_folder
from delegtop.base.secrets import MASKED
from delegtop.base.text import safe

_LONGEST = 4_000
_ODD_SPACES = lazy_pattern(r"[\u00a0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000]")


def refusal(text: str) -> str:
    """Why `text` must not be copied where it could be pasted into a shell; nothing if it may."""
    if not text.strip():
        return "there is nothing to copy"
    if MASKED in text:
        return "it holds a secret that is hidden"
    if len(text) > _LONGEST:
        return f"it has {len(text):,} characters, more than anyone would read before pasting"
    if "\n" in text or "\r" in text:
        return "it has more than one line, and a shell would run each as it is pasted"
    hidden = next((char for char in text if safe(char) != char or char == "\t"), None) if safe(text) != text else None
    if hidden is not None:
        return f"it hides a control or invisible character ({_name(hidden)})"
    if odd := _ODD_SPACES.search(text):
        return f"it has a space that is not a space ({_name(odd.group())})"
    return ""


def _name(char: str) -> str:
    return f"U+{ord(char):04X} {unicodedata.name(char, '')}".rstrip()


def state_directory() -> Path:
    """The state folder, made private."""
    directory = state_folder()
    make_private(directory)
    return directory


def save(text: str) -> Path | None:
    """Write `text` to the fallback file, readable by its owner only; None if that cannot be done."""
    try:
        path = state_directory() / "clipboard.txt"
        write_private(path, text + "\n")
    except OSError:
        return None
    return path


def write_private(path: Path, text: str) -> None:
    """Write a file only its owner can read, never through a link someone left there."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
        os.fchmod(descriptor, 0o600)
        file.write(text)
