"""Sending changes of verdicts to a collector: never in anybody's way, and only where the user says."""

import json
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.loopback_server import free_port, never, reply, serving
from tests.patience import PATIENCE, until
from tests.unit.notify.test_otlp_records import REQUEST, change, facts, records

from delegtop.base.clock import WallClock, iso
from delegtop.cli import main
from delegtop.cli.exit_codes import Exit
from delegtop.diagnosis.verdict_changes import VerdictChange
from delegtop.notify import NotifyError, otlp_sender
from delegtop.notify.http_post import HttpAnswer
from delegtop.notify.otlp_sender import LONGEST_PAUSE, OtlpBox, OtlpSender
from delegtop.setting_tables import Notifications

OK = reply("200 OK", b'{"partialSuccess":{}}')


class Desk:
    """A sender with what it said."""

    def __init__(self, url: str, headers: Mapping[str, str] | None = None, **more: Any) -> None:
        self.said: list[str] = []
        self.sender = OtlpSender(f"{url}/v1/logs", headers or {}, self.said.append, **{"timeout": PATIENCE, **more})

    def tell(self, *changes: VerdictChange) -> None:
        self.sender.tell(changes)

    def until_said(self) -> str:
        def is_said() -> bool:
            self.sender.tend()
            return bool(self.said)

        until(is_said)
        return self.said[0]


def test_what_waits_goes_in_one_request_and_says_what_it_is() -> None:
    gate = threading.Event()

    def slow(connection: socket.socket, _: threading.Event) -> None:
        gate.wait(PATIENCE)
        connection.sendall(OK)

    with serving(slow, OK) as server:
        desk = Desk(server.url, {"api-key": "s3cr3t"})
        desk.tell(change("first"))
        until(lambda: server.asked)
        desk.tell(*(change(f"c{number}") for number in range(5)))
        gate.set()
        desk.sender.close(PATIENCE)
        assert [len(records(asked.body)) for asked in server.asked] == [1, 5]
        assert server.asked[0].line == "POST /v1/logs HTTP/1.1"
        assert server.asked[0].headers["content-type"] == "application/json"
        assert server.asked[0].headers["api-key"] == "s3cr3t"
    assert desk.said == []


def test_a_collector_that_is_away_is_told_of_at_once_and_gets_everything_when_it_is_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(otlp_sender, "FIRST_PAUSE", 0.01)
    monkeypatch.setattr(otlp_sender, "LONGEST_PAUSE", 0.01)
    with serving(reply("503 Busy"), reply("502 Bad Gateway"), OK) as server:
        desk = Desk(server.url)
        desk.tell(change("a"), change("b"))
        assert "503" in desk.until_said()
        until(lambda: len(server.asked) == 3)
        desk.sender.close(PATIENCE)
        assert [[facts(each)["delegtop.id"] for each in records(asked.body)] for asked in server.asked] == [
            ["a", "b"]
        ] * 3
    assert [said.partition(" answered ")[2][:3] for said in desk.said] == ["503", "502"]


def test_one_that_cannot_be_reached_is_told_of_and_the_end_does_not_wait_for_it() -> None:
    desk = Desk(f"http://127.0.0.1:{free_port()}")
    desk.tell(change("a"))
    assert "cannot be reached" in desk.until_said()
    desk.sender.close(PATIENCE)
    assert desk.said[-1] == "otlp: 1 change of a verdict did not arrive"


def test_what_could_not_be_sent_waits_on_in_its_order_with_pauses_that_grow() -> None:
    now = 0.0
    box, away = OtlpBox(at_once=2, now=lambda: now), HttpAnswer(False, "away", again=True)
    box.put([change(id) for id in "abc"])
    pauses: list[float] = []
    for _ in range(9):
        load = box.take()
        assert load is not None
        assert [each.id for each in load] == ["a", "b"]
        box.failed(load, away)
        pauses.append(box.delay())
        now += box.delay()
        assert box.delay() == 0
    assert pauses == [1, 2, 4, 8, 16, 32, LONGEST_PAUSE, LONGEST_PAUSE, LONGEST_PAUSE]
    assert box.take()
    assert [each.id for each in box.take() or ()] == ["c"], "the others have arrived"
    box.put([change("d")])
    box.failed(box.take() or (), away)
    assert box.delay() == 1, "it begins anew"
    box.failed((), HttpAnswer(False, "busy", again=True, retry_after=90))
    assert box.delay() == 90


