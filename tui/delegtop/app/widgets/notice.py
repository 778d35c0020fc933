"""What stands in place of the tree when there is no row to show: what is going on, and what to do about it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.content import Content
from textual.widgets import Static

from delegtop.base import text
from delegtop.base.clock import Millis, age

if TYPE_CHECKING:
    from delegtop.feed.followed_file import SourceStatus

_BAR = 32
_LEFT_OUT = "left out"


class EmptyNotice(Static):
    """A short text in the middle of an empty space."""

    DEFAULT_CSS = """
    EmptyNotice { height: 1fr; width: 1fr; content-align: center middle; padding: 1 2; display: none; }
    EmptyNotice.-open { display: block; }
    """

    def say(self, content: Content | None) -> None:
        """Show this, or nothing."""
        self.set_class(content is not None, "-open")
        if content is not None and not (isinstance(self.content, Content) and self.content.is_same(content)):
            self.update(content)


def nothing_to_watch() -> Content:
    return Content.assemble(
        ("Nothing to watch yet\n\n", "bold $accent"),
        "No logs of agents are found here or in the known places.\n\n",
        ("delegtop SOURCE…         ", "bold"), ("files, folders, globs, or - for a pipe\n", "$row-muted"),
        ("delegtop run -- COMMAND  ", "bold"), ("makes any command visible\n", "$row-muted"),
        ("delegtop demo            ", "bold"), ("a simulated run, to look around\n\n", "$row-muted"),
        ("?", "bold $accent"), " help    ", ("q", "bold $accent"), " quit",
    )  # fmt: skip


def loading(read: int, known: int, plain: bool = False) -> Content:
    """How far the first reading is."""
    share = min(read / known, 1.0) if known else 0.0
    full = int(share * _BAR)
    done, rest = ("#" * full, "." * (_BAR - full)) if plain else ("█" * full, "░" * (_BAR - full))
    return Content.assemble(
        ("Reading the logs\n\n", "bold $accent"), (done, "$accent"), (rest, "$row-muted"),
        f"  {share:.0%}\n\n", (f"{megabytes(read)} of {megabytes(known)}", "$row-muted"),
    )  # fmt: skip


def nothing_matches(query: str, hidden: int) -> Content:
    return Content.assemble(
        ("No row matches the filter\n\n", "bold $accent"), (text.line(query, 200), "bold"),
        (f"\n\n{hidden:,} delegation{' is' if hidden == 1 else 's are'} hidden.  ", "$row-muted"),
        ("esc", "bold $accent"), " clears the filter",
    )  # fmt: skip


def nothing_open(hidden: int, key: str) -> Content:
    return Content.assemble(
        ("Nothing is open\n\n", "bold $accent"),
        (f"{hidden:,} delegation{' is' if hidden == 1 else 's are'} over and not shown.  ", "$row-muted"),
        (key, "bold $accent"), " shows all again",
    )  # fmt: skip


def nothing_told(statuses: "Sequence[SourceStatus]", now: Millis) -> Content:
    """Sources there are, delegations there are none: which source, and why."""
    from delegtop.feed.source_statuses import offers  # it says so once all is read
    from delegtop.report.health import UNHEALTHY

    if not statuses:
        return Content.assemble(
            ("Waiting for a log\n\n", "bold $accent"),
            ("There is no file there yet; one that comes is picked up by itself.", "$row-muted"),
        )
    broken = [status for status in statuses if status.status in UNHEALTHY or status.unreadable]
    left_out = [status for status in statuses if status.status == _LEFT_OUT]
    title = "No delegation in these sources yet"
    if len(broken) == len(statuses):
        title = "This source cannot be read" if len(statuses) == 1 else "These sources cannot be read"
    elif left_out and not broken:
        title = "No agent was at work lately"
    lines: list[Content | str] = [Content.styled(f"{title}\n\n", "bold $warning" if broken else "bold $accent")]
    for status in sorted(statuses, key=lambda status: status in left_out)[:8]:
        says_more = status.detail and (status.status, status.detail) != ("missing", "not found")
        detail = f" · {text.line(status.detail, 160)}" if says_more else ""
        style = "$warning" if status in broken else "$row-muted"
        told = f" · last record {age(now - status.told_at)} ago" if status.told_at is not None else ""
        lines += [text.line(status.path, 160), Content.styled(f"   {status.status}{told or detail}\n", style)]
    if len(statuses) > 8:
        lines.append(f"… and {len(statuses) - 8:,} more\n")
    if offered := offers(statuses):
        replays = ("R", "bold $accent"), f" replays {text.line(offered[0].path, 80)}    "
        return Content.assemble(*lines, "\n", *replays, ("o", "bold $accent"), " sources")
    if left_out:
        folders = f"{len(left_out):,} folder{'' if len(left_out) == 1 else 's'}"
        further = ("delegtop --since 7d", "bold"), " looks further back, ", ("--all", "bold"), " at everything\n\n"
        lines.append(f"\nOlder files lie in {folders}: ")
        return Content.assemble(*lines, *further, ("o", "bold $accent"), " sources")
    return Content.assemble(*lines, "\n", ("o", "bold $accent"), " sources")


def megabytes(size: int) -> str:
    """`0 B`, `12.3 kB`, `124.0 MB`."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= scale:
            return f"{size / scale:.1f} {unit}"
    return f"{size} B"
