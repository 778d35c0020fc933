"""Where a fact came from, so that everything on screen can be traced to the line that says it."""

import msgspec

HostFile = tuple[str, str]
"""A host and a source there: one path on two hosts is two files."""
_KERNEL = "kernel:"
"""How the sources begin that are no files: what the system said of a process."""
_PROCESSES = "processes"
_HOST = "host:"
"""The source that is no file either: the host itself."""


class Origin(msgspec.Struct, frozen=True, order=True, gc=False, omit_defaults=True, repr_omit_defaults=True):
    """One place in one source. `line` counts from 1; `offset` is the byte where the record starts."""

    source: str
    line: int
    offset: int
    host: str = ""
    """Where the source lies; empty for this machine."""

    @property
    def file(self) -> HostFile:
        """By what to know the source from all others."""
        return self.host, self.source

    @property
    def name(self) -> str:
        """The source as people name it: `gpu1:/srv/run.jsonl` on another host."""
        return f"{self.host}:{self.source}" if self.host else self.source

    @property
    def is_kernel(self) -> bool:
        """Whether the system said so, and no file."""
        return self.source.startswith(_KERNEL)

    @property
    def pid(self) -> int | None:
        """The process that the system said it of."""
        number = self.source.removeprefix(_KERNEL) if self.is_kernel else ""
        return int(number) if number.isdecimal() else None

    def __str__(self) -> str:
        return self.name if self.is_kernel else f"{self.name}:{self.line}"


def of_file(path: str) -> str:
    """The source that a file is: its path, spelled so that no file can speak as the system."""
    return f"./{path}" if path.startswith((_KERNEL, _HOST)) else path


def of_host(host: str) -> Origin:
    """What a host says of itself."""
    return Origin(_HOST, 0, 0, host)


def in_words(source: str, line: int) -> str:
    """A place, for people: `logs/run.jsonl:7`, or `the kernel, pid 4711, on gpu1`, by the name of its source."""
    host, is_system, number = source.rpartition(_KERNEL)
    if not is_system or line or not (number == _PROCESSES or number.isdecimal()) or "/" in host:
        return f"{source}:{line}"
    pid = f", pid {number}" if number.isdecimal() else ""
    return f"the kernel{pid}{f', on {host[:-1]}' if host else ''}"


def kernel(pid: int | None = None) -> Origin:
    """What the system says of one process, `kernel:4711`, or of all there are."""
    return Origin(f"{_KERNEL}{_PROCESSES if pid is None else pid}", 0, 0)
