"""The live page: what it says first, that only what changed is told again, and that no word of a stranger is more."""

import re
from collections.abc import Iterable
from html.parser import HTMLParser

import pytest
from tests.patience import cost
from tests.telling import at, ended, handle_of, heard, place, started

from delegtop.base.clock import MINUTE, duration
from delegtop.base.origin import Origin
from delegtop.diagnosis.assessment import Assessment
from delegtop.diagnosis.assessments import Assessments
from delegtop.model.events import Described, Event, Heard, Outcome, Phase, Started
from delegtop.model.forest import Forest
from delegtop.model.query import parse
from delegtop.report.live_page import page_gather, page_html, page_times
from delegtop.report.live_page.page_gather import PageGathering
from delegtop.report.live_page.page_rows import PageRows

KEY = "sk-ant-api03-" + "Ab1" * 20
HOSTILE = (
    "<script>document.title='owned'</script><img src=x onerror=alert(1)> \" ' & </li></ul></details> "
    "<a href=javascript:x> \x1b]52;c;aGk=\x07 \u202egnp.exe \ue000 \ue001 \u2066 \x00 \r\n data: x\n\nevent: now"
)


def described(id: str, **facts: str) -> Described:
    return Described(id, at(0), place(), **facts)


class Watched:
    """A forest and its page, in minutes."""

    def __init__(self, *events: Event, minute: float = 60, filter: str = "") -> None:
        self.forest = Forest()
        self.assessments = Assessments(self.forest)
        self.page = PageGathering(self.assessments, parse(filter))
        self.tell(*events, minute=minute)

    def tell(self, *events: Event, minute: float) -> bool:
        change = self.forest.apply(events)
        lives = {*change.lives, *change.added, *self.forest.advance(at(minute))}
        self.assessments.touch(change.touched, lives)
        return self.page.update(self.assessments.update(), lives, ())

    @property
    def text(self) -> str:
        return "\n".join(page_html.whole(self.page.picture))

    def changes(self, since: int) -> str:
        return "\n".join(page_html.changes(self.page.picture, since))

    def ids(self, name: str) -> list[str]:
        """Which delegations a list of the page shows, in its order."""
        return [self.forest.id(int(id[1:])) for id in self.page.picture.lists[name].ids]


def hang() -> list[Event]:
    """A session whose agent has been in a tool for an hour, one at work, and one that failed long ago."""
    return [
        started("old", 0, agent="elder"),
        ended("old", 1, Outcome.FAILED),
        started("busy", 50, agent="busy"),
        started("root", 59, agent="lead"),
        started("hung", 60, agent="implementer", parent="root"),
        described("hung", title="Profile the login"),
        heard("hung", 61, Phase.TOOL, "Bash", "make all"),
        *(heard("busy", minute, doing="reads") for minute in range(61, 120)),
    ]


