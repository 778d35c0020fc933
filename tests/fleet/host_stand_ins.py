"""Hosts of a test: real ssh servers on this machine, each with a port, a home and a delegtop of its own; and a stand-in
for ssh that says and does what it is told.

An `ssh` of ours stands before the real one on the path: it only adds a configuration that knows these hosts.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.patience import until

SSHD = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin:/usr/local/sbin")
SSH = shutil.which("ssh")
KEYGEN = shutil.which("ssh-keygen")
WHY_NOT = "" if SSHD and SSH and KEYGEN else "there is no sshd here (Debian: apt-get install openssh-server)"
"""Why no such host can be had; nothing if it can."""


class HostStandIn:
    """One host."""

    def __init__(self, folder: Path, name: str, key: Path, *, extra: Sequence[str] = ()) -> None:
        self.name, self.folder = name, folder / name
        self.home = self.folder / "home"
        self.home.mkdir(parents=True)
        self.port = _free_port()
        self._extra = list(extra)
        self._process: subprocess.Popen[bytes] | None = None
        self.install()
        _make_key(self.folder / "host_key")
        (self.folder / "authorized_keys").write_text(key.with_suffix(".pub").read_text())
        self._write_config()

    @property
    def host_key(self) -> str:
        return " ".join((self.folder / "host_key.pub").read_text().split()[:2])

    def install(self, command: str | None = None) -> None:
        """Put a delegtop there; with `command` another program of that name, an empty one takes it away."""
        program = self.home / ".local" / "bin" / "delegtop"
        program.parent.mkdir(parents=True, exist_ok=True)
        if command == "":
            program.unlink(missing_ok=True)
            return
        program.write_text(f'#!/bin/sh\n{command or f"exec {sys.executable} -m delegtop"} "$@"\n')
        program.chmod(0o755)

    def _write_config(self) -> None:
        python_path = os.pathsep.join(filter(None, (os.environ.get("PYTHONPATH"),)))
        environ = [f"HOME={self.home}", f"XDG_STATE_HOME={self.home}/state", f"XDG_CONFIG_HOME={self.home}/config"]
        environ += [f"XDG_CACHE_HOME={self.home}/cache", f"XDG_DATA_HOME={self.home}/share"]
        environ += [f"PYTHONPATH={python_path}"] if python_path else []
        lines = [
            f"Port {self.port}",
            "ListenAddress 127.0.0.1",
            f"HostKey {self.folder / 'host_key'}",
            f"AuthorizedKeysFile {self.folder / 'authorized_keys'}",
            f"PidFile {self.folder / 'pid'}",
            "PasswordAuthentication no",
            "KbdInteractiveAuthentication no",
            "StrictModes no",
            "UsePAM no",
            "PermitRootLogin prohibit-password",
            "PrintMotd no",
            f"SetEnv {' '.join(environ)}",
            *self._extra,
        ]
        (self.folder / "sshd_config").write_text("\n".join(lines) + "\n")

    def start(self) -> None:
        if os.getuid() == 0:
            Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
        log = (self.folder / "sshd.log").open("ab")
        self._process = subprocess.Popen(
            [str(SSHD), "-D", "-e", "-f", str(self.folder / "sshd_config")],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        log.close()
        until(lambda: _listens(self.port), f"{self.name} to listen")

    def stop(self, *, sessions: bool = True) -> None:
        """End the server, and with it the sessions it has."""
        if self._process is None:
            return
        self.thaw()
        for pid in self.sessions() if sessions else ():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._process.kill()
        self._process.wait()
        self._process = None

    def servers(self) -> list[int]:
        """The processes of the server that serve somebody."""
        return [pid for pid in self.sessions() if _comm(pid).startswith("sshd")]

    def freeze(self) -> None:
        """Nobody answers any more, and nothing is closed: as when a network is cut."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, number: int) -> None:
        for pid in (*([self._process.pid] if self._process is not None else []), *self.servers()):
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def sessions(self) -> list[int]:
        """The processes of the server that serve somebody, and what they started."""
        return _below(self._process.pid) if self._process is not None else []

    def recorders(self) -> list[int]:
        """The recorders that run there."""
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdecimal():
                with suppress(OSError):
                    words = (entry / "cmdline").read_bytes().split(b"\0")
                    environ = (entry / "environ").read_bytes()
                    if b"record" in words and b"--heartbeat" in words and f"HOME={self.home}\0".encode() in environ:
                        found.append(int(entry.name))
        return [pid for pid in found if not _is_shell(pid)]


def _is_shell(pid: int) -> bool:
    return _comm(pid) in ("sh", "bash", "dash", "")


