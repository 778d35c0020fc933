"""One message over HTTP, to servers that fail, hang and lie: it ends, it is not believed, and no secret is told."""

import pytest
from tests.loopback_server import Reply, byte_by_byte, endless, free_port, never, reply, serving
from tests.patience import PATIENCE

from delegtop.base.clock import parse_time
from delegtop.notify.http_post import AddressError, Letter, checked, post
from delegtop.notify.http_post import _retry_after as retry_after

SECRET = "T0P/s3cr3t-token"  # noqa: S105 - made up


def fine(status: int, body: bytes) -> bool:
    return status == 200 and body == b"ok"


def sent(*replies: Reply, timeout: float = PATIENCE):  # type: ignore[no-untyped-def]  # what came back, and what came in
    with serving(*replies) as server:
        answer = post(Letter(f"{server.url}/{SECRET}", b"{}", {"X-Own": "1"}), fine, timeout)
    assert SECRET not in answer.words
    assert "s3cr3t" not in answer.words
    return answer, server


def test_a_message_that_is_taken() -> None:
    answer, server = sent(reply("200 OK", b"ok"))
    assert answer.delivered
    assert answer.words == f"{server.url}/[masked] answered 200 OK: ok"
    (asked,) = server.asked
    assert asked.line == f"POST /{SECRET} HTTP/1.1"
    assert asked.body == b"{}"
    assert asked.headers["content-type"] == "application/json; charset=utf-8"
    assert (asked.headers["x-own"], asked.headers["user-agent"]) == ("1", "delegtop")


@pytest.mark.parametrize(
    ("status", "again"),
    [
        ("500 Internal Server Error", True),
        ("503 Service Unavailable", True),
        ("429 Too Many Requests", True),
        ("404 Not Found", False),
        ("401 Unauthorized", False),
        ("400 Bad Request", False),
    ],
)
def test_a_server_that_refuses_is_asked_again_only_if_that_may_help(status: str, again: bool) -> None:
    answer, _ = sent(reply(status, b"no\x1b[31m way"))
    assert (answer.delivered, answer.again) == (False, again)
    assert answer.words.endswith(f"answered {status}: no␛[31m way")


@pytest.mark.parametrize(
    "echo",
    [
        f"Cannot POST /{SECRET}".encode(),
        b"no hook s3cr3t-token here",
        b"x" * 150 + SECRET.encode(),
        b"it was POST /T0P%2Fs3cr3t-token",
    ],
)
def test_a_server_that_repeats_the_address_does_not_give_it_away(echo: bytes) -> None:
    answer, _ = sent(reply("404 Not Found", echo))
    assert "404" in answer.words


def test_where_a_server_sends_elsewhere_is_told_without_what_moves_a_terminal() -> None:
    answer, _ = sent(reply("307 Elsewhere", b"", f"Location: file:\x1b[2J/{SECRET}"))
    assert "\x1b" not in answer.words


def test_it_says_how_long_it_wants_to_be_left_alone() -> None:
    answer, _ = sent(reply("429 Too Many Requests", b"", "Retry-After: 17"))
    assert answer.retry_after == 17


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("2.5", 2.5),
        ("Tue, 17 Nov 2026 10:00:30 GMT", 30),
        ("Tue, 17 Nov 2026 09:00:00 GMT", 0),
        ("-3", 0),
        ("inf", 0),
        ("nan", 0),
        ("soon", 0),
        ("", 0),
        ("Tue, 99 Foo 2026", 0),
        (None, 0),
    ],
)
def test_that_may_be_a_number_or_a_date_or_nonsense(value: str | None, seconds: float) -> None:
    now = parse_time("2026-11-17T10:00:00Z")
    assert now is not None
    assert retry_after(value, lambda: now) == seconds


def test_nobody_listens() -> None:
    answer = post(Letter(f"http://127.0.0.1:{free_port()}/{SECRET}", b"{}"), fine, PATIENCE)
    assert (answer.delivered, answer.again) == (False, True)
    assert "cannot be reached: Connection refused" in answer.words
    assert SECRET not in answer.words


@pytest.mark.parametrize("how", [never, byte_by_byte], ids=["never answers", "answers byte by byte"])
def test_a_server_that_hangs_is_left_after_a_time(how: Reply) -> None:
    answer, _ = sent(how, timeout=0.3)
    assert (answer.delivered, answer.again) == (False, True)
    assert answer.words.endswith("did not answer within 0.3 s")


