"""What the demo runs as a tool, for real: `manage backup` takes a lock and keeps it, `manage migrate` waits for it.

It touches nothing but the lock, a file in its folder, and needs nothing but Python. It ends with whoever
started it, however that ends: then the other end of its standard input is closed, by the system if by nobody else.
"""

import fcntl
import os
import signal
import sys
from pathlib import Path
from threading import Thread


def main(job: str, lock: Path) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)  # whoever started it may ignore them
    if job != "backup":
        Thread(target=_end_with_the_demo, daemon=True).start()
    with lock.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        if job == "backup":
            file.truncate(0)
            file.write(f"{os.getpid()}\n")
            file.flush()
            _end_with_the_demo()


def _end_with_the_demo() -> None:
    while os.read(0, 1):
        pass
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1], Path("shop.lock"))
