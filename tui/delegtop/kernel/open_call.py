"""A call that the kernel can be asked about."""

import msgspec

from delegtop.base.clock import Millis


class OpenCall(msgspec.Struct, frozen=True):
    """A call whose result has not come, or a delegation that is a process itself."""

    id: str
    """Of the delegation."""
    pid: int
    """The agent's own process; that of the delegation itself if it has one."""
    began: Millis | None = None
    command: str | None = None
    """None if the process is the delegation's own."""
    runs: bool = False
    """Whether the tool runs what it is given in a process of its own, whatever that is called there."""
    gone: bool = False
    """The agent's process is gone, and left the call open."""
