"""Sending one signal to one process: the one that was planned, or none.

A process is held by a descriptor first, and compared with what was planned after that. So the signal goes to the very
process that was compared, whatever becomes of its number meanwhile. Where there are no such descriptors it is compared
twice instead, and nothing is sent if its start is not known.
"""

import os
import select
import signal
from collections.abc import Callable

from delegtop.act.process_identity import ProcessIdentity, difference, identity, is_same, taboo
from delegtop.base.clock import monotonic, sleep

_PACE = 0.05


class RefusalError(Exception):
    """It is not done; the message is a sentence that says why."""


def send(planned: ProcessIdentity, number: int, allows: Callable[[int], bool] = lambda _pid: True) -> None:
    """Send the signal to that very process; RefusalError, and nothing is sent, if it is not there as it was planned or
    may not be signalled."""
    if not allows(planned.pid):
        raise RefusalError(f"{planned} is none of the processes that may be stopped here")
    held = _hold(planned)
    try:
        _compare(planned)
        if held is None:
            _compare(planned)
            os.kill(planned.pid, number)
        else:
            signal.pidfd_send_signal(held, number)
    except ProcessLookupError:
        raise RefusalError(f"{planned} is gone") from None
    except PermissionError:
        raise RefusalError(f"the system does not allow to signal {planned}") from None
    finally:
        if held is not None:
            os.close(held)


def _hold(planned: ProcessIdentity) -> int | None:
    """A descriptor of whichever process has that number now; None where the system has none."""
    if planned.pid <= 1 or not hasattr(os, "pidfd_open"):
        return None
    try:
        return os.pidfd_open(planned.pid)
    except ProcessLookupError:
        raise RefusalError(f"{planned} is gone") from None
    except OSError:
        return None


def _compare(planned: ProcessIdentity) -> None:
    now = identity(planned.pid)
    why = taboo(planned) or difference(planned, now) or (taboo(now) if now is not None else "")
    if why:
        raise RefusalError(why)


def is_gone(planned: ProcessIdentity, seconds: float) -> bool:
    """Whether it goes within that time: asked of the kernel, which tells at once where it can."""
    try:
        held = os.pidfd_open(planned.pid) if hasattr(os, "pidfd_open") else None
    except OSError:
        held = None
    if held is None:
        return _looked_for(planned, seconds)
    try:
        if not is_same(planned):
            return True
        poll = select.poll()
        poll.register(held, select.POLLIN)
        return bool(poll.poll(int(seconds * 1_000)))
    finally:
        os.close(held)


def _looked_for(planned: ProcessIdentity, seconds: float) -> bool:
    until = monotonic() + seconds
    while is_same(planned):
        if monotonic() >= until:
            return False
        sleep(_PACE)
    return True
