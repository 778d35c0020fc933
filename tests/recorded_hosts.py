"""Recordings as other hosts make them: the same files, told by somebody else."""

from pathlib import Path

from delegtop.base.clock import FrozenClock, Millis
from delegtop.feed.live_feed import Feed
from delegtop.feed.recorder import Recorder
from delegtop.model.policy import AgentLimits


def record_as(
    host: str, to: Path, *sources: Path | str, at: Millis, limits: dict[str, AgentLimits] | None = None
) -> Path:
    """What the sources say now, in a recording that was made on that host."""
    clock = FrozenClock(at)
    recorder = Recorder(clock, "delegtop 0", limits or {}, place=(host, f"{host:0<16}"))
    parts = [recorder.header()]
    feed = Feed(
        [str(source) for source in sources],
        clock=clock,
        witness=lambda line, told: parts.append(recorder.record(line, told)),
    )
    for _ in feed.read_all():
        pass
    feed.close()
    to.write_bytes(b"".join([*parts, recorder.end()]))
    return to
