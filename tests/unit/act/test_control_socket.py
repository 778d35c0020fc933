"""Interrupting a turn through a control socket: a server in a thread that speaks its protocol, or does not."""

import json
import socket
import struct
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from delegtop.act import control_socket
from delegtop.act.control_socket import interrupt
from delegtop.act.signal_sending import RefusalError

ANSWERS: dict[str, Any] = {
    "initialize": {},
    "thread/loaded/list": {"data": ["t1"]},
    "thread/turns/list": {"data": [{"id": "u2", "status": "inProgress"}, {"id": "u1", "status": "completed"}]},
    "turn/interrupt": {},
}


class Speaker:
    """Answers each request, with a word of its own in between."""

    def __init__(
        self, path: Path, answers: dict[str, Any], greeting: bytes = b"HTTP/1.1 101 Switching\r\n\r\n"
    ) -> None:
        self.asked: list[tuple[str, Any]] = []
        self._answers, self._greeting = answers, greeting
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(str(path))
        self._socket.listen()
        self._thread = Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        with self._socket:
            connection, _ = self._socket.accept()
        while not connection.recv(4_096).endswith(b"\r\n\r\n"):
            pass
        with connection, suppress(ConnectionError), connection.makefile("rb") as file:
            connection.sendall(self._greeting)
            while head := file.read(2):
                size = head[1] & 0x7F
                size = struct.unpack("!H", file.read(2))[0] if size == 126 else size
                key = file.read(4)
                data = bytes(byte ^ key[at & 3] for at, byte in enumerate(file.read(size)))
                told = json.loads(data) if head[0] & 0x0F == 1 else {}
                if "id" not in told:
                    continue
                self.asked.append((told["method"], told["params"]))
                self._say(connection, {"method": "thread/status/changed", "params": {"padding": "x" * 200}})
                answer = self._answers.get(told["method"])
                said = {"error": {"message": "no such method"}} if answer is None else {"result": answer}
                self._say(connection, {"id": told["id"], **said})

    def _say(self, connection: socket.socket, message: dict[str, Any]) -> None:
        data = json.dumps(message).encode()
        head = struct.pack("!BB", 0x81, len(data)) if len(data) < 126 else struct.pack("!BBH", 0x81, 126, len(data))
        connection.sendall(b"\x89\x00" + head + data)  # a ping before each


def test_the_turn_that_goes_on_is_interrupted(tmp_path: Path) -> None:
    path = tmp_path / "s"
    speaker = Speaker(path, ANSWERS)
    interrupt(path, "t1")
    assert [method for method, _ in speaker.asked] == list(ANSWERS)
    assert speaker.asked[-1][1] == {"threadId": "t1", "turnId": "u2"}


def test_a_thread_of_another_server_is_not_touched(tmp_path: Path) -> None:
    speaker = Speaker(tmp_path / "s", ANSWERS)
    with pytest.raises(RefusalError, match="does not run this thread"):
        interrupt(tmp_path / "s", "t2")
    assert "turn/interrupt" not in dict(speaker.asked)


def test_without_a_turn_there_is_nothing_to_interrupt(tmp_path: Path) -> None:
    Speaker(tmp_path / "s", ANSWERS | {"thread/turns/list": {"data": []}})
    with pytest.raises(RefusalError, match="no turn of this thread goes on"):
        interrupt(tmp_path / "s", "t1")


def test_a_server_that_knows_no_such_thing_or_speaks_otherwise_is_quoted(tmp_path: Path) -> None:
    Speaker(tmp_path / "a", {"initialize": {}})
    with pytest.raises(RefusalError, match="thread/loaded/list: no such method"):
        interrupt(tmp_path / "a", "t1")
    Speaker(tmp_path / "b", {}, b"HTTP/1.1 400 Bad Request\r\n\r\n")
    with pytest.raises(RefusalError, match="speaks another protocol"):
        interrupt(tmp_path / "b", "t1")
    with pytest.raises(RefusalError, match="cannot be asked"):
        interrupt(tmp_path / "none", "t1")


def test_a_server_that_never_answers_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control_socket, "_PATIENCE", 0.2)
    Speaker(tmp_path / "s", {}, b"")
    with pytest.raises(RefusalError, match="did not answer within"):
        interrupt(tmp_path / "s", "t1")


class Mouth(Speaker):
    """Says the same bytes whatever it is asked."""

    def __init__(self, path: Path, words: bytes) -> None:
        self._words = words
        super().__init__(path, {})

    def _say(self, connection: socket.socket, message: dict[str, Any]) -> None:  # noqa: ARG002 -- whatever it is
        connection.sendall(self._words)


def framed(data: bytes, kind: int = 0x81) -> bytes:
    return struct.pack("!BBQ", kind, 127, len(data)) + data


HOSTILE = {
    "a long ping": framed(b"x" * 70_000, 0x89) + framed(b'{"id": 1, "error": {}}'),
    "an error that is a text": framed(b'{"id": 1, "error": "no"}'),
    "an error that is a list": framed(b'{"id": 1, "error": [1]}'),
    "no answer": framed(b'{"id": 1}'),
    "a deep answer": framed(b'{"id": 1, "result": ' + b"[" * 200_000 + b"]" * 200_000 + b"}"),
    "a long number": framed(b'{"id": 1, "result": ' + b"9" * 10_000 + b"}"),
    "no text": framed(b"\xff\xfe"),
    "more than there is": struct.pack("!BBQ", 0x81, 127, 1 << 63),
}


@pytest.mark.parametrize("words", HOSTILE)
def test_whatever_a_server_says_it_is_a_refusal_and_no_crash(tmp_path: Path, words: str) -> None:
    Mouth(tmp_path / "s", HOSTILE[words])
    with pytest.raises(RefusalError, match="cannot be asked"):
        interrupt(tmp_path / "s", "t1")


def test_a_greeting_that_never_ends_is_not_kept(tmp_path: Path) -> None:
    Speaker(tmp_path / "s", {}, b"HTTP/1.1 101 Switching\r\n" + b"X: y\r\n" * 100_000)
    with pytest.raises(RefusalError, match="speaks another protocol"):
        interrupt(tmp_path / "s", "t1")
