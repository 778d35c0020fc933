"""Whether the processes that write a file can be seen from here: not if they may run on another machine, in front of
a container that we are in, or as another user."""

import os

from delegtop.base import other_systems
from delegtop.kernel import proc_files

_FIRST_NAMESPACE = "pid:[4026531836]"
"""The pid namespace that a machine starts with, from which all processes can be seen."""
_MOUNTS = "/proc/self/mountinfo"
_SHARED = ("nfs", "cifs", "smb", "9p", "virtiofs", "ceph", "lustre", "gluster", "afs", "gpfs", "ocfs", "fuse", "vboxsf")
"""How the names of file systems begin that other machines write to as well."""


def hidden(path: str) -> str:
    """Why nobody can say from here who writes that file; empty if the processes that do can be seen."""
    try:
        owner = os.stat(path).st_uid  # noqa: PTH116 # plain strings, as everywhere in the search for processes
    except OSError:
        return "its log is not there"
    if owner != os.geteuid() and os.geteuid() != 0:
        return "they are those of another user"
    return elsewhere(os.path.dirname(os.path.realpath(path)))  # noqa: PTH120 # as above


def elsewhere(folder: str) -> str:
    """Why those who write in that folder may be others than those we see."""
    mounted, kind = _mount(folder)
    if kind.startswith(_SHARED):
        return f"its log lies on a file system that other machines may write to ({kind})"
    if mounted != "/" and not _sees_all():
        return f"this is a container, and its log lies on {mounted}, which may be written from outside"
    return ""


def _sees_all() -> bool:
    """Elsewhere than on Linux there are no such namespaces."""
    return not proc_files.is_mounted() or proc_files.link("self", "ns", "pid") == _FIRST_NAMESPACE


def _mount(folder: str) -> tuple[str, str]:
    """Where what the folder lies on is mounted, and what kind of file system it is."""
    if not proc_files.is_mounted():
        return other_systems.mount(folder)
    best = "/", ""
    try:
        with open(_MOUNTS, encoding="utf-8", errors="replace") as mounts:  # noqa: PTH123 # as above
            for row in mounts:
                left, _, right = row.partition(" - ")
                place = left.split(" ")[4].replace("\\040", " ")
                if len(place) >= len(best[0]) and (folder == place or folder.startswith(place.rstrip("/") + "/")):
                    best = place, right.split(" ")[0]
    except (OSError, IndexError):
        return "", "unknown"
    return best