def test_what_waits_is_bounded_and_the_newest_is_kept() -> None:
    box = OtlpBox(at_once=10, most=3)
    box.put([change(str(number)) for number in range(10)])
    assert [each.id for each in box.take() or ()] == ["7", "8", "9"]
    assert box.clear() == 7


@pytest.mark.parametrize("status", ["400 Bad Request", "401 Unauthorized", "404 Not Found", "413 Too Large"])
def test_a_collector_that_refuses_is_told_of_once_and_not_asked_again(status: str) -> None:
    with serving(reply(status, b"no such tenant")) as server:
        desk = Desk(server.url, {"authorization": "Bearer s3cr3t-t0ken"})
        desk.tell(change("a"))
        assert status in desk.until_said()
        desk.tell(change("b"))
        until(lambda: len(server.asked) == 2)
        desk.sender.close(PATIENCE)
        assert [len(records(asked.body)) for asked in server.asked] == [1, 1]
    assert len(desk.said) == 2
    assert desk.said[1] == "otlp: 2 changes of a verdict did not arrive"
    assert "s3cr3t" not in str(desk.said)


def test_a_part_that_was_refused_is_told_of_and_not_sent_again() -> None:
    body = b'{"partialSuccess":{"rejectedLogRecords":"1","errorMessage":"too old"}}'
    with serving(reply("200 OK", body)) as server:
        desk = Desk(server.url)
        desk.tell(change("a"))
        assert "too old" in desk.until_said()
        desk.sender.close(PATIENCE)
        assert len(server.asked) == 1


@pytest.mark.parametrize("body", [b"", b"{}", b"null", b"[]", b"\xff", b'{"partialSuccess":null}', b"ok"])
def test_any_other_word_of_a_collector_that_takes_it_is_fine(body: bytes) -> None:
    with serving(reply("200 OK", body)) as server:
        desk = Desk(server.url)
        desk.tell(change("a"))
        until(lambda: server.asked)
        desk.sender.close(PATIENCE)
    assert desk.said == []


def test_nobody_waits_for_a_collector_that_does_not_answer() -> None:
    with serving(never) as server:
        desk = Desk(server.url)
        for number in range(3_000):
            desk.tell(change(str(number)))
        until(lambda: server.asked)
        desk.sender.close(0.05)
    assert re.fullmatch(r"otlp: (?:2\d{3}|3000) changes of a verdict did not arrive", desk.said[-1])


# -- where it goes -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "goes_to"),
    [
        ("https://otel.example", "https://otel.example/v1/logs"),
        ("https://otel.example/", "https://otel.example/v1/logs"),
        ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/logs"),
        ("http://localhost:4318/v1/logs", "http://localhost:4318/v1/logs"),
        ("https://otel.example/otlp/v1/logs?x=1", "https://otel.example/otlp/v1/logs?x=1"),
    ],
)
def test_the_address_of_a_collector_is_completed(url: str, goes_to: str) -> None:
    made = otlp_sender.otlp_sender(url, Notifications(), pytest.fail, {})
    assert made.write((change(),)).url == goes_to


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://otel.example", "goes to otel.example without TLS"),
        ("ftp://otel.example", "should begin with https://"),
        ("otel.example:4318", "should begin with https://"),
        ("https://me:pass@otel.example", "has a name or password before its host"),
        ("env:NOT_THERE", "NOT_THERE"),
    ],
)
def test_nothing_goes_where_others_could_read_it(url: str, words: str) -> None:
    with pytest.raises(NotifyError, match=re.escape(words)):
        otlp_sender.otlp_sender(url, Notifications(), pytest.fail, {})


def test_what_goes_along_is_a_secret_of_the_settings() -> None:
    settings = Notifications(otlp_headers="env:OTLP", allow_http=True)
    made = otlp_sender.otlp_sender("http://otel.example", settings, pytest.fail, {"OTLP": "api-key=abc, x-scope=me=1"})
    assert made.write((change(),)).headers == {"Content-Type": "application/json", "api-key": "abc", "x-scope": "me=1"}
    with pytest.raises(NotifyError, match="name=value"):
        otlp_sender.otlp_sender("https://otel.example", Notifications(otlp_headers="secret"), pytest.fail, {})


