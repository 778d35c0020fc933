"""What strangers may send to the port, byte by byte: nothing is read by it, and the page goes on."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from tests.patience import until
from tests.unit.page_server.conftest import SECRET, PageAnswered, Served, answered

from delegtop.page_server import page_listener
from delegtop.page_server.page_listener import CONNECTIONS
from delegtop.page_server.request_head import LONGEST

TOLD = b"implementer"
"""What no answer to a stranger may hold."""


@pytest.fixture(autouse=True)
def _still_there(standing: Served) -> Iterator[None]:
    yield
    assert standing.get().status == 200


def is_refused(answer: PageAnswered, *statuses: int) -> bool:
    return answer.status in statuses and TOLD not in answer.body and "set-cookie" not in answer.headers


def test_whoever_comes_rightly_is_answered(standing: Served) -> None:
    """Without this the tests below could not fail."""
    assert TOLD in standing.get().body
    assert standing.get(path=f"/?token={standing.rules.token}", cookie=False).status == 200


# -- who asks ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host",
    [
        "evil.example", "evil.example:{port}", "127.0.0.1", "localhost", "127.0.0.1:1", "127.0.0.1:{port}.evil.example",
        "127.0.0.1:{port}@evil.example", "[::1]:{port}", "0.0.0.0:{port}", "127.1:{port}", "2130706433:{port}", "", " ",
        "127.0.0.1:0{port}", "127.0.0.1:{port},evil.example", "box.example.evil.example", "xn--box.example",
    ],
)  # fmt: skip
def test_another_name_for_this_machine_is_not_its_own(standing: Served, host: str) -> None:
    named = host.replace("{port}", str(standing.port))
    assert is_refused(standing.get(headers={"Host": named}), 421)
    assert is_refused(standing.get(path=f"/?token={standing.rules.token}", headers={"Host": named}), 421)


@pytest.mark.parametrize("host", ["localhost:{port}", "LOCALHOST:{port}", "box.example", "localhost:9000"])
def test_names_of_its_own_and_those_that_were_allowed_are(standing: Served, host: str) -> None:
    assert standing.get(headers={"Host": host.replace("{port}", str(standing.port))}).status == 200


def test_a_request_names_one_host(standing: Served) -> None:
    line = f"GET {standing.rules.folder} HTTP/1.1\r\nCookie: {standing.cookie}\r\n".encode()
    own = f"Host: {standing.host}\r\n".encode()
    assert is_refused(standing.send(line + b"\r\n"), 421)
    assert is_refused(standing.send(line + own + b"Host: evil.example\r\n\r\n"), 400)
    assert is_refused(standing.send(line + b"Host: evil.example\r\n" + own + b"\r\n"), 400)
    assert is_refused(standing.send(line + own + own + b"\r\n"), 400)


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1", "file://", "http://localhost", "", "*"],
)
def test_another_page_does_not_ask(standing: Served, origin: str) -> None:
    for place in ("", "changes?since=0-0", "events", "row/0", "live.js"):
        assert is_refused(standing.get(place, headers={"Origin": origin}), 403)


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("", {"site": "cross-site", "mode": "navigate", "dest": "document"}),
        ("", {"site": "same-site", "mode": "navigate", "dest": "document"}),
        ("", {"site": "same-origin", "mode": "navigate", "dest": "iframe"}),
        ("", {"site": "same-origin", "mode": "no-cors", "dest": "script"}),
        ("", {"site": "same-origin", "mode": "cors", "dest": "empty"}),
        ("row/0", {"site": "same-site", "mode": "cors", "dest": "empty"}),
        ("row/0", {"site": "cross-site", "mode": "navigate", "dest": "document"}),
        ("changes?since=0-0", {"site": "cross-site", "mode": "cors", "dest": "empty"}),
        ("changes?since=0-0", {"site": "none", "mode": "navigate", "dest": "document"}),
        ("events", {"site": "same-site", "mode": "cors", "dest": "empty"}),
        ("events", {"site": "same-origin", "mode": "websocket", "dest": "websocket"}),
        ("live.js", {"site": "cross-site", "mode": "no-cors", "dest": "script"}),
        ("live.css", {"site": "cross-site", "mode": "no-cors", "dest": "style"}),
        ("", {"site": "same-origin", "mode": "navigate", "dest": "document, empty"}),
    ],
)
def test_what_a_browser_says_of_a_request_must_fit_it(standing: Served, place: str, told: dict[str, str]) -> None:
    headers = {f"Sec-Fetch-{name}": value for name, value in told.items()}
    assert is_refused(standing.get(place, headers=headers), 403)


# -- the token and the cookie ------------------------------------------------------------------------------------------


def test_without_the_cookie_every_address_is_answered_alike(standing: Served) -> None:
    """So that nobody learns which there are."""
    folder = standing.rules.folder
    answers = {
        standing.get(path=path, cookie=False)[::2]
        for path in ("/", "/x", folder, f"{folder}row/0", f"{folder}events", f"{folder}live.js", f"{folder}nothing")
    }
    assert len(answers) == 1
    assert answers.pop()[0] == 403


def test_a_wrong_cookie_is_none(standing: Served) -> None:
    name, _, value = standing.cookie.partition("=")
    for cookie in (
        f"{name}=", f"{name}={value[:-1]}", f"{name}={value}x", f"{name}={value.swapcase()}", f"x{name}={value}",
        f"delegtop_1={value}", f"{name}={standing.rules.token}", f"{name}={value}; {name}={value}", value,
        f"{name}=%00{value}", f'{name}="{value}"',
    ):  # fmt: skip
        assert is_refused(standing.get(headers={"Cookie": cookie}), 403), cookie
    assert standing.get(headers={"Cookie": f"a=b; {standing.cookie}; c=d"}).status == 200


def test_a_wrong_token_is_none(standing: Served) -> None:
    token = standing.rules.token
    for query in (
        "", "?", "?token=", f"?token={token[:-1]}", f"?token={token}x", f"?Token={token}", f"?x=1&token={token}",
        f"?token={token}&token={token}", f"?token={token.swapcase()}", f"?{token}",
    ):  # fmt: skip
        assert is_refused(standing.get(path=f"/{query}", cookie=False), 403), query


def test_the_token_sets_a_cookie_that_no_script_and_no_other_site_can_use(standing: Served) -> None:
    answer = standing.get(path=f"/?token={standing.rules.token}", cookie=False)
    value, *attributes = answer.headers["set-cookie"].split("; ")
    assert value == standing.cookie
    assert value.startswith(f"delegtop_{standing.port}=")
    assert set(attributes) == {"HttpOnly", "SameSite=Strict", f"Path={standing.rules.folder}"}
    assert standing.rules.token not in answer.text + value
    assert f'http-equiv="refresh" content="0;url={standing.rules.folder}"' in answer.text


def test_the_token_alone_opens_nothing_but_the_door(standing: Served) -> None:
    token = standing.rules.token
    for place in ("", "row/0", "events", "changes"):
        assert is_refused(standing.get(f"{place}?token={token}", cookie=False), 403)


# -- what is asked -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD", "CONNECT", "TRACE", "get", "GETS", "PRI", "DEBUG"]
)
def test_it_can_only_be_read(standing: Served, method: str) -> None:
    head = f"{method} {standing.rules.folder} HTTP/1.1\r\nHost: {standing.host}\r\nCookie: {standing.cookie}\r\n\r\n"
    answer = standing.send(head.encode())
    assert is_refused(answer, 405)
    assert answer.headers["allow"] == "GET"


@pytest.mark.parametrize(
    "place",
    [
        "../", "..", "row/../..", "row/0/..", "./", "row//0", "row/-1", "row/00000000000", "row/0x0", "row/1e1",
        "row/0/", "row/999999", "live.js/", "page_listener.py", ".git/config", "etc/passwd", "events?x=1", "changes",
        "changes?since=", "changes?since=..", "live.css?x", "?since=1", "row/0?x=1",
    ],
)  # fmt: skip
def test_there_is_nothing_but_the_page(standing: Served, place: str) -> None:
    assert is_refused(standing.get(place), 404)


@pytest.mark.parametrize(
    "target",
    [
        "http://evil.example/", "http://{host}{folder}", "//evil.example/", "*", "{folder}%2e%2e/", "{folder}row/%30",
        "{folder}..%2f", "{folder}\\..\\", "{folder}row/0#x", "{folder}row/0;x", "{folder}?<script>", "{folder}\x00",
        "{folder}row/\xff", "{folder}row/0 ", " {folder}", "/" + "a" * 3_000,
    ],
)  # fmt: skip
def test_an_address_that_could_be_read_in_two_ways_is_read_in_none(standing: Served, target: str) -> None:
    path = target.replace("{folder}", standing.rules.folder).replace("{host}", standing.host)
    head = f"GET {path} HTTP/1.1\r\nHost: {standing.host}\r\nCookie: {standing.cookie}\r\n\r\n"
    assert is_refused(standing.send(head.encode("latin-1")), 400, 403, 404)


@pytest.mark.parametrize(
    "more",
    [
        b"Content-Length: 5\r\n\r\nhello",
        b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        b"Content-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding : chunked\r\n\r\n",
        b"Transfer-Encoding: identity\r\n\r\n",
        b"Content-Length: 0\r\nContent-Length: 5\r\n\r\nhello",
        b"Content-Length: +0\r\n\r\n",
        b"Content-Length: 0x0\r\n\r\n",
        b" folded: yes\r\n\r\n",
        b"X: a\r\n b\r\n\r\n",
        b"X: a\rb\r\n\r\n",
        b"X: a\nCookie: b\r\n\r\n",
        b"X: a\x00b\r\n\r\n",
        b"X: \xff\r\n\r\n",
        b"X\r\n\r\n",
        b": x\r\n\r\n",
        b"X y: z\r\n\r\n",
        b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: x\r\nSec-WebSocket-Version: 13\r\n\r\n",
        b"Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABk\r\n\r\n",
        b"Sec-Fetch-Site: same-origin\r\nSec-Fetch-Site: cross-site\r\n\r\n",
    ],
)
def test_a_head_that_could_be_read_in_two_ways_is_read_in_none(standing: Served, more: bytes) -> None:
    head = f"GET {standing.rules.folder} HTTP/1.1\r\nHost: {standing.host}\r\nCookie: {standing.cookie}\r\n".encode()
    assert is_refused(standing.send(head + more), 400)


@pytest.mark.parametrize(
    "data",
    [
        b"\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET /\r\n\r\n",
        b"GET / HTTP/1.1\n\n\r\n\r\n",
        b"GET / HTTP/0.9\r\n\r\n",
        b"GET / HTTP/1.0\r\n\r\n",
        b"GET / HTTP/2.0\r\n\r\n",
        b"GET / HTTP/1.1x\r\n\r\n",
        b"GET  / HTTP/1.1\r\n\r\n",
        b"GET /\tHTTP/1.1\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        b"\x00" * 100 + b"\r\n\r\n",
        b"SSH-2.0-x\r\n\r\n",
    ],
)
def test_what_is_no_request_is_refused(standing: Served, data: bytes) -> None:
    assert is_refused(standing.send(data), 400, 505)


def test_what_stands_behind_a_request_is_not_answered(standing: Served) -> None:
    own = f"Host: {standing.host}\r\nCookie: {standing.cookie}\r\n\r\n".encode()
    second = b"GET " + f"{standing.rules.folder}live.css HTTP/1.1\r\n".encode() + own
    answer = standing.send(f"GET {standing.rules.folder}live.js HTTP/1.1\r\n".encode() + own + second * 3)
    assert answer.body.count(b"HTTP/1.1") == 0
    assert answer.headers["connection"] == "close"


def test_words_of_a_request_are_not_in_the_answer(standing: Served) -> None:
    """So nobody can put a line of his own there."""
    for answer in (
        standing.get("row/0%0d%0aX-Evil:1"),
        standing.get("nothing-evil"),
        standing.get(headers={"Host": "evil"}),
        standing.get(headers={"X-Evil": "1"}),
        standing.get(headers={"Origin": "http://evil"}),
        standing.send(b"EVIL / HTTP/1.1\r\n\r\n"),
    ):
        assert b"evil" not in answer.body.lower()
        assert not any("evil" in f"{name}{value}".lower() for name, value in answer.headers.items())


# -- too much of it ----------------------------------------------------------------------------------------------------


def test_a_head_that_is_too_long_is_refused(standing: Served) -> None:
    start = (
        f"GET {standing.rules.folder} HTTP/1.1\r\nHost: {standing.host}\r\nCookie: {standing.cookie}\r\nX: ".encode()
    )
    fits = start + b"a" * (LONGEST - len(start) - 4)
    assert standing.send(fits + b"\r\n\r\n").status == 200
    assert is_refused(standing.send(fits + b"aaaa\r\n\r\n"), 431, 0)
    assert is_refused(standing.send(start + b"a" * 1_000_000), 431, 0)


def test_too_many_headers_are_refused(standing: Served) -> None:
    assert is_refused(standing.get(headers={f"X{number}": "1" for number in range(100)}), 431)


def test_who_takes_his_time_is_not_waited_for(standing: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_listener, "PATIENCE", 0.05)
    with standing.connect() as slow, standing.connect() as silent:
        slow.sendall(b"GET / HTTP/1.1\r\nHost:")
        assert is_refused(answered(slow), 408)
        assert is_refused(answered(silent), 408)


def test_who_says_nothing_and_goes_leaves_nothing_behind(standing: Served) -> None:
    for data in (b"", b"GET", b"GET / HTTP/1.1\r\n"):
        with standing.connect() as connection:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            assert is_refused(answered(connection), 400)


def test_a_hundred_connections_are_too_many_and_the_page_comes_back(standing: Served) -> None:
    with ExitStack() as stack:
        held = [stack.enter_context(standing.connect()) for _ in range(100)]
        refused = [answered(connection) for connection in held[CONNECTIONS:]]
        assert {each.status for each in refused} == {503}
    until(lambda: standing.get().status == 200, "an answer")


# -- what is answered --------------------------------------------------------------------------------------------------


def test_every_answer_forbids_what_a_page_could_do_with_it(standing: Served) -> None:
    answers = [
        standing.get(),
        standing.get("row/0"),
        standing.get("live.js"),
        standing.get("live.css"),
        standing.get("changes?since=0-0"),
        standing.get(path=f"/?token={standing.rules.token}"),
        standing.get("nothing"),
        standing.get(headers={"Host": "evil.example"}),
        standing.get(cookie=False),
        standing.send(b"x\r\n\r\n"),
    ]
    for answer in answers:
        policy = dict(part.split(" ", 1) for part in answer.headers["content-security-policy"].split("; "))
        assert policy == {
            "default-src": "'none'",
            "script-src": "'self'",
            "style-src": "'self'",
            "connect-src": "'self'",
            "base-uri": "'none'",
            "form-action": "'none'",
            "frame-ancestors": "'none'",
            "require-trusted-types-for": "'script'",
            "trusted-types": "'none'",
        }
        told = {name: answer.headers[name] for name in answer.headers if name not in ("content-security-policy",)}
        assert told["x-content-type-options"] == "nosniff"
        assert told["cross-origin-resource-policy"] == "same-origin"
        assert told["cross-origin-opener-policy"] == "same-origin"
        assert told["x-frame-options"] == "DENY"
        assert told["referrer-policy"] == "no-referrer"
        assert told["cache-control"] == "no-store"
        assert not {name for name in told if name.startswith("access-control") or name in ("server", "date")}


def test_nothing_that_is_answered_holds_a_secret(standing: Served) -> None:
    parts = [standing.get(place).text for place in ("", "row/0", "row/1", "changes?since=0-0")]
    assert "[masked]" in "".join(parts)
    for part in parts:
        assert SECRET[:24] not in part
        assert standing.rules.token not in part
        assert standing.cookie.partition("=")[2] not in part
