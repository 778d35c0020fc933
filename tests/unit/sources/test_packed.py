"""Compressed logs: read as lines once, with places in the text inside, and with a limit to everything."""

import builtins
import bz2
import gzip
import lzma
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from delegtop.base.origin import Origin
from delegtop.sources import packed, unpack
from delegtop.sources.packed import Packed, head
from delegtop.sources.records import Line, Unreadable

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

TEXT = b'{"n": 1}\n{"n": 2}\n{"n": 3}\n'
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "zst": zstd.compress,
    "gz": gzip.compress,
    "xz": partial(lzma.compress, preset=0),
    "bz2": partial(bz2.compress, compresslevel=1),
}
every_packer = pytest.mark.parametrize("kind", PACKERS)


def write(folder: Path, kind: str, text: bytes) -> str:
    path = folder / f"log.jsonl.{kind}"
    path.write_bytes(PACKERS[kind](text))
    return str(path)


def aged(path: str, by: int = 10) -> None:
    """Give the file another time, far from now: coarse file clocks then hide nothing."""
    written = Path(path).stat().st_mtime - by
    os.utime(path, (written, written))


def noise(size: int) -> bytes:
    """Text that does not compress."""
    return os.urandom(size).hex().encode()


@every_packer
def test_lines_come_with_their_number_and_their_place_in_the_text(tmp_path: Path, kind: str) -> None:
    path = write(tmp_path, kind, TEXT)
    assert list(Packed(path).poll()) == [
        Line(Origin(path, 1, 0), b'{"n": 1}'),
        Line(Origin(path, 2, 9), b'{"n": 2}'),
        Line(Origin(path, 3, 18), b'{"n": 3}'),
    ]


@every_packer
def test_lines_longer_than_a_block_are_put_together(tmp_path: Path, kind: str) -> None:
    long = noise(150_000)
    path = write(tmp_path, kind, TEXT + long + b"\n" + TEXT)
    lines = list(Packed(path).poll())
    assert [line.origin.line for line in lines] == [1, 2, 3, 4, 5, 6, 7]
    assert lines[3] == Line(Origin(path, 4, len(TEXT)), long)


@every_packer
def test_several_archives_in_a_row_are_one_text(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"log.jsonl.{kind}"
    pack = PACKERS[kind]
    path.write_bytes(pack(TEXT[:12]) + pack(TEXT[12:]) + pack(b""))
    assert [line.data for line in Packed(str(path)).poll() if isinstance(line, Line)] == TEXT.splitlines()


def test_a_frame_of_zstd_without_text_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl.zst"
    path.write_bytes(b"\x50\x2a\x4d\x18\x04\0\0\0abcd" + zstd.compress(TEXT))
    assert [line.data for line in Packed(str(path)).poll() if isinstance(line, Line)] == TEXT.splitlines()


@every_packer
def test_a_last_line_without_its_newline_counts_since_the_file_is_finished(tmp_path: Path, kind: str) -> None:
    path = write(tmp_path, kind, TEXT[:-1])
    assert list(Packed(path).poll())[-1] == Line(Origin(path, 3, 18), b'{"n": 3}')


def test_nothing_is_read_twice(tmp_path: Path) -> None:
    path = write(tmp_path, "gz", TEXT)
    log = Packed(path)
    assert len(list(log.poll())) == 3
    assert list(log.poll()) == []
    aged(path)
    assert list(log.poll()) == []


def test_an_unchanged_file_is_not_opened_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, "gz", TEXT)
    log = Packed(path)
    list(log.poll())
    monkeypatch.setattr(packed, "settled", lambda stamp: stamp)
    list(log.poll())

    def refuse(path: str) -> Any:
        raise AssertionError(f"{path} is opened")

    monkeypatch.setattr(packed, "_open", refuse)
    assert list(log.poll()) == []


