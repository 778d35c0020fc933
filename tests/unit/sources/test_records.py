"""Bytes made into records: everything readable arrives, everything else is named."""

import json
from typing import Any

import pytest

from delegtop.base.origin import Origin
from delegtop.sources.records import Line, Record, Unreadable, decoded, fault, records

AT = Origin("log.jsonl", 7, 1_000)


def read(data: bytes) -> tuple[list[dict[str, Any]], list[str]]:
    """The values on a line and the reasons of what is unreadable on it."""
    found = list(records(Line(AT, data)))
    values = [item.value for item in found if isinstance(item, Record)]
    return values, [item.reason for item in found if isinstance(item, Unreadable)]


def test_a_plain_line_is_one_record_at_the_place_of_the_line() -> None:
    (record,) = records(Line(AT, b'{"id": 1}'))
    assert record == Record(AT, {"id": 1})


@pytest.mark.parametrize("blank", [b"", b"   ", b"\r", b"\t\r", b"\0\0\0"])
def test_a_blank_line_is_nothing(blank: bytes) -> None:
    assert read(blank) == ([], [])


@pytest.mark.parametrize("around", [b"%s\r", b"\xef\xbb\xbf%s", b"\0\0%s", b"  %s  ", b"%s\0"])
def test_a_bom_a_carriage_return_and_nuls_around_an_object_do_not_matter(around: bytes) -> None:
    assert read(around % b'{"id": 1}') == ([{"id": 1}], [])


def test_a_line_after_a_hole_begins_behind_the_hole() -> None:
    """Whether the hole is skipped while the file is read depends on where a block of it begins."""
    text = b'{"id": "half \\ud83d"}'
    assert list(records(Line(AT, b"\0\0\0" + text))) == list(records(Line(Origin("log.jsonl", 7, 1_003), text)))


def test_glued_objects_are_all_read_and_know_where_they_begin() -> None:
    found = list(records(Line(AT, b'{"id": 1}{"id": 2} {"id": 3}')))
    assert [(item.origin.line, item.origin.offset) for item in found] == [(7, 1_000), (7, 1_009), (7, 1_019)]
    assert read(b'{"id": 1}{"id": 2} {"id": 3}') == ([{"id": 1}, {"id": 2}, {"id": 3}], [])


@pytest.mark.parametrize(
    "torn", ['{"a":"to', '{"a": 12', '{"a"', "{", '{"a":', '{"a": {"b": 1}', 'est"}', '{"a": [1, {"b": "c'], ids=repr
)
def test_a_torn_fragment_is_noted_and_the_object_glued_to_it_is_recovered(torn: str) -> None:
    found = list(records(Line(AT, torn.encode() + b'{"id": 2}')))
    assert [type(item) for item in found] == [Unreadable, Record]
    fragment, record = found
    assert isinstance(fragment, Unreadable)
    assert (fragment.reason, fragment.excerpt, fragment.origin.offset) == ("torn", torn, 1_000)
    assert isinstance(record, Record)
    assert (record.value, record.origin.offset) == ({"id": 2}, 1_000 + len(torn))


def test_every_cut_through_a_record_leaves_the_next_one_readable() -> None:
    whole = json.dumps({"event": "return", "at": "2025-12-26T10:00:00Z", "return": {"status": "done", "list": [1, {}]}})
    for cut in range(1, len(whole)):
        values, reasons = read(whole[:cut].encode() + b'{"id": 2}')
        assert values[-1:] == [{"id": 2}], whole[:cut]
        assert reasons == ["torn"], whole[:cut]


def test_invalid_utf8_still_arrives_with_a_note() -> None:
    assert read(b'{"id": 1, "name": "caf\xe9"}') == ([{"id": 1, "name": "caf\ufffd"}], ["bad encoding"])


def test_a_lone_surrogate_is_replaced_so_that_it_can_be_written_again() -> None:
    (value,), reasons = read(b'{"name": "\\ud800!"}')
    assert (value["name"].encode(), reasons) == ("\ufffd!".encode(), ["bad encoding"])


