"""The page as a browser has it: the stream that tells of changes, what is asked for then, and what it costs nobody."""

import gzip
import re
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from tests.patience import until
from tests.unit.page_server.conftest import CHILD, ROOT, PageLog, Served, answered, serve

from delegtop.base.clock import monotonic
from delegtop.page_server import page_listener, page_watch
from delegtop.page_server.access_rules import is_host_name
from delegtop.report.live_page import page_html
from delegtop.report.live_page.page_gather import PageGathering
from delegtop.settings import Settings


class Stream:
    """What a page is told as it happens."""

    def __init__(self, served: Served) -> None:
        self._socket = served.connect()
        self._socket.sendall(
            f"GET {served.rules.folder}events HTTP/1.1\r\nHost: {served.host}\r\nCookie: {served.cookie}\r\n"
            "Sec-Fetch-Site: same-origin\r\nSec-Fetch-Mode: cors\r\nSec-Fetch-Dest: empty\r\n\r\n".encode()
        )
        self._data = b""
        self.head = self._until(b"\r\n\r\n").decode()

    def _until(self, end: bytes) -> bytes:
        while end not in self._data:
            more = self._socket.recv(65536)
            assert more, "the stream has ended"
            self._data += more
        found, _, self._data = self._data.partition(end)
        return found

    def version(self) -> str:
        """The next that is told."""
        while True:
            event = self._until(b"\n\n").decode()
            if told := re.search(r"^event: now\ndata: (\S+) \d+$", event):
                return told[1]

    def until_other_than(self, version: str) -> str:
        while (told := self.version()) == version:
            pass
        return told

    def close(self) -> None:
        self._socket.close()


@contextmanager
def streaming(served: Served) -> Iterator[Stream]:
    stream = Stream(served)
    try:
        yield stream
    finally:
        stream.close()


def test_a_change_is_told_at_once_and_asked_for_alone(log: PageLog, served: Served) -> None:
    first = re.search(r'data-version="(\S+)"', served.get().text)
    assert first is not None
    with streaming(served) as stream:
        assert "Content-Type: text/event-stream" in stream.head
        assert "Cache-Control: no-store" in stream.head
        assert stream.version() == first[1]
        log.does(CHILD, "goes on at last")
        latest = stream.until_other_than(first[1])
        told = served.get(f"changes?since={first[1]}").text
        assert f'data-version="{latest}"' in told
        assert "goes on at last" in told
        assert "<li id=" in told
        assert served.get(f"changes?since={latest}").text.count("<li") == 0


def test_a_stream_speaks_though_nothing_happens(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_listener, "BEAT", 0.05)
    served.get()
    with streaming(served) as stream:
        assert len({stream.version() for _ in range(4)}) == 1


