"""All processes at one moment: who started whom, what they are called, and how much each has done so far."""

from collections.abc import Iterator

from delegtop.base.clock import Millis, WallClock
from delegtop.base.text import whole_words
from delegtop.kernel import process_source
from delegtop.kernel.process_row import ProcessRow

_WORDS = 200
"""Characters of a command line that are told."""


class ProcessTable:
    """What there was at one look."""

    def __init__(self) -> None:
        self.looked_at = WallClock().now()
        self.rows: dict[int, ProcessRow] = {}
        self.children: dict[int, list[int]] = {}
        source = process_source.source()
        for pid in source.pids():
            row = source.row(pid)
            if row is not None:
                self.rows[pid] = row
                self.children.setdefault(row.parent, []).append(pid)
        self._commands: dict[int, tuple[str, ...]] = {}
        self._below: dict[int, list[int]] = {}
        self.bare: dict[int, str] = {}
        """Command lines without blanks and quotes, as far as somebody compared them with something."""

    def below(self, pid: int) -> list[int]:
        """It and all that it started, and what these did, from the top down."""
        if pid in self._below:
            return self._below[pid]
        found = dict.fromkeys([pid] if pid in self.rows else [])
        pending = list(found)
        for each in pending:
            new = [child for child in self.children.get(each, ()) if child not in found]
            found.update(dict.fromkeys(new))  # a number that is given again while all are read makes a circle
            pending += new
        self._below[pid] = pending
        return pending

    def above(self, pid: int) -> Iterator[int]:
        """Who started it, and so on up."""
        met, row = {pid}, self.rows.get(pid)
        while row is not None and row.parent and row.parent not in met:
            met.add(row.parent)
            yield row.parent
            row = self.rows.get(row.parent)

    def command(self, pid: int) -> tuple[str, ...]:
        """Its command line, as far as it tells one."""
        if pid not in self._commands:
            self._commands[pid] = words_of(pid)
        return self._commands[pid]

    def words(self, pid: int) -> str:
        """Its command line in one line of bounded length, else its name. It stands between backticks, and has none."""
        row = self.rows.get(pid)
        line = " ".join(" ".join(self.command(pid)).split()) or (row.name if row else "")
        return whole_words(line.replace("`", "'"), _WORDS)

    def name(self, pid: int) -> str:
        """What the program is called: by its command line, else by the kernel, which knows 15 characters."""
        command, row = self.command(pid), self.rows.get(pid)
        name = command[0].split(" ")[0].rpartition("/")[2] if command else ""
        return (name.lstrip("-") or (row.name if row else "")).replace("`", "'")


def command_of(pid: int) -> str:
    """Its command line in one line, as far as it tells one."""
    return " ".join(" ".join(words_of(pid)).split()).replace("`", "'")


def words_of(pid: int) -> tuple[str, ...]:
    """Its command line, as far as it tells one."""
    return process_source.source().words(pid)


def row_of(pid: int) -> ProcessRow | None:
    """What the system tells of one process; None if there is none of that number."""
    return process_source.source().row(pid)


def is_anothers(pid: int) -> bool:
    """Whether it is there, and not ours to look into: what it waits for only its own user may see."""
    source = process_source.source()
    if source.is_open(pid):
        return False
    row = source.row(pid)
    return row is not None and not row.is_dead


def moment(ticks: int) -> Millis:
    """When something happened that the system dates so."""
    return process_source.source().moment(ticks)


def ticks(at: Millis) -> int:
    """How the system dates that moment."""
    return process_source.source().ticks(at)
