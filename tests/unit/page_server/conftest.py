"""A page of a log that the test writes on, served as `delegtop serve` serves it."""

import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import NamedTuple

import pytest
from tests.browsing import Browser, BrowserPage, browser
from tests.patience import PATIENCE
from tests.written_log import WrittenLog

from delegtop.observation.observation import opened
from delegtop.observation.source_discovery import Places
from delegtop.page_server.access_rules import AccessRules
from delegtop.page_server.page_listener import PageListener
from delegtop.page_server.page_watch import PageWatch
from delegtop.settings import Settings

ROOT, CHILD = "sess_1790000000_root01", "sess_1790000000_child1"
SECRET = "sk-ant-api03-" + "a1" * 30


class PageLog(WrittenLog):
    def hang(self, words: str = "lake build") -> None:
        """A command that waits on an implementer that is past its time."""
        self.start(ROOT, 1_300, "orchestrator", 86_400)
        self.start(CHILD, 1_200, "implementer", parent_session_id=ROOT)
        self.does(CHILD, words, 1_100)


class PageAnswered(NamedTuple):
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()


class Served:
    """A running server, and ways to ask it."""

    def __init__(self, watch: PageWatch, names: tuple[str, ...] = ()) -> None:
        self.watch, self.complaints = watch, list[str]()
        listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = listening.getsockname()[1]
        self.rules = AccessRules(self.port, names)
        self.host = f"127.0.0.1:{self.port}"
        self.url = f"http://{self.host}/?token={self.rules.token}"
        self.cookie = self.rules.set_cookie.partition(";")[0]
        self._listen(listening)

    def _listen(self, listening: socket.socket) -> None:
        self._listener = PageListener(self.watch, self.rules, listening, self.complaints.append)
        self._listener.start()

    def stop(self) -> None:
        """Nobody is answered any more."""
        self._listener.close()

    def go_on(self) -> None:
        """The same server is there again."""
        self._listen(socket.create_server(("127.0.0.1", self.port)))

    def connect(self) -> socket.socket:
        made = socket.create_connection(("127.0.0.1", self.port), PATIENCE)
        made.settimeout(PATIENCE)
        return made

    def send(self, data: bytes) -> PageAnswered:
        """Whatever it is, as it is."""
        with self.connect() as connection:
            connection.sendall(data)
            return answered(connection)

    def get(
        self, place: str = "", *, cookie: bool = True, path: str | None = None, headers: Mapping[str, str] | None = None
    ) -> PageAnswered:
        """As a browser asks; `headers` add to it or stand in the place of its own."""
        told = {"Host": self.host, **({"Cookie": self.cookie} if cookie else {}), **(headers or {})}
        lines = [f"GET {self.rules.folder + place if path is None else path} HTTP/1.1"]
        lines += [f"{name}: {value}" for name, value in told.items()]
        return self.send("\r\n".join(lines).encode() + b"\r\n\r\n")


def answered(connection: socket.socket) -> PageAnswered:
    """All that is answered until the other side closes."""
    data = b""
    while True:
        try:
            more = connection.recv(65536)
        except ConnectionResetError:  # there was something that it did not care to read
            break
        if not more:
            break
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    line, *lines = head.decode().split("\r\n")
    headers = dict(each.split(": ", 1) for each in lines)
    return PageAnswered(int(line.split()[1]) if line else 0, {k.lower(): v for k, v in headers.items()}, body)


@contextmanager
def serve(*sources: Path, names: tuple[str, ...] = (), settings: Settings | None = None) -> Iterator[Served]:
    with opened(Places([*map(str, sources)]), settings or Settings()) as seen:
        seen.catch_up()
        watch = PageWatch(seen)
        following = Thread(target=watch.run, daemon=True)
        following.start()
        made = Served(watch, names)
        try:
            yield made
        finally:
            watch.end()
            following.join(PATIENCE)
            made.stop()


# -- in a browser ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Every name leads to this machine, as those of a stranger may."""
    with browser(tmp_path_factory.mktemp("profile"), "--host-resolver-rules=MAP *.test 127.0.0.1") as running:
        yield running


@pytest.fixture
def page(chromium: Browser, served: Served) -> Iterator[BrowserPage]:
    """The page, opened by the address that was printed."""
    opened = chromium.open(served.url, fresh=True)
    live(opened)
    yield opened
    opened.close()


def live(page: BrowserPage) -> None:
    """Wait until it follows what happens."""
    page.until("document.getElementById('pulse')?.textContent.startsWith('live')")


# -- what is served ----------------------------------------------------------------------------------------------------


@pytest.fixture
def log(tmp_path: Path) -> PageLog:
    return PageLog(tmp_path / "session.jsonl")


@pytest.fixture
def served(log: PageLog) -> Iterator[Served]:
    log.hang()
    with serve(log.path) as made:
        yield made


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One for all tests that only knock at it."""
    log = PageLog(tmp_path_factory.mktemp("page") / "session.jsonl")
    log.hang(f"curl -H 'x-api-key: {SECRET}'")
    with serve(log.path, names=("box.example", "localhost:9000")) as made:
        yield made