class Shape(HTMLParser):
    """The elements of a page, and the text in them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.links: list[str] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]

    def handle_data(self, data: str) -> None:
        self.text += data


def test_what_is_stuck_comes_first_with_why_and_what_to_do() -> None:
    watched = Watched(*hang(), minute=120)
    text = Shape(watched.text).text
    stuck, tree = (
        text.index("1 of 4 delegations is in trouble, and 1 waits for others; earlier: 1 failed."),
        text.index("All delegations"),
    )
    card = text[stuck:tree]
    assert "implementer holds up 1" in card
    assert "Profile the login" in card
    assert "silent (possible) for 59:00It has been inside Bash: make all for 59:00." in card
    assert "What to do" in card
    assert watched.ids("stuck") == ["hung"]
    assert watched.ids("tree") == ["root", "hung", "busy"]
    assert watched.ids("earlier") == ["old"]
    assert "<title>(1) stuck – delegtop</title>" in watched.text


def test_where_nothing_is_the_matter_it_says_so() -> None:
    watched = Watched(started("busy", 0), heard("busy", 1), minute=1.5)
    assert "None of 1 delegation is in trouble." in watched.text
    assert watched.ids("stuck") == []
    assert "<title>delegtop</title>" in watched.text
    assert "There is no delegation in these sources." in Watched().text


def test_only_what_changed_is_told_again() -> None:
    watched = Watched(*hang(), minute=120)
    before = watched.page.picture.version
    assert watched.tell(heard("busy", 120, doing="writes now"), minute=120.1)
    told = watched.changes(before)
    busy = handle_of(watched.forest, "busy")
    assert re.findall(r'<li id="(\w+)"', told) == [f"r{busy}"]
    assert "writes now" in told
    assert "data-list" not in told


def test_the_order_is_told_when_it_is_another() -> None:
    watched = Watched(*hang(), minute=120)
    before = watched.page.picture.version
    watched.tell(started("new", 120, agent="newcomer"), minute=120.1)
    told, new = watched.changes(before), handle_of(watched.forest, "new")
    orders = dict(re.findall(r'data-list="(\w+)-list" data-order="([^"]*)"', told))
    assert list(orders) == ["tree"]
    assert f"r{new}" in orders["tree"].split()
    assert f'<li id="r{new}"' in told


def test_what_ended_leaves_the_cards_and_the_tree_says_how() -> None:
    watched = Watched(*hang(), minute=120)
    before = watched.page.picture.version
    watched.tell(ended("hung", 120), heard("root", 120), minute=120.1)
    assert watched.ids("stuck") == []
    assert 'data-list="stuck-list" data-order=""' in watched.changes(before)
    assert "✔ completed" in watched.changes(before)


def test_time_alone_changes_nothing_that_has_to_be_sent() -> None:
    watched = Watched(*hang(), minute=120)
    assert not watched.tell(minute=120.05)
    assert not watched.tell(minute=120.1)


def test_who_has_no_version_of_this_run_is_told_all() -> None:
    picture = Watched(*hang(), minute=120).page.picture
    assert picture.since(picture.name) == picture.version
    for name in (
        "",
        "-",
        "x-1",
        f"{picture.run}-99",
        f"{picture.run}-",
        f"{picture.run}-x",
        f"{picture.run}--1",
        "0-0",
    ):
        assert picture.since(name) == -1
    assert "\n".join(page_html.changes(picture, -1)).count("<li id=") == len(picture.blocks) - 7


def test_spans_go_on_by_themselves_and_are_written_out_for_who_runs_no_script() -> None:
    watched = Watched(*hang(), minute=120)
    hung = handle_of(watched.forest, "hung")
    row = watched.page.picture.blocks[f"r{hung}"].html
    assert f'data-at="{at(60)}"></time>' in row
    assert f'data-at="{at(60)}">{duration(60 * MINUTE)}</time>' in watched.text


def test_of_a_host_that_is_not_heard_of_time_stands_still(monkeypatch: pytest.MonkeyPatch) -> None:
    watched = Watched(*hang(), minute=120)
    hung = handle_of(watched.forest, "hung")
    monkeypatch.setattr(Forest, "now_of", lambda _forest, handle: at(110 if handle == hung else 120))
    monkeypatch.setattr(PageRows, "as_of", lambda _rows, handle: at(110) if handle == hung else None)
    watched.tell(heard("hung", 62, doing="make more"), minute=120.1)
    row = watched.page.picture.blocks[f"r{hung}"].html
    assert "<time" not in row
    assert duration(50 * MINUTE) in row


def test_a_filter_shows_what_fits_and_those_above_it() -> None:
    watched = Watched(*hang(), minute=120, filter="agent:impl*")
    assert watched.ids("tree") == ["root", "hung"]
    assert watched.ids("earlier") == []
    assert "1 of 2 delegations is in trouble" in watched.text
    assert watched.page.shows(handle_of(watched.forest, "hung"))
    assert not watched.page.shows(handle_of(watched.forest, "busy"))
    assert Watched(*hang(), minute=120, filter="agent:busy").ids("stuck") == []


def test_hosts_are_told_where_there_are_several() -> None:
    here = Watched(started("a", 0), started("b", 0), minute=1)
    assert "on this machine" not in here.text
    several = Watched(
        started("a", 0),
        Started("b", at(0), Origin("x", 1, 0, "gpu1")),
        Started("c", at(0), Origin("x", 1, 0, "dev5")),
        minute=1,
    )
    text = Shape(several.text).text
    assert "Hosts: this machine 1 · dev5 1 · gpu1 1" in text
    assert "on gpu1" in text
    assert "on dev5" in text


def test_projects_are_told_where_there_are_several() -> None:
    one = Watched(started("a", 0), described("a", cwd="/home/ann/web"), minute=1)
    assert "web" not in Shape(one.text).text
    one.tell(started("b", 1), described("b", cwd="/home/ann/api"), minute=2)
    rows = {one.forest.id(int(id[1:])): one.page.picture.blocks[id].html for id in one.page.picture.lists["tree"].ids}
    assert ">web<" in rows["a"]
    assert ">api<" in rows["b"]


def test_what_there_is_no_room_for_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_gather, "ROWS", 3)
    monkeypatch.setattr(page_gather, "CARDS", 1)
    many = [started(f"s{n}", 0, timeout=MINUTE) for n in range(5)]
    watched = Watched(*many, minute=60)
    assert len(watched.ids("tree")) == 3
    text = Shape(watched.text).text
    assert "2 more at work." in text
    assert "4 more in trouble, marked in the tree." in text


# -- strangers' words --------------------------------------------------------------------------------------------------


def hostile(words: str, id: str | None = None) -> list[Event]:
    id = words if id is None else id
    return [
        Started("root", at(0), place(), agent=words, command=words, task=words, host=words),
        Started(id, at(0), place(), agent=words, parent="root", timeout=MINUTE),
        Started("two", at(0), place(), agent=words, host="b"),
        Described("root", at(0), place(), cwd=f"/home/{words}", name=words),
        Described(id, at(0), place(), title=words, prompt=words, model=words),
        Described("two", at(0), place(), title=words, cwd=f"/srv/{words}"),
        Heard(id, at(1), place(), doing=words, tool=words, phase=Phase.TOOL),
        ended("two", 59, Outcome.FAILED),
    ]


def told_of(watched: Watched) -> Iterable[str]:
    yield watched.text
    yield watched.changes(-1)
    for handle in range(len(watched.forest)):
        yield "\n".join(watched.page.details(handle, lambda _: f'{{"x": "{HOSTILE}"}}'.encode()))


def test_no_word_of_a_stranger_becomes_more_than_a_word() -> None:
    plain, evil = (list(told_of(Watched(*hostile(words), minute=60))) for words in ("plain", HOSTILE))
    for one, other in zip(plain, evil, strict=True):
        shape, expected = Shape(other), Shape(one)
        assert set(shape.tags) == set(expected.tags)
        assert shape.attributes == expected.attributes
        assert shape.links == expected.links
        assert not {"script", "img", "iframe", "object", "form", "style", "base"} & set(shape.tags) - {"script"}
        assert "\x1b" not in other
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ue000-\ue0ff]", other)


def test_nothing_is_set_at_an_element_and_no_element_runs_anything() -> None:
    for page in told_of(Watched(*hang(), minute=120)):
        shape = Shape(page)
        assert "style" not in shape.attributes
        assert not [name for name in shape.attributes if name.startswith("on")]
        assert shape.tags.count("script") <= 1
        assert all(re.fullmatch(r"(?:\.\./)?(?:live\.(?:js|css)|row/\d+|#[a-z-]+|)", link) for link in shape.links)


def test_secrets_are_masked_wherever_they_stand() -> None:
    watched = Watched(*hostile(f"curl -H 'x-api-key: {KEY}'", id="one"), minute=60)
    for page in told_of(watched):
        assert KEY[:24] not in page
    assert "[masked]" in watched.text


@pytest.mark.parametrize("words", ["plain", HOSTILE, KEY, "\ue000\ue001", ""])
def test_a_sentence_says_the_same_with_its_times_written_out(words: str) -> None:
    said = ("It waits ", at(1), " for ", words, " since ", at(2), ".")
    told = page_times.written_out(page_times.sentence(said, at(5)), at(5))
    times = re.findall(r">(\d+:\d\d)</time>", told)
    assert times == ["4:00", "3:00"]
    assert KEY[:24] not in told


# -- cost --------------------------------------------------------------------------------------------------------------


def test_a_change_costs_a_small_part_of_gathering_all() -> None:
    """With a thousand rows; the very milliseconds are printed by `python -m tests.bench.live_page`."""
    events: list[Event] = [started(f"s{n}", n / 100, agent="worker") for n in range(1_000)]
    watched = Watched(*events, minute=11)
    number = iter(range(1_000))

    def change() -> None:
        n = next(number)
        assert watched.tell(heard(f"s{n}", 11, doing=f"step {n}"), minute=11)

    whole = cost(lambda: PageGathering(watched.assessments).update((), range(1_000), ()))
    assert cost(change, rounds=5) < whole / 2


def test_where_nothing_changed_hardly_anything_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    watched = Watched(*hang(), minute=120)
    monkeypatch.setattr(PageRows, "row", None)
    monkeypatch.setattr(PageRows, "card", None)
    assert not watched.tell(minute=120.1)


def test_what_to_do_of_the_same_problem_is_asked_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    """The session above may have come to an end, which changes the advice and not the verdict."""
    watched = Watched(*hang(), minute=120)
    asked: list[Assessment] = []
    make = PageRows.card

    def card(rows: PageRows, found: Assessment) -> str:
        asked.append(found)
        return make(rows, found)

    monkeypatch.setattr(PageRows, "card", card)
    watched.tell(heard("root", 120, doing="looks"), minute=120.1)
    assert (len(asked), watched.page.is_behind) == (0, True)
    monkeypatch.setattr(page_gather, "monotonic", lambda: float("inf"))
    watched.tell(minute=120.2)
    assert (len(asked), watched.page.is_behind) == (1, False)