# -- the command -------------------------------------------------------------------------------------------------------


def write(log: Path, event: str, session: str, **more: Any) -> None:
    line = {"schema_version": 1, "event": event, "at": iso(WallClock().now()), "session_id": session, **more}
    with log.open("a") as file:
        file.write(json.dumps(line) + "\n")


def test_watch_sends_each_change_to_the_collector(tmp_path: Path) -> None:
    log = tmp_path / "run.jsonl"
    write(log, "register", "sess_1790000000_aaaaaa", subagent="implementer", timeout=1)
    with serving(OK) as server:
        command = [sys.executable, "-m", "delegtop", "watch", str(log), "--otlp", server.url]
        watch = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            until(lambda: [each for asked in server.asked for each in records(asked.body)], "a record")
            returned = {"status": "completed", "summary": "Done.", "artifacts": [], "errors": []}
            write(log, "return", "sess_1790000000_aaaaaa", **{"return": returned})
            until(lambda: len([each for asked in server.asked for each in records(asked.body)]) == 2, "the end of it")
        finally:
            watch.terminate()
            _, said = watch.communicate(timeout=PATIENCE)
        told = [facts(each) for asked in server.asked for each in records(asked.body)]
        assert all(REQUEST(asked.json) for asked in server.asked)
    assert [each["delegtop.id"] for each in told] == ["sess_1790000000_aaaaaa"] * 2
    assert told[0]["delegtop.verdict"] == "overdue"
    assert "delegtop.verdict" not in told[1]
    assert (told[1]["delegtop.was"], told[1]["delegtop.state"]) == ("overdue", "completed")
    assert said == ""


@pytest.mark.parametrize("url", ["http://otel.example", "4318", ""])
def test_an_address_that_will_not_do_is_told_before_anything_is_read(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "run.jsonl").touch()
    code = main(["watch", str(tmp_path / "run.jsonl"), "--timeout", "0.1", "--otlp", url])
    assert (code, "--otlp: the address" in capsys.readouterr().err) == ((Exit.USAGE, True) if url else (Exit.OK, False))


def test_a_project_cannot_send_anything_away(tmp_path: Path) -> None:
    (tmp_path / "run.jsonl").touch()
    (tmp_path / "delegtop.toml").write_text('[notifications]\notlp_url = "http://127.0.0.1:9"\n')
    told = subprocess.run(
        [sys.executable, "-m", "delegtop", "watch", "run.jsonl", "--timeout", "0.1"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert told.returncode == Exit.USAGE
    assert "notifications.otlp_url: a project may not set this" in told.stderr


def test_the_users_own_settings_can(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "run.jsonl"
    write(log, "register", "sess_1790000000_aaaaaa", subagent="implementer", timeout=1)
    with serving(OK) as server:
        monkeypatch.setenv("COLLECTOR", server.url)
        config = tmp_path / "own.toml"
        config.write_text('[notifications]\notlp_url = "env:COLLECTOR"\notlp_headers = "env:COLLECTOR_KEY"\n')
        monkeypatch.setenv("COLLECTOR_KEY", "api-key=abc")
        assert main(["watch", str(log), "--exit-when", "problem", "--config", str(config)]) == Exit.STUCK
        until(lambda: server.asked)
        assert server.asked[0].headers["api-key"] == "abc"


def test_variables_of_other_programs_send_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A project may bring its variables along."""
    log = tmp_path / "run.jsonl"
    write(log, "register", "sess_1790000000_aaaaaa", subagent="implementer", timeout=1)
    with serving(OK) as server:
        for name in ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT"):
            monkeypatch.setenv(name, server.url)
        assert main(["watch", str(log), "--exit-when", "problem"]) == Exit.STUCK
        assert server.asked == []


def test_whoever_sends_nothing_loads_nothing_that_does() -> None:
    program = "import sys; import delegtop.cli.watch, delegtop.diagnosis.verdict_changes; print(*sys.modules)"
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not {"delegtop.notify.otlp_sender", "http.client", "ssl"} & set(told.stdout.split())
