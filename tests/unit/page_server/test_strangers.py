"""Pages of strangers in the same browser, and words of strangers in the logs: nothing is read, and nothing runs."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tests.browsing import CHROMIUM, WHY_NOT, Browser, BrowserPage
from tests.unit.page_server.conftest import PageLog, Served, live, serve
from tests.unit.page_server.hostile_pages import ATTACKS, Knocked, attempt, stranger

from delegtop.page_server.page_listener import PageListener
from delegtop.page_server.request_head import RequestHead

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason=WHY_NOT),
    pytest.mark.xdist_group("the page in a browser"),
]
STRANGERS = ("another site", "another port", "a name that was led here")
TOLD = "implementer"


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[tuple[int, list[Knocked]]]:
    with stranger() as found:
        yield found


@contextmanager
def answering() -> Iterator[list[tuple[RequestHead, bool]]]:
    """What is asked meanwhile, and whether it was answered."""
    told: list[tuple[RequestHead, bool]] = []
    answer = PageListener._answer

    async def noted(listener: PageListener, asked: RequestHead) -> Any:
        try:
            found = await answer(listener, asked)
        except Exception:
            told.append((asked, False))
            raise
        told.append((asked, True))
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PageListener, "_answer", noted)
        yield told


@pytest.fixture(scope="module")
def victim(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, BrowserPage]]:
    """A page that is being looked at, in a browser that has its cookie."""
    log = PageLog(tmp_path_factory.mktemp("victim") / "session.jsonl")
    log.hang()
    with serve(log.path) as made:
        opened = chromium.open(made.url)
        live(opened)
        yield made, opened
        opened.close()


@pytest.fixture(scope="module")
def attackers(
    chromium: Browser, victim: tuple[Served, BrowserPage], elsewhere: tuple[int, list[Knocked]]
) -> Iterator[dict[str, tuple[BrowserPage, str]]]:
    """The pages of strangers, and under which address each knows the page."""
    served, port = victim[0], elsewhere[0]
    led = chromium.open()
    rebound = f"http://rebound.test:{served.port}"
    # The name led to the stranger's own server when the page came, and leads here from then on.
    led.answer_once(f"{rebound}/start", "<!doctype html><title>stranger</title><body></body>")
    led.go(f"{rebound}/start")
    found = {
        "another site": (chromium.open(f"http://evil.test:{port}/"), f"http://{served.host}{served.rules.folder}"),
        "another port": (chromium.open(f"http://127.0.0.1:{port}/"), f"http://{served.host}{served.rules.folder}"),
        "a name that was led here": (led, f"{rebound}{served.rules.folder}"),
    }
    yield found
    for opened, _ in found.values():
        opened.close()


@pytest.mark.parametrize("name", ATTACKS)
@pytest.mark.parametrize("who", STRANGERS)
def test_a_strangers_page_reads_nothing(
    who: str, name: str, attackers: dict[str, tuple[BrowserPage, str]], victim: tuple[Served, BrowserPage]
) -> None:
    page, address = attackers[who]
    own = victim[0].rules.folder
    with answering() as asked:
        read = page.run(attempt(name, address))
    # Its own page goes on meanwhile; all else was refused.
    answered = [head for head, was_answered in asked if was_answered]
    assert [head for head in answered if head.header("sec-fetch-site") != "same-origin"] == []
    assert [head.path for head in answered if head.path not in (f"{own}events", f"{own}changes")] == []
    assert TOLD not in read
    assert read in ("", "undefined", "this is not the server of that name; --name allows one\n")


def test_the_same_tries_read_it_from_its_own_page(victim: tuple[Served, BrowserPage]) -> None:
    """Without this the test before could not fail: what only its own policy forbids is left out."""
    served, page = victim
    address = f"http://{served.host}{served.rules.folder}"
    for name in ("fetch a row", "fetch the changes", "ask as of old"):
        assert TOLD in page.run(attempt(name, address))
    assert page.run(attempt("listen to its stream", address))


def test_a_name_that_was_led_here_gets_no_page_either(chromium: Browser, victim: tuple[Served, BrowserPage]) -> None:
    served, _ = victim
    for path in (served.rules.folder, f"/?token={served.rules.token}"):
        page = chromium.open(f"http://rebound.test:{served.port}{path}", fresh=True)
        assert page.run("document.body.innerText") == "this is not the server of that name; --name allows one\n"
        page.close()


def test_a_click_elsewhere_on_the_printed_address_opens_the_page(
    chromium: Browser, served: Served, elsewhere: tuple[int, list[Knocked]]
) -> None:
    """It may stand in a chat: a strict cookie is not sent with a redirection from there, so there is none."""
    page = chromium.open(f"http://evil.test:{elsewhere[0]}/", fresh=True)
    page.run(f"(() => {{ const a = document.getElementById('go'); a.href = '{served.url}'; a.click(); }})()")
    live(page)
    page.close()


def test_a_click_elsewhere_on_the_page_itself_opens_nothing(
    chromium: Browser, victim: tuple[Served, BrowserPage], elsewhere: tuple[int, list[Knocked]]
) -> None:
    served, _ = victim
    page = chromium.open(f"http://evil.test:{elsewhere[0]}/")
    address = f"http://{served.host}{served.rules.folder}"
    page.run(f"(() => {{ const a = document.getElementById('go'); a.href = '{address}'; a.click(); }})()")
    page.until("document.body.innerText.startsWith('another page asks')")
    page.close()


def test_neither_token_nor_cookie_can_be_had_by_a_script_or_another_server(
    page: BrowserPage, served: Served, elsewhere: tuple[int, list[Knocked]]
) -> None:
    port, knocked = elsewhere
    knocked.clear()
    assert page.run("document.cookie") == ""
    assert page.run("location.href") == f"http://{served.host}{served.rules.folder}"
    assert page.run("document.referrer") == ""
    assert served.rules.token not in page.run(
        "JSON.stringify(performance.getEntries()) + document.documentElement.outerHTML"
    )
    for host in ("127.0.0.1", "evil.test"):
        page.go(f"http://{host}:{port}/seen")
    assert len([each for each in knocked if each.path == "/seen"]) == 2
    for each in knocked:
        assert served.host not in each.headers.get("referer", "")
        assert served.cookie.partition("=")[2] not in str(each.headers), "cookies go to every port of a machine"
        assert served.rules.token not in str(each)


# -- strangers' words --------------------------------------------------------------------------------------------------


def test_words_of_logs_neither_run_nor_load_anything(
    chromium: Browser, log: PageLog, elsewhere: tuple[int, list[Knocked]]
) -> None:
    port, knocked = elsewhere
    knocked.clear()
    address = f"http://127.0.0.1:{port}"
    words = (
        f"<script>document.title='owned'</script><script src={address}/script></script><img src={address}/image "
        f"onerror=\"document.title='owned'\"></title></style></svg></li></ul></details></main>"
        f"<link rel=stylesheet href={address}/link><style>@import url({address}/style)</style>"
        f"<iframe src={address}/frame></iframe><meta http-equiv=refresh content='0;url={address}/refresh'>"
        f"<a href=\"javascript:document.title='owned'\">x</a><svg onload=\"document.title='owned'\">"
        f"<base href={address}/> \u202egnp.exe\u2066 \x1b]52;c;aGk=\x07 \x00"
        "\r\n\r\nevent: now\ndata: 0-0 0\n\n"
    )
    log.start(words, 1_300, words, 60, command=words, task_number=7)
    log.tell("heartbeat", 1_100, words, activity=words, tool=words)
    log.tell("error", 1_000, words, error={"type": words, "message": words, "code": words, "recommendation": words})
    with serve(log.path) as served:
        page = chromium.open(served.url, fresh=True)
        live(page)
        page.run("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        page.until("!!document.querySelector('.more article')")
        log.tell("heartbeat", 0, words, activity=words + " anew", tool=words)
        # The browser lays out what is in sight, and only of that it says how it reads.
        page.run("document.getElementById('tree-list').scrollIntoView()")
        page.until("document.getElementById('tree-list').innerText.includes('<script>')")
        page.until("document.querySelector('#tree-list .more').textContent.includes('␊␊ anew')")
        page.run("new Promise((done) => setTimeout(done, 300))")
        assert page.run("document.title").endswith("delegtop")
        assert page.run("[...document.scripts].map((each) => each.getAttribute('src'))") == ["live.js"]
        forbidden = (
            "img, iframe, object, embed, base, style, form, link:not([href='live.css']), [onload], [onerror], [style]"
        )
        assert page.run(f'document.querySelectorAll("{forbidden}").length') == 0
        links = page.run("[...document.links].map((each) => each.getAttribute('href'))")
        assert all(re.fullmatch(r"#tree-list|row/\d+", each) for each in links)
        assert not re.search(
            "[\u202a-\u202e\u2066-\u2069\x00-\x08\x1b]", page.run("document.documentElement.outerHTML")
        )
        assert knocked == []
        page.close()


def test_even_markup_that_slipped_through_could_do_nothing(
    page: BrowserPage, elsewhere: tuple[int, list[Knocked]]
) -> None:
    """The policy of the page holds where an escape would fail."""
    port, knocked = elsewhere
    knocked.clear()
    for way in ("document.body.innerHTML = '<p>x'", "document.write('<p>x')", "eval('1')", "new Function('1')()"):
        assert page.run(f"(() => {{ try {{ {way}; return 'done'; }} catch (e) {{ return e.name; }} }})()") != "done", (
            way
        )
    page.run(
        "(() => { const made = (tag, facts) => document.body.append(Object.assign(document.createElement(tag), facts));"
        f"made('img', {{src: 'http://127.0.0.1:{port}/image'}});"
        f"made('iframe', {{src: 'http://127.0.0.1:{port}/frame'}});"
        f"made('link', {{rel: 'stylesheet', href: 'http://127.0.0.1:{port}/link'}});"
        f"fetch('http://127.0.0.1:{port}/fetch').catch(() => 0); }})()"
    )
    page.run("new Promise((done) => setTimeout(done, 300))")
    assert knocked == []
    with pytest.raises(AssertionError):
        page.run("document.createElement('script').text = 'document.title = 1'")
