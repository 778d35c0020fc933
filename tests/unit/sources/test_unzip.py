"""The recording in a zip: found wherever it stands, never put on disk, and no bomb or lie harms the reader."""

import io
import struct
import zipfile
from pathlib import Path

import pytest

from delegtop.base.clock import FrozenClock, Millis
from delegtop.feed.followed_file import SourceStatus
from delegtop.feed.live_feed import Feed
from delegtop.sources import unzip
from delegtop.sources.unpack import BOMB, DAMAGED, TRUNCATED, UNSUPPORTED, Spoilt

TEXT = b"first line\nsecond line\n" * 5_000


class Unseekable(io.RawIOBase):
    """What a zip is streamed to, so that sizes stand behind the members."""

    def __init__(self) -> None:
        self.data = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        self.data += bytes(data)  # type: ignore[call-overload]  # whatever zipfile writes
        return len(bytes(data))  # type: ignore[call-overload]  # as above


def zipped(*members: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED, streamed: bool = False) -> bytes:
    file = Unseekable() if streamed else io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return bytes(file.data) if isinstance(file, Unseekable) else file.getvalue()


def text(data: bytes) -> bytes:
    return b"".join(unzip.blocks(io.BytesIO(data), len(data)))


@pytest.mark.parametrize(
    ("streamed", "method"),
    [(False, zipfile.ZIP_STORED), (False, zipfile.ZIP_DEFLATED), (True, zipfile.ZIP_DEFLATED)],
)
def test_the_recording_is_found_wherever_it_stands(streamed: bool, method: int) -> None:
    members = [("report.md", b"# hello"), ("recording.delegtop", TEXT), ("sources.json", b"[]")]
    assert text(zipped(*members, method=method, streamed=streamed)) == TEXT


@pytest.mark.parametrize("name", ["../recording.delegtop", "/recording.delegtop", "x/recording.delegtop", "other"])
def test_a_zip_with_no_member_of_that_very_name_has_no_recording(name: str) -> None:
    with pytest.raises(Spoilt) as spoilt:
        text(zipped((name, TEXT)))
    assert spoilt.value.reason == UNSUPPORTED


def test_a_bomb_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unzip, "SWELL", 10)
    monkeypatch.setattr(unzip, "SWELL_FROM", 100_000)
    bomb = b"\0" * 3_000_000
    with pytest.raises(Spoilt) as spoilt:
        text(zipped(("recording.delegtop", bomb)))
    assert spoilt.value.reason == BOMB
    with pytest.raises(Spoilt) as spoilt:  # one that only stands in the way
        text(zipped(("other", bomb), ("recording.delegtop", b"x"), streamed=True))
    assert spoilt.value.reason == BOMB


def test_a_torn_zip_gives_what_is_there_and_says_so() -> None:
    data = zipped(("recording.delegtop", bytes(range(256)) * 4_000))
    found = unzip.blocks(io.BytesIO(data[: len(data) // 2]), len(data))
    assert next(found)
    with pytest.raises(Spoilt) as spoilt:
        list(found)
    assert spoilt.value.reason == TRUNCATED


def test_damage_is_named() -> None:
    data = bytearray(zipped(("recording.delegtop", TEXT)))
    data[60:90] = b"\xff" * 30
    with pytest.raises(Spoilt) as spoilt:
        text(bytes(data))
    assert spoilt.value.reason in (DAMAGED, TRUNCATED)


@pytest.mark.parametrize(("at", "value"), [(6, 1), (8, 99), (18, 0xFFFFFFFF)], ids=["encrypted", "odd", "huge"])
def test_a_kind_of_zip_that_nobody_makes_here_is_refused(at: int, value: int) -> None:
    data = bytearray(zipped(("recording.delegtop", TEXT)))
    data[at : at + (4 if at == 18 else 2)] = struct.pack("<I" if at == 18 else "<H", value)
    with pytest.raises(Spoilt) as spoilt:
        text(bytes(data))
    assert spoilt.value.reason == UNSUPPORTED


def test_too_many_members_are_not_gone_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unzip, "MEMBERS", 3)
    with pytest.raises(Spoilt):
        text(zipped(*((f"{number}", b"") for number in range(5)), ("recording.delegtop", TEXT)))


def status(path: Path) -> SourceStatus:
    feed = Feed([str(path)], clock=FrozenClock(Millis(1)))
    list(feed.read_all())
    [found] = feed.statuses()
    feed.close()
    return found


def test_a_zip_that_is_no_bundle_is_unreadable_and_in_a_folder_not_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "photos.zip"
    path.write_bytes(zipped(("cat.jpg", b"meow")))
    assert (status(path).status, "without a recording" in status(path).detail) == ("unreadable", True)
    feed = Feed([str(tmp_path)], clock=FrozenClock(Millis(1)))
    list(feed.read_all())
    assert not feed.statuses()
    feed.close()
