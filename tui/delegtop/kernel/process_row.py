"""One process, as a system tells of it: what it is, and what it has done so far."""

import os
from typing import NamedTuple

TICKS = os.sysconf("SC_CLK_TCK")
"""In a second."""


class ProcessRow(NamedTuple):
    """One process."""

    pid: int
    parent: int
    name: str
    state: str
    """The kernel's letter: R runs, S sleeps, D waits for a device, T is stopped, Z has ended and nobody has noticed."""
    ticks: int
    """Of the processor, its own and those of its children that have ended."""
    started: int
    """In ticks since the machine started: with the number it names one process for good."""
    memory: int
    """Bytes."""
    threads: int

    @property
    def is_dead(self) -> bool:
        return self.state in "ZX"

    @property
    def is_stopped(self) -> bool:
        return self.state in "Tt"


class Effort(NamedTuple):
    """What one process has done since it started."""

    started: int
    ran: int
    """Nanoseconds on a processor, of the threads that are there."""
    ticks: int
    """Of the processor, with those of its children that have ended: coarser."""
    woken: int
    """How often one of its threads was given a processor."""
    chars: int
    """Bytes that it read and wrote, wherever from and to."""