def test_a_file_that_goes_on_gives_only_what_was_added(tmp_path: Path) -> None:
    path = write(tmp_path, "gz", TEXT)
    log = Packed(path)
    list(log.poll())
    write(tmp_path, "gz", TEXT + b'{"n": 4}\n')
    assert list(log.poll()) == [Line(Origin(path, 4, 27), b'{"n": 4}')]


def test_a_file_with_another_text_is_read_from_its_beginning(tmp_path: Path) -> None:
    path = write(tmp_path, "gz", TEXT)
    log = Packed(path)
    list(log.poll())
    write(tmp_path, "gz", TEXT.replace(b"1", b"9"))
    assert [line.origin.line for line in log.poll()] == [1, 2, 3]


def test_a_poll_left_early_goes_on_behind_the_last_line_taken(tmp_path: Path) -> None:
    log = Packed(write(tmp_path, "gz", TEXT))
    assert next(iter(log.poll())).origin.line == 1
    assert [line.origin.line for line in log.poll()] == [2, 3]


@every_packer
def test_a_truncated_archive_gives_what_can_be_read_and_says_so(tmp_path: Path, kind: str) -> None:
    text = b"".join(noise(500) + b"\n" for _ in range(900))
    path = write(tmp_path, kind, text)
    whole = Path(path).read_bytes()
    Path(path).write_bytes(whole[: len(whole) * 2 // 3])
    log = Packed(path)
    *lines, last = log.poll()
    assert 300 < len(lines) < 900
    assert [line.data for line in lines if isinstance(line, Line)] == text.splitlines()[: len(lines)]
    assert isinstance(last, Unreadable)
    assert last.reason == unpack.TRUNCATED
    assert last.origin.line == len(lines) + 1
    assert log.status().state == "live"
    assert log.status().detail.startswith("truncated archive: it ends in the middle after")
    Path(path).write_bytes(whole)
    assert len(lines) + len(list(log.poll())) == 900
    assert log.status().detail == ""


def test_what_is_wrong_with_an_archive_is_told_once(tmp_path: Path) -> None:
    path = write(tmp_path, "gz", TEXT)
    Path(path).write_bytes(Path(path).read_bytes()[:-4])
    log = Packed(path)
    assert [type(found) for found in log.poll()] == [Line, Line, Line, Unreadable]
    aged(path)
    assert list(log.poll()) == []


@every_packer
def test_a_damaged_archive_is_named_and_costs_nothing_else(tmp_path: Path, kind: str) -> None:
    path = write(tmp_path, kind, b"".join(noise(500) + b"\n" for _ in range(1_000)))
    data = bytearray(Path(path).read_bytes())
    data[len(data) // 2 : len(data) // 2 + 2_000] = bytes(2_000)
    Path(path).write_bytes(data)
    found = list(Packed(path).poll())
    assert isinstance(found[-1], Unreadable)
    assert found[-1].reason == unpack.DAMAGED


def test_a_file_that_only_claims_to_be_compressed_is_unreadable(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl.zst"
    path.write_bytes(TEXT)
    log = Packed(str(path))
    assert [found.reason for found in log.poll() if isinstance(found, Unreadable)] == [unpack.UNSUPPORTED]
    assert log.status().state == "unreadable"
    with pytest.raises(OSError, match="neither zstd nor gzip, xz or bzip2"):
        head(str(path), 100)


def test_a_decompression_bomb_is_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpack, "SWELL_FROM", 1_000_000)
    path = write(tmp_path, "zst", (b"x" * 999 + b"\n") * 100_000)
    log = Packed(path)
    *lines, last = log.poll()
    assert len(lines) * 1_000 <= Path(path).stat().st_size * unpack.SWELL + unpack.SWELL_FROM
    assert isinstance(last, Unreadable)
    assert last.reason == unpack.BOMB
    assert "decompression bomb: more than" in log.status().detail


def test_a_text_beyond_every_limit_is_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpack, "TEXT_LIMIT", 200_000)
    found = list(Packed(write(tmp_path, "gz", b"".join(noise(500) + b"\n" for _ in range(1_000)))).poll())
    assert isinstance(found[-1], Unreadable)
    assert found[-1].reason == unpack.BOMB


def test_a_line_too_long_to_keep_is_passed_over_and_counted(tmp_path: Path) -> None:
    path = write(tmp_path, "gz", TEXT + b"y" * 300_000 + b"\n" + TEXT)
    lines = list(Packed(path, limit=100_000).poll())
    assert [line.origin.line for line in lines] == [1, 2, 3, 4, 5, 6, 7]
    assert lines[3] == Unreadable(Origin(path, 4, 27), "oversize", "300,001 bytes; a line may have 100,000")
    assert lines[4].origin.offset == 27 + 300_001


def test_an_endless_line_ends_the_reading(tmp_path: Path) -> None:
    path = write(tmp_path, "gz", TEXT + b"y" * 3_000_000 + b"\n" + TEXT)
    log = Packed(path, limit=100_000, endless=1_000_000)
    assert [type(found) for found in log.poll()] == [Line, Line, Line, Unreadable]
    assert log.status().detail == "endless line: line 4 has more than 1,000,000 bytes and no end"


@every_packer
def test_a_line_is_found_again_by_its_origin(tmp_path: Path, kind: str) -> None:
    log = Packed(write(tmp_path, kind, TEXT + noise(100_000) + b"\n" + TEXT))
    lines = [line for line in log.poll() if isinstance(line, Line)]
    assert [log.raw(line.origin) for line in lines] == [line.data for line in lines]


def test_the_last_lines_about_something_are_read_again_without_a_trace(tmp_path: Path) -> None:
    log = Packed(write(tmp_path, "gz", TEXT + TEXT))
    assert [line.origin.line for line in log.about(b"2", 9)] == [2, 5]
    assert [line.origin.line for line in log.about(b"", 2)] == [5, 6]
    assert len(list(log.poll())) == 6


def test_a_line_that_is_no_longer_there_is_none(tmp_path: Path) -> None:
    path = write(tmp_path, "gz", TEXT)
    log = Packed(path)
    assert log.raw(Origin(path, 99, 10_000)) is None
    Path(path).unlink()
    assert log.raw(Origin(path, 1, 0)) is None


def test_a_file_that_is_gone_says_so(tmp_path: Path) -> None:
    path = write(tmp_path, "gz", TEXT)
    log = Packed(path)
    list(log.poll())
    Path(path).unlink()
    assert list(log.poll()) == []
    assert log.status().state == "gone"


def test_a_pipe_is_refused_instead_of_waited_for(tmp_path: Path) -> None:
    path = str(tmp_path / "log.jsonl.gz")
    os.mkfifo(path)
    log = Packed(path)
    assert list(log.poll()) == []
    assert log.status().detail == "not a regular file"


def test_progress_is_counted_in_bytes_of_the_file(tmp_path: Path) -> None:
    path = write(tmp_path, "gz", TEXT)
    log = Packed(path)
    list(log.poll())
    size = Path(path).stat().st_size
    assert (log.status().size, log.status().read, log.status().state) == (size, size, "live")


@every_packer
def test_the_beginning_of_the_text_serves_to_tell_its_format(tmp_path: Path, kind: str) -> None:
    path = write(tmp_path, kind, TEXT)
    assert head(path, 12) == (TEXT[:12], False)
    assert head(path, len(TEXT)) == (TEXT, True)


def test_without_the_package_for_zstd_a_clear_message_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, "zst", TEXT)
    genuine = builtins.__import__

    def missing(name: str, *rest: Any) -> Any:
        if name.startswith(("backports", "compression")):
            raise ImportError(f"No module named {name!r}")
        return genuine(name, *rest)

    monkeypatch.delitem(sys.modules, "delegtop.base.zstd", raising=False)
    monkeypatch.delattr("delegtop.base.zstd", raising=False)
    monkeypatch.setattr(builtins, "__import__", missing)
    log = Packed(path)
    assert [type(found) for found in log.poll()] == [Unreadable]
    assert "zstd needs the package backports.zstd" in log.status().detail
