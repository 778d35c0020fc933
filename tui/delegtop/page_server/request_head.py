"""The head of a request, read strictly: what two readers could understand in two ways is understood in none.

There is one request to a connection and none has a body, so nothing can be smuggled behind one.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

LONGEST = 16 * 1024
"""Bytes."""
_MOST = 64
_END = b"\r\n\r\n"
_BYTES = re.compile(rb"[\t\r\n\x20-\x7e]*")
_LINE = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]{1,20}) ([\x21-\x7e]{1,2048}) (HTTP/[0-9]\.[0-9])")
_FIELD = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}):[ \t]*([\x20-\x7e\t]*?)[ \t]*")
_PATH = re.compile(r"/[A-Za-z0-9._~/-]*(?:\?[A-Za-z0-9._~=&-]*)?")


class RefusedRequest(Exception):  # noqa: N818 - reads better where it is raised
    """It is not answered; the status says why, the words go to whoever asked and hold nothing of theirs."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status, self.words = status, words


class RequestHead(NamedTuple):
    """What is asked for."""

    path: str
    query: str
    headers: Mapping[str, str]
    """By their names in small letters."""

    def header(self, name: str) -> str | None:
        return self.headers.get(name)


def read_head(data: bytes) -> RequestHead:
    """The head that ends with an empty line."""
    if len(data) > LONGEST:
        raise RefusedRequest(431, "that is too long")
    if not data.endswith(_END) or not _BYTES.fullmatch(data):
        raise RefusedRequest(400, "that is no request")
    lines = data[: -len(_END)].decode("ascii").split("\r\n")
    if any("\r" in line or "\n" in line for line in lines):
        raise RefusedRequest(400, "its lines end in a way that can be misread")
    asked = _LINE.fullmatch(lines[0])
    if asked is None:
        raise RefusedRequest(400, "that is no request")
    method, target, version = asked.groups()
    if version != "HTTP/1.1":
        raise RefusedRequest(505, "only HTTP/1.1 is spoken here")
    if method != "GET":
        raise RefusedRequest(405, "this page can only be read")
    if not _PATH.fullmatch(target):
        raise RefusedRequest(400, "there is no such address")
    path, _, query = target.partition("?")
    return RequestHead(path, query, _headers(lines[1:]))


def _headers(lines: list[str]) -> dict[str, str]:
    if len(lines) > _MOST:
        raise RefusedRequest(431, "it has too many headers")
    headers: dict[str, str] = {}
    for line in lines:
        field = _FIELD.fullmatch(line)
        if field is None:
            raise RefusedRequest(400, "a header can be misread")
        name = field[1].lower()
        if name in headers:
            raise RefusedRequest(400, "a header stands there twice")
        headers[name] = field[2]
    if "transfer-encoding" in headers or headers.get("content-length", "0") != "0":
        raise RefusedRequest(400, "a request to read has no body")
    if "upgrade" in headers:
        raise RefusedRequest(400, "nothing else is spoken here")
    return headers
