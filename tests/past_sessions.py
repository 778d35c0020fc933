"""A home with a few sessions of Claude Code that are long over, each with something to find in it."""

from pathlib import Path

from tests.homes import Transcript

from delegtop.base.clock import DAY, MINUTE, WallClock

SECRET = "ghp_" + "a1B2c3D4e5F6" * 3


def session(number: int) -> str:
    return f"{number:08x}-0000-4000-8000-{number:012x}"


def days_ago(days: float) -> int:
    return int(WallClock().now() - days * DAY)


def place_of(number: int, home: Path | None = None) -> Path:
    return (home or Path.home()) / ".claude" / "projects" / "-srv-garden" / f"{session(number)}.jsonl"


def write(number: int, prompt: str, *, days: float = 3, file: str = "", error: str = "", quiet: int = 0) -> Path:
    """One session: what it was asked, the file it edited, the error of its agent, and how many minutes its tool said
    nothing."""
    at = days_ago(days)
    log = Transcript(session(number), "/srv/garden")
    log.asked(at, prompt)
    if file:
        log.called(at + 1_000, f"toolu_e{number}", "Edit", file_path=file)
        log.came_back(at + 2_000, f"toolu_e{number}", "ok")
    if quiet:
        log.called(at + 3_000, f"toolu_q{number}", "Bash", command=f"npm test -- --shard={number}")
        at += quiet * MINUTE
        log.came_back(at + 3_000, f"toolu_q{number}", "ok")
    if error:
        log.spawned(at + 4_000, f"toolu_f{number}", "reviewer", "Review what was done")
        log.came_back(at + 5_000, f"toolu_f{number}", error, failed=True)
    log.done(at + 6_000, "Done.")
    path = place_of(number)
    log.keep(path)
    return path


def few() -> None:
    write(1, "Water the tomatoes in the greenhouse", days=40, file="/srv/garden/beds/tomato_plan.py")
    write(2, "Prune the roses", days=9, error="API Error: 529 Overloaded (request 4711)")
    write(3, f"Order seeds with {SECRET} and tell nobody", days=2)
