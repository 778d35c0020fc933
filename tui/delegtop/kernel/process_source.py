"""Who tells of processes: Linux by `/proc`, which tells most; elsewhere psutil, which tells less.

What is the same for both is asked of one source, so that nobody else needs to know which system this is.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

from delegtop.base import other_systems
from delegtop.base.clock import Millis
from delegtop.kernel import proc_files

if TYPE_CHECKING:
    from delegtop.kernel.process_row import Effort, ProcessRow


class ProcessSource(Protocol):
    """What a system tells of its processes. A module is one."""

    def pids(self) -> Iterable[int]: ...

    def row(self, pid: int) -> "ProcessRow | None":
        """None if there is none of that number."""
        ...

    def words(self, pid: int) -> tuple[str, ...]:
        """Its command line, as far as it tells one."""
        ...

    def moment(self, ticks: int) -> Millis:
        """When something happened that the system dates so."""
        ...

    def ticks(self, at: Millis) -> int: ...

    def effort(self, row: "ProcessRow", before: "Effort | None" = None) -> "Effort":
        """What it has done since it started; `before` is what it had done by the last look."""
        ...

    def children(self, pid: int) -> Iterable[int]: ...

    def is_open(self, pid: int) -> bool:
        """Whether we may see what it has open: not if it is another user's."""
        ...

    def owner(self, pid: int) -> str:
        """The name of its user; nothing if that cannot be told."""
        ...

    def folders(self, pid: int) -> tuple[str, ...]:
        """Where it works, and where its shell told it that it does."""
        ...

    def files(self, pid: int) -> Iterable[str]:
        """The files it has open to write in, as far as that is told."""
        ...

    def has_terminal(self, pid: int) -> bool: ...


def can_tell() -> bool:
    """Whether anybody tells of processes here."""
    return proc_files.is_mounted() or other_systems.is_told()


def source() -> ProcessSource:
    """Who does."""
    if proc_files.is_mounted():
        from delegtop.kernel import proc_source  # only the one of this system is needed

        return proc_source
    from delegtop.kernel import psutil_source

    return psutil_source
