"""Every sample, laid out as it was at the moment that makes it interesting."""

import json
import os
import shutil
import tomllib
from pathlib import Path

from delegtop.base.clock import Clock, FrozenClock, Millis, parse_time
from delegtop.model.forest import Forest
from delegtop.model.policy import Policy
from delegtop.observation.observation import Observation, opened
from delegtop.observation.source_discovery import Places
from delegtop.settings import Settings

SAMPLES = Path(__file__).parents[1] / "sample_logs"
MOMENTS: dict[str, str] = {
    **{name: told["at"] for name, told in tomllib.loads((SAMPLES / "moments.toml").read_text("utf-8")).items()},
    "claude-code": "2026-11-02T10:12:00Z",
    "claude-stream": "2026-05-04T09:01:00Z",
    "cleo": "2026-03-20T09:12:00Z",
    "cline": "2026-10-13T07:40:00Z",
    "codex": "2026-02-03T09:05:00Z",
    "copilot": "2026-04-14T09:10:00Z",
    "crush": "2026-09-01T08:02:50Z",
    "cursor": "2026-07-21T10:09:00Z",
    "droid": "2026-08-11T06:47:30Z",
    "gemini": "2026-05-19T13:14:00Z",
    "goose": "2026-09-22T14:09:00Z",
    "grok": "2026-10-20T16:20:00Z",
    "hyper": "2026-03-18T09:12:00Z",
    "kilo": "2026-10-06T09:08:00Z",
    "kimi": "2026-07-07T15:12:00Z",
    "opencode": "2026-03-15T10:10:20Z",
    "otel": "2026-05-04T09:01:40Z",
    "proofchecker": "2026-09-14T10:00:00Z",
    "qwen": "2026-06-09T07:43:00Z",
}
"""When to look at each."""


def moment(text: str) -> Millis:
    at = parse_time(text)
    assert at is not None, text
    return at


def lay_out(name: str, folder: Path) -> Path:
    """A copy of the sample whose files were written when its story says, or a minute before it is looked at."""
    copy = folder / name
    shutil.copytree(SAMPLES / name, copy)
    written = dict.fromkeys((path for path in copy.rglob("*") if path.is_file()), moment(MOMENTS[name]) - 60_000)
    if (times := copy / "times.json").exists():
        written |= {copy / path: moment(at) for path, at in json.loads(times.read_text("utf-8")).items()}
    for path, at in written.items():
        os.utime(path, ns=(at * 1_000_000,) * 2)
    return copy


def observed(*sources: Path, clock: Clock, policy: Policy | None = None) -> Observation:
    """Sources that are still to be read, judged by nothing of this machine."""
    return opened(Places([*map(str, sources)]), Settings(), clock, policy=policy or Policy())


def forest_of(source: Path, at: Millis) -> Forest:
    """What a sample tells at that moment."""
    with observed(source, clock=FrozenClock(at)) as seen:
        seen.read()
        return seen.forest
