"""Who waits for a lock on a file: who holds it, and whether that one is at work."""

from delegtop.kernel import file_locks, proc_files
from delegtop.kernel.blocked import Blocked, does
from delegtop.kernel.machine_look import LATELY, SOON, MachineLook, Why
from delegtop.kernel.open_files import Descriptor
from delegtop.kernel.process_table import moment
from delegtop.model.events import Outlook, WaitsFor


class LockWaits:
    """Those of one look."""

    def __init__(self, look: MachineLook, why: Why) -> None:
        self._look, self._why = look, why

    def of(self, pid: int, above: frozenset[int]) -> Blocked:
        lock = self._look.locks.get(pid)
        if lock is None:
            return Blocked(pid, WaitsFor.LOCK, "a lock on a file")
        what = f"a lock on {self._locked_file(pid, lock)}"
        holders = [holder for holder in lock.holders if holder in self._look.table.rows] or self._open_elsewhere(
            pid, lock
        )
        if not holders:
            return Blocked(pid, WaitsFor.LOCK, f"{what} whose holder cannot be seen")
        self._look.partners.update(holders)
        holder = holders[0]
        if holder in above:
            said = f"{what} that {self._look.named(holder)} holds, which waits for it"
            return Blocked(pid, WaitsFor.LOCK, said, self._look.circle(above))
        worker = self._leaf(holder)
        held = f"{what} that {self._look.named(holder)} holds"
        if worker != holder:
            held = f"{what} that pid {holder} holds for {self._look.named(worker)}"
        moves = self._look.moves(holder)
        if moves is not False:
            outlook = Outlook.AT_WORK if moves else Outlook.OPEN
            return Blocked(pid, WaitsFor.LOCK, f"{held}, which is at work" if moves else held, outlook)
        reason = self._why(holder, above)
        if reason.waits_for is WaitsFor.TIMER and not reason.endless and self._wakes_soon(reason, worker):
            return Blocked(pid, WaitsFor.LOCK, held)
        if reason.waits_for is WaitsFor.NETWORK and not reason.endless:
            return Blocked(pid, WaitsFor.LOCK, f"{held}, which waits for {reason.on}")
        because = f" and which {does(reason)}" if reason.endless and reason.on else ""
        return Blocked(pid, WaitsFor.LOCK, f"{held}{because}", outlook=Outlook.ENDLESS)

    def _leaf(self, pid: int) -> int:
        """Who works for the holder of a lock: `flock` holds it while its command runs."""
        for each in self._look.table.below(pid):
            if len(self._look.table.children.get(each, ())) != 1:
                return each
        return pid

    def _wakes_soon(self, reason: Blocked, pid: int) -> bool:
        """Whether who sleeps says that it is for a moment only, or has just begun to: it may do so again and again."""
        now, row = self._look.table.looked_at, self._look.table.rows.get(pid)
        if reason.until is not None and reason.until < now + SOON:
            return True
        return row is not None and moment(row.started) + LATELY > now

    def _locked_file(self, pid: int, lock: file_locks.FileLock) -> str:
        return next((each.path for each in self._locked(pid, lock)), "a file")

    def _locked(self, pid: int, lock: file_locks.FileLock) -> list[Descriptor]:
        found = []
        for each in self._look.files.of(pid):
            if each.kind == "file":
                found += [each] if proc_files.inode(pid, each.fd) == lock.inode else []
        return found

    def _open_elsewhere(self, pid: int, lock: file_locks.FileLock) -> list[int]:
        """Who has the locked file open, where the one that took the lock is gone and left it to others."""
        return [
            holder
            for each in self._locked(pid, lock)
            for holder, _ in self._look.files.holders(each.leads_to)
            if holder != pid and holder not in self._look.locks
        ]
