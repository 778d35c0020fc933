"""The server of a hub of one's own: a child of this process, which ends with it, however that ends."""

import ctypes
import fcntl
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from delegtop.base.clock import monotonic, sleep
from delegtop.hub.hub_folder import HubFolder

PROGRAM = "nats-server"
_STARTS = 20.0
"""Seconds within which it must listen."""
_ENDS = 8.0
_LOOK = 0.05
_DEATH_SIGNAL = 1
"""What `prctl` calls the signal that a child gets when its parent is gone."""


class HubServerError(Exception):
    """It does not run; the message says why."""


def program() -> str | None:
    """The server of the extra, which lies beside our own Python, else one of this machine."""
    beside = Path(sys.executable).with_name(PROGRAM)
    return str(beside) if os.access(beside, os.X_OK) else shutil.which(PROGRAM)


class HubServer:
    """Started at once; one folder has one."""

    def __init__(self, folder: HubFolder, host: str, port: int) -> None:
        found = program()
        if found is None:
            from delegtop.base.own_extras import what_to_type  # who has it does not look for it

            raise HubServerError(f"{PROGRAM} is not installed; it comes with the extra: {what_to_type('nats')}")
        self._folder, self._host, self._port = folder, host, port
        self._lock = _locked(folder.lock)
        self._stamp = folder.users_stamp()
        self._log = folder.log
        self._process = subprocess.Popen(  # noqa: S603 -- our own program, our own file
            [found, "-c", str(folder.config)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=_dies_with_parent(),
            cwd=folder.path,
            umask=0o077,
        )

    def wait_until_it_listens(self) -> None:
        end = monotonic() + _STARTS
        while not self._listens():
            if self._process.poll() is not None:
                raise HubServerError(f"the server ended at once: {self._last_words()}")
            if monotonic() > end:
                raise HubServerError(f"the server does not listen after {_STARTS:.0f} s: {self._last_words()}")
            sleep(_LOOK)

    def _listens(self) -> bool:
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self._host, self._host)  # noqa: S104 -- it is asked, not bound
        try:
            with socket.create_connection((host, self._port), timeout=1.0):
                return True
        except OSError:
            return False

    def _last_words(self) -> str:
        try:
            lines = self._log.read_text("utf-8", "replace").splitlines()
        except OSError:
            lines = []
        telling = [each for each in lines if "[FTL]" in each or "[ERR]" in each] or lines
        return telling[-1].partition("] ")[2][:200] if telling else f"exit code {self._process.poll()}"

    def look(self) -> bool:
        """Tell it of keys that are others since; False once it has ended."""
        if (stamp := self._folder.users_stamp()) != self._stamp:
            self._stamp = stamp
            self._process.send_signal(signal.SIGHUP)
        return self._process.poll() is None

    @property
    def pid(self) -> int:
        return self._process.pid

    def last_words(self) -> str:
        return self._last_words()

    def end(self) -> None:
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(_ENDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        os.close(self._lock)


def _locked(path: Path) -> int:
    """Held as long as this process lives."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(fd)
        raise HubServerError(f"{path.parent}: a hub runs in this folder already") from None
    return fd


def _dies_with_parent() -> Callable[[], None] | None:
    """What the child does first, so that it is told to end when its parent is killed. Only Linux can do that."""
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    parent = os.getpid()

    def ask() -> None:
        prctl(_DEATH_SIGNAL, signal.SIGTERM, 0, 0, 0)
        if os.getppid() != parent:  # it was killed meanwhile
            os._exit(1)

    return ask
