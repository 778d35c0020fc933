"""A document that is rewritten: torn reads never show, and the last good one stays."""

import json
import os
import threading
from pathlib import Path

import pytest
from tests.patience import PATIENCE

from delegtop.base.clock import Millis, monotonic
from delegtop.base.origin import Origin
from delegtop.sources.records import Line, Unreadable
from delegtop.sources.snapshot import Snapshot
from delegtop.sources.text_identity.text_trace import file_digest


@pytest.fixture
def registry(tmp_path: Path) -> Path:
    return tmp_path / "registry.json"


def test_a_document_arrives_whole_with_the_time_it_was_written(registry: Path) -> None:
    registry.write_bytes(b'{\n  "a": 1\n}\n')
    os.utime(registry, (1_700_000_000, 1_700_000_000))
    snapshot = Snapshot(str(registry))
    assert next(snapshot.poll(), None) == Line(
        Origin(str(registry), 1, 0), b'{\n  "a": 1\n}\n', Millis(1_700_000_000_000)
    )
    assert snapshot.good_at == 1_700_000_000_000
    assert next(snapshot.poll(), None) is None


def test_of_a_document_at_rest_the_digest_is_that_of_its_file(registry: Path) -> None:
    registry.write_bytes(b'{"a": "\xc3\xa9"}\n' * 1_000)
    snapshot = Snapshot(str(registry), any_text=True)
    assert next(snapshot.poll(), None) is not None
    with registry.open("rb") as file:
        assert snapshot.digest == file_digest(file.fileno(), 0, registry.stat().st_size)


def test_an_unchanged_document_is_not_opened_again(registry: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    registry.write_bytes(b"{}")
    snapshot = Snapshot(str(registry))
    assert next(snapshot.poll(), None) is not None
    while not snapshot._settled:  # the times of a file just written may hide a second write
        assert next(snapshot.poll(), None) is None
    monkeypatch.setattr(os, "open", None)
    assert next(snapshot.poll(), None) is None


@pytest.mark.parametrize("replaced", [True, False], ids=["replaced", "rewritten in place"])
def test_every_new_version_arrives(registry: Path, replaced: bool) -> None:
    snapshot = Snapshot(str(registry))
    times = []
    for version in range(20):
        target = registry.with_name("new") if replaced else registry
        target.write_text(json.dumps({"version": version}))
        target.rename(registry)
        line = next(snapshot.poll(), None)
        assert isinstance(line, Line)
        assert json.loads(line.data) == {"version": version}
        times.append(line.at)
    assert times == sorted({*times}, key=times.index)


@pytest.mark.parametrize(
    ("bad", "reason"), [(b"", "empty"), (b'{"a": {"b"', "torn"), (b"oops", "not JSON"), (b"[]", "not an object")]
)
def test_a_bad_document_is_reported_once_and_the_last_good_one_stays(registry: Path, bad: bytes, reason: str) -> None:
    snapshot = Snapshot(str(registry))
    registry.write_bytes(b'{"a": 1}')
    assert isinstance(next(snapshot.poll(), None), Line)
    good_at = snapshot.good_at
    registry.write_bytes(bad)
    report = next(snapshot.poll(), None)
    assert isinstance(report, Unreadable)
    assert report.reason == reason
    assert next(snapshot.poll(), None) is None
    status = snapshot.status()
    assert (status.state, status.changed_at, snapshot.good_at) == ("stale", good_at, good_at)
    assert status.detail.startswith(f"{reason} since ")
    assert "; showing the one of " in status.detail
    registry.write_bytes(b'{"a": 2}')
    assert isinstance(next(snapshot.poll(), None), Line)
    assert (snapshot.status().state, snapshot.status().detail) == ("live", "")


def test_a_document_that_never_was_good_is_unreadable(registry: Path) -> None:
    registry.write_bytes(b"oops")
    snapshot = Snapshot(str(registry))
    assert isinstance(next(snapshot.poll(), None), Unreadable)
    assert snapshot.status().state == "unreadable"


def test_a_document_that_is_gone_says_so_and_may_come_back(registry: Path) -> None:
    snapshot = Snapshot(str(registry))
    assert next(snapshot.poll(), None) is None
    assert snapshot.status().state == "gone"
    registry.write_bytes(b'{"a": 1}')
    assert isinstance(next(snapshot.poll(), None), Line)
    registry.unlink()
    assert next(snapshot.poll(), None) is None
    assert snapshot.status().state == "gone"
    registry.write_bytes(b'{"a": 2}')
    assert isinstance(next(snapshot.poll(), None), Line)
    assert snapshot.status().state == "live"


def test_a_document_beyond_the_limit_is_refused_unread(registry: Path) -> None:
    registry.write_bytes(b'{"a": "' + b"x" * 2_000 + b'"}')
    report = next(Snapshot(str(registry), limit=1_000).poll(), None)
    assert isinstance(report, Unreadable)
    assert report.reason == "larger than 1,000 bytes"


def test_a_pipe_under_the_name_is_refused_not_waited_for(registry: Path) -> None:
    os.mkfifo(registry)
    report = next(Snapshot(str(registry)).poll(), None)
    assert isinstance(report, Unreadable)
    assert report.reason == "not a regular file"


def test_no_torn_state_is_ever_shown_while_a_writer_rewrites_in_place(registry: Path) -> None:
    stop = threading.Event()

    def rewrite() -> None:
        version = 0
        while not stop.is_set():
            version += 1
            text = json.dumps({"version": version, "entries": {f"s{n}": version for n in range(version % 400)}})
            with registry.open("w") as file:
                for start in range(0, len(text), 1_000):
                    file.write(text[start : start + 1_000])
                    file.flush()
            stop.wait(0.003)

    registry.write_text("{}")
    writer = threading.Thread(target=rewrite)
    writer.start()
    try:
        snapshot = Snapshot(str(registry))
        versions: list[int] = []
        end = monotonic() + PATIENCE
        while len(versions) < 30 and monotonic() < end:
            found = next(snapshot.poll(), None)
            if isinstance(found, Line):
                value = json.loads(found.data)
                assert {*value.get("entries", {}).values()} <= {value.get("version")}
                versions.append(value.get("version", 0))
    finally:
        stop.set()
        writer.join()
    assert len(versions) == 30
    assert versions == sorted(versions)
