"""The table: what was measured, what it should be, and by how much it is missed."""

import os
import platform
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from tests.bench.measure import Ratio

BEGIN, END = "<!-- bench:begin -->", "<!-- bench:end -->"
FELT = "<!-- felt:begin -->", "<!-- felt:end -->"


class Row(NamedTuple):
    """One line of the table. `limit` is an upper one unless `at_least`."""

    goal: int
    what: str
    measured: float | None
    limit: float | None = None
    at_least: bool = False
    unit: str = "x"
    note: str = ""
    spread: tuple[float, float] | None = None
    """Between which the measured value lies in 95 of 100 runs; None if it was taken once."""
    felt: tuple[str, str] | None = None
    """What an operator feels of it, in a line: of what, and how much."""

    @classmethod
    def of(
        cls,
        goal: int,
        what: str,
        found: Ratio,
        limit: float | None = None,
        *,
        at_least: bool = False,
        note: str = "",
        felt: tuple[str, str] | None = None,
    ) -> "Row":
        """A ratio that was taken several times."""
        return cls(
            goal, what, found.value, limit, at_least=at_least, note=note, spread=(found.low, found.high), felt=felt
        )

    @property
    def target(self) -> str:
        return "" if self.limit is None else f"{'≥' if self.at_least else '≤'} {_number(self.limit)}{self.unit}"

    @property
    def value(self) -> str:
        if self.measured is None:
            return "–"
        spread = f" ({_number(self.spread[0])}–{_number(self.spread[1])})" if self.spread else ""
        return f"{_number(self.measured)}{self.unit}{spread}"

    @property
    def met(self) -> bool | None:
        """None where there is nothing to compare."""
        if self.measured is None or self.limit is None:
            return None
        return self.measured >= self.limit if self.at_least else self.measured <= self.limit

    @property
    def verdict(self) -> str:
        if self.measured is None or self.limit is None:
            return self.note or "–"
        if self.spread and self.spread[0] <= self.limit <= self.spread[1]:
            return _joined(f"undecided, {'met' if self.met else 'missed'} in the middle", self.note)
        if self.met:
            return _joined("met", self.note)
        high, low = (self.limit, self.measured) if self.at_least else (self.measured, self.limit)
        by = f"missed {_number(high / low)}-fold" if low else f"missed by {_number(high)}"
        return _joined(by, self.note)


def _joined(*parts: str) -> str:
    return "; ".join(part for part in parts if part)


def _number(value: float) -> str:
    if value == int(value) or value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def text(rows: list[Row]) -> str:
    """The table for a terminal."""
    cells = [("goal", "what", "measured", "target", "verdict")]
    cells += [(str(row.goal), row.what, row.value, row.target, row.verdict) for row in rows]
    widths = [max(len(line[column]) for line in cells) for column in range(4)]
    return "\n".join(
        f"{goal:>{widths[0]}}  {what:<{widths[1]}}  {measured:>{widths[2]}}  {target:>{widths[3]}}  {verdict}".rstrip()
        for goal, what, measured, target, verdict in cells
    )


def markdown(rows: list[Row], how: str) -> str:
    """The table for a page, with date and machine."""
    lines = [f"{datetime.now(UTC):%Y-%m-%d}, {machine()}, {how}.", ""]
    lines += ["| goal | what | measured | target | verdict |", "|---:|---|---:|---:|---|"]
    lines += [f"| {row.goal} | {row.what} | {row.value} | {row.target} | {row.verdict} |" for row in rows]
    met = [row.met for row in rows if row.met is not None]
    undecided = sum(row.verdict.startswith("undecided") for row in rows)
    lines += [
        "",
        f"{sum(met)} of {len(met)} targets met, {undecided} undecided (in brackets: where the value may lie).",
    ]
    return "\n".join(lines)


def felt(rows: list[Row]) -> str:
    """What an operator feels of it, one line each, with date and machine."""
    lines = [f"{datetime.now(UTC):%Y-%m-%d}, {machine()}.", "", "| | |", "|---|---|"]
    return "\n".join([*lines, *(f"| {row.felt[0]} | {row.felt[1]} |" for row in rows if row.felt)])


def write(path: Path, table: str, markers: tuple[str, str] = (BEGIN, END)) -> None:
    """Put the table between its markers; a page without markers gets it at its end."""
    page = path.read_text(encoding="utf-8") if path.exists() else ""
    begin, end = markers
    block = f"{begin}\n{table}\n{end}"
    marked = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
    if not marked.search(page):
        page = f"{page.rstrip()}\n\n{begin}{end}\n".lstrip()
    page = marked.sub(lambda _: block, page)
    path.write_text(page, encoding="utf-8")


def machine() -> str:
    """The processor, its cores, the memory, the system and the interpreter."""
    model = re.search(r"model name\s*:\s*(.+)", _read("/proc/cpuinfo"))
    total = re.search(r"MemTotal:\s*(\d+)", _read("/proc/meminfo"))
    memory = f"{int(total[1]) / 2**20:.0f} GB" if total else "memory unknown"
    name = model[1].strip() if model else platform.processor() or platform.machine()
    system = f"{platform.system()} {platform.release()}"
    return f"{name} ({os.cpu_count()} cores), {memory}, {system}, Python {platform.python_version()}"


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
