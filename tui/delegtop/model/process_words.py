"""What the kernel shows of a process, in words."""

from delegtop.model.events import Outlook, ProcessSeen, WaitsFor

_DOES = frozenset(
    {
        *(WaitsFor.TIMER, WaitsFor.STOPPED, WaitsFor.FROZEN, WaitsFor.HIDDEN),
        *(WaitsFor.PARENT, WaitsFor.ENDED, WaitsFor.KEEPS),
    }
)
"""Its words say what it does, not what it waits for."""
_BRIEF = {
    WaitsFor.INPUT: "waits for input",
    WaitsFor.OUTPUT: "waits for a reader",
    WaitsFor.LOCK: "waits for a lock",
    WaitsFor.NETWORK: "waits for the network",
    WaitsFor.CLIENTS: "waits for connections",
    WaitsFor.TIMER: "sleeps",
    WaitsFor.STOPPED: "stopped",
    WaitsFor.FROZEN: "frozen",
    WaitsFor.CHILD: "waits for its child",
    WaitsFor.PARENT: "ended unnoticed",
    WaitsFor.THREADS: "waits for itself",
    WaitsFor.SIGNAL: "waits for a signal",
    WaitsFor.QUEUE: "waits for a message",
    WaitsFor.DEVICE: "waits for a device",
    WaitsFor.ENDED: "tool has ended",
    WaitsFor.KEEPS: "keeps output open",
    WaitsFor.HIDDEN: "another user's",
}


def brief(seen: ProcessSeen) -> str:
    """For a narrow column: `98 % CPU`, `waits for a lock`; nothing if nothing is known."""
    return effort(seen) if seen.waits_for is WaitsFor.NOTHING else _BRIEF.get(seen.waits_for, "")


def effort(seen: ProcessSeen) -> str:
    """How much it does: `98 % CPU`, else `1.2 MB/s`."""
    share, flow = seen.share or 0.0, seen.flow or 0
    if share >= 0.01 or not flow:
        return f"{share:.0%} CPU".replace("%", " %")
    unit, size = next(((unit, size) for unit, size in _UNITS if flow >= size), ("B", 1))
    return f"{flow / size:.3g} {unit}/s"


_UNITS = (("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000))


def left(command: str, pid: int, memory: int) -> str:
    """`` `tail -f /dev/null` (pid 4711), 12 MB``."""
    unit, size = next(((unit, size) for unit, size in _UNITS if memory >= size), ("B", 1))
    return f"`{command}` (pid {pid}), {memory / size:.3g} {unit}"


def process(seen: ProcessSeen) -> str:
    """`flock (pid 4711)`."""
    return f"{seen.name} (pid {seen.pid})" if seen.name else f"pid {seen.pid}"


def what(seen: ProcessSeen) -> str:
    """`flock (pid 4711) waits for a lock on x that pid 4702 `sleep 100` holds`."""
    if seen.waits_for is WaitsFor.NOTHING:
        return f"{process(seen)} is at work, {effort(seen)}"
    if seen.waits_for is WaitsFor.UNKNOWN or not seen.on:
        return f"{process(seen)} does nothing"
    return f"{process(seen)} {seen.on}" if seen.waits_for in _DOES else f"{process(seen)} waits for {seen.on}"


def seen(event: ProcessSeen) -> str:
    """The whole of it, as a line of a history."""
    endless = ", and nothing that can be seen could end that" if event.outlook is Outlook.ENDLESS else ""
    return f"{what(event)}{endless}"
