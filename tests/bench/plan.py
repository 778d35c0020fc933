"""What one run measures: sizes, how often, how long, and the logs it needs."""

from pathlib import Path

from tests.bench.make_logs import make_log
from tests.bench.measure import now, say


class Plan:
    """The full run, or with `quick` a tenth of it. Logs are made when a goal asks for them; the caller deletes them."""

    def __init__(self, folder: Path, *, quick: bool, rounds: int | None = None) -> None:
        self.folder = folder
        self.quick = quick
        self.sizes = (1_000, 20_000, 100_000) if quick else (1_000, 100_000, 1_000_000)
        """Delegations."""
        self.peers = 20_000 if quick else 100_000
        """Delegations in the log that other programs read too; some take a minute for it."""
        self.big = 24_000 if quick else 240_000
        """Delegations in the log that stands for a big one: with a full run a million lines, 700 MB."""
        self.rounds = rounds or (3 if quick else 5)
        self.window = 5.0 if quick else 20.0
        """Seconds over which the CPU of a running program is taken."""
        self.keys = 30 if quick else 100
        """Keys pressed."""
        self.appends = 100 if quick else 300
        """Lines appended one by one: of fewer, the 99th percentile is whichever was the unluckiest."""

    def log(self, delegations: int, *, live: int = 0) -> Path:
        """A session log of that many delegations, ending now when it is made."""
        path = self.folder / f"{delegations}-{live}" / "session.jsonl"
        if not path.exists():
            path.parent.mkdir()
            lines = make_log(path, delegations, now(), live=live)
            say(f"  made a log of {delegations:,} delegations, {lines:,} lines, {path.stat().st_size / 1e6:,.0f} MB")
        return path

    def empty(self, name: str) -> Path:
        """A new empty folder."""
        path = self.folder / name
        path.mkdir()
        return path


def short(count: int) -> str:
    """`1k`, `100k`, `1M`."""
    return f"{count // 1_000_000}M" if count >= 1_000_000 else f"{count // 1_000}k" if count >= 1_000 else str(count)
