# Thousands of paths are looked at again and again: plain strings cost a fraction of Path objects.
# ruff: noqa: PTH100, PTH112, PTH116, PTH118, PTH119, PTH120, PTH207
"""Which files the arguments mean, now: files, folders with everything below them, and globs."""

import contextlib
import errno
import fnmatch
import glob
import os
import re
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from zlib import compress, decompress

import msgspec

from delegtop.base.clock import WallClock
from delegtop.base.lazy_pattern import lazy_pattern
from delegtop.base.origin import of_file
from delegtop.base.system_errors import reason_within

_LOG_NAME = lazy_pattern(r"\.(jsonl|ndjson|json|log)([.-]\d[\d.-]*)?$")
_LOG = (".jsonl", ".ndjson", ".json", ".log")
"""How nearly all of these end."""
_ROTATED = lazy_pattern(r"(\.(?:jsonl|ndjson|json|log))[.-]\d[\d.-]*$")
_DATABASE = (".db", ".sqlite", ".sqlite3")
_COMPRESSED = lazy_pattern(r"\.(gz|zst|xz|bz2|zip)$")
_CREDENTIALS = lazy_pattern(
    r"\.(key|pem|p12|pfx)$|^\.?(credentials|oauth_creds|google_accounts|secrets?)\.json$|(^|[-_.])o?auth\.json$"
    r"|^\.netrc$|^id_(rsa|ed25519|ecdsa|dsa)",
    re.IGNORECASE,
)
_FIRST_OF_KEYS = "iIİı"
"""How names begin that are told by their beginning, in any case."""
_LEFT_OUT = frozenset({".git", "node_modules", "__pycache__", ".venv"})
_KINDS = (
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
_NEVER = "holds credentials: never opened"
_EXCLUDED = "excluded by the settings"
_LASTING = frozenset({_NEVER, _EXCLUDED})
"""Reasons that stay true as long as the folder does not change."""
_LEADS_NOWHERE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})
_NOTHING: dict[str, str] = {}
"""What is skipped in most folders, one for all of them."""
_SETTLED = 20_000_000
"""Nanoseconds: a folder changed just now may change again within the same tick of its clock."""


_PACKED = 32
"""So many names of one folder are kept pressed."""


class Files:
    """Paths in their order, each once. Those in folders are made anew whenever they are asked for: there may be a
    million, of which hardly one is needed for longer than a look at it."""

    __slots__ = ("_named", "_parts")

    def __init__(self, parts: "Iterable[str | _Folder]" = ()) -> None:
        self._parts = tuple({part if isinstance(part, str) else part.key: part for part in parts}.values())
        self._named = {part for part in self._parts if isinstance(part, str)}

    def __iter__(self) -> Iterator[str]:
        named = self._named
        for part in self._parts:
            if isinstance(part, str):
                yield part
            elif named:
                yield from (path for path in part.files() if path not in named)
            else:
                yield from part.files()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Files) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment] # as of any list


class Scan(msgspec.Struct, frozen=True):
    """One look at what is there."""

    files: Files = Files()
    skipped: dict[str, str] = {}
    """Why a file or folder is not read."""
    unreadable: dict[str, str] = {}
    """Why nobody can look into a folder, or at a file."""
    missing: tuple[str, ...] = ()
    """Arguments that name nothing, and never did."""


class _Folder(msgspec.Struct, frozen=True, gc=False):
    """The contents of one folder when it was last changed."""

    path: str
    changed: int
    listed: str | bytes
    """The names of its logs, with a slash between them; of very many pressed."""
    folders: tuple[str, ...]
    skipped: dict[str, str]

    @property
    def key(self) -> str:
        return os.path.join(self.path, "")

    def files(self) -> Iterable[str]:
        listed = self.listed
        names = listed if isinstance(listed, str) else os.fsdecode(decompress(listed))
        return map(self.key.__add__, names.split("/")) if names else ()


def _listed(names: Sequence[str]) -> str | bytes:
    listed = "/".join(names)
    return listed if len(names) < _PACKED else compress(os.fsencode(listed), 1)


