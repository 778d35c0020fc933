"""What may happen to the files of logs between two looks."""

import os
import random
import re
import shutil
from pathlib import Path

CHANGES = (
    "append",
    "append half a line",
    "cut off",
    "change in place",
    "replace",
    "replace by its copy",
    "touch",
    "rename",
    "copy",
    "delete",
    "restore",
)
_TEXT = (".jsonl", ".json", ".log", ".md", ".mdx", ".txt")
"""What is changed within; other files are only moved about."""


class ChangingFiles:
    """The files below a folder, one of which something happens to. What is restored is as it was at first."""

    def __init__(self, folder: Path, backup: Path, dice: random.Random) -> None:
        self._folder, self._backup, self._dice = folder, backup, dice
        shutil.copytree(folder, backup, symlinks=True)

    def take_away(self, share: float) -> None:
        """So many of the files are not there yet."""
        for path in self._files():
            if self._dice.random() < share:
                path.unlink()

    def bring(self, share: float) -> None:
        """So many of those that are missing come."""
        for path in self._missing():
            if self._dice.random() < share:
                self._restore(path)

    def change(self, how: str, now: float) -> str:
        """Let it happen to some file; says to which, and nothing if there is none."""
        if how == "restore":
            files = self._missing() or [path for path in self._files() if self._kept(path).exists()]
        else:
            files = self._files(text=how not in ("rename", "copy", "delete"))
        if not files:
            return ""
        path = self._dice.choice(files)
        self._do(how, path, now)
        return str(path.relative_to(self._folder))

    def _files(self, *, text: bool = False) -> list[Path]:
        found = (path for path in self._folder.rglob("*") if path.is_file() and path.stat().st_size)
        return sorted(path for path in found if not text or path.suffix in _TEXT)

    def _missing(self) -> list[Path]:
        """Of those that there were at first."""
        there = (self._folder / path.relative_to(self._backup) for path in self._backup.rglob("*") if path.is_file())
        return sorted(path for path in there if not path.exists())

    def _restore(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(self._kept(path), path)

    def _kept(self, path: Path) -> Path:
        return self._backup / path.relative_to(self._folder)

    def _do(self, how: str, path: Path, now: float) -> None:
        if how == "restore":
            self._restore(path)
            return
        before, data = path.stat(), path.read_bytes()
        lines = data.splitlines(keepends=True)
        is_old = self._dice.random() < 0.5
        if how in ("append", "append half a line"):
            more = self._dice.choice(lines)
            with path.open("ab") as file:
                file.write(more.rstrip(b"\n") + b"\n" if how == "append" else more[: len(more) // 2])
        elif how == "cut off":
            os.truncate(path, self._dice.randrange(len(data)))
        elif how == "change in place":
            with path.open("r+b") as file:
                file.write(re.sub(rb"[0-8]", lambda digit: b"%d" % (int(digit[0]) + self._dice.randrange(2)), data))
            is_old = True
        elif how in ("replace", "replace by its copy"):
            other = path.with_name(f"{path.name}.new")
            other.write_bytes(data.replace(b"the ", b"hte ") if how == "replace" else data)
            os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
            other.replace(path)
        elif how == "rename":
            path.rename(path.with_name(f"x{path.name}"))
            return
        elif how == "copy":
            to = path.parent / "elsewhere"
            to.mkdir(exist_ok=True)
            shutil.copy2(path, to)
            return
        elif how == "delete":
            path.unlink()
            return
        elif how == "touch":
            is_old = False
        when = before.st_mtime_ns if is_old else int(now * 1e9)
        os.utime(path, ns=(when, when))
