"""What the system tells at the moment a plan is made: processes, who heeds which signal, where servers listen."""

import fnmatch
import os
import shutil
import stat
from functools import cached_property
from pathlib import Path

from delegtop.act.process_identity import ProcessIdentity, identity, runs_us
from delegtop.act.server_requests import ports
from delegtop.base.clock import Millis
from delegtop.base.product import Product
from delegtop.kernel import proc_files
from delegtop.kernel.process_table import ProcessTable
from delegtop.kernel.program_process import ProgramProcess
from delegtop.model.delegation import Delegation


class PlanSight:
    """One look. Nothing is asked before somebody needs it."""

    @cached_property
    def table(self) -> ProcessTable:
        return ProcessTable()

    def identity(self, pid: int) -> ProcessIdentity | None:
        return identity(pid)

    def runs(self, process: ProcessIdentity, program: Product) -> bool:
        """Whether a process is one of that program: by its name, or by the files that only it keeps open. Anybody who
        can write a log can name any process in it."""
        if not process.command:
            return False
        found = ProgramProcess(process.pid, 0, 0, Millis(0), process.command)
        if process.name in program.executables or found.runs(program.executables, program.scripts):
            return True
        names = {each.rpartition("/")[2] for each in found.files} if program.holds else ()
        return any(fnmatch.fnmatchcase(name, each) for name in names for each in program.holds)

    def is_written_by_others(self, facts: Delegation) -> bool:
        """Whether a file that tells of it belongs to another user, or cannot be looked at any more: whoever owns it may
        have taken it away since."""
        for each in {origin.source for origin in facts.origins if not origin.is_kernel and not origin.host}:
            try:
                if os.stat(each).st_uid != os.getuid():  # noqa: PTH116 -- as the source is spelled
                    return True
            except (OSError, ValueError):
                return True
        return False

    def runs_us(self, pid: int) -> bool:
        return runs_us(pid)

    def ports(self, pid: int) -> list[tuple[str, int]]:
        return ports(pid)

    def ignores(self, pid: int, number: int) -> bool:
        """Whether a process lets this signal pass without a word."""
        for each in proc_files.text(pid, "status").splitlines():
            if each.startswith("SigIgn:"):
                return bool(int(each.split()[1], 16) >> (number - 1) & 1)
        return False

    def is_stopped(self, pid: int) -> bool:
        row = self.table.rows.get(pid)
        return row is not None and row.is_stopped

    def command(self, name: str) -> str | None:
        """Where a command is found."""
        return shutil.which(name)

    def listens_at(self, pid: int, path: Path) -> bool:
        """Whether that process is the server of a socket in the file system."""
        place = os.path.realpath(path)
        rows = (each.split() for each in proc_files.text("net", "unix").splitlines()[1:])
        inodes = {row[6] for row in rows if len(row) > 7 and row[7] == place}
        links = {proc_files.link(pid, "fd", fd) for fd in proc_files.numbers(pid, "fd")}
        return any(f"socket:[{inode}]" in links for inode in inodes)

    def socket_above(self, log: str, name: str) -> Path | None:
        """The socket of that name in one of the folders above a log, if it is ours."""
        for folder in Path(log).absolute().parents:
            path = folder / name
            try:
                found = path.stat()
            except OSError:
                continue
            return path if stat.S_ISSOCK(found.st_mode) and found.st_uid == os.getuid() else None
        return None