class Roots:
    """The SOURCE arguments. `scan` may be asked again and again; new files and folders turn up in it."""

    def __init__(
        self,
        arguments: Sequence[str],
        names: Callable[[], Sequence[str]] = tuple,
        exclude: Sequence[str] = (),
        awaited: Collection[str] = (),
    ) -> None:
        self._arguments = tuple(dict.fromkeys([*map(of_file, arguments), *awaited]))
        known = awaited if isinstance(awaited, Mapping) else {argument: matching(argument) for argument in awaited}
        self._awaited = {argument: frozenset(there) for argument, there in known.items()}
        """Places where something may appear later, and what of it is there already: that is not meant."""
        self._names = names
        """Patterns of further file names; asked when the first folder is looked into."""
        self._further: re.Pattern[str] | None = None
        self._excludes = bool(exclude)
        self._excluded = excluded(exclude)
        """Whether a path is not looked at; what an argument names itself is."""
        self._folders: dict[str, _Folder] = {}
        self._watched: dict[str, None] = {}
        self._known: dict[str, tuple[str | _Folder, ...]] = {}

    def scan(self) -> Scan:
        """Every file to read, sorted within each argument, and what is left out and why."""
        self._watched = {}
        files: list[str | _Folder] = []
        skipped: dict[str, str] = {}
        unreadable: dict[str, str] = {}
        missing: list[str] = []
        for argument in self._arguments:
            found = tuple(self._expand(argument, skipped, unreadable))
            if not found and (closed := closed_folder(argument)) is not None:
                unreadable[closed] = reason_within(PermissionError(errno.EACCES, os.strerror(errno.EACCES)))
                found = self._known.get(argument, ())
                self._watched[_nearest(closed)] = None
            elif not found and not os.path.lexists(argument) and not glob.has_magic(argument):
                # What was there before is only out of sight: its reader knows whether it is gone.
                found = self._known.get(argument, ())
                if argument not in self._known:
                    missing += [] if argument in self._awaited else [argument]
                    self._watched[_nearest(argument)] = None
                elif found != (argument,):
                    skipped[argument] = "not there now"
            else:
                self._known[argument] = found
            files += found
        if len(self._folders) > len(self._watched):  # folders that are gone, with the names of all that was in them
            self._folders = {path: self._folders[path] for path in self._watched if path in self._folders}
        return Scan(Files(files), skipped, unreadable, tuple(missing))

    def newest(self) -> tuple[str, ...]:
        """The files on the way down to where each argument changed last: those of what runs now are likely there."""
        found: dict[str, None] = {}
        for argument in self._arguments:
            folder: str | None = argument
            with contextlib.suppress(OSError):
                while folder is not None:
                    known = self._look_into(folder)
                    found.update(dict.fromkeys(known.files()))
                    folder = max(known.folders, key=lambda path: os.stat(path).st_mtime_ns, default=None)
        return tuple(found)

    def directories(self) -> tuple[str, ...]:
        """The folders to watch for changes: those that the last scan looked into."""
        return tuple(self._watched)

    def _expand(self, argument: str, skipped: dict[str, str], unreadable: dict[str, str]) -> "Iterator[str | _Folder]":
        for path in self._named(argument):
            if os.path.isdir(path):
                yield from self._walk(path, skipped, unreadable)
            elif (why := _refusal(path)) is not None:
                skipped[path] = why
            else:
                self._watched[os.path.dirname(path) or "."] = None
                yield path

    def _named(self, argument: str) -> list[str]:
        """The paths an argument stands for: itself if it is there, though it may look like a pattern."""
        if os.path.lexists(argument):
            return [argument]
        if not glob.has_magic(argument):
            return []
        fixed = argument
        while glob.has_magic(fixed):
            fixed = os.path.dirname(fixed)
        self._watched[_nearest(fixed)] = None
        return [of_file(path) for path in matching(argument) if path not in self._awaited.get(argument, ())]

    def _walk(self, top: str, skipped: dict[str, str], unreadable: dict[str, str]) -> Iterator[_Folder]:
        """A folder and those below it that hold logs. Links to folders are not followed, so there are no circles."""
        waiting = [top]
        while waiting:
            path = waiting.pop()
            folder: _Folder | None
            try:
                folder = self._look_into(path)
            except FileNotFoundError:  # removed since its parent was listed
                continue
            except OSError as error:
                unreadable[path] = reason_within(error)
                folder = self._folders.get(path)  # not seen is not gone: what is known of it stays
            if folder is None:
                continue
            self._watched[path] = None
            skipped.update(folder.skipped)
            if folder.listed:
                yield folder
            waiting.extend(reversed(folder.folders))

    def _look_into(self, path: str) -> _Folder:
        """The folder's contents, listed again only if it has changed."""
        found = os.stat(path)
        changed = max(found.st_mtime_ns, found.st_ctime_ns)  # whoever unpacks or copies a folder sets its time back
        known = self._folders.get(path)
        if known is not None and known.changed == changed:
            if not os.access(path, os.R_OK | os.X_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            return known
        files: list[str] = []
        folders: list[str] = []
        skipped: dict[str, str] = {}
        same = {path: path for path in (known.folders if known else ())}  # one string for each path
        with os.scandir(path) as entries:
            for entry in entries:
                if self._excludes and self._excluded(entry.path):
                    skipped[entry.path] = _EXCLUDED
                elif entry.is_dir(follow_symlinks=False):
                    if entry.name not in _LEFT_OUT:
                        folders.append(same.get(entry.path, entry.path))
                elif self._is_log_name(entry.name):
                    why = _refusal(entry.path) if not entry.is_file(follow_symlinks=False) else secret(entry.name)
                    if why is None:
                        files.append(entry.name)
                    elif why != "a folder":
                        skipped[entry.path] = why
        # A link that leads nowhere may lead somewhere tomorrow without a change here.
        lasting = _LASTING.issuperset(skipped.values()) and WallClock().now() * 1_000_000 - changed > _SETTLED
        moment = changed if lasting else -1
        folder = _Folder(path, moment, _listed(sorted(files)), tuple(sorted(folders)), skipped or _NOTHING)
        self._folders[path] = folder
        return folder

    def _is_log_name(self, name: str) -> bool:
        if name.endswith(_LOG) or (_LOG_NAME.search(_COMPRESSED.sub("", name)) and not name.endswith(".zip")):
            return True
        return name.endswith(_DATABASE) or self._is_expected_name(name)

    def expects(self, path: str) -> bool:
        """Whether an argument names it, or its name is that of a log: other databases may be anybody's."""
        name = os.path.basename(path)
        return not name.endswith(_DATABASE) or path in self._arguments or self._is_expected_name(name)

    def _is_expected_name(self, name: str) -> bool:
        if self._further is None:
            self._further = _any_of(self._names())
        return self._further.match(name) is not None


def matching(argument: str) -> list[str]:
    """What there is now of what an argument names."""
    if not glob.has_magic(argument):
        return [argument] if os.path.lexists(argument) else []
    return sorted(glob.glob(argument, recursive=True, include_hidden=True))


def closed_folder(argument: str) -> str | None:
    """The folder on the way to what an argument names into which nobody may look; None if there is none."""
    path = argument
    while glob.has_magic(path) and not os.path.lexists(path):
        path = os.path.dirname(path)
    try:
        os.lstat(path)
    except PermissionError:
        while path and not os.path.isdir(path):
            path = os.path.dirname(path)
        return path or "."
    except OSError:
        pass
    return None


def _nearest(path: str) -> str:
    """The folder in which something has to appear for the path to be there: the last one of it that is."""
    while path and not os.path.isdir(path):
        path = os.path.dirname(path)
    return path or "."


def excluded(patterns: Sequence[str]) -> Callable[[str], bool]:
    """Tells whether the name or the path of something fits one of the patterns, wherever it is looked at from."""
    if not patterns:
        return lambda _path: False
    fits = _any_of(patterns).match
    return lambda path: bool(fits(os.path.basename(path)) or fits(path) or fits(os.path.abspath(path)))


def _any_of(patterns: Sequence[str]) -> re.Pattern[str]:
    """What fits one of the patterns; nothing if there is none."""
    return re.compile("|".join(map(fnmatch.translate, patterns)) or r"(?!)")


def is_lock(path: str) -> bool:
    """Whether it may be the lock of a process: such a file tells by its name, even if it is empty, and is as old as its
    process, however much that does."""
    return path.endswith(".lock")


def is_database(path: str) -> bool:
    """Whether the name says that it is one."""
    return path.endswith(_DATABASE)


def growth_of(path: str, found: os.stat_result) -> tuple[int, int]:
    """What tells that a file was written to; of a database, that its log was."""
    if not is_database(path):
        return found.st_size, found.st_mtime_ns
    try:
        log = os.stat(path + "-wal")
    except OSError:
        return found.st_size, found.st_mtime_ns
    return found.st_size + log.st_size, max(found.st_mtime_ns, log.st_mtime_ns)


def is_packed(path: str) -> bool:
    """Whether the name says that the file is compressed."""
    return _COMPRESSED.search(path) is not None


def unrotated(path: str) -> str:
    """The name under which a log was written, without what its rotation and compression have added."""
    return _ROTATED.sub(r"\1", _COMPRESSED.sub("", path))


def _refusal(path: str) -> str | None:
    """Why a path is no file to read; None if it is one. One that cannot be asked is read, and that tells why."""
    try:
        mode = os.stat(path).st_mode
    except OSError as error:
        return "a broken link" if error.errno in _LEADS_NOWHERE else None
    if stat.S_ISDIR(mode):
        return "a folder"
    return next((kind for is_kind, kind in _KINDS if is_kind(mode)), None) or secret(os.path.basename(path))


def secret(name: str) -> str | None:
    """Why a file of that name is never opened; None if it may be."""
    if name.endswith((".jsonl", ".meta.json")) and name[0] not in _FIRST_OF_KEYS:
        return None  # as nearly all: only by how it begins could it be one
    return _NEVER if _CREDENTIALS.search(name) else None