def test_utf16_lines_arrive_with_a_note() -> None:
    first, second, *_ = ('{"id": 1}\n{"id": 2}\n').encode("utf-16").split(b"\n")
    assert read(first) == ([{"id": 1}], ["bad encoding"])
    assert read(second) == ([{"id": 2}], ["bad encoding"])


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "9" * 5_000], ids=lambda text: text[:9])
def test_a_number_that_is_none_is_null_with_a_note(number: str) -> None:
    assert read(b'{"id": 1, "n": %s}' % number.encode()) == ([{"id": 1, "n": None}], ["number out of range"])


def test_a_big_integer_keeps_its_value() -> None:
    assert read(b'{"n": 123456789012345678901234567890}') == ([{"n": 123456789012345678901234567890}], [])


def test_a_raw_control_character_is_tolerated_with_a_note() -> None:
    assert read(b'{"name": "a\x1bb"}') == ([{"name": "a\x1bb"}], ["not strict JSON"])


@pytest.mark.parametrize("data", [b"[1, 2]", b"3", b'"text"', b"null", b"true"])
def test_what_is_json_but_no_object_is_said_to_be_none(data: bytes) -> None:
    assert read(data) == ([], ["not an object"])


@pytest.mark.parametrize(
    ("data", "reason"),
    [(b"hello", "not JSON"), (b"{bad}", "not JSON"), (b'{"a": 1, }x', "not JSON"), (b'{"a": "open', "torn")],
)
def test_what_is_no_json_is_said_to_be_none(data: bytes, reason: str) -> None:
    assert read(data) == ([], [reason])


def test_stray_text_behind_an_object_is_noted_and_costs_nothing() -> None:
    assert read(b'{"id": 1} trailing') == ([{"id": 1}], ["not JSON"])


@pytest.mark.parametrize("depth", [201, 900, 200_000])
def test_nesting_beyond_reason_is_refused(depth: int) -> None:
    assert read(b'{"a":' * depth + b"1" + b"}" * depth) == ([], ["nested too deep"])


def test_deep_but_reasonable_nesting_is_read() -> None:
    values, reasons = read(b'{"a":' * 150 + b"1" + b"}" * 150)
    assert (len(values), reasons) == (1, [])


@pytest.mark.parametrize(
    "hostile",
    [b"{" * 500_000, b'{"a":"' * 80_000, b'{"a":"{' * 60_000, b'"' * 500_000, b"}{" * 200_000],
    ids=lambda hostile: hostile[:8].decode(),
)
def test_a_hostile_line_is_one_note_with_a_short_excerpt(hostile: bytes) -> None:
    found = list(records(Line(AT, hostile)))
    assert all(isinstance(item, Unreadable) and len(item.excerpt) <= 200 for item in found)
    assert len(found) == 1


@pytest.mark.parametrize(
    ("data", "why"),
    [(b'{"a": 1}\n', ""), (b"", "empty"), (b"\n ", "empty"), (b'{"a": ', "torn"), (b"[]", "not an object")],
)
def test_fault_tells_whether_a_document_is_one_whole_object(data: bytes, why: str) -> None:
    assert fault(data) == why


@pytest.mark.parametrize("data", ['{"said": "cut \\ud83d"}', b'\xef\xbb\xbf {"said": "cut \\ud83d"}\n'])
def test_a_document_with_half_an_emoji_is_still_one(data: bytes | str) -> None:
    """Programs in JavaScript cut texts where they like."""
    assert decoded(data) == {"said": "cut \ufffd"}


def test_a_list_with_half_an_emoji_is_still_one() -> None:
    assert decoded('[{"said": "\\ud83d"}]') == [{"said": "\ufffd"}]


@pytest.mark.parametrize("data", ['{"a": 1', '{"a": "\\ud83d"} x', "", "[" * 100_000])
def test_what_is_no_whole_document_is_none(data: str) -> None:
    assert decoded(data) is None


def test_a_number_before_something_that_is_no_json_is_no_value() -> None:
    assert decoded(b"5 apples") is None
    assert decoded(b"5") == 5
