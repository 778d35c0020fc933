"""Real processes that say which signals they got, for tests that must not hit a wrong one."""

import signal
import subprocess
import sys
from pathlib import Path
from types import TracebackType

from tests.patience import until

_COUNTER = """
import os, signal, sys, time
log = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
def heard(number, frame):
    os.write(log, f"{number}\\n".encode())
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGCONT):
    signal.signal(number, heard)
os.write(log, b"ready\\n")
while True:
    time.sleep(1000)
"""


class Counter:
    """A process that survives what it is sent, and writes it down."""

    def __init__(self, folder: Path, name: str, group: int | None = 0) -> None:
        self.log = folder / f"{name}.signals"
        command = [sys.executable, "-S", "-c", _COUNTER, str(self.log)]
        self.process = subprocess.Popen(command, process_group=group, stdin=subprocess.DEVNULL)
        self.pid = self.process.pid

    def ready(self) -> None:
        until(lambda: self.log.exists() and self.log.read_text().startswith("ready"), "that it listens")

    @property
    def heard(self) -> list[int]:
        return [int(each) for each in self.log.read_text().splitlines()[1:]]

    def __enter__(self) -> "Counter":
        self.ready()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
