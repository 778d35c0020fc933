"""All logs that results are compared on: the samples, a small log of each other format, real logs where they are, logs
that are made up, and homes of agents made of these."""

import os
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tests.bench.make_history import make_history
from tests.bench.make_logs import make_log
from tests.homes import operators_home
from tests.samples import MOMENTS, lay_out, moment
from tests.small_logs import BUILT

LOGS = "logs"
"""The folder of a home with what no agent put there."""
_AGENTS = {
    "claude-code": ".claude",
    "codex": ".codex",
    "copilot": ".copilot",
    "cursor": ".cursor",
    "droid": ".factory",
    "gemini": ".gemini",
    "goose": ".local/share/goose",
    "grok": ".grok",
    "kilo": ".local/share/kilo",
    "kimi": ".kimi-code",
    "opencode": ".local/share/opencode",
    "qwen": ".qwen",
}
"""Where the programs of the samples keep what lies in these."""
_MADE_AT = moment("2026-10-01T12:00:00Z")


class LogSet(NamedTuple):
    """Some logs."""

    name: str
    put: Callable[[Path], None]
    """Puts them into an empty home."""
    is_home: bool = False
    """Whether they lie where their programs keep them; else in one folder of it."""

    def place(self, home: Path) -> Path:
        """What is named where a source is named."""
        return home if self.is_home else home / LOGS


def all_logs(real: Path | None) -> list[LogSet]:
    """Every set there is; those of real logs if their folder is named."""
    found = [*_samples(), *_small(), *_made()]
    return found if real is None else [*found, *_real(real)]


def _samples() -> Iterator[LogSet]:
    for name in sorted(MOMENTS):
        yield LogSet(name, partial(_sample, name))
    yield LogSet("home of the samples", _home_of_samples, is_home=True)


def _sample(name: str, home: Path) -> None:
    lay_out(name, home)
    (home / name).rename(home / LOGS)


def _home_of_samples(home: Path) -> None:
    aside = home / "aside"
    for name, place in _AGENTS.items():
        _merge(lay_out(name, aside), home / place)
    runs = home / ".local" / "state" / "delegtop" / "logs"
    runs.mkdir(parents=True)
    for name in sorted(MOMENTS):
        if name[0].isdigit() and (log := lay_out(name, aside) / "session.jsonl").exists():
            log.rename(runs / f"{name}.jsonl")
    shutil.rmtree(aside)


def _small() -> Iterator[LogSet]:
    for name, build in BUILT.items():
        yield LogSet(f"small {name}", partial(_built, build))


def _built(build: Callable[[Path], None], home: Path) -> None:
    build(home / LOGS)


def _made() -> Iterator[LogSet]:
    yield LogSet("made runs", _runs)
    yield LogSet("made history", lambda home: _history(home / LOGS))
    yield LogSet("home of a made history", lambda home: _history(home / ".claude"), is_home=True)
    for stuck in ("model", "tool", "deadline"):
        yield LogSet(f"home of an operator, stuck in {stuck}", partial(_operator, stuck), is_home=True)


def _runs(home: Path) -> None:
    (home / LOGS / "old").mkdir(parents=True)
    make_log(home / LOGS / "run.jsonl", 60, _MADE_AT, live=4)
    make_log(home / LOGS / "old" / "run.jsonl", 30, _MADE_AT - 86_400_000)


def _history(folder: Path) -> None:
    make_history(folder, 12, 40_000, _MADE_AT)


def _operator(stuck: str, home: Path) -> None:
    operators_home(home, _MADE_AT, old=20, stuck=stuck)


def _real(real: Path) -> Iterator[LogSet]:
    live = sorted((real / "agents_live").glob("*/"))
    for folder in (*sorted((real / "agents").glob("*/")), *live, *sorted((real / "seed_systems").glob("*/"))):
        yield LogSet(f"real {folder.parent.name}/{folder.name}", partial(_copied, folder))
    for folder in live:
        yield LogSet(f"home of {folder.name}", partial(_homes, [folder]), is_home=True)
    yield LogSet("home of all programs", partial(_homes, live), is_home=True)
    yield LogSet("home of claude_code", partial(_claude_home, real / "agents" / "claude_code"), is_home=True)


def _copied(folder: Path, home: Path) -> None:
    _merge(folder, home / LOGS)


def _homes(programs: list[Path], home: Path) -> None:
    """What their runs left, in one home."""
    for run in (run for program in programs for run in sorted(program.glob("*/"))):
        for each in sorted(run.iterdir()):
            if each.is_dir() and each.name.startswith("."):
                _merge(each, home / each.name)
            elif each.suffix == ".db":
                kept = home / ".local" / "share" / each.stem / f"{each.stem}.db"
                kept.parent.mkdir(parents=True, exist_ok=True)
                if not kept.exists():
                    shutil.copy2(each, kept)


def _claude_home(folder: Path, home: Path) -> None:
    for projects in sorted(folder.rglob("projects")):
        _merge(projects, home / ".claude" / "projects")


def _merge(folder: Path, to: Path) -> None:
    """Copy what is not there yet, with its times."""
    for path in sorted(folder.rglob("*")):
        copy = to / path.relative_to(folder)
        if path.is_file() and not copy.exists():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, copy)
            if not os.access(copy, os.W_OK):
                copy.chmod(0o600)
