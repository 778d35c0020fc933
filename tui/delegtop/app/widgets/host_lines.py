"""Hosts above the tree: how each stands, how much there is of it, how old its news is. A click shows one alone."""

from collections.abc import Sequence

from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.style import Style
from textual.widgets import Static

from delegtop.app.state.known_hosts import KnownHost
from delegtop.base.clock import SECOND, age
from delegtop.feed.host_states import HostState
from delegtop.report.host_table import TELLING

MOST = 10
"""Lines; how many more there are is said."""
STYLES = {
    HostState.LIVE: "$success",
    HostState.BEHIND: "$accent",
    HostState.CONNECTING: "$row-muted",
    HostState.STALE: "bold $warning",
}
_LOST = "bold $error"
_HOST = "host"


def style(state: HostState) -> str:
    return STYLES.get(state, _LOST)


class HostLines(Static):
    """Hidden unless rows are shown by host."""

    DEFAULT_CSS = """
    HostLines { display: none; height: auto; max-height: 11; padding: 0 1; background: $surface; color: $foreground; }
    HostLines.-open { display: block; }
    """

    class Chosen(Message):
        """This host is to be shown alone."""

        def __init__(self, host: str) -> None:
            super().__init__()
            self.host = host

    def __init__(self) -> None:
        super().__init__()
        self._hosts: Sequence[KnownHost] = ()
        self._told: Content | None = None

    def tell(self, hosts: Sequence[KnownHost], counts: Sequence[str], *, plain: bool = False) -> None:
        """The hosts in their order, and what there is of each; none hides them."""
        self._hosts = hosts
        self.set_class(bool(hosts), "-open")
        shown = list(zip(hosts, counts, strict=True))[:MOST]
        width = max((len(each.called) for each, _ in shown), default=0)
        lines = [
            _line(each, count, width, plain=plain).stylize(Style.from_meta({_HOST: number}))
            for number, (each, count) in enumerate(shown)
        ]
        if len(hosts) > MOST:
            lines.append(Content.styled(f"and {len(hosts) - MOST} more: delegtop hosts lists all", "$row-muted"))
        content = Content("\n").join(lines)
        if self._told is None or not content.is_same(self._told):
            self._told = content
            self.update(content)

    def on_click(self, event: Click) -> None:
        event.stop()
        number = event.style.meta.get(_HOST, MOST)  # one of them may take several lines
        if number < len(self._hosts):
            self.post_message(self.Chosen(self._hosts[number].called))


def _line(host: KnownHost, count: str, width: int, *, plain: bool) -> Content:
    sign = ("*" if plain else "●") if host.is_there else ("!" if plain else "▲")
    news = "" if host.news is None else f"news {age(host.news)} old"
    clock = f"clock {-host.offset / SECOND:+,.0f} s" if abs(host.offset) > TELLING else ""
    why = "" if host.is_there else host.text.partition(": ")[2]
    rest = "  ".join(filter(None, (host.version, count, news, clock, why)))
    state = Content.styled(f"{sign} {host.called:<{width}}  {host.state.value}", style(host.state))
    return Content.assemble(state, "  ", (rest, "$row-muted" if host.is_there else ""))
