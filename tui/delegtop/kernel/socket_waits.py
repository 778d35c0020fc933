"""Who waits at a socket: who has the other end, and since when nothing came in."""

from delegtop.kernel import sockets
from delegtop.kernel.blocked import Blocked
from delegtop.kernel.machine_look import MachineLook
from delegtop.kernel.open_files import Descriptor
from delegtop.kernel.process_table import moment
from delegtop.model.events import Outlook, WaitsFor


class SocketWaits:
    """Those of one look."""

    def __init__(self, look: MachineLook) -> None:
        self._look = look

    def of(self, pid: int, at: Descriptor, above: frozenset[int]) -> Blocked:
        peer = self._peer(at)
        if peer is None:
            return Blocked(pid, WaitsFor.NETWORK, "a socket")
        if peer.listens:
            outlook = Outlook.AT_WORK if peer.visited else Outlook.OPEN
            return Blocked(pid, WaitsFor.CLIENTS, f"connections on {peer.words}", outlook)
        other = self._at_other_end(peer)
        if other is None:
            what = f"{peer.words} to take what it sends" if peer.unsent else peer.words
            return Blocked(pid, WaitsFor.NETWORK, what, since=self._quiet(pid, peer))
        self._look.partners.add(other)
        what = self._look.named(other) if not peer.own else f"{peer.words} ({self._look.named(other)})"
        if other in above:
            return Blocked(pid, WaitsFor.NETWORK, f"{what}, which waits for it", self._look.circle(above))
        row = self._look.table.rows[other]
        if row.is_stopped:
            return Blocked(pid, WaitsFor.NETWORK, f"{what}, which is stopped (state T)", outlook=Outlook.ENDLESS)
        if self._look.moves(other):
            return Blocked(pid, WaitsFor.NETWORK, f"{what}, which is at work", Outlook.AT_WORK)
        return Blocked(pid, WaitsFor.NETWORK, what, since=self._quiet(pid, peer))

    def own_pairs(self, pid: int, watched: list[Descriptor]) -> set[str]:
        """The kind of sockets, if it holds both ends of all that it waits at: with these it wakes itself."""
        held = all(self._is_own_pair(pid, each) for each in watched if each.kind == "socket")
        return {"socket"} if held else set()

    def _is_own_pair(self, pid: int, at: Descriptor) -> bool:
        peer = self._peer(at)
        return peer is not None and self._at_other_end(peer) == pid

    def is_connected(self, pid: int, at: Descriptor) -> bool:
        peer = self._peer(at) if at.kind == "socket" else None
        return peer is not None and not peer.unread and not self._is_own_pair(pid, at)

    def _quiet(self, pid: int, peer: sockets.Peer) -> int | None:
        """Since when nothing came in: not longer than the process is there."""
        lives = self._look.table.looked_at - moment(self._look.table.rows[pid].started)
        return None if peer.quiet is None else min(peer.quiet, lives)

    def _peer(self, at: Descriptor) -> sockets.Peer | None:
        return None if at.inode is None else self._look.peers.get(at.inode)

    def _at_other_end(self, peer: sockets.Peer) -> int | None:
        if peer.inode is None:
            return None
        return next((pid for pid, _ in self._look.files.holders(f"socket:[{peer.inode}]")), None)
