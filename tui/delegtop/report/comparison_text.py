"""Two runs side by side, as text."""

from collections.abc import Iterator, Sequence

from delegtop.base.text import line
from delegtop.report.comparison import Diff, Row, Run, Side
from delegtop.report.figures import count, span, table
from delegtop.report.layout import cut

UNKNOWN = "–"
_NAME = 44
_RULES = 3
_HEAD = ("", "DELEGATION", "A", "B", "TOOK A", "TOOK B", "CHANGE", "WHAT DIFFERS")
_LEFT = (0, 1, 2, 3, len(_HEAD) - 1)


def lines(diff: Diff, width: int | None, *, whole: bool = True) -> Iterator[str]:
    """Every row, or only those that differ and what stands above them; cut to the width, if there is one."""
    yield f"A  {_run(diff.a)}"
    yield f"B  {_run(diff.b)}"
    yield ""
    shown = diff.rows if whole else _with_ancestors(diff.rows)
    if shown:
        yield from table([_HEAD, *map(_cells, shown)], width, _LEFT)
        yield ""
    yield _summary(diff)


def _run(run: Run) -> str:
    states = ", ".join(f"{count} {state}" for state, count in run.states.items()) or "nothing"
    took = f" in {span(run.took_seconds)}" if run.took_seconds is not None else ""
    size = f"{count(run.delegations, 'delegation')}{took}"
    return f"{line(run.source, 400)}: {size}: {states}; {count(run.findings, 'finding')}"


def _with_ancestors(rows: Sequence[Row]) -> list[Row]:
    kept: list[Row] = []
    wanted = -1
    for row in reversed(rows):
        if row.differs or row.level < wanted:
            kept.append(row)
            wanted = row.level
    return kept[::-1]


def _cells(row: Row) -> tuple[str, ...]:
    names = dict.fromkeys(_name(side) for side in (row.a, row.b) if side is not None)
    name = "  " * min(row.level, 12) + " / ".join(names)
    sign = "-" if row.b is None else "+" if row.a is None else "!" if row.differs else " "
    return (
        sign,
        cut(name, _NAME),
        row.a.state if row.a else "",
        row.b.state if row.b else "",
        _took(row.a),
        _took(row.b),
        _change(row.a, row.b),
        _what(row),
    )


def _name(side: Side) -> str:
    return line(f"{side.name}  {side.title}" if side.title else side.name, 100)


def _took(side: Side | None) -> str:
    return "" if side is None else UNKNOWN if side.took_seconds is None else span(side.took_seconds)


def _change(a: Side | None, b: Side | None) -> str:
    """`+20%`, of what it took."""
    if a is None or b is None or not a.took_seconds or b.took_seconds is None:
        return ""
    share = round(100 * (b.took_seconds - a.took_seconds) / a.took_seconds)
    return f"{share:+d}%" if abs(share) < 1_000 else f"x{b.took_seconds / a.took_seconds:.0f}"


def _what(row: Row) -> str:
    if row.a is None:
        return "only in B"
    if row.b is None:
        return "only in A"
    told = {
        "outcome": f"{row.a.state} became {row.b.state}",
        "findings": _findings(row.a.findings, row.b.findings),
        "slower": "slower",
    }
    return "; ".join(told[word] for word in row.differs if word in told)


def _findings(a: dict[str, int], b: dict[str, int]) -> str:
    """`+RET-001 -DEL-020`: what is found now, and what is no longer."""
    changed = [
        f"{'+' if b.get(rule, 0) > a.get(rule, 0) else '-'}{rule}"
        for rule in sorted(a | b)
        if a.get(rule) != b.get(rule)
    ]
    more = f" and {len(changed) - _RULES} more" if len(changed) > _RULES else ""
    return " ".join(changed[:_RULES]) + more


def _summary(diff: Diff) -> str:
    words = [
        (sum(row.b is None for row in diff.rows), "only in A"),
        (sum(row.a is None for row in diff.rows), "only in B"),
        (sum("outcome" in row.differs for row in diff.rows), "with another outcome"),
        (sum("findings" in row.differs for row in diff.rows), "with other findings"),
        (sum("slower" in row.differs for row in diff.rows), "slower"),
    ]
    told = ", ".join(f"{count} {what}" for count, what in words if count)
    return f"The runs differ: {told}." if diff.differ else "The runs do not differ."
