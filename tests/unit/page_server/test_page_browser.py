"""The page in a real browser: what its reader sees, on any screen, and what whoever does not see it is told."""

import base64
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.browsing import CHROMIUM, WHY_NOT, Browser, BrowserPage
from tests.patience import until
from tests.unit.page_server.conftest import CHILD, PageLog, Served, live, serve

from delegtop.base.clock import duration
from delegtop.page_server import page_listener
from delegtop.page_server.page_listener import PageListener

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason=WHY_NOT),
    pytest.mark.xdist_group("the page in a browser"),
]
TOLD = "implementer"
POOR = Path(__file__).with_name("poor_contrast.js").read_text("utf-8")


def test_its_console_is_clean(page: BrowserPage) -> None:
    page.run("document.querySelector('details[data-row] summary').click()")
    page.until("!!document.querySelector('.more article')")
    assert page.complaints() == []


def test_a_change_is_seen_and_what_is_open_stays_open(page: BrowserPage, log: PageLog) -> None:
    page.run("document.querySelector('#tree-list details[data-row=\"1\"] summary').click()")
    page.until("!!document.querySelector('#tree-list details[data-row=\"1\"] article')")
    page.run("document.querySelector('#tree-list details[data-row=\"1\"] summary').focus()")
    log.does(CHILD, "goes on at last")
    page.until("document.getElementById('tree-list').innerText.includes('goes on at last')")
    assert page.run("document.querySelector('#tree-list details[data-row=\"1\"]').open")
    assert page.run("document.activeElement.closest('li')?.id") == "r1"
    page.until(
        "document.querySelector('#tree-list details[data-row=\"1\"] article').innerText.includes('goes on at last')"
    )
    assert page.run("document.title") == "(1) stuck – delegtop"


def test_what_is_over_leaves_the_page_and_what_is_new_comes(page: BrowserPage, log: PageLog) -> None:
    assert page.run("document.getElementById('stuck-list').children.length") == 1
    log.start("sess_1790000000_other1", 0, "newcomer")
    log.tell(
        "return", 0, CHILD, **{"return": {"status": "completed", "summary": "Done.", "artifacts": [], "errors": []}}
    )
    page.until("document.getElementById('stuck-list').children.length === 0")
    page.until("document.getElementById('tree-list').innerText.includes('newcomer')")
    assert page.run("document.getElementById('lead').innerText") == "None of 3 delegations is in trouble."
    assert page.run("document.title") == "delegtop"
    ids = page.run("[...document.querySelectorAll('[id]')].map((each) => each.id)")
    assert len(ids) == len(set(ids))


def test_spans_are_counted_as_everywhere_else(page: BrowserPage) -> None:
    script = Path(page_listener.__file__).with_name("live_page.js").read_text("utf-8")
    span = re.search(r"  function span\(.*?\n  \}\n", script, re.DOTALL)
    assert span is not None
    spans = [
        0,
        999,
        1_000,
        59_999,
        60_000,
        3_599_999,
        3_600_000,
        86_399_999,
        86_400_000,
        8_639_999_999,
        8_640_000_000,
        10**12,
        -5,
    ]
    assert page.run(f"{spans}.map((each) => ({span[0]})(each))") == [*map(duration, spans)]
    first = "document.querySelector('#stuck-list time').textContent"
    before = page.run(first)
    page.until(f"{first} !== '{before}'")


def test_what_is_told_of_one_in_several_places_is_told_of_the_same_moment(page: BrowserPage) -> None:
    page.size(900, 4_000)  # all of it in sight
    page.run("document.querySelector('#stuck-list details[data-row] summary').click()")
    page.until("!!document.querySelector('#stuck-list .more article')")
    opened = page.run("document.querySelector('#stuck-list .why').innerText")
    page.until(f"document.querySelector('#stuck-list .why').innerText !== {opened!r}")
    card, inside, fact = page.run(
        "['#stuck-list .why', '#stuck-list article p', '#stuck-list article dl']"
        ".map((each) => document.querySelector(each).innerText)"
    )
    assert inside == card
    spans = re.findall(r"[0-9]+:[0-9:]+", card)
    assert spans
    assert all(f"({span} ago)" in fact for span in spans), (card, fact)


