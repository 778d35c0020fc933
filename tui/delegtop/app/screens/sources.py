"""Source health: which files are read, as what, how much of them, and every line that could not be."""

from textual.content import Content

from delegtop.app.inspector.words import MUTED, ago, heading, one_line, said
from delegtop.app.reader import Reader
from delegtop.app.screens.page import Page
from delegtop.app.widgets.notice import megabytes
from delegtop.app.widgets.sheet import Block, Fact
from delegtop.clock import Clock
from delegtop.feed import SourceStatus
from delegtop.model.events import Deviation
from delegtop.report import privacy
from delegtop.sources.record import Unreadable

UNHEALTHY = frozenset({"gone", "missing", "unreadable", "unrecognised", "skipped"})
_SHOWN = 200


class Sources(Page):
    heading = "delegtop · sources"

    def __init__(self, reader: Reader, clock: Clock, *, masked: bool = True) -> None:
        super().__init__()
        self._reader, self._clock = reader, clock
        self._hide = privacy.hiding(masked)

    def on_mount(self) -> None:
        super().on_mount()
        self.set_interval(1.0, self.show_page)

    def blocks(self) -> list[Block]:
        statuses = sorted(self._reader.statuses, key=lambda status: (not ails(status), status.path))
        blocks: list[Block] = [_summary(self._reader, statuses), Content()]
        for status in statuses[:_SHOWN]:
            blocks += self._source(status)
        if len(statuses) > _SHOWN:
            blocks.append(Content.styled(f"… and {len(statuses) - _SHOWN:,} more, all of them well or no worse", MUTED))
        return blocks

    def _source(self, status: SourceStatus) -> list[Block]:
        style = "bold $warning" if status.status in UNHEALTHY else "bold $success"
        blocks: list[Block] = [
            one_line(status.path, "bold"),
            Fact(
                "  status", said(Content.styled(status.status, style), one_line(status.detail) if status.detail else "")
            ),
            Fact("  format", one_line(status.dialect)),
            Fact("  records", said(Content(f"{status.records:,}"), *_blemishes(status))),
            Fact("  read", said(Content(f"{megabytes(status.read)} of {megabytes(status.size)}"), *self._lag(status))),
        ]
        blocks += [
            Fact("  " + one_line(reason, limit=40).plain, Content(f"{count:,}"), 30)
            for reason, count in _commonest(status)
        ]
        blocks += [Fact("", _example(example, self._hide), 4) for example in status.examples[:10]]
        return [*blocks, Content()]

    def _lag(self, status: SourceStatus) -> list[Content | str]:
        behind = status.size - status.read
        changed, now = "", self._clock.now()
        if (
            status.changed_at is not None
        ):  # of a file that was written since the moment that is looked at no time is told
            changed = f"changed {ago(status.changed_at, now)}" if status.changed_at <= now else "changed since"
        return [Content.styled(f"{megabytes(behind)} behind", "$warning"), changed] if behind > 0 else [changed]


def ails(status: SourceStatus) -> bool:
    """Is there something the operator should look at?"""
    return status.status in UNHEALTHY or status.unreadable > 0


def _summary(reader: Reader, statuses: list[SourceStatus]) -> Content:
    if reader.failure:
        return one_line(reader.failure, "bold $error")
    if not statuses:
        return Content.styled("No source is being read.", MUTED)
    records, unreadable = sum(s.records for s in statuses), sum(s.unreadable for s in statuses)
    return heading(f"{_counted(len(statuses), 'source')} · {_counted(records, 'record')} · {unreadable:,} unreadable")


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _blemishes(status: SourceStatus) -> list[Content | str]:
    unreadable = Content.styled(f"{status.unreadable:,} unreadable", "bold $warning") if status.unreadable else ""
    odd = f"{status.deviations:,} thing{'' if status.deviations == 1 else 's'} not as the format says"
    return [unreadable, Content.styled(odd, "$warning") if status.deviations else ""]


def _commonest(status: SourceStatus) -> list[tuple[str, int]]:
    return sorted(status.reasons.items(), key=lambda reason: (-reason[1], reason[0]))[:12]


def _example(example: Unreadable | Deviation, hide: privacy.Hide) -> Content:
    if isinstance(example, Unreadable):
        return said(
            one_line(str(example.origin), MUTED),
            one_line(example.reason),
            one_line(hide(example.excerpt), "", 200) if example.excerpt else "",
        )
    return said(one_line(str(example.origin), MUTED), one_line(example.kind), one_line(hide(example.detail), "", 200))
