"""Secrets of the user's own, such as the address of a webhook: not written into a file of settings but named there, as
`env:NAME` (a variable of the environment) or `file:PATH` (a file that nobody else can read). What is shown of one tells
where it comes from, or to which host it goes, and no more.
"""

import os
import stat
from collections.abc import Mapping

from delegtop.base.secrets import MASKED
from delegtop.base.system_errors import reason_of

ENV, FILE = "env:", "file:"
_LARGEST = 4096
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class SecretError(Exception):
    """A secret that cannot be had; the message is one sentence for people, without the secret."""


def is_reference(value: str) -> bool:
    """Whether it tells where a secret is, and is none."""
    return value.startswith((ENV, FILE))


def shown(value: str) -> str:
    """What may be shown: a reference as it is, of an address its host, of anything else nothing."""
    if not value or is_reference(value):
        return value
    scheme, found, rest = value.partition("://")
    if not found or scheme not in ("http", "https"):
        return MASKED
    place, slash, path = rest.partition("/")
    host = place.rpartition("@")[2].partition("?")[0].partition("#")[0]
    if not host.isascii() or not host.isprintable():
        return MASKED
    hides = path or host != place
    return f"{scheme}://{host}{'/' + MASKED if hides else slash}"


def resolve(value: str, environ: Mapping[str, str] = os.environ) -> str:
    """The secret itself. A file is refused that others could read, or that is another's."""
    if value.startswith(ENV):
        name = value.removeprefix(ENV)
        if not environ.get(name):
            raise SecretError(f"the variable {name} is not set")
        return environ[name].strip()
    return _from_file(value.removeprefix(FILE)) if value.startswith(FILE) else value


def others_can_read(path: str) -> bool:
    """Whether somebody else could read what is in that file."""
    return bool(os.stat(path).st_mode & _OTHERS)  # noqa: PTH116 -- a plain name of a plain file


def _from_file(name: str) -> str:
    path = os.path.expanduser(name)  # noqa: PTH111 -- pathlib is not needed for this
    if not os.path.isabs(path):  # noqa: PTH117 -- as above
        raise SecretError(f"{name}: name the file with its whole path, or from ~ on")
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        raise SecretError(f"{name}: cannot be read: {reason_of(error)}") from None
    try:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode):
            raise SecretError(f"{name}: is no file")
        if about.st_uid not in (os.geteuid(), 0):
            raise SecretError(f"{name}: belongs to somebody else")
        if about.st_mode & _OTHERS:
            raise SecretError(f"{name}: others can read or change it; chmod 600 it")
        text = os.read(descriptor, _LARGEST + 1)
    except OSError as error:
        raise SecretError(f"{name}: cannot be read: {reason_of(error)}") from None
    finally:
        os.close(descriptor)
    if len(text) > _LARGEST:
        raise SecretError(f"{name}: is too long for a secret")
    try:
        found = text.decode().strip()
    except UnicodeDecodeError:
        raise SecretError(f"{name}: is not UTF-8 text") from None
    if not found:
        raise SecretError(f"{name}: is empty")
    return found
