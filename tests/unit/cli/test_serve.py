"""`delegtop serve`: it prints an address and serves there, on this machine only, and only if somebody types it."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.loopback_server import free_port
from tests.patience import PATIENCE

from delegtop.cli import main
from delegtop.cli.exit_codes import Exit
from delegtop.settings import FIELDS

TABLE = Path("/proc/net/tcp")
HANG = Path(__file__).parents[3] / "sample_logs" / "02_hang"


@contextmanager
def serving(*arguments: str, folder: Path) -> "Iterator[tuple[subprocess.Popen[str], str]]":
    """The running program, and the address that it prints."""
    program = subprocess.Popen(
        [sys.executable, "-m", "delegtop", "serve", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert program.stdout is not None
        yield program, program.stdout.readline().strip()
    finally:
        program.kill()
        program.communicate()


def asked(url: str, path: str | None = None, **headers: str) -> http.client.HTTPResponse:
    """What is answered there."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=PATIENCE)
    connection.request("GET", path or f"/?{parts.query}", headers=headers)
    return connection.getresponse()


def test_it_prints_an_address_that_opens_the_page(tmp_path: Path) -> None:
    with serving(str(HANG), "--port", "0", folder=tmp_path) as (program, url):
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[A-Za-z0-9_-]{43}", url)
        entry = asked(url)
        cookie, folder = entry.headers["Set-Cookie"].split("; ")[:2]
        page = asked(url, folder.removeprefix("Path="), Cookie=cookie)
        assert "implementer" in page.read().decode()
        program.send_signal(signal.SIGTERM)
        out, told = program.communicate(timeout=PATIENCE)
    assert program.returncode == 143
    assert out == ""
    assert told == "delegtop: that address opens the page in a browser on this machine; Ctrl-C ends it\n"


@pytest.mark.skipif(not TABLE.exists(), reason="only Linux has a table of who listens where")
def test_it_listens_on_this_machine_only(tmp_path: Path) -> None:
    with serving(str(HANG), "--port", "0", folder=tmp_path) as (_, url):
        port = int(re.findall(r":(\d+)/", url)[0])
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as other:
            other.settimeout(5)
            assert other.connect_ex(("127.0.0.2", port)) != 0
        listening = [line.split()[1] for line in TABLE.read_text().splitlines() if f":{port:04X} " in line]
    assert "0100007F" in {each.partition(":")[0] for each in listening}
    assert "00000000" not in {each.partition(":")[0] for each in listening}


@pytest.mark.parametrize("address", ["0.0.0.0", "192.168.1.7", "8.8.8.8", "255.255.255.255"])  # noqa: S104 - refused
def test_an_address_that_others_can_reach_is_refused(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", str(HANG), "--listen", address]) == Exit.USAGE
    told = capsys.readouterr()
    assert told.out == ""
    assert f"{address} can be reached by others" in told.err
    assert "ssh -L" in told.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--listen", "localhost"], "localhost is no IPv4 address"),
        (["--listen", "::"], ":: is no IPv4 address"),
        (["--port", "x"], "x is no port"),
        (["--port", "65536"], "65536 is no port"),
        (["--port", "-1"], "-1 is no port"),
        (["--name", "http://box"], "http://box is no name of a host"),
        (["--name", "*"], "* is no name of a host"),
        (["--filter", "stat:x"], "no key is named stat"),
    ],
)
def test_what_cannot_be_is_told(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", str(HANG), *arguments]) == Exit.USAGE
    assert words in capsys.readouterr().err


def test_a_port_that_is_taken_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["serve", str(HANG), "--port", str(port)]) == Exit.USAGE
    assert f"--port {port}: Address already in use; --port 0 takes one that is free" in capsys.readouterr().err


def test_a_name_is_allowed_only_if_it_is_given(tmp_path: Path) -> None:
    port = free_port()
    with serving(str(HANG), "--port", str(port), "--name", "box.example", folder=tmp_path) as (_, url):
        assert asked(url, Host="box.example").status == 200
        assert asked(url, Host="other.example").status == 421


def test_nothing_but_the_command_starts_it(tmp_path: Path) -> None:
    """There is no setting for it, so no file of a project can hold one."""
    assert not [key for key in FIELDS if re.search("serve|listen|port$", key)]
    (tmp_path / "delegtop.toml").write_text("serve = true\n")
    told = subprocess.run(
        [sys.executable, "-m", "delegtop", "tree", str(HANG)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert told.returncode == Exit.USAGE
    assert "serve: no such setting" in told.stderr


def test_no_other_command_loads_it(tmp_path: Path) -> None:
    program = (
        "import sys, json; from delegtop.cli import main; main(['tree', sys.argv[1]]); "
        "main(['watch', sys.argv[1], '--timeout', '0.1']); sys.stderr.write(json.dumps(list(sys.modules)))"
    )
    told = subprocess.run(
        [sys.executable, "-c", program, str(HANG)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ},
    )
    modules = set(json.loads(told.stderr.rpartition("\n")[2]))
    assert not {name for name in modules if name.startswith("delegtop.page_server")}
    assert "asyncio" not in modules
