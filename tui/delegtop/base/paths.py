"""Where delegtop keeps what is its own, on every system: in the folders of the XDG specification.

platformdirs says the same on Linux, costs five milliseconds at every start, and on a Mac would move what is there.
"""

import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path


def config_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """What the user wrote: settings."""
    return _folder("XDG_CONFIG_HOME", "~/.config", environ)


def cache_folder() -> Path:
    """What can be deleted at any time and is made again."""
    return _folder("XDG_CACHE_HOME", "~/.cache", os.environ)


def index_place() -> Path:
    """The file of what was read to its end."""
    return cache_folder() / "index.db"


def state_folder() -> Path:
    """What is kept between two runs."""
    return _folder("XDG_STATE_HOME", "~/.local/state", os.environ)


def logs_folder() -> Path:
    """The logs that nobody gave another place."""
    return state_folder() / "logs"


def make_private(folder: Path) -> None:
    """Make the folder, and those above it that are missing, for the owner's eyes alone, whatever the umask; and make it
    so if it is delegtop's own and somebody made it otherwise. OSError if that cannot be done."""
    if not folder.is_dir():
        if folder.parent != folder:
            make_private(folder.parent)
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
    if folder.name == "delegtop":
        found = folder.stat()
        if stat.S_IMODE(found.st_mode) & 0o077 and found.st_uid == os.geteuid():
            folder.chmod(0o700)


def _folder(variable: str, usual: str, environ: Mapping[str, str]) -> Path:
    return Path(environ.get(variable) or usual).expanduser() / "delegtop"


def is_there(path: str | Path) -> bool:
    """Whether something is to be seen there: where one may not look, or no name can be so long, a Path is indignant."""
    return os.path.exists(path)  # noqa: PTH110 -- as it says
