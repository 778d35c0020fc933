"""A line that is too long to keep is read without its long texts."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from delegtop.sources import line_outline
from delegtop.sources.line_outline import outline

ANY = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=60),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=1), inner, max_size=4),
    max_leaves=12,
)


def outlined(path: Path, data: bytes, limit: int = 1 << 20) -> bytes:
    path.write_bytes(b"{}\n" + data + b"\n{}\n")
    fd = os.open(path, os.O_RDONLY)
    try:
        return outline(fd, 3, limit)
    finally:
        os.close(fd)


def is_cut_of(short: Any, whole: Any) -> bool:
    """Whether it is the same, but for texts that end early and say so."""
    if isinstance(whole, str):
        return short == whole or (short.endswith("…") and whole.startswith(short[:-1]))
    if isinstance(whole, list):
        return len(short) == len(whole) and all(map(is_cut_of, short, whole))
    if isinstance(whole, dict):
        pairs = zip(short.items(), whole.items(), strict=True)
        return all(is_cut_of(one[0], other[0]) and is_cut_of(one[1], other[1]) for one, other in pairs)
    return bool(short == whole)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=80)
@given(value=ANY, ascii_only=st.booleans(), block=st.integers(1, 40), text=st.integers(12, 30))
def test_it_is_the_same_value_with_its_long_texts_cut_wherever_the_blocks_end(
    value: Any, ascii_only: bool, block: int, text: int, tmp_path: Path
) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(line_outline, "_BLOCK", block)
        patched.setattr(line_outline, "TEXT", text)
        whole = {str(number): each for number, each in enumerate([value, value])}
        short = outlined(tmp_path / "log", json.dumps(whole, ensure_ascii=ascii_only).encode())
    assert is_cut_of(json.loads(short), whole)


@pytest.mark.parametrize("around", ["\\", '"', "\n", "é", "😀", "\\u12", '\\"'])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_no_character_is_cut_in_half(around: str, ascii_only: bool, tmp_path: Path) -> None:
    for before in range(8):
        whole = {"text": "x" * before + around * 3_000, "id": "toolu_1"}
        short = json.loads(outlined(tmp_path / "log", json.dumps(whole, ensure_ascii=ascii_only).encode()))
        assert short["id"] == "toolu_1", before
        assert len(short["text"]) > 300, before
        assert is_cut_of(short, whole), before
        assert short["text"].encode(), (before, "half of a character can be written nowhere")


@pytest.mark.parametrize(
    "line",
    [b"y" * 5_000, b"[" + b"1," * 5_000 + b"1]", b'{"a": "' + b"y" * 9_000, b'{"a": "' + b"y" * 9_000 + b"\\"],
    ids=["no JSON", "all of it is numbers", "a text without an end", "the end of a text is guarded"],
)
def test_what_has_no_outline_has_none(line: bytes, tmp_path: Path) -> None:
    assert outlined(tmp_path / "log", line, limit=1_000) == b""
