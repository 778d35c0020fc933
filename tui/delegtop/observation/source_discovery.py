"""Where to look when no source is named: here, and the places where logs of agents are known to be kept."""

import glob
import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from delegtop.base.clock import SECOND, Millis, WallClock, parse_span
from delegtop.base.hub_address import HubAddress, HubAddressError, hub_address, is_hub
from delegtop.base.paths import logs_folder
from delegtop.base.ssh_command import SCHEME, HostNameError, SshAddress, checked_host
from delegtop.sources.discover import closed_folder, excluded, matching, secret

if TYPE_CHECKING:
    from delegtop.base.product import Home
    from delegtop.dialects import Candidate
    from delegtop.setting_tables import HostSetting
    from delegtop.settings import Settings

DEPTH = 4
"""Levels of folders that are looked into."""
FILES = 400
ENTRIES = 20_000
"""Looking round must not take longer than a blink: so many files are opened and so many names read, at most."""

_HEAD = 64 * 1024
_SURE = 50
_KNOWN = (".opencode", ".delegtop")
_NEW = "*.jsonl"
# Logs may have any name, and a named source is told by its shape alone; unasked, only likely names are opened.
_LIKELY = frozenset({".jsonl", ".ndjson", ".json", ".log"})
_SKIPPED = frozenset({"node_modules", "__pycache__", "venv", "site-packages"})


class OpenError(ValueError):
    """What was asked for cannot be opened; the message says why. With `option` it begins with the name of one."""

    def __init__(self, message: str, *, option: bool = False) -> None:
        super().__init__(message)
        self.option = option


class Places(NamedTuple):
    """Where to look."""

    sources: list[str]
    since: Millis | None = None
    """Only what was written since then is read."""
    only: str = ""
    """The filter that narrows what is shown to this folder."""
    awaited: Mapping[str, Sequence[str]] = MappingProxyType({})
    """Where logs may appear later: places that are not there yet, and patterns of new names, with what fits them
    already."""
    here: Sequence[str] = ()
    """The sources that were only come across in this folder: they are read if something in them is alive."""
    named: bool = True
    """Whether somebody said so; else they were found."""
    hosts: tuple[SshAddress | HubAddress, ...] = ()
    """Other machines."""

    def as_is(self) -> "Places":
        """The same without what may appear later: for a look at one moment."""
        return self._replace(awaited={})


def places(
    sources: Sequence[str],
    settings: "Settings",
    *,
    since: str | None = None,
    here: bool = False,
    start: Path | None = None,
    hosts: bool = False,
) -> Places:
    """The sources that were named. Without any, what this folder (or `start`) and the homes of the known agents hold;
    with `here` only what belongs to this folder. `since` is a span, or `all`. `ssh://host` names another machine,
    `nats://hub` those that ship to a hub, and with `hosts` all that the settings name are looked at, too."""
    files = [source for source in sources if not is_host(source)]
    others = tuple(addresses([source for source in sources if is_host(source)], settings, since, hosts))
    if sources and (files or not hosts):
        return Places(files, _since(since, None), hosts=others)
    return _found(settings, since, here, start or Path())._replace(hosts=others)


def is_host(source: str) -> bool:
    """Whether a source is another machine, or a hub that others ship to."""
    return source.startswith(SCHEME) or is_hub(source)


def addresses(
    named: Sequence[str], settings: "Settings", since: str | None = None, every: bool = False
) -> Iterator[SshAddress | HubAddress]:
    """The hosts of these names, and with `every` all that the settings name: each once, as the settings have it."""
    _since(since, None)  # what is no time is said before anybody is asked
    usual = since or f"{settings.since // SECOND}s"
    known: dict[str, SshAddress | HubAddress] = {}
    for each in settings.hosts:
        known[each.called] = _address(each, since or each.since or usual, since)
    told: dict[str, None] = dict.fromkeys(known) if every else {}
    for source in named:
        try:
            name = source if is_hub(source) else checked_host(source.removeprefix(SCHEME).rstrip("/"))
            if name not in known:
                known[name] = _hub(source, usual, since) if is_hub(source) else SshAddress(name, name, since=usual)
        except (HostNameError, HubAddressError) as error:
            raise OpenError(str(error)) from None
        told[name] = None
    return (known[name] for name in told)


def _address(host: "HostSetting", since: str, asked: str | None) -> SshAddress | HubAddress:
    """One of the settings."""
    if host.nats:
        return _hub(host.nats, since, asked)._replace(credentials=host.credentials, label=host.name)
    return SshAddress(host.ssh, host.called, host.command, since, host.lines)


def _hub(address: str, usual: str, asked: str | None) -> HubAddress:
    """A hub; what is asked for goes before what its address says of the time."""
    found = hub_address(address, usual)
    _since(found.since, None)
    return found._replace(since=asked or found.since)


def _found(settings: "Settings", since: str | None, here: bool, start: Path) -> Places:
    """What this folder and the homes of the known agents hold."""
    from delegtop.dialects import products  # who names sources does not wait for all that there are

    wanted = [*(str(Path(source).expanduser()) for source in settings.sources), str(logs_folder())]
    for home in products.homes():
        path = home.path(os.environ, Path.home(), start)
        wanted += _this_folders(home, path, start) if here else [_pattern(path)]
    new = [*(str(start / name) for name in _KNOWN), _pattern(start, _NEW)]
    known = {place: matching(place) for place in (*wanted, *new)}  # asked first: what comes from now on is new
    met = find_sources(start, settings.exclude)
    asked = {_whole(place) for place in wanted} if met else set()
    come_across = [path for path in met if asked.isdisjoint(_and_above(_whole(path)))]
    only = of_folder(start) if here else ""
    found = dict.fromkeys(path for source in (*met, *wanted) for path in _there(source))
    awaited = {place: there for place, there in known.items() if not os.path.exists(place)}  # noqa: PTH110 - a Path is indignant at a folder it must not look into
    return Places(list(found), _since(since, settings.since), only, awaited, come_across, named=False)


