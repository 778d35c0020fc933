"""How it went from week to week: how much was handed on, what of it went wrong, how long it took, what it cost."""

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from statistics import median
from typing import Annotated, NamedTuple

from msgspec import Meta, Struct

from delegtop.base.clock import DAY, SECOND, Millis
from delegtop.model.states import State
from delegtop.report.figures import dollars, span, sparkline, table

MOST = 53
"""Weeks that are told: of a longer history the last."""
FAILED = frozenset({State.FAILED, State.TIMEOUT})
_TRUSTED = 4
"""Delegations: of fewer in a week nothing is said in words."""


class Week(Struct, frozen=True, forbid_unknown_fields=True):
    """What began in one week."""

    begins: Annotated[str, Meta(description="The Monday it begins on, in UTC, such as 2025-12-22.")]
    sessions: Annotated[int, Meta(description="Delegations that nobody handed on.")]
    delegations: int
    failed: Annotated[int, Meta(description="Of them those that failed or ran out of time.")]
    lost: Annotated[int, Meta(description="Of them those of which no end was ever told: hung, or their process gone.")]
    median_seconds: Annotated[
        float | None, Meta(description="How long those took that came back by themselves; null if none did.")
    ]
    cost: Annotated[float | None, Meta(description="US dollars; null if nothing is known of any.")]
    cost_estimated: bool


class Began(NamedTuple):
    """What a week is made of: one delegation."""

    at: Millis
    is_session: bool
    state: State
    took: int | None
    """Milliseconds, if it came back by itself."""
    cost: float | None
    is_estimate: bool


def weeks(began: Sequence[Began]) -> list[Week]:
    """Every week from the first to the last, those in which nothing began included."""
    by_week: dict[date, list[Began]] = {}
    for each in began:
        if (monday := _monday(each.at)) is not None:
            by_week.setdefault(monday, []).append(each)
    if not by_week:
        return []
    last = max(by_week)
    first = max(min(by_week), last - timedelta(weeks=MOST - 1))
    return [
        _week(monday, by_week.get(monday, ()))
        for monday in (first + timedelta(weeks=number) for number in range((last - first).days // 7 + 1))
    ]


def _monday(at: Millis) -> date | None:
    try:
        day = datetime.fromtimestamp(at / SECOND, UTC).date()
    except (ValueError, OverflowError, OSError):
        return None
    return day - timedelta(days=day.weekday()) if at >= 7 * DAY else None  # a clock that was never set


def _week(monday: date, began: Sequence[Began]) -> Week:
    took = [each.took for each in began if each.took is not None]
    costs = [each.cost for each in began if each.cost is not None]
    return Week(
        monday.isoformat(),
        sum(each.is_session for each in began),
        len(began),
        sum(each.state in FAILED for each in began),
        sum(each.state is State.LOST for each in began),
        median(took) / SECOND if took else None,
        round(sum(costs), 9) if costs else None,
        any(each.is_estimate for each in began if each.cost is not None),
    )


def lines(told: Sequence[Week], width: int | None, *, ascii_only: bool) -> Iterator[str]:
    """A table, a small drawing of each figure, and what the last whole week is beside those before. Nothing of one week
    alone."""
    if len(told) < 2:
        return
    unknown = "-" if ascii_only else "–"
    head = ("WEEK OF", "SESSIONS", "DELEGATIONS", "FAILED", "LOST", "MEDIAN", "COST")
    rows = [[cell or unknown for cell in _row(week)] for week in told]
    yield from table([head, *rows, _drawn(told, ascii_only)], width, (0,))
    if words := _in_words(told):
        yield words


def _row(week: Week) -> Iterator[str]:
    yield from (week.begins, f"{week.sessions:,}", f"{week.delegations:,}", f"{week.failed:,}", f"{week.lost:,}")
    yield "" if week.median_seconds is None else span(week.median_seconds)
    yield dollars(week.cost, is_estimate=week.cost_estimated)


def _drawn(told: Sequence[Week], ascii_only: bool) -> list[str]:
    """The last weeks of each column, as many as a column has room for."""
    shown = told[-_DRAWN:]
    figures = (
        [week.sessions for week in shown],
        [week.delegations for week in shown],
        [week.failed for week in shown],
        [week.lost for week in shown],
        [week.median_seconds or 0 for week in shown],
        [week.cost or 0 for week in shown],
    )
    return ["", *(sparkline(each, ascii_only) for each in figures)]


_DRAWN = 13
"""Weeks: a quarter of a year."""


def _in_words(told: Sequence[Week]) -> str:
    """The last week that is over, beside the median of those before it."""
    *before, week, _ = told
    busy = [each for each in before if each.delegations >= _TRUSTED]
    if len(busy) < 2 or week.delegations < _TRUSTED:
        return ""
    usual = median(each.delegations for each in busy)
    change = round(100 * (week.delegations - usual) / usual)
    failed, failed_before = _share(week), median(map(_share, busy))
    much = (
        "as many delegations as"
        if not change
        else f"{abs(change)} % {'more' if change > 0 else 'fewer'} delegations than"
    )
    which = f" with {_TRUSTED} or more" if len(busy) < len(before) else ""
    parts = [f"In the week of {week.begins} there were {much} in the median of the {len(busy)} weeks before it{which}"]
    parts.append(f"{failed:.0%} of them failed or were lost, {failed_before:.0%} before")
    spans = [each.median_seconds for each in busy if each.median_seconds is not None]
    if week.median_seconds is not None and spans:
        parts.append(f"half came back within {span(week.median_seconds)}, {span(median(spans))} before")
    return "; ".join(parts) + "."


def _share(week: Week) -> float:
    return (week.failed + week.lost) / week.delegations
