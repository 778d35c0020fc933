"""A stream that is read like a file."""

import io
import os

from delegtop.base.origin import Origin
from delegtop.sources.records import Line
from delegtop.sources.spool import Spool
from delegtop.sources.tail import Tail


def drained(spool: Spool) -> Spool:
    while not spool.finished:
        spool.wait(1)
    return spool


def test_a_pipe_is_followed_line_by_line_and_can_be_read_again() -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as stream:
        spool, tail = Spool(stream), Tail()
        tail.attach("-", spool.fd)
        os.write(writing, b'{"id": 1}\n{"id"')
        lines: list[object] = []
        while not lines:
            spool.wait(1)
            lines = list(tail.poll(["-"]))
        assert lines == [Line(Origin("-", 1, 0), b'{"id": 1}')]
        assert not spool.finished
        os.write(writing, b": 2}\n")
        os.close(writing)
        drained(spool)
        (second,) = tail.poll(["-"])
        assert second == Line(Origin("-", 2, 10), b'{"id": 2}')
        assert tail.read_line(second.origin) == b'{"id": 2}'
        tail.close()
        spool.close()


def test_a_stream_without_a_descriptor_is_copied_too() -> None:
    spool = drained(Spool(io.BytesIO(b"x" * 200_000)))
    assert spool.head(10) == (b"x" * 10, False)
    assert spool.head(300_000) == (b"x" * 200_000, True)
    spool.close()


def test_nothing_is_known_of_an_empty_stream_until_it_ends() -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as stream:
        spool = Spool(stream)
        assert spool.head(10) == (b"", False)
        os.close(writing)
        assert drained(spool).head(10) == (b"", True)
        spool.close()


def test_closing_does_not_wait_for_a_stream_that_never_ends() -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as stream:
        spool = Spool(stream)
        spool.close()
        os.write(writing, b"late")
        os.close(writing)
        drained(spool)
        assert spool.error == ""


def test_an_error_ends_the_stream_and_is_kept() -> None:
    class Broken(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:  # noqa: ARG002 - the interface's
            raise OSError(5, "Input/output error")

    spool = drained(Spool(Broken()))  # type: ignore[arg-type]  # only read() is used of it
    assert spool.error == "input/output error"
    spool.close()