def of_folder(start: Path) -> str:
    """The filter that narrows what is shown to a folder and what is below it."""
    return f'project:"{_whole(start)}"|"{_whole(start)}/*"'


def everywhere(settings: "Settings") -> Places:
    """The places that are the same in whatever folder one stands: what the settings name from the root on, the homes of
    the known agents, and the logs that nobody gave another place."""
    wanted = [*_named(settings), str(logs_folder()), *map(_pattern, _users_homes())]
    found = dict.fromkeys(path for place in wanted for path in _there(place))
    return Places(list(found), _since(None, settings.since), named=False)


def is_everywhere(settings: "Settings") -> Callable[[str], bool]:
    """Whether a source lies in one of these, by its name."""
    named = [place.partition("*")[0] for place in _named(settings)]
    homes = [str(home.parent if glob.has_magic(home.name) else home) for home in _users_homes()]
    begin = (*named, str(logs_folder()), *homes)
    above = {str(folder) for place in begin for folder in Path(place).parents}  # of what lies there nobody may know
    return lambda source: source.startswith(begin) or source in above


def _named(settings: "Settings") -> list[str]:
    named = (str(Path(source).expanduser()) for source in settings.sources)
    return [place for place in named if place.startswith(os.sep)]


def _users_homes() -> list[Path]:
    from delegtop.dialects import products  # as above

    return [home.path(os.environ, Path.home(), Path.home()) for home in products.homes() if home.is_users]


def _since(text: str | None, default: int | None) -> Millis | None:
    if text == "all":
        return None
    span = default
    if text is not None and (span := parse_span(text)) is None:
        raise OpenError(f"since {text}: that is no time; write it like 30m, 2h or 7d, or all", option=True)
    return None if span is None else Millis(WallClock().now() - span)


def _this_folders(home: "Home", path: Path, folder: Path) -> list[str]:
    """The part of a home that belongs to a folder; all of it if its program does not file sessions by folder."""
    if home.of_project is None:
        return [_pattern(path)]
    return [
        _pattern(path, name) if glob.has_magic(name) else str(path / name) for name in home.of_project(_whole(folder))
    ]


def _whole(path: str | Path) -> Path:
    """The path from the root on, its links followed."""
    try:
        return Path(path).resolve()
    except OSError:  # this folder is gone
        raise OpenError("this folder is gone; go to another one") from None


def _and_above(path: Path) -> Iterator[Path]:
    """A path, and the folders that it lies in."""
    yield path
    yield from path.parents


def _pattern(folder: Path, name: str = "") -> str:
    """What lies in a folder under such a name; the folder itself may have any name."""
    if not name and not glob.has_magic(folder.name):
        return str(folder)
    return str(Path(glob.escape(str(folder if name else folder.parent))) / (name or folder.name))


def _there(source: str) -> list[str]:
    """What a place or a pattern names now; itself too where nobody may look whether it is there: its reader says so."""
    if os.path.exists(source) or closed_folder(source) is not None:  # noqa: PTH110 - as above
        return [source]
    return sorted(glob.glob(source)) if glob.has_magic(source) else []  # noqa: PTH207 - Path.glob takes no absolute pattern


def find_sources(start: Path, exclude: Sequence[str] = ()) -> list[str]:
    """Files right here that look like logs, and folders below that hold some, the nearest first."""
    from delegtop.dialects import known  # as above

    places = [start, *(start / name for name in _KNOWN), logs_folder()]
    found: dict[Path, None] = {}
    out, formats = excluded(exclude), known()
    for path in islice((path for place in places for path in _files(place, out)), FILES):
        source = path if path.parent == start else path.parent
        covered = source in found or any(parent in found for parent in source.parents)
        if not covered and _looks_like_a_log(path, formats):
            found[source] = None
    return [str(source) for source in found]


def _files(top: Path, excluded: Callable[[str], bool]) -> Iterator[Path]:
    """Likely files at and below `top`, the nearest first. What cannot be listed, or must not be opened, is left out."""
    pending = deque([(top, 1)])
    entries = 0
    while pending:
        folder, level = pending.popleft()
        try:
            with os.scandir(folder) as listing:
                names_here = sorted(islice(listing, ENTRIES - entries), key=lambda entry: entry.name)
        except OSError:
            continue
        entries += len(names_here)
        for entry in names_here:
            path = folder / entry.name
            if excluded(entry.path):
                continue
            if entry.is_file(follow_symlinks=False):
                if path.suffix.lower() in _LIKELY and _may_be_opened(entry):
                    yield path
            elif entry.is_dir(follow_symlinks=False) and level < DEPTH and not _passed_over(entry.name):
                pending.append((path, level + 1))


def _may_be_opened(entry: os.DirEntry[str]) -> bool:
    """False for hidden files, for credentials, and for empty ones: those of /proc say so too and may block a reader."""
    if entry.name.startswith(".") or secret(entry.name):
        return False
    try:
        return entry.stat(follow_symlinks=False).st_size > 0
    except OSError:
        return False


def _passed_over(folder: str) -> bool:
    return folder.startswith(".") or folder in _SKIPPED


def _looks_like_a_log(path: Path, formats: "Sequence[Candidate]") -> bool:
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD + 1)
    except OSError:
        return False
    from delegtop.dialects import Sample, recognise  # as above

    sample = Sample(str(path), head[:_HEAD], whole=len(head) <= _HEAD)
    dialect = recognise(sample, formats) if head else None
    return dialect is not None and dialect.sniff(sample) >= _SURE