def _comm(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text().strip()
    return ""


def _below(pid: int) -> list[int]:
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with suppress(OSError, IndexError, ValueError):
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                parents.setdefault(parent, []).append(int(entry.name))
    found, pending = [], [pid]
    while pending:
        children = parents.get(pending.pop(), [])
        found += children
        pending += children
    return found


class FleetStandIn:
    """Some hosts, and the environment of somebody who can reach them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.hosts: dict[str, HostStandIn] = {}
        self._bin = folder / "bin"
        self._bin.mkdir(parents=True)
        self.key = folder / "id"
        _make_key(self.key)
        shim = self._bin / "ssh"
        shim.write_text(f'#!/bin/sh\nexec {SSH} -F {folder / "ssh_config"} "$@"\n')
        shim.chmod(0o755)
        self.write_config()

    def add(self, *names: str, extra: Sequence[str] = (), start: bool = True) -> list[HostStandIn]:
        made = [HostStandIn(self.folder, name, self.key, extra=extra) for name in names]
        self.hosts |= {host.name: host for host in made}
        self.write_config()
        for host in made:
            if start:
                host.start()
        return made

    def write_config(
        self,
        *,
        aliases: dict[str, str] | None = None,
        ports: dict[str, int] | None = None,
        environs: dict[str, str] | None = None,
    ) -> None:
        """Who is reached how: `aliases` are other names of hosts, `ports` lead to them, `environs` each is told."""
        at = {name: (ports or {}).get(name, host.port) for name, host in self.hosts.items()}
        known = [f"[127.0.0.1]:{at[host.name]} {host.host_key}" for host in self.hosts.values()]
        (self.folder / "known_hosts").write_text("\n".join(known) + "\n")
        named = {**{name: name for name in self.hosts}, **(aliases or {})}
        lines = [f"Host {name}\n  HostName 127.0.0.1\n  Port {at[host]}" for name, host in named.items()]
        lines += [f"Host {name}\n  SetEnv {told}" for name, told in (environs or {}).items()]
        lines.append(
            f"Host *\n  IdentityFile {self.key}\n  IdentitiesOnly yes\n  IdentityAgent none\n"
            f"  UserKnownHostsFile {self.folder / 'known_hosts'}\n  GlobalKnownHostsFile /dev/null"
        )
        (self.folder / "ssh_config").write_text("\n".join(lines) + "\n")

    @property
    def path(self) -> str:
        return f"{self._bin}{os.pathsep}{os.environ['PATH']}"

    @property
    def environ(self) -> dict[str, str]:
        return {**os.environ, "PATH": self.path}

    def close(self) -> None:
        for host in self.hosts.values():
            host.stop()


@contextmanager
def fleet(folder: Path) -> Iterator[FleetStandIn]:
    made = FleetStandIn(folder)
    try:
        yield made
    finally:
        made.close()


def _make_key(path: Path) -> None:
    line = [str(KEYGEN), "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(path)]
    subprocess.run(line, check=True, stdin=subprocess.DEVNULL, capture_output=True)


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def _listens(port: int) -> bool:
    with socket.socket() as one:
        one.settimeout(1)
        return one.connect_ex(("127.0.0.1", port)) == 0


# -- an ssh that only seems to be one ----------------------------------------------------------------------------------

_FAKE = """#!/bin/sh
# The host is the word after --; what it does stands in a file of its name.
host=; seen=; last=
for word; do
  if [ "$seen" = -- ]; then host=$word; seen=done; fi
  [ "$word" = -- ] && [ -z "$seen" ] && seen=--
  last=$word
done
printf '%s\\n' "$*" >> "{folder}/calls"
[ -e "{folder}/$host.sh" ] || {{ echo "ssh: Could not resolve hostname $host: Name or service not known" >&2
  exit 255; }}
export HOME="{folder}/$host" LAST="$last"
mkdir -p "$HOME"; cd "$HOME" || exit 1
exec sh "{folder}/$host.sh"
"""


class FakeSsh:
    """Says and does for each host what a test wants."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "bin").mkdir(parents=True)
        program = folder / "bin" / "ssh"
        program.write_text(_FAKE.format(folder=folder))
        program.chmod(0o755)

    def host(self, name: str, script: str) -> None:
        (self.folder / f"{name}.sh").write_text(script + "\n")

    def runs_delegtop(self, name: str) -> Path:
        """It has a delegtop, which is run here with a home of its own; returns that."""
        home = self.folder / name
        program = home / ".local" / "bin" / "delegtop"
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(f'#!/bin/sh\nexec {sys.executable} -m delegtop "$@"\n')
        program.chmod(0o755)
        self.host(name, 'exec sh -c "$LAST"')
        return home

    @property
    def path(self) -> str:
        return f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}"

    @property
    def calls(self) -> list[str]:
        try:
            return (self.folder / "calls").read_text().splitlines()
        except OSError:
            return []


def wait_a_moment() -> None:
    """Where nothing tells that something has not happened."""
    time.sleep(0.2)
