"""With whom a socket is connected, and when something last came in: asked of the kernel by `sock_diag(7)`.

Where that is refused, as in some containers, `/proc/net` names the peer at least.
"""

import socket
import struct
from collections.abc import Iterator
from typing import NamedTuple

from delegtop.kernel import proc_files

_NETLINK_SOCK_DIAG, _BY_FAMILY, _DUMP, _DONE, _ERROR = 4, 20, 0x301, 3, 2
_LISTENS = 10
_ALL = 0xFFFFFFFF
_TCP_INFO = 2
_LAST_SENT, _LAST_RECEIVED = 44, 52
"""Where in `tcp_info` the milliseconds since the last data stand."""
_SHOW_PEER, _PEER = 4, 2
_HEAD, _INET, _UNIX = 16, 72, 16
_PATIENCE = 1.0
_MAPPED = bytes(10) + b"\xff\xff"
"""What an address of IPv4 begins with that is written as one of IPv6."""


class Peer(NamedTuple):
    """What a socket is connected with."""

    words: str
    """`127.0.0.1:8123`, or where it listens."""
    own: str = ""
    """Its own address."""
    listens: bool = False
    visited: bool = False
    """There are connections to where it listens, or were a moment ago."""
    unread: bool = False
    """Data came in that nobody has read yet."""
    unsent: bool = False
    """Data lies here that the other side has not taken yet."""
    quiet: int | None = None
    """Milliseconds since the last data came in, or went out of what lies here, if that is known."""
    inode: int | None = None
    """The socket at the other end, where it is on this machine and the kernel says so."""


def peers() -> dict[int, Peer]:
    """All connected or listening sockets of this network namespace, by their inodes."""
    found: dict[int, Peer] = {}
    try:
        parted: list[str] = []
        for family in (socket.AF_INET, socket.AF_INET6):
            for inode, peer in _inet(family):
                if inode:
                    found[inode] = peer
                else:  # of those that are closed the kernel remembers the address for a while
                    parted.append(peer.own)
        ends = {(peer.own, peer.words): inode for inode, peer in found.items()}
        visited = {_port(peer.own) for peer in found.values() if peer.own} | {_port(own) for own in parted}
        for inode, peer in found.items():
            visits = peer.listens and _port(peer.words) in visited
            found[inode] = peer._replace(inode=ends.get((peer.words, peer.own)), visited=visits)
        found.update(_local())
    except OSError:
        found.update(_from_files())
    return found


def _inet(family: int) -> Iterator[tuple[int, Peer]]:
    request = struct.pack("=BBBxI48x", family, socket.IPPROTO_TCP, 1 << (_TCP_INFO - 1), _ALL)
    for data in _asked(request):
        state = data[1]
        own, port, other_port = data[8:24], *struct.unpack_from(">HH", data, 4)
        other, (unread, unsent, inode) = data[24:40], struct.unpack_from("=II4xI", data, 56)
        size = 4 if family == socket.AF_INET else 16
        quiet = None
        for kind, value in _attributes(data[_INET:]):
            if kind == _TCP_INFO and len(value) >= _LAST_RECEIVED + 4:
                quiet = struct.unpack_from("=I", value, _LAST_RECEIVED)[0]
                if unsent:
                    quiet = min(quiet, struct.unpack_from("=I", value, _LAST_SENT)[0])
        here = _address(own[:size], port)
        if state == _LISTENS:
            yield inode, Peer(here, listens=True)
        else:
            words = _address(other[:size], other_port)
            yield inode, Peer(words, here, unread=unread > 0, unsent=unsent > 0, quiet=quiet)


def _port(address: str) -> str:
    return address.rpartition(":")[2]


def _local() -> Iterator[tuple[int, Peer]]:
    request = struct.pack("=BBHIII8x", socket.AF_UNIX, 0, 0, _ALL, 0, _SHOW_PEER)
    for data in _asked(request):
        inode = struct.unpack_from("=I", data, 4)[0]
        for kind, value in _attributes(data[_UNIX:]):
            if kind == _PEER:
                yield inode, Peer("a socket of this machine", inode=struct.unpack("=I", value[:4])[0])
        if data[2] == _LISTENS:
            yield inode, Peer("a socket of this machine", listens=True)


def _asked(request: bytes) -> Iterator[bytes]:
    """The answers of the kernel, one a socket."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_SOCK_DIAG) as asked:
        asked.settimeout(_PATIENCE)
        asked.send(struct.pack("=IHHII", _HEAD + len(request), _BY_FAMILY, _DUMP, 1, 0) + request)
        while True:
            data = asked.recv(1 << 16)
            while len(data) >= _HEAD:
                length, kind = struct.unpack_from("=IH", data)
                if kind == _DONE:
                    return
                if kind == _ERROR or length < _HEAD:
                    raise OSError("the kernel does not tell")
                yield data[_HEAD:length]
                data = data[length + 3 & ~3 :]


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    while len(data) >= 4:
        length, kind = struct.unpack_from("=HH", data)
        if length < 4:
            return
        yield kind, data[4:length]
        data = data[length + 3 & ~3 :]


def _address(packed: bytes, port: int) -> str:
    if len(packed) == 16 and packed.startswith(_MAPPED):
        packed = packed[12:]
    if len(packed) == 4:
        return f"{socket.inet_ntop(socket.AF_INET, packed)}:{port}"
    return f"[{socket.inet_ntop(socket.AF_INET6, packed)}]:{port}"


def _from_files() -> Iterator[tuple[int, Peer]]:
    for name in ("tcp", "tcp6"):
        for line in proc_files.text("net", name).splitlines()[1:]:
            fields = line.split()
            try:
                listens = int(fields[3], 16) == _LISTENS
                host, _, port = fields[1 if listens else 2].partition(":")
                packed = b"".join(bytes.fromhex(host[at : at + 8])[::-1] for at in range(0, len(host), 8))
                yield int(fields[9]), Peer(_address(packed, int(port, 16)), listens=listens)
            except (IndexError, ValueError):
                continue
