"""Asking a program's own server to abort a session: at the port that its very process listens on, on this machine.

Ports are never tried out. The answer is no proof: such a server says yes to a session that it does not know.
"""

import http.client
import os
import re
import socket
from base64 import b64encode
from contextlib import suppress
from ipaddress import ip_address
from threading import Event, Timer

from delegtop.act.process_identity import ProcessIdentity, difference, identity, taboo
from delegtop.act.signal_sending import RefusalError
from delegtop.base.system_errors import reason_of
from delegtop.base.text import folded, line
from delegtop.kernel import proc_files
from delegtop.kernel.sockets import peers

_PATIENCE = 10.0
_ANSWER = 4_000
_SHOWN = 120
_SOCKET = re.compile(r"socket:\[(\d+)\]")
_LOCAL = {4: "127.0.0.1", 6: "::1"}


def ports(pid: int) -> list[tuple[str, int]]:
    """Where on this machine a process listens, by its own sockets."""
    links = (proc_files.link(pid, "fd", fd) for fd in proc_files.numbers(pid, "fd"))
    own = {int(match[1]) for link in links if (match := _SOCKET.fullmatch(link))}
    if not own:
        return []
    found: list[tuple[str, int]] = []
    for inode, peer in peers().items():
        if inode in own and peer.listens and (place := _local(peer.words)) is not None:
            found.append(place)
    return sorted(set(found))


def _local(words: str) -> tuple[str, int] | None:
    """The address under which it is reached without leaving the machine; None if there is none."""
    host, _, port = words.rpartition(":")
    try:
        address = ip_address(host.strip("[]"))
    except ValueError:
        return None
    if not (address.is_loopback or address.is_unspecified):
        return None
    return _LOCAL[address.version] if address.is_unspecified else str(address), int(port)


def post(server: ProcessIdentity, host: str, port: int, path: str, program: str) -> None:
    """Ask that process; RefusalError if it is another one by now, does not answer, or says no."""
    why = difference(server, identity(server.pid)) or taboo(server)
    if not why and (host, port) not in ports(server.pid):
        why = f"{server} no longer listens on port {port}"
    if why:
        raise RefusalError(why)
    status, words = _answer(host, port, path, _authority(server.pid, program))
    if status in (401, 403):
        raise RefusalError(f"its server on port {port} wants another password ({status})")
    if not 200 <= status < 300:
        raise RefusalError(f"its server on port {port} says no: {status} {line(folded(words), _SHOWN)}")


def _answer(host: str, port: int, path: str, headers: dict[str, str]) -> tuple[int, str]:
    """What it answers, all in all within the time that there is: byte by byte it could take for ever."""
    connection = http.client.HTTPConnection(host, port, timeout=_PATIENCE)
    late = Event()
    hang_up: Timer | None = None
    try:
        connection.connect()
        hang_up = Timer(_PATIENCE, _hang_up, (connection.sock, late))
        hang_up.daemon = True
        hang_up.start()
        connection.request("POST", path, headers={"Content-Length": "0", **headers})
        answer = connection.getresponse()
        told = answer.status, answer.read(_ANSWER).decode("utf-8", "replace")
    except (OSError, http.client.HTTPException) as error:
        if late.is_set() or isinstance(error, TimeoutError):
            raise RefusalError(f"its server on port {port} did not answer within {_PATIENCE:g} s") from None
        why = line(reason_of(error), _SHOWN)
        raise RefusalError(f"its server on port {port} cannot be asked: {why}") from None
    finally:
        if hang_up is not None:
            hang_up.cancel()
        connection.close()
    return told


def _hang_up(connection: socket.socket, late: Event) -> None:
    late.set()
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


def _authority(pid: int, program: str) -> dict[str, str]:
    """Its password, if it has one: that of its own environment, else that of ours."""
    name = f"{program.upper()}_SERVER_PASSWORD"
    told = proc_files.data(pid, "environ").split(b"\0")
    own = [each.partition(b"=")[2] for each in told if each.startswith(os.fsencode(name) + b"=")]
    password = own[0] if own else os.fsencode(os.environ.get(name, ""))
    if not password:
        return {}
    return {"Authorization": f"Basic {b64encode(os.fsencode(program) + b':' + password).decode()}"}