def test_a_body_without_an_end_is_read_in_part_and_not_believed() -> None:
    answer, _ = sent(endless)
    assert (answer.delivered, answer.again) == (False, False)
    assert len(answer.words) < 400


@pytest.mark.parametrize("body", [b"<html>Log in to this network</html>", b"\xff\x00\x1b]0;x\x07", b""])
def test_an_answer_that_is_not_that_of_the_service_is_not_believed(body: bytes) -> None:
    answer, _ = sent(reply("200 OK", body))
    assert (answer.delivered, answer.again) == (False, False)
    assert answer.words.isprintable()
    assert "that is not how it answers if it takes a message" in answer.words


@pytest.mark.parametrize("garbage", [b"ok\r\n\r\n", b"SSH-2.0-OpenSSH_9\r\n", b"HTTP/1.1 two hundred\r\n\r\n"])
def test_a_server_that_does_not_speak_http(garbage: bytes) -> None:
    answer, _ = sent(garbage)
    assert not answer.delivered
    assert "does not speak HTTP" in answer.words


def test_a_connection_that_breaks_off() -> None:
    answer, _ = sent(lambda _connection, _ended: None)
    assert (answer.delivered, answer.again) == (False, True)


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"])
def test_nothing_is_sent_elsewhere(status: str) -> None:
    with serving(reply("200 OK", b"ok")) as elsewhere:
        answer, _ = sent(reply(status, b"", f"Location: {elsewhere.url}/{SECRET}"))
        assert not answer.delivered
        assert not answer.again
        assert f"sends elsewhere ({elsewhere.url}/[masked]), which is not followed" in answer.words
        assert elsewhere.asked == []


def test_a_certificate_that_nobody_vouches_for_is_refused(tmp_path) -> None:  # type: ignore[no-untyped-def]  # pytest's own
    import shutil
    import ssl
    import subprocess

    if shutil.which("openssl") is None:
        pytest.skip("no openssl to make a certificate with")
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost"]
    subprocess.run([*make, "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with serving(reply("200 OK", b"ok")) as server:
        server.wrap(context)
        answer = post(Letter(f"https://localhost:{server.port}/{SECRET}", b"{}"), fine, PATIENCE)
        assert (answer.delivered, answer.again, server.asked) == (False, False, [])
    assert "has a certificate that is not to be trusted" in answer.words


def test_what_goes_to_this_machine_goes_through_no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(reply("200 OK", b"ok")) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        answer, _ = sent(reply("200 OK", b"ok"))
        assert answer.delivered
        assert proxy.asked == []


def test_what_goes_elsewhere_goes_through_that_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(reply("200 OK", b"ok")) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        monkeypatch.delenv("no_proxy", raising=False)
        assert post(Letter("http://alerts.example/x", b"{}"), fine, PATIENCE).delivered
        assert proxy.asked[0].line == "POST http://alerts.example/x HTTP/1.1"


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("ftp://example.org/x", "should begin with https"),
        ("hooks.slack.com/services/x", "should begin with https"),
        ("https:///x", "should begin with https"),
        ("https://ada:pass@example.org/x", "has a name or password before its host"),
        ("http://example.org/x", "without TLS"),
        ("http://127.0.0.1.example.org/x", "without TLS"),
        ("https://example.org/a b", "is no address"),
        ("https://example.org/a\r\nX: y", "is no address"),
        ("https://example.org:port/", "is no address"),
        ("https://exämple.org/", "is no address"),
        ("https://" + 3000 * "x", "is no address"),
    ],
)
def test_an_address_to_which_nothing_is_sent(url: str, why: str) -> None:
    with pytest.raises(AddressError, match=why) as refused:
        checked(url)
    assert "pass" not in str(refused.value).replace("password", "")


@pytest.mark.parametrize(
    "url", ["https://example.org/x", "http://localhost:1/x", "http://127.0.0.2/x", "http://[::1]/x"]
)
def test_one_to_which_something_is(url: str) -> None:
    assert checked(url) == url


def test_without_tls_only_if_that_is_wanted() -> None:
    assert checked("http://ntfy.lan/topic", allow_http=True) == "http://ntfy.lan/topic"
