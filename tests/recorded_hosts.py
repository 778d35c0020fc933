"""Recordings as other hosts make them: the same files, told by somebody else."""

from collections.abc import Callable
from pathlib import Path

from tests.fleet.host_stand_ins import FakeSsh

from delegtop.base.clock import FrozenClock, Millis
from delegtop.dialects.recording.tape import TapeBeat, frames
from delegtop.feed.live_feed import Feed
from delegtop.feed.recorder import Recorder
from delegtop.model.policy import AgentLimits

_BEAT = 60_000


def record_as(
    host: str, to: Path, *sources: Path | str, at: Millis, limits: dict[str, AgentLimits] | None = None
) -> Path:
    """What the sources say now, in a recording that was made on that host."""
    to.write_bytes(_recorded(host, sources, at, limits, Recorder.header, Recorder.end))
    return to


def listen_to(ssh: FakeSsh, host: str, *sources: Path | str, at: Millis) -> None:
    """Whoever connects to that host hears what the sources say now, and that it is all."""
    stream = ssh.folder / f"{host}.stream"
    all_told = b"".join(frames(TapeBeat(at)))
    stream.write_bytes(
        _recorded(
            host, sources, at, None, lambda recorder: recorder.header(_BEAT, ("have", "want")), lambda _: all_told
        )
    )
    ssh.host(host, f'cat "{stream}"; exec sleep 600')


def _recorded(
    host: str,
    sources: tuple[Path | str, ...],
    at: Millis,
    limits: dict[str, AgentLimits] | None,
    header: Callable[[Recorder], bytes],
    end: Callable[[Recorder], bytes],
) -> bytes:
    clock = FrozenClock(at)
    recorder = Recorder(clock, "delegtop 0", limits or {}, place=(host, f"{host:0<16}"))
    parts = [header(recorder)]
    feed = Feed(
        [str(source) for source in sources],
        clock=clock,
        witness=lambda line, told: parts.append(recorder.record(line, told)),
    )
    for _ in feed.read_all():
        pass
    feed.close()
    return b"".join([*parts, end(recorder)])
