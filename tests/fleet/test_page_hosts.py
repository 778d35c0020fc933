"""The live page over several hosts: which are there, which are not and since when, and how old their rows are."""

import re
from pathlib import Path

import pytest
from tests.fleet.told_streams import HERE, ToldStreams, minutes_ago, told
from tests.patience import until

from delegtop.base.clock import MINUTE, SECOND, Millis, iso
from delegtop.base.origin import Origin, of_host
from delegtop.base.ssh_command import SshAddress
from delegtop.diagnosis.assessments import Assessments
from delegtop.feed import fleet_links
from delegtop.feed.host_states import HostState, HostStatus
from delegtop.model.events import Event, Heard, HostBeat, HostMet, Phase, Started
from delegtop.model.forest import Forest
from delegtop.observation.observation import opened
from delegtop.observation.source_discovery import Places
from delegtop.page_server.page_watch import PageWatch
from delegtop.report.live_page import page_html
from delegtop.report.live_page.page_gather import PageGathering
from delegtop.settings import Settings

T0 = Millis(1_773_328_800_000)
"""2026-03-12 15:20:00 UTC."""


def hung(host: str, offset: int = 0) -> list[Event]:
    """An agent that has been in a tool for an hour; the viewer's clock is so much ahead of its host's."""
    began = Millis(T0 - offset - 60 * MINUTE)
    return [
        HostMet(began, of_host(host), beats=True),
        Started("s", began, Origin("/log", 1, 1, host), agent="builder"),
        Heard("s", began, Origin("/log", 2, 2, host), "make", tool="Bash", phase=Phase.TOOL),
        HostBeat(Millis(T0 - offset), of_host(host), 7_500, offset),
    ]


class Watched:
    """Hosts and their page."""

    def __init__(self, *events: Event) -> None:
        self.forest = Forest()
        self.forest.apply(events)
        self.assessments = Assessments(self.forest)
        self.page = PageGathering(self.assessments)

    def at(self, later: int, *hosts: HostStatus) -> str:
        """The page so long after T0."""
        lives = self.forest.advance(Millis(T0 + later))
        self.assessments.begin_again()
        self.page.update(self.assessments.update(), lives, (), hosts)
        return "\n".join(page_html.whole(self.page.picture))


def text(page: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


LIVE = HostStatus("dev", HostState.LIVE, "dev: live", T0)
REFUSED = "gpu1: cannot be reached: Connection timed out; next try in 40 s (R tries now)"
LOST = HostStatus("gpu1", HostState.UNREACHABLE, REFUSED, T0)


def test_hosts_that_are_there_are_counted_and_nothing_more_is_said() -> None:
    page = Watched(*hung("dev"), *hung("gpu1")).at(SECOND, LIVE, LIVE._replace(name="gpu1", text="gpu1: live"))
    assert "dev live, 1 open of 1" in text(page)
    assert 'id="missing"></ul>' in page
    assert "as of" not in text(page).replace("As of", "")


def test_one_that_is_not_there_stands_above_everything_with_since_when_and_why() -> None:
    watched = Watched(*hung("dev"), *hung("gpu1"))
    page = watched.at(5 * MINUTE, LIVE._replace(news_at=Millis(T0 + 5 * MINUTE)), LOST)
    missing = page[page.index('id="missing"') : page.index("</ul>", page.index('id="missing"'))]
    words = "gpu1 unreachable for 5:00 : cannot be reached: Connection timed out; its rows are as of 15:20:00 UTC"
    assert words in text(missing)
    assert page.index('id="missing"') < page.index('id="stuck-list"')
    again = watched.at(5 * MINUTE + SECOND, LIVE, LOST._replace(text=REFUSED.replace("40", "39")))
    assert again.count('id="missing"') == 1
    before = watched.page.picture.blocks["missing"]
    watched.at(5 * MINUTE + 2 * SECOND, LIVE, LOST._replace(text=REFUSED.replace("40", "38")))
    assert watched.page.picture.blocks["missing"] == before, "nothing is sent because a second has passed"


def test_rows_and_cards_of_a_host_that_is_not_heard_of_say_as_of_when_and_stand_still() -> None:
    watched = Watched(*hung("dev"), *hung("gpu1"))
    watched.forest.apply([HostBeat(Millis(T0 + 5 * MINUTE), of_host("dev"), 7_500)])
    page = watched.at(5 * MINUTE, LIVE, LOST)
    for block in ("s", "r"):
        far = watched.page.picture.blocks[f"{block}{watched.forest.find('s', 'gpu1')}"].html
        near = watched.page.picture.blocks[f"{block}{watched.forest.find('s', 'dev')}"].html
        assert "on gpu1, as of 15:20:00" in text(far)
        assert "as-of" in far
        assert "<time" not in far, "no second passes there"
        assert "as of" not in text(near)
        assert "<time" in near
    assert "1:05:00" in text(page)


@pytest.mark.parametrize("offset", [-10 * MINUTE, 10 * MINUTE])
def test_a_clock_that_is_wrong_there_makes_nothing_older(offset: int) -> None:
    watched = Watched(*hung("dev"), *hung("gpu1", offset))
    watched.at(SECOND, LIVE, LIVE._replace(name="gpu1"))
    far = watched.page.picture.blocks[f"r{watched.forest.find('s', 'gpu1')}"].html
    assert f'datetime="{iso(Millis(T0 - 60 * MINUTE))}"' in far, "on the clock of the page"


def test_words_of_a_host_are_only_words() -> None:
    page = Watched(*hung("dev")).at(
        SECOND, LOST._replace(text="gpu1: <script>x</script>; next try in 3 s", news_at=None)
    )
    assert "<script>x" not in page
    assert "gpu1 unreachable : &lt;script&gt;x" in text(page)


def test_the_page_asks_the_hosts_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hosts = ToldStreams(tmp_path)
    monkeypatch.setenv("PATH", hosts.ssh.path)
    monkeypatch.setattr(fleet_links, "_TICK", 0.05)
    for name in ("dev", "gpu1"):
        hosts.lives(name, told(1, Started("s", minutes_ago(5), HERE, agent="builder")))
    hosts.fails("gpu2", "ssh: connect to host gpu2 port 22: No route to host", 255)
    places = Places([], hosts=tuple(SshAddress(name, name) for name in ("dev", "gpu1", "gpu2")))
    with opened(places, Settings()) as seen:
        seen.catch_up()
        watch = PageWatch(seen)

        def page() -> str:
            monkeypatch.setattr(watch, "_gathered_at", float("-inf"))
            monkeypatch.setattr(watch, "_sources_at", float("-inf"))
            return text("\n".join(page_html.whole(watch.fresh())))

        until(lambda: "gpu2 unreachable" in page(), "the host that is missing")
        assert "gpu2 unreachable : cannot be reached: No route to host" in page()
        assert "dev live, 1 open of 1" in page()