def test_it_keeps_silent_if_nobody_has_looked_at_the_logs(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then the page says that it is old, though the server is there."""
    monkeypatch.setattr(page_listener, "BEAT", 0.02)
    monkeypatch.setattr(page_html, "OLD_AFTER", -1.0)  # as if that was long ago
    with streaming(served) as stream:
        stream._socket.settimeout(0.3)
        with pytest.raises(TimeoutError):
            stream.version()


def test_without_a_page_that_is_looked_at_nothing_is_gathered(log: PageLog, monkeypatch: pytest.MonkeyPatch) -> None:
    gathered: list[float] = []
    update = PageGathering.update

    def counted(page: PageGathering, *given: object) -> bool:
        gathered.append(monotonic())
        return update(page, *given)  # type: ignore[arg-type]  # as they came

    monkeypatch.setattr(PageGathering, "update", counted)
    monkeypatch.setattr(page_watch, "ALONE", 0.01)
    monkeypatch.setattr(page_watch, "_STILL_THERE", 0.0)
    log.hang()
    with serve(log.path) as served:
        begun = served.watch.looked_at
        log.does(CHILD, "goes on")
        until(lambda: served.watch.looked_at > begun + 0.3, "some looks")
        assert gathered == []
        assert served.watch.picture.version == 0
        assert "goes on" in served.get().text, "whoever opens it sees it as it is"
        assert len(gathered) == 1
        with streaming(served) as stream:
            version = stream.version()
            log.does(CHILD, "once more")
            stream.until_other_than(version)
        until(lambda: served.watch._visitors == 0, "the end of the stream")
        done = len(gathered)
        begun = served.watch.looked_at
        log.does(CHILD, "and again")
        until(lambda: served.watch.looked_at > begun + 0.3, "some looks")
        assert len(gathered) == done


def test_a_page_that_is_left_open_has_nothing_gathered_while_nothing_happens(
    log: PageLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_watch, "_PACE", 0.01)
    monkeypatch.setattr(page_watch, "_HEALTH", 1e9)
    log.hang()
    with serve(log.path) as served, streaming(served) as stream:
        until(lambda: served.watch.picture.version, "a picture")
        until(lambda: not served.watch._stirred, "calm")
        monkeypatch.setattr(PageGathering, "update", None)
        begun = served.watch.looked_at
        until(lambda: served.watch.looked_at > begun + 0.5, "some looks")
        stream.version()


def test_what_is_known_of_one_is_told_when_it_is_asked_for(served: Served) -> None:
    page, details = served.get().text, served.get("row/1").text
    assert "Evidence" not in page
    assert "Evidence" in details
    assert "<svg" in details
    assert ROOT in served.get("row/0").text
    assert 'href="../live.css"' in details


def test_who_can_unpack_is_sent_less(served: Served) -> None:
    plain, packed = served.get(), served.get(headers={"Accept-Encoding": "gzip, deflate, br"})
    assert packed.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert len(packed.body) < len(plain.body) / 2
    assert b"implementer" in gzip.decompress(packed.body)


def test_masking_cannot_be_lifted(log: PageLog) -> None:
    log.hang("export TOKEN=ghp_" + "aB3" * 12)
    with serve(log.path, settings=Settings(mask_secrets=False)) as served:
        for place in ("", "row/1"):
            assert "aB3aB3" not in served.get(place).text


def test_what_goes_wrong_with_one_question_is_answered_and_the_rest_goes_on(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PageGathering, "details", lambda *_: 1 / 0)
    answer = served.get("row/1")
    assert answer.status == 500
    assert "ZeroDivision" not in answer.text
    assert served.complaints == ["a request failed: ZeroDivisionError: division by zero"]
    assert served.get().status == 200


def test_who_does_not_take_what_he_asked_for_is_let_go(log: PageLog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_listener, "_LAST_WORD", 0.1)
    for number in range(300):
        log.start(f"sess_1790000000_{number:06d}", 10, f"agent-{number}" * 20)
    with serve(log.path) as served:
        with socket.socket() as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2_048)
            connection.connect(("127.0.0.1", served.port))
            head = f"GET {served.rules.folder} HTTP/1.1\r\nHost: {served.host}\r\nCookie: {served.cookie}\r\n\r\n"
            connection.sendall(head.encode())
            until(lambda: served.watch.picture.version, "the page")
        assert served.get().status == 200


def test_when_it_ends_everybody_is_let_go_also_who_has_only_just_come(served: Served) -> None:
    asked = f"GET {served.rules.folder}events HTTP/1.1\r\nHost: {served.host}\r\nCookie: {served.cookie}\r\n\r\n"
    with ExitStack() as closing:
        connections = [closing.enter_context(served.connect()) for _ in range(12)]
        for connection in connections[::2]:
            connection.sendall(asked.encode())
        served.stop()
        for connection in connections:
            answered(connection)  # to its end, which comes only when nobody has it any more


@pytest.mark.parametrize("name", ["box", "box.example", "box.tail1234.ts.net", "localhost:9000", "10.0.0.7:1"])
def test_what_may_be_a_name_of_this_server(name: str) -> None:
    assert is_host_name(name)


@pytest.mark.parametrize(
    "name", ["", "*", "*.example", "a b", "http://box", "box/", "box:", "-box", "box:123456", "bóx"]
)
def test_what_may_not(name: str) -> None:
    assert not is_host_name(name)


def test_another_run_has_another_token_cookie_and_folder(log: PageLog) -> None:
    seen: list[tuple[str, str, str]] = []
    for _ in range(2):
        with serve(log.path) as served:
            seen.append((served.rules.token, served.cookie, served.rules.folder))
    assert all(one != other for one, other in zip(*seen, strict=True))
    assert all(len(token) >= 43 for token, _, _ in seen)


def test_an_empty_place_has_a_page_too(tmp_path: Path) -> None:
    with serve(tmp_path) as served:
        assert "There is no delegation in these sources." in served.get().text
