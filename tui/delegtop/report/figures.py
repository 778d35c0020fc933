"""Figures in words and in columns, as the reports for terminals set them."""

from collections.abc import Collection, Iterator, Sequence

from delegtop.base.clock import duration
from delegtop.report.layout import cells, cut, fit

_BARS, _PLAIN_BARS = "▁▂▃▄▅▆▇█", "_.:-=+*#"
_MANY = 10_000
"""Dollars beside which cents are none."""


def span(seconds: float) -> str:
    """`4.7s`, `12:02`, `1:02:44`."""
    return f"{seconds:.1f}s" if seconds < 10 else duration(round(seconds * 1_000))


def dollars(cost: float | None, *, is_estimate: bool = False) -> str:
    """`$1.20`, `~$1.20` if nobody told it; nothing if nobody knows."""
    if cost is None:
        return ""
    about = "~" if is_estimate else ""
    return f"{about}${cost:,.0f}" if cost >= _MANY else f"{about}${cost:,.2f}"


def count(number: int, noun: str) -> str:
    """`1 agent`, `1,200 agents`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def sparkline(figures: Sequence[float], plain: bool = False) -> str:
    """One character each. The lowest bar is nothing at all; the highest is the most that is in view."""
    bars, top = (_PLAIN_BARS if plain else _BARS), max(figures, default=0)
    if not top:
        return bars[0] * len(figures)
    return "".join(bars[0] if not each else bars[max(1, int(each * (len(bars) - 1) / top))] for each in figures)


def table(rows: Sequence[Sequence[str]], width: int | None, left: Collection[int]) -> Iterator[str]:
    """Columns as wide as they need to be, to the right but for those in `left`; cut to the width, if there is one."""
    widths = [max(cells(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        parts = (fit(cell, widths[index], right=index not in left) for index, cell in enumerate(row))
        told = "  ".join(parts).rstrip()
        yield told if width is None else cut(told, width)
