"""Whether the user's settings will do, for who asks every few seconds: what was found right is read again only once it
was changed."""

import os
from binascii import crc32
from contextlib import suppress
from pathlib import Path

from delegtop import __version__
from delegtop.base.own_variables import setting_variables
from delegtop.base.paths import cache_folder, config_folder, make_private
from delegtop.cli.diagnostics import UsageError


def what_is_wrong() -> str:
    """Why they will not do; nothing if they will."""
    found = _found()
    if not found or found == _found_right():
        return ""
    from delegtop.cli.status_reading import users_settings  # whoever changes nothing needs none of it

    try:
        users_settings()
    except UsageError as error:
        return str(error)
    with suppress(OSError):  # then they are read each time
        make_private(cache_folder())
        _place().write_text(found, "ascii")
    return ""


def _found() -> str:
    """What stands for the file and the variables as they are; nothing if there are none."""
    path, said = config_folder() / "config.toml", sorted(setting_variables(os.environ).items())
    try:
        about = path.stat()
    except OSError:  # none, or in a folder that must not be looked into
        if not said:
            return ""
        whole: tuple[object, ...] = (said,)
    else:  # the time of a change that nobody can set: who may read it counts too
        whole = (said, str(path), about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns)
    return f"{__version__} {crc32(repr(whole).encode(errors='replace')):08x}"


def _found_right() -> str:
    try:
        return _place().read_text("ascii")
    except (OSError, ValueError):
        return ""


def _place() -> Path:
    return cache_folder() / "settings.checked"
