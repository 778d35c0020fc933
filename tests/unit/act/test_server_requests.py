"""Asking a program's own server: real ones on loopback, that lie, hang, say no, want a password, and go."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from delegtop.act import server_requests
from delegtop.act.process_identity import ProcessIdentity, identity
from delegtop.act.server_requests import ports, post
from delegtop.act.signal_sending import RefusalError

PATH = "/session/ses_1/abort"
SERVER = """
import os, sys, time
from http.server import BaseHTTPRequestHandler, HTTPServer
how, host = sys.argv[1], sys.argv[2]
class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        sys.stderr.write(f"{self.path} {self.headers.get('Authorization')} {self.headers.get('Host')}\\n")
        if how == "hangs":
            time.sleep(1000)
        while how in ("dribbles", "goes on"):
            self.wfile.write(b"H" if how == "dribbles" else b"HTTP/1.1 100 Continue\\r\\n\\r\\n")
            time.sleep(0.01)
        code = {"lies": 200, "refuses": 401, "fails": 500, "moves": 302}[how]
        self.send_response(code)
        if how == "moves":
            self.send_header("Location", "http://192.0.2.1/elsewhere")
        self.send_header("Content-Length", "4")
        self.end_headers()
        self.wfile.write(b"true")
    def log_message(self, *words):
        pass
server = HTTPServer((host, 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
"""


class Served:
    def __init__(self, process: "subprocess.Popen[str]", port: int) -> None:
        self.process, self.port = process, port
        found = identity(process.pid)
        assert found is not None
        self.identity: ProcessIdentity = found

    def heard(self) -> str:
        self.process.send_signal(signal.SIGKILL)
        return self.process.communicate()[1]


@contextmanager
def serving(how: str, host: str = "127.0.0.1", **environ: str) -> Iterator[Served]:
    command = [sys.executable, "-c", SERVER, how, host]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=environ)
    try:
        assert process.stdout
        yield Served(process, int(process.stdout.readline()))
    finally:
        process.kill()
        process.communicate()


def refused(served: Served, port: int | None = None) -> str:
    with pytest.raises(RefusalError) as error:
        post(served.identity, "127.0.0.1", port or served.port, PATH, "opencode")
    return str(error.value)


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])  # noqa: S104 -- whoever serves everybody also serves us
def test_a_process_is_asked_at_the_port_it_listens_on_itself(host: str) -> None:
    with serving("lies", host) as served:
        assert ports(served.process.pid) == [("127.0.0.1", served.port)]
        post(served.identity, "127.0.0.1", served.port, PATH, "opencode")
        assert served.heard() == f"{PATH} None 127.0.0.1:{served.port}\n"


def test_its_password_is_that_of_its_own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENCODE_SERVER_PASSWORD", "mine")
    with serving("lies", OPENCODE_SERVER_PASSWORD="own") as served:  # noqa: S106 -- it guards nothing
        post(served.identity, "127.0.0.1", served.port, PATH, "opencode")
        assert "Basic b3BlbmNvZGU6b3du" in served.heard()  # opencode:own
    with serving("lies") as served:
        post(served.identity, "127.0.0.1", served.port, PATH, "opencode")
        assert "Basic b3BlbmNvZGU6bWluZQ==" in served.heard()  # opencode:mine


def test_one_that_says_no_fails_or_sends_elsewhere_is_quoted() -> None:
    for how, told in (
        ("refuses", "wants another password (401)"),
        ("fails", "says no: 500"),
        ("moves", "says no: 302"),
    ):
        with serving(how) as served:
            assert told in refused(served)


def test_one_that_hangs_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_requests, "_PATIENCE", 0.2)
    with serving("hangs") as served:
        assert "did not answer within 0.2 s" in refused(served)


@pytest.mark.parametrize("how", ["dribbles", "goes on"])
def test_one_that_never_comes_to_the_end_of_its_answer_is_not_waited_for(
    how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_requests, "_PATIENCE", 0.5)
    with serving(how) as served:
        assert "did not answer within 0.5 s" in refused(served)


def test_one_that_is_gone_or_another_is_not_asked() -> None:
    with serving("lies") as first, serving("lies") as second:
        assert f"no longer listens on port {second.port}" in refused(first, second.port)
        first.heard()
        assert "is gone" in refused(first)
        assert second.heard() == "", "nobody else is asked"