def test_when_the_stream_stops_it_says_so_and_it_comes_back_by_itself(
    chromium: Browser, served: Served, log: PageLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its seconds pass thirty times as fast here."""
    monkeypatch.setattr(page_listener, "BEAT", 0.05)
    monkeypatch.setattr(page_listener, "_RETRY", 50)
    page = chromium.open(fresh=True)
    page.call(
        "Page.addScriptToEvaluateOnNewDocument",
        source="const real = performance.now.bind(performance); performance.now = () => 30 * real();",
    )
    page.go(served.url)
    live(page)
    hidden = "document.getElementById('old').hidden"
    assert page.run(hidden)
    with monkeypatch.context() as silent:
        silent.setattr(PageListener, "_now", lambda _listener: "")
        page.until(f"!{hidden}")
        assert re.fullmatch(
            r"no word for \d+ s: what you see is old", page.run("document.getElementById('old').innerText")
        )
    page.until(hidden)
    served.stop()
    page.until(f"!{hidden}")
    log.does(CHILD, "went on meanwhile")
    served.go_on()
    page.until("document.getElementById('tree-list').innerText.includes('went on meanwhile')")
    page.until(hidden)
    page.close()


@pytest.fixture(scope="module")
def crowded(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, BrowserPage]]:
    """Many rows, deep and with long words."""
    log = PageLog(tmp_path_factory.mktemp("crowded") / "session.jsonl")
    log.hang("x" * 300)
    above = CHILD
    for depth in range(12):
        log.start(f"sess_1790000000_deep{depth:02d}", 900, "a-very-long-agent-name-" * 5, 60, parent_session_id=above)
        above = f"sess_1790000000_deep{depth:02d}"
        log.does(above, f"/a/very/long/path/{'deeper/' * 40}file.py", 800)
    for number in range(40):
        log.start(f"sess_1790000000_{number:06d}", 100, f"agent-{number}")
    with serve(log.path) as served:
        page = chromium.open(served.url, fresh=True)
        live(page)
        yield served, page
        page.close()


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_it_does_not_scroll_sideways(width: int, crowded: tuple[Served, BrowserPage]) -> None:
    _, page = crowded
    page.size(width, 844, mobile=width < 500)
    wide = "document.documentElement.scrollWidth"
    assert page.run(wide) == width
    page.run("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    page.until(
        "document.querySelectorAll('.more article').length >= document.querySelectorAll('details[data-row]').length"
    )
    assert page.run("document.querySelectorAll('svg.gantt').length") > 0
    assert page.run(wide) == width


def test_a_finger_can_hit_every_row(crowded: tuple[Served, BrowserPage]) -> None:
    _, page = crowded
    page.size(390, 844, mobile=True)
    heights = page.run(
        "[...document.querySelectorAll('.row summary')].map((each) => each.getBoundingClientRect().height)"
    )
    assert min(heights) >= 24  # WCAG 2.2, target size


@pytest.mark.parametrize("colour", ["light", "dark"])
def test_every_word_stands_out_from_what_is_behind_it(colour: str, crowded: tuple[Served, BrowserPage]) -> None:
    """WCAG AA: 4.5 to 1."""
    _, page = crowded
    page.prefer(colour=colour)
    poor = page.run(POOR)
    page.prefer(colour="light")
    assert poor == []


def test_whoever_does_not_see_it_finds_the_way(page: BrowserPage) -> None:
    tree = page.call("Accessibility.getFullAXTree")["nodes"]
    roles = [each["role"]["value"] for each in tree if not each.get("ignored")]
    assert [roles.count(each) for each in ("banner", "main", "contentinfo")] == [1, 1, 1]
    names = [each.get("name", {}).get("value") for each in tree if each["role"]["value"] == "region"]
    assert names == ["What is stuck", "All delegations"]
    headings = page.run("[...document.querySelectorAll('h1, h2, h3')].map((each) => each.textContent)")
    assert headings == ["delegtop", "What is stuck", "implementer holds up 1", "All delegations"]
    assert page.run("[...document.querySelectorAll('[aria-live]')].map((each) => each.innerText)") == [
        "1 of 2 delegations is in trouble, and 1 waits for others."
    ]
    assert page.run("document.querySelectorAll('[aria-live] time').length") == 0, "or every second would be read out"
    for key in ("Tab", "Tab"):
        page.call("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, windowsVirtualKeyCode=9)
    page.call("Input.dispatchKeyEvent", type="keyDown", key="Enter", code="Enter", windowsVirtualKeyCode=13, text="\r")
    page.until("!!document.querySelector('.card details[open] article')")


def test_it_prints(page: BrowserPage) -> None:
    assert base64.b64decode(page.call("Page.printToPDF")["data"]).startswith(b"%PDF-")


def test_without_a_script_it_is_a_page_that_comes_anew(chromium: Browser, served: Served) -> None:
    page = chromium.open(fresh=True)
    page.call("Emulation.setScriptExecutionDisabled", value=True)
    page.call("Page.navigate", url=served.url)
    until(lambda: "All delegations" in page.source(), "the page")
    text = page.source()
    assert '<noscript><meta http-equiv="refresh" content="10"></noscript>' in text
    assert TOLD in text
    assert re.search(r'data-at="\d+">\d+:\d\d</time>', text)
    page.call("Page.navigate", url=f"http://{served.host}{served.rules.folder}row/1")

    until(lambda: "Evidence" in page.source(), "the details")
    page.close()
