"""The operator's own editor, and how it is told which line to show.

Each editor has its own way to be given a line. To one that nobody knows only the file is given: a word that it does not
understand would be taken for the name of another file.
"""

import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path, PurePath

_USUAL = ("vi", "nano")
"""What is looked for where nobody said which editor is wanted."""
_ONLY_READ = frozenset({"vi", "vim", "nvim", "view", "vim.basic", "vim.tiny", "vim.nox", "vim.gtk3", "elvis", "nvi"})
"""They show a file without being able to write it, if they are told so: a log has its own writer."""
_PLUS = frozenset(
    {"nano", "pico", "rnano", "emacs", "emacsclient", "kak", "joe", "jed", "jmacs", "micro", "ne", "mg", "mcedit",
     "gedit", "vise", "gvim", "mvim", "neovide", "less"}
)  # fmt: skip
"""`+12 file`."""
_COLON = frozenset({"hx", "helix", "zed", "zeditor", "subl", "sublime_text", "amp"})
"""`file:12`."""
_GO = frozenset({"code", "code-insiders", "codium", "vscodium", "cursor", "windsurf", "positron"})
"""`-g file:12`."""


class NoEditor(Exception):  # noqa: N818 - reads better where it is raised
    """There is none; the message says what to do about it."""


def command(path: Path, line: int, environ: Mapping[str, str]) -> list[str]:
    """What shows that line of a file: the editor in $VISUAL, else in $EDITOR, else one that is usually there."""
    words = _chosen(environ)
    name, file = PurePath(words[0]).name, str(path)
    if line < 1:
        return [*words, file]
    if name in _ONLY_READ:
        return [*words, "-R", f"+{line}", file]
    if name in _PLUS:
        return [*words, f"+{line}", file]
    if name in _GO:
        return [*words, "-g", f"{file}:{line}"]
    return [*words, f"{file}:{line}" if name in _COLON else file]


def _chosen(environ: Mapping[str, str]) -> list[str]:
    for variable in ("VISUAL", "EDITOR"):
        try:
            words = shlex.split(environ.get(variable) or "")
        except ValueError as error:
            raise NoEditor(f"${variable} cannot be understood: {error}") from error
        if words:
            if shutil.which(words[0], path=environ.get("PATH")) is None:
                raise NoEditor(f"${variable} names {words[0]}, which is not there")
            return words
    found = next((name for name in _USUAL if shutil.which(name, path=environ.get("PATH"))), None)
    if found is None:
        raise NoEditor("neither $VISUAL nor $EDITOR is set, and there is no vi and no nano")
    return [found]
