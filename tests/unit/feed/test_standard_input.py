"""What is piped in is read like a file."""

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from tests.patience import until
from tests.watching import NOW, Opener, Watch, register, returned

from delegtop.model.events import Started
from delegtop.model.states import State
from delegtop.sources import inode as file_module


class TestStandardInput:
    @pytest.fixture
    def pipe(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
        """The end to write into; it may be closed by the test."""
        ours, theirs = os.pipe()
        with os.fdopen(ours) as stream:
            monkeypatch.setattr(sys, "stdin", stream)
            yield theirs
            with suppress(OSError):
                os.close(theirs)

    def arrive(self, it: Watch, count: int) -> None:
        """Poll until so many delegations are there: a thread of the feed's own copies the stream."""

        def is_there() -> bool:
            it.look()
            return len(it.forest) >= count

        until(is_there, f"the coming of {count} delegations")

    def test_what_is_piped_in_is_read_as_it_comes(self, pipe: int, watch: Opener) -> None:
        it = watch("-")
        it.look()
        assert it.status("-").status == "empty"
        os.write(pipe, register("aaa111").encode())
        self.arrive(it, 1)
        whole = register("bbb222").encode()
        os.write(pipe, whole[:30])
        it.look()
        os.write(pipe, whole[30:])
        self.arrive(it, 2)
        assert (it.status("-").records, it.status("-").dialect) == (2, "session-log")
        assert it.look(5) == []

    def test_reading_all_waits_for_the_end_of_the_pipe(self, pipe: int, watch: Opener) -> None:
        os.write(pipe, (register("aaa111") + returned("aaa111").rstrip("\n")).encode())
        os.close(pipe)
        it = watch("-")
        it.forest.apply(event for batch in it.feed.read_all() for event in batch.events)
        it.forest.advance(NOW)
        assert it.state("aaa111") is State.COMPLETED

    def test_of_no_known_format_it_is_named_once(self, pipe: int, watch: Opener) -> None:
        os.write(pipe, b"dear diary\n")
        os.close(pipe)
        it = watch("-")
        assert [event for batch in it.feed.read_all() for event in batch.events] == []
        assert it.status("-").status == "unrecognised"

    def test_what_begins_like_a_log_that_was_put_away_waits_until_that_is_read(
        self, pipe: int, watch: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(file_module, "_SETTLED", 0)
        log = tmp_path / "0b9b1c2e-1111-4222-8333-444455556666.jsonl"
        log.write_text(register("aaa111"))
        os.utime(log, (1, 1))
        it = watch(log, "-")
        it.look()
        assert not it.feed._readings  # all that there is was put away
        os.write(pipe, (register("aaa111") + register("bbb222")).encode())
        os.close(pipe)

        def is_seen() -> bool:
            it.look()
            return bool(it.feed._readings)

        until(is_seen)
        assert it.feed.is_behind
        it.forest.apply(event for batch in it.feed.read_all() for event in batch.events)
        assert it.ids() == ["aaa111", "bbb222"]

    def test_its_lines_can_be_read_again(self, pipe: int, watch: Opener) -> None:
        os.write(pipe, register("aaa111").encode())
        it = watch("-")
        self.arrive(it, 1)
        [(told, events)] = it.feed.history(it.delegation("aaa111"))
        assert told.data.decode() + "\n" == register("aaa111")
        assert isinstance(events[0], Started)
